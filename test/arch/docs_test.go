package arch

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

func TestEverythingExportedIsDocumented(t *testing.T) {
	t.Parallel()
	src := repo(t)
	for i := range src.pkgs {
		report(t, checkPackageComment(src, &src.pkgs[i]))
		report(t, checkDocs(src, &src.pkgs[i]))
	}
}

// checkPackageComment wants exactly one package comment, beginning as godoc expects. A package of tests only may have
// it in a test file.
func checkPackageComment(t *tree, p *pkg) []finding {
	files := productionFiles(p)
	if len(files) == 0 {
		for _, f := range p.files {
			files = append(files, f.ast)
		}
	}
	var found []finding
	documented := 0
	for _, f := range files {
		if f.Doc == nil || strings.TrimSpace(f.Doc.Text()) == "" {
			continue
		}
		documented++
		want := "Package " + f.Name.Name + " "
		if f.Name.Name == "main" {
			want = "Command "
		}
		if !strings.HasPrefix(f.Doc.Text(), want) {
			found = append(found, t.at(f.Doc.Pos(), "the package comment does not begin with %q", want))
		}
	}
	if documented != 1 {
		found = append(found, t.at(files[0].Package, "package %s has %d package comments, not one: what it answers, "+
			"what it never does, the one data path", p.path, documented))
	}
	return found
}

// checkDocs finds exported names of production code without a comment: declarations, methods, interface methods and
// struct fields. A comment covers the names that follow it without a blank line: a const block may be documented once, and
// a type's comment covers its first run of fields.
func checkDocs(t *tree, p *pkg) []finding {
	var found []finding
	for _, f := range productionFiles(p) {
		for _, decl := range f.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && exportedReceiver(d.Recv) && d.Doc == nil {
					found = append(found, t.at(d.Name.Pos(), "exported %s has no comment", d.Name.Name))
				}
			case *ast.GenDecl:
				found = append(found, docsOfDecl(t, d)...)
			}
		}
	}
	return found
}

// exportedReceiver says whether a method is reachable by its type's name; true for functions.
func exportedReceiver(recv *ast.FieldList) bool {
	if recv == nil {
		return true
	}
	e := recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return true
		}
	}
}

func docsOfDecl(t *tree, d *ast.GenDecl) []finding {
	var found []finding
	covered := coverage{tree: t}
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() {
				if d.Doc == nil && s.Doc == nil && s.Comment == nil {
					found = append(found, t.at(s.Pos(), "exported %s has no comment", s.Name.Name))
				}
				found = append(found, docsOfMembers(t, s, d.Doc != nil || s.Doc != nil)...)
			}
		case *ast.ValueSpec:
			ok := covered.next(s, s.Doc, s.Comment) || d.Doc != nil
			for _, name := range s.Names {
				if name.IsExported() && !ok {
					found = append(found, t.at(name.Pos(), "exported %s has no comment", name.Name))
				}
			}
		}
	}
	return found
}

// docsOfMembers judges the fields of a struct and the methods of an interface. Embedded ones are documented elsewhere.
func docsOfMembers(t *tree, s *ast.TypeSpec, documented bool) []finding {
	var members *ast.FieldList
	switch typ := s.Type.(type) {
	case *ast.StructType:
		members = typ.Fields
	case *ast.InterfaceType:
		members = typ.Methods
	default:
		return nil
	}
	var found []finding
	covered := coverage{tree: t, covered: documented, end: t.fset.Position(members.Opening).Line}
	for _, m := range members.List {
		ok := covered.next(m, m.Doc, m.Comment)
		for _, name := range m.Names {
			if name.IsExported() && !ok {
				found = append(found, t.at(name.Pos(), "exported %s.%s has no comment, nor is it right below one that has", s.Name.Name, name.Name))
			}
		}
	}
	return found
}

// coverage remembers whether the previous line of a block was covered by a comment.
type coverage struct {
	tree    *tree
	covered bool
	end     int // line
}

// next says whether the entry n is covered: by its own comment, or by the one that covers the line above.
func (c *coverage) next(n ast.Node, doc, comment *ast.CommentGroup) bool {
	line := func(pos token.Pos) int { return c.tree.fset.Position(pos).Line }
	c.covered = doc != nil || comment != nil || (c.covered && line(n.Pos()) == c.end+1)
	c.end = line(n.End())
	return c.covered
}

func TestDocRulesFire(t *testing.T) {
	t.Parallel()
	src, content := fixture(t, "docs.go", "core")
	expect(t, content, checkDocs(src, src.find("core")))
}

func TestPackageCommentRuleFires(t *testing.T) {
	t.Parallel()
	const good, bare = "// Package core answers.\npackage core\n", "package core\n"
	for name, c := range map[string]struct {
		sources map[string]string
		want    string
	}{
		"one comment":                      {map[string]string{"core/a.go": good, "core/b.go": bare}, ""},
		"no comment":                       {map[string]string{"core/a.go": bare}, "has 0 package comments"},
		"two comments":                     {map[string]string{"core/a.go": good, "core/b.go": good}, "has 2 package comments"},
		"a directive is no comment":        {map[string]string{"core/a.go": "//go:build linux\n\npackage core\n"}, "has 0 package comments"},
		"another beginning":                {map[string]string{"core/a.go": "// Core answers.\npackage core\n"}, `does not begin with "Package core "`},
		"a command":                        {map[string]string{"core/a.go": "// Command core runs.\npackage main\n"}, ""},
		"a command, badly begun":           {map[string]string{"core/a.go": "// Package main runs.\npackage main\n"}, `does not begin with "Command "`},
		"only in a test":                   {map[string]string{"core/a.go": bare, "core/a_test.go": good}, "has 0 package comments"},
		"only in a test, where that's all": {map[string]string{"core/a_test.go": good}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sources := map[string][]byte{}
			for file, content := range c.sources {
				sources[file] = []byte(content)
			}
			src, err := parseTree(sources)
			if err != nil {
				t.Fatal(err)
			}
			expectOne(t, c.want, checkPackageComment(src, src.find("core")))
		})
	}
}
