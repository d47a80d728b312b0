package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// finding is one broken rule. Findings about the table rather than about a line of source have no position.
type finding struct {
	pos token.Position // Filename is module-relative, with slashes
	msg string
}

// String prints the finding the way compilers do, so that editors can jump to it.
func (f finding) String() string {
	if f.pos.Filename == "" {
		return f.msg
	}
	return fmt.Sprintf("%s:%d: %s", f.pos.Filename, f.pos.Line, f.msg)
}

// file is one parsed Go source file.
type file struct {
	path string // module-relative, with slashes
	test bool   // _test.go
	ast  *ast.File
}

// pkg is one directory of Go files. An external test package (name ending in _test) counts as part of it.
type pkg struct {
	path  string // module-relative import path
	files []file // sorted by path
}

// tree is the Go source of one module.
type tree struct {
	fset *token.FileSet
	pkgs []pkg // sorted by path
}

// find returns the package with that path, nil if there is none.
func (t *tree) find(path string) *pkg {
	i, ok := slices.BinarySearchFunc(t.pkgs, path, func(p pkg, want string) int { return strings.Compare(p.path, want) })
	if !ok {
		return nil
	}
	return &t.pkgs[i]
}

// at turns a node's position into a finding.
func (t *tree) at(pos token.Pos, format string, args ...any) finding {
	return finding{pos: t.fset.Position(pos), msg: fmt.Sprintf(format, args...)}
}

// parseTree parses sources, a map from module-relative file path to content.
func parseTree(sources map[string][]byte) (*tree, error) {
	t := &tree{fset: token.NewFileSet()}
	byDir := map[string][]file{}
	for _, name := range sortedKeys(sources) {
		parsed, err := parser.ParseFile(t.fset, name, sources[name], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		dir := path.Dir(name)
		byDir[dir] = append(byDir[dir], file{path: name, test: strings.HasSuffix(name, "_test.go"), ast: parsed})
	}
	for _, dir := range sortedKeys(byDir) {
		t.pkgs = append(t.pkgs, pkg{path: dir, files: byDir[dir]})
	}
	return t, nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// repoRoot is the directory of the root module, seen from this package's directory, where go test runs.
func repoRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(mod), "module "+module+"\n") {
		t.Fatalf("%s/go.mod is not %s's", root, module)
	}
	return root
}

// readModule returns the Go files of the module at root: what the go tool would see, for every GOOS at once.
func readModule(root string) (map[string][]byte, error) {
	sources := map[string][]byte{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != root && (hiddenFromGo(d.Name()) || isModule(name)) {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) != ".go" || hiddenFromGo(d.Name()) {
			return nil
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		sources[filepath.ToSlash(rel)], err = os.ReadFile(name)
		return err
	})
	return sources, err
}

// hiddenFromGo says whether the go tool ignores a file or directory of that name.
func hiddenFromGo(name string) bool {
	return name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

// isModule says whether dir holds a module of its own, which the root module does not see.
func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// readRepo parses the repository once for all tests.
var readRepo = sync.OnceValues(func() (*tree, error) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return nil, err
	}
	sources, err := readModule(root)
	if err != nil {
		return nil, err
	}
	return parseTree(sources)
})

// repo returns the repository's source. It fails if the walk has not even found this package, because every rule would
// hold on an empty tree.
func repo(t *testing.T) *tree {
	t.Helper()
	src, err := readRepo()
	if err != nil {
		t.Fatal(err)
	}
	if src.find("test/arch") == nil || src.find("endpoints") == nil {
		t.Fatalf("found only %d packages, not even test/arch and endpoints", len(src.pkgs))
	}
	return src
}

// report fails the test with every finding.
func report(t *testing.T, found []finding) {
	t.Helper()
	for _, f := range found {
		t.Error(f)
	}
}

// fixture parses one file of testdata as the only file of the package at pkgPath.
func fixture(t *testing.T, name, pkgPath string) (*tree, []byte) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	// A want comment would itself count as a comment on what it stands beside.
	src, err := parseTree(map[string][]byte{pkgPath + "/" + name: wantComment.ReplaceAll(content, nil)})
	if err != nil {
		t.Fatal(err)
	}
	return src, content
}

var (
	wantComment = regexp.MustCompile(`(?m)// want (".*")$`)
	wantString  = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
)

// expect compares findings with the `// want "substring" "substring"` comments of the source they are about, line by
// line: a missing finding and an unexpected one both fail.
func expect(t *testing.T, content []byte, found []finding) {
	t.Helper()
	wanted := 0
	for i, line := range strings.Split(string(content), "\n") {
		var wants []string
		if m := wantComment.FindStringSubmatch(line); m != nil {
			wants = wantString.FindAllString(m[1], -1)
		}
		wanted += len(wants)
		var got []string
		for _, f := range found {
			if f.pos.Line == i+1 {
				got = append(got, f.msg)
			}
		}
		matchLine(t, i+1, wants, got)
	}
	if wanted == 0 {
		t.Error("the fixture expects nothing, so it proves nothing")
	}
}

// matchLine pairs the quoted substrings wanted on a line with the messages it got.
func matchLine(t *testing.T, line int, wants, got []string) {
	t.Helper()
	for _, quoted := range wants {
		want, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatalf("line %d: %s: %v", line, quoted, err)
		}
		i := slices.IndexFunc(got, func(msg string) bool { return strings.Contains(msg, want) })
		if i < 0 {
			t.Errorf("line %d: the rule did not fire: want %q, have %q", line, want, got)
			continue
		}
		got = slices.Delete(got, i, i+1)
	}
	for _, msg := range got {
		t.Errorf("line %d: unexpected: %s", line, msg)
	}
}
