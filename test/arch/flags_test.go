package arch

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// commandRooms are where lameduck's flags are made.
var commandRooms = []string{"cmd/lameduck/internal/cli", "cmd/lameduck/internal/proxyflags"}

// flagExceptions are texts of pure packages that name a flag of another program which is called like one of lameduck's, by
// package and text.
var flagExceptions = []permit{
	{"sim/servers --timeout", "how long curl, wget and others wait, in the command of a preStop hook"},
	{"sim/scenario --iptables-min-sync-period", "what GKE gives kube-proxy, as a source has it"},
	{"sim/scenario --iptables-sync-period", "the same"},
	{"sim/scenario --config", "the file that Caddy reads, in the command of its container"},
}

// A pure package serves a command line, a page and a library alike: what can be set is named there by scenario.Wording, which
// the caller fills in, or by the field's own name.
func TestNoPurePackageNamesAFlag(t *testing.T) {
	t.Parallel()
	src := repo(t)
	flags := flagsMade(src)
	if len(flags) < 60 || !flags["lb"] || !flags["cluster-cidr"] {
		t.Fatalf("only %d flags are known", len(flags))
	}
	used := map[string]bool{}
	for _, path := range purePaths(src) {
		report(t, checkFlags(src, src.find(path), flags, used))
	}
	for _, e := range flagExceptions {
		if !used[e.target] {
			t.Errorf("flagExceptions: %s is not there any more", e.target)
		}
	}
}

// flagsMade are the names with which flags are registered: the first text in lower case of a call to a method that ends in Var,
// VarP or is one of the table of kube-proxy's.
func flagsMade(src *tree) map[string]bool {
	name := regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	flags := map[string]bool{}
	for _, room := range commandRooms {
		for _, f := range productionFiles(src.find(room)) {
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || !makesFlag(call.Fun) {
					return true
				}
				for _, a := range call.Args {
					if s, ok := text(a); ok && name.MatchString(s) {
						flags[s] = true
						break
					}
				}
				return true
			})
		}
	}
	return flags
}

func makesFlag(fun ast.Expr) bool {
	switch f := fun.(type) {
	case *ast.SelectorExpr:
		return strings.HasSuffix(f.Sel.Name, "Var") || strings.HasSuffix(f.Sel.Name, "VarP")
	case *ast.Ident:
		return f.Name == "one" || f.Name == "both"
	default:
		return false
	}
}

// text is a literal's.
func text(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}

// checkFlags finds literals with the name of a flag behind two hyphens.
func checkFlags(src *tree, p *pkg, flags, used map[string]bool) []finding {
	word := regexp.MustCompile(`(?:^|[^\w-])--([a-z][a-z0-9-]*[a-z0-9])`)
	var found []finding
	for _, f := range productionFiles(p) {
		ast.Inspect(f, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			s, ok := text(e)
			if !ok {
				return true
			}
			for _, m := range word.FindAllStringSubmatch(s, -1) {
				key := p.path + " --" + m[1]
				if excepted(flagExceptions, key) {
					used[key] = true
				} else if flags[m[1]] {
					found = append(found, src.at(e.Pos(), "a pure package names the flag --%s: say it with scenario.Wording, or by the field's name", m[1]))
				}
			}
			return true
		})
	}
	return found
}

func excepted(list []permit, key string) bool {
	for _, e := range list {
		if e.target == key {
			return true
		}
	}
	return false
}

func TestTheFlagRuleFires(t *testing.T) {
	t.Parallel()
	const source = "// Package core answers.\npackage core\n\nconst (\n\ta = \"give --lb NAME\"\n\tb = \"--lbs\"\n\tc = \"(--lb)\"\n\td = \"a--lb\"\n)\n"
	src, err := parseTree(map[string][]byte{"core/a.go": []byte(source)})
	if err != nil {
		t.Fatal(err)
	}
	found := checkFlags(src, src.find("core"), map[string]bool{"lb": true}, map[string]bool{})
	if len(found) != 2 || found[0].pos.Line != 5 || found[1].pos.Line != 7 {
		t.Errorf("%v", found)
	}
}
