package mutate

import (
	"go/ast"
	"go/token"
	"go/types"
)

// either is a condition that reads differently while a mistake is made.
func either(alternative string) func(string, uint) string {
	return func(text string, n uint) string {
		return "(" + on(n) + " && (" + alternative + ") || !" + on(n) + " && (" + text + "))"
	}
}

func always(text string, n uint) string { return "(" + on(n) + " || (" + text + "))" }
func never(text string, n uint) string  { return "(!" + on(n) + " && (" + text + "))" }
func negated(text string, n uint) string {
	return "((" + text + ") != " + on(n) + ")"
}

// isBool tells whether an expression is a plain bool, so that the switch is one, too.
func (at *site) isBool(e ast.Expr) bool {
	t := at.info.TypeOf(e)
	if t == nil {
		return false
	}
	b, ok := t.(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0 && at.info.Types[e].Value == nil
}

// logical returns an expression if it is a conjunction or a disjunction.
func logical(e ast.Expr) (*ast.BinaryExpr, bool) {
	b, ok := ast.Unparen(e).(*ast.BinaryExpr)
	return b, ok && (b.Op == token.LAND || b.Op == token.LOR)
}

// conjuncts forget one of the parts of a conjunction or of a disjunction.
func conjuncts(at *site, n ast.Node) []*Mistake {
	b, ok := n.(*ast.BinaryExpr)
	if !ok {
		return nil
	}
	if _, ok := logical(b); !ok || !at.isBool(b) {
		return nil
	}
	kind, wrap := "conjunct deleted", always
	if b.Op == token.LOR {
		kind, wrap = "disjunct deleted", never
	}
	var all []*Mistake
	for _, of := range [][2]ast.Expr{{b.X, b.Y}, {b.Y, b.X}} {
		part, rest := of[0], of[1]
		if inner, ok := part.(*ast.BinaryExpr); ok && inner.Op == b.Op {
			// In a && b && c, read as (a && b) && c, a and b are the parts of the inner one.
			continue
		}
		if at.isBool(part) {
			all = append(all, at.changeIn(kind, b, part, at.text(rest), wrap))
		}
	}
	return all
}

// conditions are the wrong way round.
func conditions(at *site, n ast.Node) []*Mistake {
	var conds []ast.Expr
	switch n := n.(type) {
	case *ast.IfStmt:
		conds = []ast.Expr{n.Cond}
	case *ast.CaseClause:
		if at.isTagless() {
			conds = n.List
		}
	}
	var all []*Mistake
	for _, cond := range conds {
		if at.isBool(cond) {
			all = append(all, at.change("condition negated", cond, "!("+at.text(cond)+")", negated))
		}
	}
	return all
}

// isTagless tells whether the clause that is looked at is one of a switch over conditions.
func (at *site) isTagless() bool {
	if len(at.stack) < 2 {
		return false
	}
	s, ok := at.stack[len(at.stack)-2].(*ast.SwitchStmt)
	return ok && s.Tag == nil
}

// wider has what each comparison becomes if equality changes sides.
var wider = map[token.Token]token.Token{token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR}

// comparisons include or exclude equality, or hold always.
func comparisons(at *site, n ast.Node) []*Mistake {
	b, ok := n.(*ast.BinaryExpr)
	if !ok || !at.isBool(b) {
		return nil
	}
	if op, ok := wider[b.Op]; ok {
		kind := "comparison widened"
		if op == token.LSS || op == token.GTR {
			kind = "comparison narrowed"
		}
		with := at.replaced(b, b.OpPos, b.OpPos+token.Pos(len(b.Op.String())), op.String())
		return []*Mistake{at.change(kind, b, with, either(with))}
	}
	if b.Op != token.EQL && b.Op != token.NEQ {
		return nil
	}
	if outer, ok := at.parent().(*ast.BinaryExpr); ok && (outer.Op == token.LAND || outer.Op == token.LOR) {
		return nil // the same as to delete it there, or to delete the rest
	}
	return []*Mistake{at.change("comparison widened", b, "true", always)}
}
