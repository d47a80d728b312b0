package arch

import (
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestImportsFollowTheArrows(t *testing.T) {
	t.Parallel()
	src := repo(t)
	report(t, checkImports(src, packages, trees, testModules))
	report(t, checkStale(src, packages, trees))
}

// imported is one import of one file.
type imported struct {
	path string
	test bool
	pos  token.Pos
}

func importsOf(p *pkg) []imported {
	var all []imported
	for _, f := range p.files {
		for _, spec := range f.ast.Imports {
			if name, err := strconv.Unquote(spec.Path.Value); err == nil {
				all = append(all, imported{path: name, test: f.test, pos: spec.Pos()})
			}
		}
	}
	return all
}

// under says whether path is root or below it: import paths and directories alike.
func under(path, root string) bool {
	return path == root || strings.HasPrefix(path, root+"/")
}

// isStandard follows the go tool: only standard packages have a first element without a dot.
func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

func permitted(path string, lists ...[]permit) bool {
	for _, list := range lists {
		for _, p := range list {
			if under(path, p.target) {
				return true
			}
		}
	}
	return false
}

func permittedOwn(path string, lists ...[]permit) bool {
	return slices.ContainsFunc(slices.Concat(lists...), func(p permit) bool { return p.target == path })
}

// treeOf returns the tree rule a package falls under, nil if none.
func treeOf(path string, roots []treeRule) *treeRule {
	for i := range roots {
		if under(path, roots[i].path) {
			return &roots[i]
		}
	}
	return nil
}

func ruleOf(path string, rules []packageRule) *packageRule {
	for i := range rules {
		if rules[i].path == path {
			return &rules[i]
		}
	}
	return nil
}

// checkImports finds every import no permit allows, and every package the table does not know.
func checkImports(t *tree, rules []packageRule, roots []treeRule, forTests []permit) []finding {
	var found []finding
	for i := range t.pkgs {
		p := &t.pkgs[i]
		root, rule := treeOf(p.path, roots), ruleOf(p.path, rules)
		if root == nil && rule == nil {
			found = append(found, t.at(p.files[0].ast.Package, "package %s is not in the table of test/arch/table_test.go: "+
				"say there what it is, whether it is pure, and what it may import and why", p.path))
			continue
		}
		for _, imp := range importsOf(p) {
			if isStandard(imp.path) {
				continue
			}
			if own, isOwn := strings.CutPrefix(imp.path, module+"/"); isOwn {
				found = append(found, checkOwn(t, p.path, own, imp, rule, root, roots)...)
			} else {
				found = append(found, checkModule(t, p.path, imp, rule, root, forTests)...)
			}
		}
	}
	return found
}

// checkOwn judges an import of one of our own packages.
func checkOwn(t *tree, from, to string, imp imported, rule *packageRule, root *treeRule, roots []treeRule) []finding {
	if from == to { // an external test package
		return nil
	}
	if target := treeOf(to, roots); target != nil {
		if root != nil && (root.path == target.path || root.path == "test") || imp.test && permittedOwn(to, target.open) {
			return nil
		}
		return []finding{t.at(imp.pos, "%s imports %s: nothing imports from %s", from, to, target.path)}
	}
	if root != nil || permittedOwn(to, rule.own) || (imp.test && permittedOwn(to, rule.testOwn)) {
		return nil
	}
	if imp.test {
		return []finding{t.at(imp.pos, "the tests of %s import %s: no such arrow; use what %s may import, "+
			"or add it to testOwn in test/arch/table_test.go with a reason", from, to, from)}
	}
	return []finding{t.at(imp.pos, "%s imports %s: no such arrow; move the code to where the arrow allows it, "+
		"or add the arrow to test/arch/table_test.go with a reason", from, to)}
}

// checkModule judges an import of a third-party package.
func checkModule(t *tree, from string, imp imported, rule *packageRule, root *treeRule, forTests []permit) []finding {
	var lists [][]permit
	if root != nil {
		lists = append(lists, root.modules)
	}
	if rule != nil {
		lists = append(lists, rule.modules)
	}
	if imp.test {
		lists = append(lists, forTests)
		if rule != nil {
			lists = append(lists, rule.testModules)
		}
	}
	if permitted(imp.path, lists...) {
		return nil
	}
	return []finding{t.at(imp.pos, "%s imports %s: not in its list of third-party modules; do without, "+
		"or add the module to test/arch/table_test.go with a reason", from, imp.path)}
}

// checkStale finds permits nobody uses any more. A permit for a package that does not exist yet is not stale.
func checkStale(t *tree, rules []packageRule, roots []treeRule) []finding {
	var found []finding
	for _, rule := range rules {
		p := t.find(rule.path)
		if p == nil {
			continue
		}
		imps := importsOf(p)
		testImps := slices.DeleteFunc(slices.Clone(imps), func(imp imported) bool { return !imp.test })
		found = append(found, staleOwn(t, rule.path, rule.own, imps)...)
		found = append(found, staleOwn(t, rule.path, rule.testOwn, testImps)...)
		found = append(found, staleModules(rule.path, rule.modules, imps)...)
		found = append(found, staleModules(rule.path, rule.testModules, testImps)...)
		for _, e := range rule.exempt {
			found = append(found, staleModules(rule.path, []permit{{e.target, e.reason}}, imps)...)
		}
	}
	for _, root := range roots {
		var imps []imported
		exists := false
		for i := range t.pkgs {
			if under(t.pkgs[i].path, root.path) {
				exists = true
				imps = append(imps, importsOf(&t.pkgs[i])...)
			}
		}
		if exists {
			found = append(found, staleModules(root.path, root.modules, imps)...)
		}
	}
	return found
}

func staleOwn(t *tree, from string, permits []permit, imps []imported) []finding {
	var found []finding
	for _, p := range permits {
		used := func(imp imported) bool { return imp.path == module+"/"+p.target }
		if t.find(p.target) != nil && !slices.ContainsFunc(imps, used) {
			found = append(found, stale(from, p))
		}
	}
	return found
}

func staleModules(from string, permits []permit, imps []imported) []finding {
	var found []finding
	for _, p := range permits {
		used := func(imp imported) bool { return under(imp.path, p.target) }
		if !slices.ContainsFunc(imps, used) {
			found = append(found, stale(from, p))
		}
	}
	return found
}

func stale(from string, p permit) finding {
	return finding{msg: "stale entry in test/arch/table_test.go: " + from + " does not import " + p.target + " (" + p.reason + ")"}
}

func TestImportRulesFire(t *testing.T) {
	t.Parallel()
	const own = `"` + module + `/`
	rules := []packageRule{
		{
			path: "core", own: []permit{{"words", "names"}}, modules: []permit{{"example.org/tree", "order"}},
			testOwn: []permit{{"helper", "test input"}}, testModules: []permit{{"example.org/check", "assertions"}},
		},
		{path: "words"}, {path: "helper"},
	}
	roots := []treeRule{{path: "cmd"}, {path: "test", open: []permit{{"test/open", "for all tests"}}}}
	forTests := []permit{{"example.org/diff", "differences"}}

	for name, c := range map[string]struct {
		file, imports string
		want          string // empty: allowed
	}{
		"a listed arrow":                          {"core/a.go", own + `words"`, ""},
		"an arrow nobody listed":                  {"core/a.go", own + `helper"`, "core imports helper: no such arrow"},
		"an arrow against the grain":              {"words/a.go", own + `core"`, "words imports core: no such arrow"},
		"a package below a listed one":            {"core/a.go", own + `words/inner"`, "core imports words/inner: no such arrow"},
		"a test arrow, in a test":                 {"core/a_test.go", own + `helper"`, ""},
		"an arrow nobody listed, in a test":       {"words/a_test.go", own + `helper"`, "the tests of words import helper"},
		"an external test package":                {"words/a_test.go", own + `words"`, ""},
		"cmd may import anything":                 {"cmd/x/a.go", own + `words"`, ""},
		"nothing imports cmd":                     {"core/a.go", own + `cmd/x"`, "nothing imports from cmd"},
		"nothing imports test, cmd included":      {"cmd/x/a.go", own + `test/x"`, "nothing imports from test"},
		"what of test is open, in a test":         {"words/a_test.go", own + `test/open"`, ""},
		"what of test is open, in production":     {"words/a.go", own + `test/open"`, "nothing imports from test"},
		"what of test is not open, in a test":     {"words/a_test.go", own + `test/x"`, "nothing imports from test"},
		"test may import cmd":                     {"test/x/a.go", own + `cmd/x"`, ""},
		"an unknown package":                      {"stray/a.go", `"fmt"`, "package stray is not in the table"},
		"the standard library":                    {"words/a.go", `"net/http"`, ""},
		"a listed module":                         {"core/a.go", `"example.org/tree/inner"`, ""},
		"a module with a listed one's prefix":     {"core/a.go", `"example.org/treehouse"`, "core imports example.org/treehouse: not in its list"},
		"a module listed for another package":     {"words/a.go", `"example.org/tree"`, "words imports example.org/tree: not in its list"},
		"a test module, in a test":                {"words/a_test.go", `"example.org/diff"`, ""},
		"a test module, in production":            {"words/a.go", `"example.org/diff"`, "words imports example.org/diff: not in its list"},
		"a package's test module, in its test":    {"core/a_test.go", `"example.org/check"`, ""},
		"a package's test module, in production":  {"core/a.go", `"example.org/check"`, "core imports example.org/check: not in its list"},
		"a module nobody listed, in the cmd tree": {"cmd/x/a.go", `"example.org/tree"`, "cmd/x imports example.org/tree: not in its list"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src, err := parseTree(map[string][]byte{c.file: []byte("package a\n\nimport _ " + c.imports + "\n")})
			if err != nil {
				t.Fatal(err)
			}
			expectOne(t, c.want, checkImports(src, rules, roots, forTests))
		})
	}
}

