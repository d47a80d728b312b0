package mutate

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
)

// site is one node of a function, with what is around it.
type site struct {
	*Source
	file  *File
	in    string     // the function, or the package's variable
	stack []ast.Node // from the declaration to the parent
}

// operators find the mistakes that can be made at one node.
var operators = []func(*site, ast.Node) []*Mistake{
	conjuncts, conditions, comparisons, bounds, extremes, signs, statements, jumps, elements, failures, cases,
}

// Mistakes returns all mistakes of a package in the order of its text.
func (s *Source) Mistakes() []*Mistake {
	var all []*Mistake
	for _, f := range s.Files {
		if ast.IsGenerated(f.ast) {
			continue
		}
		for _, decl := range f.ast.Decls {
			at := &site{Source: s, file: f, in: declared(decl)}
			if at.in == "" {
				continue
			}
			ast.PreorderStack(decl, nil, func(n ast.Node, stack []ast.Node) bool {
				at.stack = stack
				if at.skipped(n) {
					return false
				}
				for _, operator := range operators {
					all = append(all, operator(at, n)...)
				}
				return true
			})
		}
	}
	number(all)
	return all
}

// text says what a value looks like to people: what its methods get wrong changes no decision.
var forPeople = []string{"String", "GoString", "Error", "Format"}

// declared names a function or the variables of a declaration. It is empty where nothing is to be changed: constants
// and types, because they have to stay constant, and what only makes a value readable.
func declared(decl ast.Decl) string {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		switch {
		case d.Body == nil || d.Recv != nil && slices.Contains(forPeople, d.Name.Name):
			return ""
		case d.Recv != nil:
			return "(" + types.ExprString(d.Recv.List[0].Type) + ")." + d.Name.Name
		}
		return d.Name.Name
	case *ast.GenDecl:
		if d.Tok == token.VAR && len(d.Specs) > 0 {
			if v, ok := d.Specs[0].(*ast.ValueSpec); ok && len(v.Values) > 0 {
				return v.Names[0].Name
			}
		}
	}
	return ""
}

// unobserved are calls that no result depends on: sizes, locks, what is written to logs.
var unobserved = regexp.MustCompile(`^(Grow|Clip|Lock|Unlock|RLock|RUnlock|KeepAlive|Info|Debug|Warn|V|WithValues|WithName|Reset(Timer)?|Gosched)$`)

// skipped tells whether a node and what is below it are left alone.
func (at *site) skipped(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ArrayType, *ast.StructType, *ast.FuncType, *ast.InterfaceType:
		return true
	case *ast.GenDecl:
		return n.Tok != token.VAR
	case *ast.IfStmt:
		return onlyPanics(n.Body) && n.Else == nil
	case *ast.ExprStmt:
		call, ok := n.X.(*ast.CallExpr)
		return ok && (at.builtin(call, "panic") || at.isLog(call) || at.isRelease(call))
	case *ast.CallExpr:
		return at.isLog(n)
	case ast.Expr:
		if call, ok := at.parent().(*ast.CallExpr); ok {
			return at.isSize(call, n)
		}
	}
	return false
}

// parent is the node around the current one, nil for a declaration.
func (at *site) parent() ast.Node {
	if len(at.stack) == 0 {
		return nil
	}
	return at.stack[len(at.stack)-1]
}

func onlyPanics(body *ast.BlockStmt) bool {
	if len(body.List) != 1 {
		return false
	}
	if s, ok := body.List[0].(*ast.ExprStmt); ok {
		if call, ok := s.X.(*ast.CallExpr); ok {
			id, ok := call.Fun.(*ast.Ident)
			return ok && id.Name == "panic"
		}
	}
	return false
}

// builtin tells whether a call is one of Go's own function.
func (at *site) builtin(call *ast.CallExpr, name string) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok || id.Name != name {
		return false
	}
	_, ok = at.info.Uses[id].(*types.Builtin)
	return ok
}

// isLog tells whether a call is one that no result depends on.
func (at *site) isLog(call *ast.CallExpr) bool {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	if unobserved.MatchString(sel.Sel.Name) {
		return true
	}
	t := at.info.TypeOf(sel.X)
	return sel.Sel.Name == "Error" && t != nil && types.TypeString(t, nil) == "github.com/go-logr/logr.Logger"
}

// isRelease tells whether a call only lets go of what is behind a slice's end, as in clear(list[n:]).
func (at *site) isRelease(call *ast.CallExpr) bool {
	if !at.builtin(call, "clear") || len(call.Args) != 1 {
		return false
	}
	rest, ok := call.Args[0].(*ast.SliceExpr)
	return ok && rest.Low != nil && rest.High == nil
}

// isSize tells whether an argument only says how much memory to take at once.
func (at *site) isSize(call *ast.CallExpr, arg ast.Expr) bool {
	if !at.builtin(call, "make") {
		return false
	}
	if len(call.Args) > 2 && arg == call.Args[2] {
		return true
	}
	t := at.info.TypeOf(call)
	if t == nil || len(call.Args) < 2 || arg != call.Args[1] {
		return false
	}
	_, isMap := t.Underlying().(*types.Map)
	return isMap
}

func (at *site) offset(p token.Pos) int { return at.fset.Position(p).Offset }

// text is a node as it stands in the file.
func (at *site) text(n ast.Node) string {
	return at.file.Text[at.offset(n.Pos()):at.offset(n.End())]
}

// change is a mistake by which the text of a node becomes another.
func (at *site) change(kind string, n ast.Node, with string, wrap func(text string, n uint) string) *Mistake {
	return at.changeIn(kind, n, n, with, wrap)
}

// changeIn is a mistake by which the text of a node becomes another, behind a switch around a part of it.
func (at *site) changeIn(kind string, whole, part ast.Node, with string, wrap func(text string, n uint) string) *Mistake {
	literal := [2]int{at.offset(whole.Pos()), at.offset(whole.End())}
	return &Mistake{
		Package: at.Path, File: at.file.Name, Func: at.in, Kind: kind,
		Line:   at.fset.Position(whole.Pos()).Line,
		Before: oneLine(at.file.Text[literal[0]:literal[1]]), After: oneLine(with),
		source: at.Source, file: at.file,
		start: at.offset(part.Pos()), end: at.offset(part.End()), wrap: wrap,
		literal: literal, with: with,
	}
}

// replaced is the text of a node in which a part of it reads differently.
func (at *site) replaced(whole ast.Node, start, end token.Pos, with string) string {
	return at.file.Text[at.offset(whole.Pos()):at.offset(start)] + with + at.file.Text[at.offset(end):at.offset(whole.End())]
}
