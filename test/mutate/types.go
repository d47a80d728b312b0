package mutate

import (
	"go/token"
	"go/types"
)

// spelling writes a type as it can be written at one position.
type spelling struct {
	*site
	pos token.Pos
	ok  bool // false once something cannot be written there
}

// typeText is a type as it can be written at a position, "" if it cannot: because its name is hidden there or not
// exported, or because it has none.
func (at *site) typeText(t types.Type, pos token.Pos) string {
	s := &spelling{at, pos, true}
	s.visit(t)
	text := types.TypeString(t, s.imported)
	if !s.ok {
		return ""
	}
	return text
}

// resolves tells whether a name stands for an object at the position.
func (s *spelling) resolves(obj types.Object) bool {
	_, found := s.pkg.Scope().Innermost(s.pos).LookupParent(obj.Name(), s.pos)
	return found == obj
}

// imported is the name of a package in the file.
func (s *spelling) imported(p *types.Package) string {
	if p == s.pkg {
		return ""
	}
	for _, spec := range s.file.ast.Imports {
		if name := s.info.PkgNameOf(spec); name != nil && name.Imported() == p && s.resolves(name) {
			return name.Name()
		}
	}
	s.ok = false
	return ""
}

func (s *spelling) visit(t types.Type) {
	switch t := t.(type) {
	case *types.Basic:
		obj := types.Universe.Lookup(t.Name()) // nil for unsafe.Pointer and for what has no type yet
		s.ok = s.ok && obj != nil && s.resolves(obj)
	case *types.Pointer:
		s.visit(t.Elem())
	case *types.Slice:
		s.visit(t.Elem())
	case *types.Map:
		s.visit(t.Key())
		s.visit(t.Elem())
	case *types.TypeParam:
		s.ok = s.ok && s.resolves(t.Obj())
	case *types.Named:
		s.named(t.Obj(), t.TypeArgs())
	case *types.Alias:
		s.named(t.Obj(), t.TypeArgs())
	default:
		s.ok = false
	}
}

func (s *spelling) named(obj *types.TypeName, args *types.TypeList) {
	if obj.Pkg() == s.pkg || obj.Pkg() == nil {
		s.ok = s.ok && s.resolves(obj)
	} else {
		s.ok = s.ok && obj.Exported()
	}
	for arg := range args.Types() {
		s.visit(arg)
	}
}