func TestStaleEntriesFire(t *testing.T) {
	t.Parallel()
	rules := []packageRule{
		{path: "core", own: []permit{{"words", "names"}}},
		{path: "words"},
		{path: "tree", modules: []permit{{"example.org/tree", "order"}}},
		{path: "http", exempt: []exemption{{"net/http", ".", "words"}}},
		{path: "tested", testOwn: []permit{{"words", "test input"}}},
	}
	roots := []treeRule{{path: "cmd", modules: []permit{{"example.org/flags", "flags"}}}}

	const useWords = "package a\n\nimport _ \"" + module + "/words\"\n"
	for name, c := range map[string]struct {
		sources map[string]string
		want    string
	}{
		"both exist, the arrow is not used": {map[string]string{"core/a.go": "package a\n", "words/a.go": "package a\n"}, "core does not import words"},
		"the target does not exist yet":     {map[string]string{"core/a.go": "package a\n"}, ""},
		"the package does not exist yet":    {map[string]string{"words/a.go": "package a\n"}, ""},
		"the arrow is used by a test":       {map[string]string{"core/a_test.go": useWords, "words/a.go": "package a\n"}, ""},
		"a test arrow used by production":   {map[string]string{"tested/a.go": useWords, "words/a.go": "package a\n"}, "tested does not import words"},
		"a module is not used":              {map[string]string{"tree/a.go": "package a\n"}, "tree does not import example.org/tree"},
		"a module is used":                  {map[string]string{"tree/a.go": "package a\n\nimport _ \"example.org/tree/x\"\n"}, ""},
		"an exemption is not used":          {map[string]string{"http/a.go": "package a\n"}, "http does not import net/http"},
		"a tree's module is not used":       {map[string]string{"cmd/x/a.go": "package a\n"}, "cmd does not import example.org/flags"},
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
			expectOne(t, c.want, checkStale(src, rules, roots))
		})
	}
}

