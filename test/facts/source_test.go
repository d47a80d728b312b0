package facts

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// packageTests lists the tests of a package's directory, and those of its external tests.
func packageTests(dir string) (map[string]bool, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && regexp.MustCompile(`^(Test|Example|Fuzz)`).MatchString(fn.Name.Name) {
				out[fn.Name.Name] = true
			}
		}
	}
	return out, nil
}

// namedMutant is an entry of some table of mutants.
type namedMutant struct {
	table string // the directory below test/
	name  string
	facts []string
}

// readMutants reads the tables of mutants below test/: every composite literal of []mutant, whose
// elements begin with a name and may have a list of facts. An element in which either is not
// written out is not read.
func readMutants() ([]namedMutant, error) {
	files, err := filepath.Glob(root + "/test/*/mutants*_test.go")
	if err != nil {
		return nil, err
	}
	var out []namedMutant
	for _, name := range files {
		list, err := mutantsIn(name, nil)
		if err != nil {
			return nil, err
		}
		for i := range list {
			list[i].table = filepath.Base(filepath.Dir(name))
		}
		out = append(out, list...)
	}
	return out, nil
}

// mutantsIn reads one file, or src if it is not nil.
func mutantsIn(name string, src any) ([]namedMutant, error) {
	f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var out []namedMutant
	ast.Inspect(f, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok || !isListOf(lit.Type, "mutant") {
			return true
		}
		for _, e := range lit.Elts {
			if m, ok := mutantOf(e); ok {
				out = append(out, m)
			}
		}
		return true
	})
	return out, nil
}

func mutantOf(e ast.Expr) (m namedMutant, ok bool) {
	lit, isLit := e.(*ast.CompositeLit)
	if !isLit {
		return m, false
	}
	for _, field := range lit.Elts {
		key := ""
		if kv, ok := field.(*ast.KeyValueExpr); ok {
			if id, ok := kv.Key.(*ast.Ident); ok {
				key = id.Name
			}
			field = kv.Value
		}
		switch v := field.(type) {
		case *ast.BasicLit:
			if text, err := strconv.Unquote(v.Value); err == nil && m.name == "" && (key == "" || key == "name") {
				m.name = text
			}
		case *ast.CompositeLit:
			if m.facts == nil && (key == "facts" || key == "" && isListOf(v.Type, "string")) {
				m.facts = texts(v)
			}
		}
	}
	return m, m.name != ""
}

func isListOf(e ast.Expr, name string) bool {
	list, ok := e.(*ast.ArrayType)
	if !ok {
		return false
	}
	elem, ok := list.Elt.(*ast.Ident)
	return ok && elem.Name == name
}

func texts(lit *ast.CompositeLit) []string {
	var out []string
	for _, e := range lit.Elts {
		if v, ok := e.(*ast.BasicLit); ok {
			if text, err := strconv.Unquote(v.Value); err == nil {
				out = append(out, text)
			}
		}
	}
	return slices.Clip(out)
}
