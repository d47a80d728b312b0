package filewatch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
			err = os.WriteFile(path, nil, 0o600)
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
