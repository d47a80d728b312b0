package mutate

import (
	"go/ast"
	"go/token"
	"go/types"
)

// unless has a statement carried out only while no mistake is made.
func unless(text string, n uint) string { return "if !" + on(n) + " { " + text + "\n}" }

// inBlock tells whether the node that is looked at is one of a list of statements, and can be left out.
func (at *site) inBlock() bool {
	switch at.parent().(type) {
	case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
		return true
	}
	return false
}

// statements are forgotten: assignments and calls.
func statements(at *site, n ast.Node) []*Mistake {
	s, ok := n.(ast.Stmt)
	if !ok || !at.inBlock() || at.isCommunication(s) {
		return nil
	}
	drop := func(kind string) []*Mistake { return []*Mistake{at.change(kind, s, "", unless)} }
	switch s := s.(type) {
	case *ast.IncDecStmt:
		return append(drop("statement dropped"), at.backwards(s, s.TokPos, map[token.Token]string{token.INC: "--", token.DEC: "++"}[s.Tok], s.Tok)...)
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		switch {
		case !ok:
			return nil
		case at.builtin(call, "delete") || at.builtin(call, "clear"):
			return drop("reset dropped")
		}
		return drop("statement dropped")
	case *ast.AssignStmt:
		return at.assignment(s, drop)
	}
	return nil
}

// isCommunication tells whether a statement is what a case of a select waits for.
func (at *site) isCommunication(s ast.Stmt) bool {
	c, ok := at.parent().(*ast.CommClause)
	return ok && c.Comm == s
}

func (at *site) assignment(s *ast.AssignStmt, drop func(kind string) []*Mistake) []*Mistake {
	if s.Tok == token.DEFINE {
		return nil
	}
	if s.Tok == token.ADD_ASSIGN || s.Tok == token.SUB_ASSIGN {
		all := drop("statement dropped")
		if basic, ok := at.info.TypeOf(s.Lhs[0]).Underlying().(*types.Basic); ok && basic.Info()&types.IsNumeric != 0 {
			all = append(all, at.backwards(s, s.TokPos, map[token.Token]string{token.ADD_ASSIGN: "-=", token.SUB_ASSIGN: "+="}[s.Tok], s.Tok)...)
		}
		return all
	}
	if id, ok := s.Lhs[0].(*ast.Ident); ok && id.Name == "_" && len(s.Lhs) == 1 {
		return nil
	}
	_, isField := s.Lhs[0].(*ast.SelectorExpr)
	switch {
	case len(s.Rhs) == 1 && at.isReset(s.Rhs[0]):
		return drop("reset dropped")
	case isField:
		return drop("field ignored")
	}
	return drop("statement dropped")
}

// backwards counts down for up.
func (at *site) backwards(s ast.Stmt, tok token.Pos, with string, was token.Token) []*Mistake {
	wrong := at.replaced(s, tok, tok+2, with)
	return []*Mistake{at.change(with+" for "+was.String(), s, wrong, func(text string, n uint) string {
		return "if " + on(n) + " { " + wrong + " } else { " + text + "\n}"
	})}
}

// isReset tells whether an assigned value is where something starts from.
func (at *site) isReset(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	case *ast.SliceExpr:
		high, ok := e.High.(*ast.BasicLit)
		return ok && e.Low == nil && high.Value == "0"
	}
	return at.isZero(e)
}

// isZero tells whether an expression is a constant that its type has anyway.
func (at *site) isZero(e ast.Expr) bool {
	if at.info.Types[e].IsNil() {
		return true
	}
	v := at.info.Types[e].Value
	return v != nil && (v.ExactString() == "0" || v.ExactString() == "false" || v.ExactString() == `""`)
}

// jumps out of an if are forgotten: the last statement of its body, where nothing else is to be done otherwise.
func jumps(at *site, n ast.Node) []*Mistake {
	s, ok := n.(ast.Stmt)
	if !ok || len(at.stack) < 2 {
		return nil
	}
	body, ok := at.parent().(*ast.BlockStmt)
	if !ok || body.List[len(body.List)-1] != s {
		return nil
	}
	i := len(at.stack) - 2
	cond, ok := at.stack[i].(*ast.IfStmt)
	if !ok || cond.Body != body || cond.Else != nil || i == 0 {
		return nil
	}
	if _, chained := at.stack[i-1].(*ast.IfStmt); chained {
		return nil // an else if: the whole of it may be what ends a function
	}
	around, _ := at.stack[i-1].(*ast.BlockStmt)
	last := around != nil && around.List[len(around.List)-1] == cond
	kind := ""
	switch s := s.(type) {
	case *ast.ReturnStmt:
		if !last || len(s.Results) > 0 {
			kind = "early return dropped"
		}
	case *ast.BranchStmt:
		switch {
		case s.Tok == token.BREAK:
			kind = "break dropped"
		case s.Tok == token.CONTINUE && (s.Label != nil || !last):
			kind = "continue dropped"
		}
	}
	if kind == "" {
		return nil
	}
	return []*Mistake{at.change(kind, s, "", unless)}
}
