package mutate

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Source is one package's production code with its types.
type Source struct {
	Path  string  // import path
	Dir   string  // where its files lie, absolute
	Files []*File // as the go tool builds them on this platform, without tests

	fset    *token.FileSet
	imports types.Importer
	pkg     *types.Package
	info    *types.Info
}

// File is one Go file of a Source.
type File struct {
	Name string // from the root, with slashes
	Path string // absolute
	Text string

	ast *ast.File
}

// listed is what the go tool says of a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles, Deps           []string
	TestGoFiles             []string
	XTestGoFiles            []string
	ForTest                 string
	Standard, DepOnly       bool
	Error                   *struct{ Err string }
}

// Load returns the packages that patterns name, in the order of their paths, as the go tool sees them from root.
// Export data comes from the build cache, so nobody else's source is read.
func Load(root string, patterns ...string) ([]*Source, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	args := append([]string{"-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Standard,DepOnly,Error"}, patterns...)
	packages, err := list(root, append(args, switchImports...)...)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, l := range packages {
		exports[l.ImportPath] = l.Export
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var sources []*Source
	for _, l := range packages {
		if l.DepOnly || l.Standard || len(l.GoFiles) == 0 {
			continue
		}
		s, err := load(root, fset, imports, l)
		if err != nil {
			return nil, err
		}
		sources = append(sources, s)
	}
	slices.SortFunc(sources, func(a, b *Source) int { return strings.Compare(a.Path, b.Path) })
	return sources, nil
}

// list runs go list from root and reads what it prints.
func list(root string, args ...string) ([]listed, error) {
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	cmd.Env = append(os.Environ(), "GOFLAGS="+withoutOverlay(os.Getenv("GOFLAGS")))
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var all []listed
	for dec := json.NewDecoder(out); ; {
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if l.Error != nil {
			return nil, fmt.Errorf("go list: %s: %s", l.ImportPath, l.Error.Err)
		}
		all = append(all, l)
	}
	return all, cmd.Wait()
}

// withoutOverlay leaves out of GOFLAGS what a Bench adds for the tests that it runs: the sources are read as they are on the disk, where the
// files that only an overlay has are missing.
func withoutOverlay(flags string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(flags), func(f string) bool { return strings.HasPrefix(f, "-overlay=") }), " ")
}

// load reads one package and computes its types.
func load(root string, fset *token.FileSet, imports types.Importer, l listed) (*Source, error) {
	s := &Source{Path: l.ImportPath, Dir: l.Dir, fset: fset, imports: imports}
	var files []*ast.File
	for _, name := range l.GoFiles {
		path := filepath.Join(l.Dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		parsed, err := parser.ParseFile(fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		below, err := filepath.Rel(root, path)
		if err != nil {
			return nil, err
		}
		s.Files = append(s.Files, &File{Name: filepath.ToSlash(below), Path: path, Text: string(text), ast: parsed})
		files = append(files, parsed)
	}
	s.info = &types.Info{
		Types:  map[ast.Expr]types.TypeAndValue{},
		Uses:   map[*ast.Ident]types.Object{},
		Defs:   map[*ast.Ident]types.Object{},
		Scopes: map[ast.Node]*types.Scope{},
	}
	var err error
	s.pkg, err = (&types.Config{Importer: imports}).Check(s.Path, fset, files, s.info)
	return s, err
}

// Check computes the types of a package with other texts in place of some of its files, by absolute path, and returns
// everything that is wrong with it.
func (s *Source) Check(texts map[string]string) error {
	all := map[string]string{}
	for _, f := range s.Files {
		all[f.Path] = f.Text
	}
	for path, text := range texts {
		if filepath.Base(path) != onOthers {
			all[path] = text
		}
	}
	var files []*ast.File
	for path, text := range all {
		parsed, err := parser.ParseFile(s.fset, path, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, parsed)
	}
	var wrong []error
	config := types.Config{Importer: s.imports, Error: func(err error) { wrong = append(wrong, err) }}
	_, _ = config.Check(s.Path, s.fset, files, nil) // the errors are in wrong
	return errors.Join(wrong...)
}
