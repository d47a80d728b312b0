package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// listed is what the go tool says about one package.
type listed struct {
	ImportPath     string
	Export         string // file with the compiler's export data
	IgnoredGoFiles []string
	Error          *struct{ Err string }
}

// fixtureImports are the standard packages the purity fixtures use, most of them because they are banned.
var fixtureImports = []string{
	"cmp", "context", "crypto/rand", "errors", "fmt", "iter", "maps", "math", "math/rand/v2", "net", "net/http", "net/netip",
	"net/http/httptest", "os", "reflect", "slices", "sort", "strings", "sync", "sync/atomic", "time",
}

// listPackages asks the go tool about the pure packages that exist, the fixtures' imports, and everything below them.
// Export data comes from the build cache, so types cost no parsing of anyone else's source.
var listPackages = sync.OnceValues(func() (map[string]listed, error) {
	src, err := readRepo()
	if err != nil {
		return nil, err
	}
	args := []string{"list", "-e", "-export", "-deps", "-json=ImportPath,Export,IgnoredGoFiles,Error"}
	for _, path := range purePaths(src) {
		args = append(args, "./"+path)
	}
	cmd := exec.Command("go", append(args, fixtureImports...)...)
	cmd.Dir = filepath.Join("..", "..")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.Bytes())
	}
	byPath := map[string]listed{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			return byPath, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		byPath[l.ImportPath] = l
	}
})

// purePaths returns the pure packages that exist and have production code, in the order of the table.
func purePaths(src *tree) []string {
	var paths []string
	for _, rule := range packages {
		if p := src.find(rule.path); rule.pure && p != nil && len(productionFiles(p)) > 0 {
			paths = append(paths, rule.path)
		}
	}
	return paths
}

func productionFiles(p *pkg) []*ast.File {
	var files []*ast.File
	for _, f := range p.files {
		if !f.test {
			files = append(files, f.ast)
		}
	}
	return files
}

// typed is a package's production code with its types.
type typed struct {
	tree  *tree
	path  string
	files []*ast.File
	pkg   *types.Package
	info  *types.Info
}

// check computes the types of the package's production code.
func check(src *tree, path string) (*typed, error) {
	all, err := listPackages()
	if err != nil {
		return nil, err
	}
	lookup := func(importPath string) (io.ReadCloser, error) {
		l, ok := all[importPath]
		if !ok || l.Export == "" {
			reason := "it is not among the packages go list was asked about"
			if ok && l.Error != nil {
				reason = l.Error.Err
			}
			return nil, fmt.Errorf("no export data for %s: %s", importPath, reason)
		}
		return os.Open(l.Export)
	}
	p := src.find(path)
	if p == nil {
		return nil, fmt.Errorf("no package %s", path)
	}
	c := &typed{tree: src, path: path, files: productionFiles(p)}
	c.info = &types.Info{
		Types:      map[ast.Expr]types.TypeAndValue{},
		Uses:       map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
		Instances:  map[*ast.Ident]types.Instance{},
	}
	var errs []error
	config := types.Config{
		Importer: importer.ForCompiler(src.fset, "gc", lookup),
		Error:    func(err error) { errs = append(errs, err) },
	}
	c.pkg, err = config.Check(module+"/"+path, src.fset, c.files, c.info)
	if err != nil {
		return nil, errors.Join(errs...)
	}
	return c, nil
}

// inspect walks all production files.
func (c *typed) inspect(visit func(ast.Node) bool) {
	for _, f := range c.files {
		ast.Inspect(f, visit)
	}
}

// at turns a node into a finding.
func (c *typed) at(n ast.Node, format string, args ...any) finding {
	return c.tree.at(n.Pos(), format, args...)
}

// checkFixture computes the types of one file of testdata, as the package at path.
func checkFixture(t *testing.T, name, path string) (*typed, []byte) {
	t.Helper()
	src, content := fixture(t, name, path)
	c, err := check(src, path)
	if err != nil {
		t.Fatalf("testdata/%s: %v", name, err)
	}
	return c, content
}

// checkBuildConstraints finds files of a pure package that only some platforms build: what is pure needs none, and the
// type checks would not see them.
func checkBuildConstraints(path string, l listed) []finding {
	var found []finding
	for _, name := range l.IgnoredGoFiles {
		if !strings.HasSuffix(name, "_test.go") {
			found = append(found, finding{msg: path + "/" + name + ": a pure package has no files for some platforms only"})
		}
	}
	return found
}

func TestBuildConstraintRuleFires(t *testing.T) {
	t.Parallel()
	l := listed{IgnoredGoFiles: []string{"a_windows_test.go", "a_windows.go"}}
	if got := checkBuildConstraints("core", l); len(got) != 1 || !strings.Contains(got[0].msg, "core/a_windows.go") {
		t.Errorf("want one finding about a_windows.go, have %v", got)
	}
}

func TestTypeErrorsAreReported(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"a wrong type":       "package p\n\nvar X int = \"\"\n",
		"an unlisted import": "package p\n\nimport _ \"example.org/none\"\n",
	} {
		src, err := parseTree(map[string][]byte{"endpoints/a.go": []byte(content)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := check(src, "endpoints"); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestPurePackagesAreListed(t *testing.T) {
	t.Parallel()
	all, err := listPackages()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range purePaths(repo(t)) {
		if l, ok := all[module+"/"+path]; !ok {
			t.Errorf("go list knows no package %s", path)
		} else if l.Error != nil {
			t.Errorf("%s: %s", path, l.Error.Err)
		}
	}
	if !slices.Contains(purePaths(repo(t)), "endpoints") {
		t.Error("endpoints is not among the pure packages")
	}
}
