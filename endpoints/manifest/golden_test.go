package manifest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// A golden file is a list of cases: a line "=== what the case shows", the input,
// a line "----", and what Load makes of it. A line "--> name" in the input
// starts a further file; the first is in.yaml.
func TestGolden(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/load/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			for i, c := range strings.Split("\n"+string(data), "\n=== ") {
				if i == 0 {
					out.WriteString(strings.TrimPrefix(c, "\n"))
					continue
				}
				title, rest, _ := strings.Cut(c, "\n")
				input, want, _ := strings.Cut(rest+"\n", "----\n")
				got := loadText(input)
				if got != strings.TrimRight(want, "\n")+"\n" && !*update {
					t.Errorf("%s\ngot:\n%s\nwant:\n%s", title, got, want)
				}
				fmt.Fprintf(&out, "%s=== %s\n%s----\n%s", map[bool]string{true: "\n"}[i > 1], title, input, got)
			}
			if *update {
				if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func loadText(input string) string {
	name := "in.yaml"
	var files []File
	for i, part := range strings.Split("\n"+input, "\n--> ") {
		if i > 0 {
			name, part, _ = strings.Cut(part, "\n")
		} else {
			part = strings.TrimPrefix(part, "\n")
		}
		if i == 0 && part == "" {
			continue
		}
		if !strings.HasSuffix(part, "\n") {
			part += "\n" // the split took it
		}
		files = append(files, File{name, []byte(part)})
	}
	return summary(Load(files, Options{}))
}

// summary writes problems, objects and counts, one a line.
func summary(objects *Objects, problems []Problem) string {
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&b, "%s: %v\n", p.Severity, p)
	}
	for _, o := range objects.All {
		fmt.Fprintf(&b, "%s %v\n", o.Position, o)
	}
	for _, s := range objects.Skipped {
		fmt.Fprintf(&b, "skipped %s %s %d\n", s.APIVersion, s.Kind, s.Count)
	}
	if b.Len() == 0 {
		return "nothing\n"
	}
	return b.String()
}
