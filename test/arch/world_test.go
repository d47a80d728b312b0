package arch

import (
	"go/ast"
	"strings"
	"testing"
)

// maxWorldFields is how many fields the simulated cluster has at most: it is put together from rooms, and is none.
const maxWorldFields = 12

// holdWorld are the packages that may keep a cluster.World: it itself, and who runs it.
var holdWorld = map[string]bool{"sim/cluster": true, "sim": true}

func TestWorldIsPutTogether(t *testing.T) {
	t.Parallel()
	src := repo(t)
	report(t, checkWorldFields(src, maxWorldFields))
	report(t, checkWhoHoldsTheWorld(src))
}

// checkWorldFields counts the fields of cluster.World. One that is embedded counts as one.
func checkWorldFields(t *tree, limit int) []finding {
	var found []finding
	eachStruct(t, func(pkg, name string, s *ast.StructType) {
		if pkg != "sim/cluster" || name != "World" {
			return
		}
		n := 0
		for _, f := range s.Fields.List {
			n += max(1, len(f.Names))
		}
		if n > limit {
			found = append(found, t.at(s.Pos(), "World has %d fields, more than %d: what belongs together has a type of its own, and who works there a desk", n, limit))
		}
	})
	return found
}

// checkWhoHoldsTheWorld finds structs that keep a *cluster.World where none may.
func checkWhoHoldsTheWorld(t *tree) []finding {
	var found []finding
	eachStruct(t, func(pkg, name string, s *ast.StructType) {
		if holdWorld[pkg] {
			return
		}
		for _, f := range s.Fields.List {
			star, ok := f.Type.(*ast.StarExpr)
			if !ok {
				continue
			}
			if sel, ok := star.X.(*ast.SelectorExpr); ok && sel.Sel.Name == "World" {
				found = append(found, t.at(f.Pos(), "%s holds a *World: give it a desk with what it needs", name))
			}
		}
	})
	return found
}

// eachStruct visits the struct types of production code.
func eachStruct(t *tree, visit func(pkg, name string, s *ast.StructType)) {
	for i := range t.pkgs {
		for _, f := range productionFiles(&t.pkgs[i]) {
			ast.Inspect(f, func(n ast.Node) bool {
				if spec, ok := n.(*ast.TypeSpec); ok {
					if s, ok := spec.Type.(*ast.StructType); ok {
						visit(t.pkgs[i].path, spec.Name.Name, s)
					}
				}
				return true
			})
		}
	}
}

func TestWorldRulesFire(t *testing.T) {
	t.Parallel()
	parse := func(file, source string) *tree {
		t.Helper()
		src, err := parseTree(map[string][]byte{file: []byte("package x\n\n" + source)})
		if err != nil {
			t.Fatal(err)
		}
		return src
	}
	for source, want := range map[string]string{
		"type World struct { a, b int; c int }":           "",
		"type World struct { a, b int; c int; Embedded }": "World has 4 fields, more than 3",
		"type Other struct { a, b, c, d int }":            "",
	} {
		expectOne(t, want, checkWorldFields(parse("sim/cluster/a.go", source), 3))
	}
	held := "type T struct { w *cluster.World }"
	expectOne(t, "", checkWhoHoldsTheWorld(parse("sim/run.go", held)))
	expectOne(t, "", checkWhoHoldsTheWorld(parse("sim/kubelet/a.go", strings.ReplaceAll(held, "World", "Desk"))))
	expectOne(t, "T holds a *World", checkWhoHoldsTheWorld(parse("sim/kubelet/a.go", held)))
}
