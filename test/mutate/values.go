package mutate

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

// pick is a value that is another while a mistake is made. Both are worked out: for constants.
func pick(typ, wrong string) func(string, uint) string {
	return func(text string, n uint) string {
		return fmt.Sprintf("lameduckPick[%s](%d, %s, %s)", typ, n, text, wrong)
	}
}

// instead is a value that is worked out differently while a mistake is made.
func instead(typ, wrong string) func(string, uint) string {
	return func(text string, n uint) string {
		return "func() " + typ + " { if " + on(n) + " { return " + wrong + " }; return " + text + " }()"
	}
}

// shift is by how much a constant is off. An ordered comparison is shifted the way that widening or narrowing it does
// not: n < 3 becomes n < 2, because n <= 3 is another mistake already.
func shift(b *ast.BinaryExpr, left bool) int64 {
	up := map[token.Token]bool{token.LSS: false, token.LEQ: true, token.GTR: true, token.GEQ: false}
	yes, ordered := up[b.Op]
	if ordered && yes == left {
		return -1
	}
	return 1
}

// shiftable are operators of which a constant part can be off by one.
var shiftable = map[token.Token]bool{
	token.LSS: true, token.LEQ: true, token.GTR: true, token.GEQ: true, token.EQL: true, token.NEQ: true,
	token.ADD: true, token.SUB: true, token.MUL: true, token.QUO: true, token.REM: true,
}

// bounds are off by one: constants in comparisons and arithmetic, of slices, and where loops begin.
func bounds(at *site, n ast.Node) []*Mistake {
	e, ok := n.(ast.Expr)
	if !ok {
		return nil
	}
	by := int64(0)
	switch p := at.parent().(type) {
	case *ast.BinaryExpr:
		if shiftable[p.Op] && at.countable(p, e) {
			by = shift(p, e == p.X)
		}
	case *ast.SliceExpr:
		if e != p.X {
			by = 1
		}
	case *ast.IndexExpr:
		if t := at.info.TypeOf(p.X); e == p.Index && t != nil {
			if _, isMap := t.Underlying().(*types.Map); !isMap {
				by = 1
			}
		}
	case *ast.AssignStmt:
		if len(at.stack) > 1 {
			if f, ok := at.stack[len(at.stack)-2].(*ast.ForStmt); ok && f.Init == p && e == p.Rhs[0] {
				by = 1
			}
		}
	}
	if by == 0 {
		return nil
	}
	return at.off(e, by)
}

// countable tells whether one more or less of a constant is more than a nanosecond, or the next name of a list.
func (at *site) countable(p *ast.BinaryExpr, e ast.Expr) bool {
	if p.Op == token.MUL {
		return true
	}
	t := at.info.TypeOf(e)
	if t == nil {
		return false
	}
	_, basic := types.Unalias(t).(*types.Basic)
	return basic
}

// off is the mistake of a whole number that is off by some, nothing for any other expression.
func (at *site) off(e ast.Expr, by int64) []*Mistake {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.INT {
			return nil
		}
	case *ast.Ident:
		if c, ok := at.info.Uses[e].(*types.Const); !ok || c.Pkg() != at.pkg {
			return nil
		}
	default:
		return nil
	}
	tv := at.info.Types[e]
	basic, ok := tv.Type.Underlying().(*types.Basic)
	if !ok || tv.Value == nil || basic.Info()&types.IsInteger == 0 {
		return nil
	}
	if basic.Info()&types.IsUnsigned != 0 && by < 0 && constant.Sign(tv.Value) == 0 {
		by = 1
	}
	typ := at.typeText(tv.Type, e.Pos())
	wrong := constant.BinaryOp(constant.ToInt(tv.Value), token.ADD, constant.MakeInt64(by))
	value, exact := constant.Int64Val(wrong)
	if typ == "" || !exact || value > 255 && basic.Kind() != types.Int && basic.Kind() != types.Int64 {
		return nil
	}
	return []*Mistake{at.change("bound shifted", e, wrong.ExactString(), pick(typ, wrong.ExactString()))}
}

// extremes take the largest for the smallest.
func extremes(at *site, n ast.Node) []*Mistake {
	call, ok := n.(*ast.CallExpr)
	if !ok || at.info.Types[call].Value != nil || call.Ellipsis.IsValid() {
		return nil
	}
	for _, names := range [][2]string{{"min", "max"}, {"max", "min"}} {
		right, wrong := names[0], names[1]
		if !at.builtin(call, right) || len(call.Args) < 2 {
			continue
		}
		if typ := at.typeText(at.info.TypeOf(call), call.Pos()); typ != "" {
			with := at.replaced(call, call.Fun.Pos(), call.Fun.End(), wrong)
			return []*Mistake{at.change(wrong+" for "+right, call, with, instead(typ, with))}
		}
	}
	return nil
}

// signs take + for -.
func signs(at *site, n ast.Node) []*Mistake {
	b, ok := n.(*ast.BinaryExpr)
	if !ok || b.Op != token.ADD && b.Op != token.SUB {
		return nil
	}
	tv := at.info.Types[b]
	if tv.Value != nil || tv.Type == nil {
		return nil
	}
	basic, ok := tv.Type.Underlying().(*types.Basic)
	typ := at.typeText(tv.Type, b.Pos())
	if !ok || basic.Info()&types.IsNumeric == 0 || typ == "" {
		return nil
	}
	op := map[token.Token]string{token.ADD: "-", token.SUB: "+"}[b.Op]
	with := at.replaced(b, b.OpPos, b.OpPos+1, op)
	return []*Mistake{at.change(op+" for "+b.Op.String(), b, with, instead(typ, with))}
}
