package arch

import (
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	maxFuncLines = 60
	maxMainLines = 40
	mainFile     = "cmd/lameduck/main.go"
)

func TestFunctionsAreShort(t *testing.T) {
	t.Parallel()
	report(t, checkFuncLines(repo(t), maxFuncLines))
}

// checkFuncLines finds functions and package-level function literals whose body has more than limit lines, braces not
// counted. Tests may be longer: a table reads well at any length.
func checkFuncLines(t *tree, limit int) []finding {
	var found []finding
	measure := func(name string, body *ast.BlockStmt) {
		lines := t.fset.Position(body.Rbrace).Line - t.fset.Position(body.Lbrace).Line - 1
		if lines > limit {
			found = append(found, t.at(body.Pos(), "%s has %d lines, more than %d: push ifs up and loops down, and split it",
				name, lines, limit))
		}
	}
	for i := range t.pkgs {
		for _, f := range productionFiles(&t.pkgs[i]) {
			for _, decl := range f.Decls {
				switch d := decl.(type) {
				case *ast.FuncDecl:
					if d.Body != nil {
						measure(d.Name.Name, d.Body)
					}
				case *ast.GenDecl:
					ast.Inspect(d, func(n ast.Node) bool {
						if lit, ok := n.(*ast.FuncLit); ok {
							measure("function literal", lit.Body)
						}
						return true
					})
				}
			}
		}
	}
	return found
}

func TestFuncLinesRuleFires(t *testing.T) {
	t.Parallel()
	body := func(lines int) string { return "{\n" + strings.Repeat("\t_ = 0\n", lines) + "}\n" }
	for name, c := range map[string]struct {
		file, source, want string
	}{
		"at the limit":               {"core/a.go", "func f() " + body(3), ""},
		"one line over":              {"core/a.go", "func f() " + body(4), "f has 4 lines, more than 3"},
		"a method":                   {"core/a.go", "type t int\n\nfunc (t) m() " + body(4), "m has 4 lines"},
		"a package-level literal":    {"core/a.go", "var f = func() " + body(4), "function literal has 4 lines"},
		"a declaration without body": {"core/a.go", "func f()\n", ""},
		"a test":                     {"core/a_test.go", "func f() " + body(4), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src, err := parseTree(map[string][]byte{c.file: []byte("package core\n\n" + c.source)})
			if err != nil {
				t.Fatal(err)
			}
			expectOne(t, c.want, checkFuncLines(src, 3))
		})
	}
}

func TestMainIsShort(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join(repoRoot(t), filepath.FromSlash(mainFile)))
	if err != nil {
		t.Fatal(err)
	}
	report(t, checkMainLines(content, maxMainLines))
}

// checkMainLines holds main.go to the one job it has: root command in, exit code out.
func checkMainLines(content []byte, limit int) []finding {
	if lines := strings.Count(string(content), "\n"); lines >= limit {
		return []finding{{msg: fmt.Sprintf("%s has %d lines, not under %d: verbs live in cmd/lameduck/internal/cli", mainFile, lines, limit)}}
	}
	return nil
}

func TestMainLinesRuleFires(t *testing.T) {
	t.Parallel()
	expectOne(t, "", checkMainLines([]byte(strings.Repeat("\n", 39)), 40))
	expectOne(t, "has 40 lines, not under 40", checkMainLines([]byte(strings.Repeat("\n", 40)), 40))
}
