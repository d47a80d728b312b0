package graft

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "keep the inputs that the repository has now")

// Inputs are taken from manifests, from lists of cases and from the texts of tests; with -update they are kept.
func TestInputsAreGathered(t *testing.T) {
	t.Parallel()
	lines, err := gathered("../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) < 500 {
		t.Errorf("%d inputs", len(lines))
	}
	if *update {
		if err := os.WriteFile(filepath.Join("../..", kept), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text := caseOf("title\n$ with web\n$ show x\nkind: A\n--> b.yaml\nkind: B\n----\nout\n", "kind: Web\n")
	if want := "kind: A\n---\nkind: B\n\n---\nkind: Web\n"; text != want || len(objectsOf(text)) != 3 {
		t.Errorf("%q", text)
	}
}

// The same number is the same input, and most are objects of more than one of the inputs of the repository, or changed ones.
func TestInputs(t *testing.T) {
	t.Parallel()
	s, err := Read("../..")
	if err != nil {
		t.Fatal(err)
	}
	again, err := Read("../..")
	if err != nil {
		t.Fatal(err)
	}
	seen, kinds := map[string]bool{}, map[string]bool{}
	for i, name := range s.Names() {
		kind, _, _ := strings.Cut(name, "-")
		if kinds[kind] = true; i%20 != 0 {
			continue
		}
		text, err := s.Input(name)
		if err != nil {
			t.Fatal(err)
		}
		if same, _ := again.Input(name); same != text || !strings.Contains(text, "kind: Service\n") {
			t.Errorf("input %s is two, or has no Service:\n%s\n%s", name, text, same)
		}
		if seen[text] {
			t.Errorf("input %s is there twice", name)
		}
		seen[text] = true
	}
	if len(kinds) < 20 || len(s.Names()) < 400 {
		t.Errorf("%d inputs, of %d kinds", len(s.Names()), len(kinds))
	}
}

// What is chosen from a list stays what it is when the list gets longer, unless it is what is new.
func TestPick(t *testing.T) {
	t.Parallel()
	other, itself := 0, func(s string) string { return s }
	for seed := range uint64(300) {
		short := Pick(seed, []string{"a", "b"}, itself)
		long := Pick(seed, []string{"c", "b", "a"}, itself)
		if long != "c" && long != short {
			t.Errorf("%d: %s, then %s", seed, short, long)
		}
		if long == "c" {
			other++
		}
	}
	if other < 60 || other > 140 {
		t.Errorf("what is new is chosen %d times of 300", other)
	}
}
