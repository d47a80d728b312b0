package arch

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"testing"
)

// orderComment says why the order of a map does not matter at the loop below it, or beside it.
var orderComment = regexp.MustCompile(`(?m)^(?://|/\*)?\s*order: \S`)

// orderNote is one such comment; used once a loop has claimed it.
type orderNote struct {
	group *ast.CommentGroup
	used  bool
}

// orderNotes finds the annotations of a package, by file name and the last line they cover.
func (c *typed) orderNotes() map[token.Position]*orderNote {
	notes := map[token.Position]*orderNote{}
	for _, f := range c.files {
		for _, group := range f.Comments {
			for _, comment := range group.List {
				if orderComment.MatchString(comment.Text) {
					notes[c.lineOf(group.End()-1)] = &orderNote{group: group}
				}
			}
		}
	}
	return notes
}

// lineOf is a position reduced to file and line.
func (c *typed) lineOf(pos token.Pos) token.Position {
	p := c.tree.fset.Position(pos)
	return token.Position{Filename: p.Filename, Line: p.Line}
}

// checkMapOrder finds places where the order of a map can get out: range over a map, and the map iterators of package
// maps and of reflect unless they are sorted on the spot. `// order: <reason>` on the line above or on the same line
// allows one; a note without such a place is reported too, or notes would outlive their loops.
func checkMapOrder(c *typed) []finding {
	notes := c.orderNotes()
	sorted := c.sortedOnTheSpot()
	var found []finding
	visit := func(n ast.Node) bool {
		what := c.unordered(n, sorted)
		if what == "" {
			return true
		}
		line := c.lineOf(n.Pos())
		for range 2 {
			if note := notes[line]; note != nil {
				note.used = true
				return true
			}
			line.Line--
		}
		found = append(found, c.at(n, "%s: sort first (slices.Sorted(maps.Keys(m))), "+
			"or say above the line why the order cannot reach output: // order: <reason>", what))
		return true
	}
	c.inspect(visit)
	for _, f := range c.files {
		for _, group := range f.Comments {
			if note := notes[c.lineOf(group.End()-1)]; note != nil && note.group == group && !note.used {
				found = append(found, c.at(group, "stale order note: no map is iterated on this line or the next"))
			}
		}
	}
	return found
}

// unordered names the way in which a node lets a map's order out; empty if it does not.
func (c *typed) unordered(n ast.Node, sorted map[ast.Expr]bool) string {
	switch n := n.(type) {
	case *ast.RangeStmt:
		if t := c.info.TypeOf(n.X); t != nil && isMap(t) && (n.Key != nil || n.Value != nil) {
			return "range over a map"
		}
	case *ast.CallExpr:
		if !sorted[n] {
			return c.mapIterator(n)
		}
	}
	return ""
}

// isMap says whether a value of that type is a map, or may be one if the type is a type parameter.
func isMap(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.TypeParam); ok {
		constraint, _ := p.Constraint().Underlying().(*types.Interface)
		return constraint != nil && anyTerm(constraint, isMap)
	}
	_, ok := t.Underlying().(*types.Map)
	return ok
}

// anyTerm says whether one of the types in a constraint satisfies pred.
func anyTerm(constraint *types.Interface, pred func(types.Type) bool) bool {
	for i := range constraint.NumEmbeddeds() {
		switch e := constraint.EmbeddedType(i).(type) {
		case *types.Union:
			for j := range e.Len() {
				if pred(e.Term(j).Type()) {
					return true
				}
			}
		default:
			if _, isInterface := e.Underlying().(*types.Interface); !isInterface && pred(e) {
				return true
			}
		}
	}
	return false
}

// callee resolves what a call calls: its package, its name and whether it is a method.
func (c *typed) callee(call *ast.CallExpr) types.Object {
	fun := ast.Unparen(call.Fun)
	if index, ok := fun.(*ast.IndexExpr); ok {
		fun = index.X
	}
	switch fun := fun.(type) {
	case *ast.SelectorExpr:
		return c.info.Uses[fun.Sel]
	case *ast.Ident:
		return c.info.Uses[fun]
	}
	return nil
}

// mapIterator names the iterator a call creates, empty if it creates none.
func (c *typed) mapIterator(call *ast.CallExpr) string {
	obj := c.callee(call)
	if obj == nil || obj.Pkg() == nil {
		return ""
	}
	switch name := obj.Pkg().Path() + "." + obj.Name(); name {
	case "maps.Keys", "maps.Values", "maps.All", "reflect.MapKeys", "reflect.MapRange":
		return name
	}
	return ""
}

// sortedOnTheSpot collects the arguments of slices.Sorted and its sisters, and of maps.Collect and maps.Insert, where
// the order of the iterator is lost again.
func (c *typed) sortedOnTheSpot() map[ast.Expr]bool {
	args := map[ast.Expr]bool{}
	c.inspect(func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		path, name, ok := packageLevel(c.callee(call))
		if !ok {
			return true
		}
		switch path + "." + name {
		case "slices.Sorted", "slices.SortedFunc", "maps.Collect":
			args[call.Args[0]] = true
		case "maps.Insert":
			args[call.Args[1]] = true
		}
		return true
	})
	return args
}

func TestMapOrderRuleFires(t *testing.T) {
	t.Parallel()
	checked, content := checkFixture(t, "order.go", "core")
	expect(t, content, checkMapOrder(checked))
}
