package files

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-logr/logr"
)

// layout makes directories ("a/"), files ("a/b.yaml") and symbolic links ("a/l -> ../c") below a directory.
func layout(t *testing.T, root string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		name, target, link := strings.Cut(line, " -> ")
		path := filepath.Join(root, name)
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		switch {
		case err != nil:
		case link:
			err = os.Symlink(target, path)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o700)
		default:
			err = os.WriteFile(path, []byte(service("web", 80)), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestDirectoriesThatMatter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		lines []string
		paths string
		want  string
	}{
		{"a file's own directory", []string{"a/f.yaml"}, "a/f.yaml", "a"},
		{"a directory and all below, but hidden ones", []string{"a/b/f.yaml", "a/.git/f.yaml"}, "a", "a a/b"},
		{
			"a ConfigMap volume: the link that is swapped, and what it leads to",
			[]string{"v/..1/f.yaml", "v/..data -> ..1", "v/f.yaml -> ..data/f.yaml"}, "v/f.yaml", "v v/..1",
		},
		{"the same, given as a directory", []string{"v/..1/f.yaml", "v/..data -> ..1", "v/f.yaml -> ..data/f.yaml"}, "v", "v v/..1"},
		{"a directory by way of links", []string{"x/real/f.yaml", "y/mid -> ../x/real", "z/in -> ../y/mid"}, "z/in", "x/real y z"},
		{"links in a circle", []string{"a/f.yaml", "a/up -> ../a"}, "a", "a"},
		{"links to themselves", []string{"a/l -> l"}, "a/l", "a"},
		{"what does not exist yet", []string{"a/"}, "a/b/c/f.yaml", "a"},
		{"a link to what is gone", []string{"a/l -> ../gone/f.yaml"}, "a/l", ". a"},
		{"several paths, each directory once", []string{"a/f.yaml", "a/g.yaml", "b/"}, "b a/f.yaml a/g.yaml", "a b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			layout(t, root, c.lines...)
			var paths, got []string
			for p := range strings.FieldsSeq(c.paths) {
				paths = append(paths, filepath.Join(root, p))
			}
			for _, dir := range directories(paths) {
				rel, err := filepath.Rel(root, dir)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, rel)
			}
			if diff := cmp.Diff(strings.Fields(c.want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The operating system's own notifications: what is waited for is the delivery, which comes.
func TestFilesThatAreReplacedAreNoticed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	layout(t, dir, "volume/..1/f.yaml", "volume/..data -> ..1", "volume/f.yaml -> ..data/f.yaml", "plain/g.yaml")
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	put("plain/g.yaml", service("plain", 80))
	sink := &notes{told: make(chan string)}
	s := New(Options{Paths: []string{filepath.Join(dir, "volume"), filepath.Join(dir, "plain/g.yaml")}, Log: logr.Discard()}, sink)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); s.Run(ctx) }()
	defer func() { cancel(); <-done }()
	heard := func(want string) {
		t.Helper()
		if got := <-sink.told; got != want {
			t.Errorf("delivered %s, want %s", got, want)
		}
	}
	heard("web 80")
	heard("plain 80")

	put("plain/g.yaml", service("plain", 81)) // written in place
	heard("plain 81")
	put("plain/.g.yaml.swp", service("plain", 82)) // as editors do
	move("plain/.g.yaml.swp", "plain/g.yaml")
	heard("plain 82")
	for i, version := range []string{"..2", "..3"} { // as kubelet does with a ConfigMap
		layout(t, dir, "volume/"+version+"/", "volume/..tmp -> "+version)
		put("volume/"+version+"/f.yaml", service("web", 83+i))
		move("volume/..tmp", "volume/..data")
		heard([]string{"web 83", "web 84"}[i])
	}
	if err := os.Mkdir(filepath.Join(dir, "volume/more"), 0o700); err != nil {
		t.Fatal(err)
	}
	put("volume/more/h.yaml", service("more", 85))
	heard("more 85")
}
