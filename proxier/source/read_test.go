package source

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// tree makes files below a fresh directory: path -> content.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func show(root string, files []manifest.File) string {
	var b strings.Builder
	for _, f := range files {
		name, err := filepath.Rel(root, f.Name)
		if err != nil {
			name = f.Name
		}
		b.WriteString(name + "=" + string(f.Data) + " ")
	}
	return strings.TrimSpace(b.String())
}

func TestDirectoryIsReadRecursivelyInOrder(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{
		"b.yaml": "b", "a.yml": "a", "c.json": "c", "sub/d.yaml": "d", "sub/deep/E.YAML": "e",
		"README.md": "no", "values.txt": "no", ".hidden.yaml": "no", ".git/config.yaml": "no", "sub/.x/y.yaml": "no",
	})
	files, err := Read([]string{root}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := show(root, files), "a.yml=a b.yaml=b c.json=c sub/d.yaml=d sub/deep/E.YAML=e"; filepath.ToSlash(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestPathsAreReadInTheOrderGiven(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"b.yaml": "b", "odd.name": "odd"})
	files, err := Read([]string{filepath.Join(root, "odd.name"), "-", filepath.Join(root, "b.yaml")}, strings.NewReader("piped"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 3 || string(files[0].Data) != "odd" || files[1].Name != "-" || string(files[1].Data) != "piped" || string(files[2].Data) != "b" {
		t.Errorf("got %s", show(root, files))
	}
}

func TestSymbolicLinksAreFollowedAndCyclesEnd(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"a/one.yaml": "1", "b/two.yaml": "2"})
	for _, link := range [][2]string{{"..", "a/up"}, {"../b", "a/b"}, {"../b/two.yaml", "a/zwei.yaml"}, {"nowhere", "a/dangling.txt"}} {
		if err := os.Symlink(link[0], filepath.Join(root, link[1])); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	files, err := Read([]string{filepath.Join(root, "a")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := filepath.ToSlash(show(root, files)), "a/b/two.yaml=2 a/one.yaml=1 a/zwei.yaml=2"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestDanglingLinkToAManifestIsAnError(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"one.yaml": "1"})
	if err := os.Symlink("nowhere", filepath.Join(root, "two.yaml")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	files, err := Read([]string{root}, nil)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "two.yaml") || len(files) != 1 {
		t.Errorf("got %d files, %v", len(files), err)
	}
}

func TestAllErrorsAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"ok.yaml": "ok", "empty/readme.txt": "no"})
	missing, empty := filepath.Join(root, "missing.yaml"), filepath.Join(root, "empty")
	files, err := Read([]string{missing, "-", "-", empty, "", filepath.Join(root, "ok.yaml")}, strings.NewReader("in"))
	if err == nil {
		t.Fatal("no error")
	}
	want := strings.Join([]string{
		missing + ": no such file or directory",
		"<stdin>: standard input can be read only once",
		empty + ": no manifests: the directory has no *.yaml, *.yml or *.json file",
		`"": empty file name`,
	}, "\n")
	if err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
	for _, target := range []error{fs.ErrNotExist, ErrStdinTwice, ErrNoInput} {
		if !errors.Is(err, target) {
			t.Errorf("errors.Is(err, %v) is false", target)
		}
	}
	if got := show(root, files); got != "-=in ok.yaml=ok" {
		t.Errorf("the readable files: %s", got)
	}
}

func TestNoPathsIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := Read(nil, nil); !errors.Is(err, ErrNoInput) {
		t.Errorf("got %v", err)
	}
}

func TestUnreadableInputsAreErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("wire cut")
	if _, err := Read([]string{"-"}, iotest.ErrReader(broken)); !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "<stdin>: ") {
		t.Errorf("stdin: got %v", err)
	}
	if _, err := Read([]string{"-"}, nil); err == nil {
		t.Error("nil stdin: no error")
	}
	if os.Getuid() == 0 {
		return // root reads everything
	}
	root := tree(t, map[string]string{"secret.yaml": "x"})
	path := filepath.Join(root, "secret.yaml")
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := Read([]string{root}, nil); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("unreadable file: got %v", err)
	}
}

// countingReader says how much was read of an endless input.
type countingReader struct{ n int64 }

func (c *countingReader) Read(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

func TestNothingIsReadBeyondTheLimit(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	endless := &countingReader{}
	r := &reader{stdin: endless, limit: limit, left: limit}
	if _, err := r.read([]string{"-"}); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "limited to 1 MiB") {
		t.Errorf("endless stdin: got %v", err)
	}
	if endless.n > 2*limit {
		t.Errorf("read %d bytes of stdin, the limit is %d", endless.n, limit)
	}

	root := tree(t, map[string]string{"a.yaml": "small", "c.yaml": "after"})
	big := filepath.Join(root, "b.yaml")
	f, err := os.Create(big)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(limit), f.Close()); err != nil {
		t.Fatal(err)
	}
	r = &reader{limit: limit, left: limit}
	files, err := r.read([]string{root, root})
	if !errors.Is(err, ErrTooLarge) || !strings.HasPrefix(err.Error(), big+": ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("large file: got %v", err)
	}
	if len(files) != 1 {
		t.Errorf("read %d files, want the one before the limit", len(files))
	}
}

// A kustomization cannot be read without a program that builds it, and the error says which.
func TestKustomizeIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Kustomize(t.Context(), "overlays/prod")
	if !errors.Is(err, ErrNoKustomize) || err.Error() != "-k overlays/prod: building a kustomization needs kustomize or kubectl in the PATH" {
		t.Error(err)
	}
}