// expectOne wants exactly one finding containing want, or none if want is empty.
func expectOne(t *testing.T, want string, found []finding) {
	t.Helper()
	switch {
	case want == "" && len(found) != 0:
		t.Errorf("unexpected: %v", found)
	case want != "" && (len(found) != 1 || !strings.Contains(found[0].msg, want)):
		t.Errorf("want one finding with %q, have %v", want, found)
	}
}

func TestTableGivesReasons(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, rule := range packages {
		if seen[rule.path] {
			t.Errorf("%s is listed twice", rule.path)
		}
		seen[rule.path] = true
		for _, p := range slices.Concat(rule.own, rule.modules, rule.testOwn, rule.testModules) {
			if p.reason == "" {
				t.Errorf("%s -> %s has no reason", rule.path, p.target)
			}
		}
		for _, p := range slices.Concat(rule.own, rule.testOwn) {
			if ruleOf(p.target, packages) == nil {
				t.Errorf("%s -> %s: the target is not in the table", rule.path, p.target)
			}
		}
	}
	for _, cycle := range cycles(packages) {
		t.Errorf("the arrows form a cycle through %s", cycle)
	}
}

// cycles returns the packages from which the arrows lead back to themselves.
func cycles(rules []packageRule) []string {
	var all []string
	for _, rule := range rules {
		reached := map[string]bool{}
		queue := []string{rule.path}
		for len(queue) > 0 {
			next := ruleOf(queue[0], rules)
			queue = queue[1:]
			if next == nil {
				continue
			}
			for _, p := range next.own {
				if !reached[p.target] {
					reached[p.target] = true
					queue = append(queue, p.target)
				}
			}
		}
		if reached[rule.path] {
			all = append(all, rule.path)
		}
	}
	return all
}

func TestCyclesFire(t *testing.T) {
	t.Parallel()
	rules := []packageRule{
		{path: "a", own: []permit{{"b", ""}}}, {path: "b", own: []permit{{"c", ""}}},
		{path: "c", own: []permit{{"b", ""}}}, {path: "d", own: []permit{{"a", ""}}},
	}
	if got := cycles(rules); !slices.Equal(got, []string{"b", "c"}) {
		t.Errorf("cycles through %v, want b and c", got)
	}
}
