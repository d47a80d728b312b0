package mutate

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// zeroed is a value that is its type's zero value while a mistake is made.
func zeroed(typ string) func(string, uint) string {
	return func(text string, n uint) string {
		return fmt.Sprintf("lameduckPick[%s](%d, %s, *new(%s))", typ, n, text, typ)
	}
}

// elements of a struct are left out.
func elements(at *site, n ast.Node) []*Mistake {
	kv, ok := n.(*ast.KeyValueExpr)
	if !ok {
		return nil
	}
	lit, ok := at.parent().(*ast.CompositeLit)
	if !ok {
		return nil
	}
	t := at.info.TypeOf(lit)
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	str, ok := t.Underlying().(*types.Struct)
	if !ok || at.isZero(kv.Value) || at.isText(kv.Value) {
		return nil
	}
	key, ok := kv.Key.(*ast.Ident)
	if !ok {
		return nil
	}
	typ := ""
	for field := range str.Fields() {
		if field.Name() == key.Name {
			typ = at.typeText(field.Type(), kv.Pos())
		}
	}
	if typ == "" {
		return nil
	}
	return []*Mistake{at.changeIn("field ignored", kv, kv.Value, "", zeroed(typ))}
}

// isText tells whether a value of a package's variable is a text that is written down there: it is read by people only.
func (at *site) isText(e ast.Expr) bool {
	v := at.info.Types[e]
	if v.Value == nil {
		return false
	}
	basic, ok := v.Type.Underlying().(*types.Basic)
	if !ok || basic.Info()&types.IsString == 0 {
		return false
	}
	_, variable := at.stack[0].(*ast.GenDecl)
	key, _ := at.stack[len(at.stack)-1].(*ast.CompositeLit)
	return variable || key != nil && types.TypeString(at.info.TypeOf(key), nil) == "github.com/spf13/cobra.Command"
}

// failures are taken for success: an error is not handed on.
func failures(at *site, n ast.Node) []*Mistake {
	ret, ok := n.(*ast.ReturnStmt)
	if !ok {
		return nil
	}
	fn := at.function()
	if fn == nil || fn.Results == nil {
		return nil
	}
	if results := fn.Results.NumFields(); len(ret.Results) != results {
		return nil
	}
	var all []*Mistake
	for i, e := range ret.Results {
		if at.info.Types[e].IsNil() || !at.returnsError(fn, i) {
			continue
		}
		with := at.replaced(ret, e.Pos(), e.End(), "nil")
		all = append(all, at.changeIn("error ignored", ret, e, with, zeroed("error")))
	}
	return all
}

// function is the type of the innermost function around the node.
func (at *site) function() *ast.FuncType {
	for i := len(at.stack) - 1; i >= 0; i-- {
		switch f := at.stack[i].(type) {
		case *ast.FuncLit:
			return f.Type
		case *ast.FuncDecl:
			return f.Type
		}
	}
	return nil
}

// returnsError tells whether the result at a position is an error.
func (at *site) returnsError(fn *ast.FuncType, i int) bool {
	for _, field := range fn.Results.List {
		if i -= max(len(field.Names), 1); i < 0 {
			t := at.info.TypeOf(field.Type)
			return t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
		}
	}
	return false
}

// cases of a switch are forgotten: what they are for goes where everything else goes.
func cases(at *site, n ast.Node) []*Mistake {
	clause, ok := n.(*ast.CaseClause)
	if !ok || len(at.stack) < 2 {
		return nil
	}
	s, ok := at.stack[len(at.stack)-2].(*ast.SwitchStmt)
	if !ok {
		return nil // a switch over types
	}
	also, ok := at.spelledOut(s)
	if !ok || s.Tag != nil && len(clause.Body) == 0 && !hasDefault(s) {
		return nil // without it nothing happens, either
	}
	var all []*Mistake
	for i, e := range clause.List {
		if s.Tag == nil && !at.isBool(e) {
			continue
		}
		m := at.changeIn("case dropped", e, e, "", never)
		switch {
		case len(clause.List) == 1:
			m.Before, m.literal = "case "+m.Before+":", [2]int{at.offset(clause.Pos()), at.offset(clause.End())}
		case i == 0:
			m.literal[1] = at.offset(clause.List[1].Pos())
		default:
			m.literal[0] = at.offset(clause.List[i-1].End())
		}
		m.also = also
		all = append(all, m)
	}
	return all
}

func hasDefault(s *ast.SwitchStmt) bool {
	return slices.ContainsFunc(s.Body.List, func(c ast.Stmt) bool {
		clause, ok := c.(*ast.CaseClause)
		return ok && clause.List == nil
	})
}

// spelledOut has a switch over a value compare it in each case, as in switch v := tag; { case v == 1: }: then a case
// can have a further condition. That does not work for one that has an assignment of its own.
func (at *site) spelledOut(s *ast.SwitchStmt) ([]wrapper, bool) {
	if s.Tag == nil {
		return nil, true
	}
	if s.Init != nil || at.info.Types[s.Tag].Value != nil {
		return nil, false
	}
	tag := fmt.Sprintf("lameduckTag%d", at.offset(s.Switch))
	also := []wrapper{at.around(s.Tag.Pos(), s.Tag.End(), tag+" := ", ";")}
	for _, clause := range s.Body.List {
		for _, e := range clause.(*ast.CaseClause).List { //nolint:errcheck // the body of a switch has nothing else
			also = append(also, at.around(e.Pos(), e.End(), "("+tag+" == (", "))"))
		}
	}
	return also, true
}

func (at *site) around(start, end token.Pos, before, after string) wrapper {
	return wrapper{at.offset(start), at.offset(end), func(s string) string { return before + s + after }}
}
