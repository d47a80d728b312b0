package arch

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestPurePackagesArePure(t *testing.T) {
	t.Parallel()
	src := repo(t)
	all, err := listPackages()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range purePaths(src) {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			report(t, checkBuildConstraints(path, all[module+"/"+path]))
			c, err := check(src, path)
			if err != nil {
				t.Fatal(err)
			}
			report(t, checkPurity(c, *ruleOf(path, packages)))
			report(t, checkMapOrder(c))
		})
	}
}

// bannedImports are packages a pure package does without, with everything below them.
var bannedImports = []permit{
	{"os", "files, environment and processes are the caller's"},
	{"io/ioutil", "files are the caller's"},
	{"net", "sockets and name lookups are the caller's"},
	{"syscall", "the kernel is the caller's"},
	{"golang.org/x/sys", "the kernel is the caller's"},
	{"C", "it has to build for js/wasm"},
	{"unsafe", "values only"},
	{"log", "results leave as values, not as log lines"},
	{"k8s.io/klog", "results leave as values, not as log lines"},
	{"math/rand", "randomness arrives as an argument, from a named algorithm"},
	{"crypto/rand", "randomness arrives as an argument, from a named algorithm"},
	{"hash/maphash", "its seed differs from run to run"},
	{"sync", "one owner per mutable value; nothing to lock"},
	{"runtime", "results do not depend on the runtime's state"},
	{"testing", "production code does not know it is being tested"},
	{"flag", "settings arrive as arguments"},
	{"expvar", "registers global state"},
	{"plugin", "loads files"},
}

// importExceptions are pure although they live below a banned import.
var importExceptions = []permit{
	{"net/netip", "addresses as values"},
	{"net/url", "text to value and back"},
}

// bannedNames are package-level functions and variables a pure package does without.
var bannedNames = map[string]string{
	"time.Now": clock, "time.Sleep": clock, "time.After": clock, "time.Tick": clock, "time.NewTimer": clock,
	"time.NewTicker": clock, "time.Since": clock, "time.Until": clock, "time.AfterFunc": clock,
	"time.Local": "the machine's time zone", "time.LoadLocation": "reads the machine's time zone files",
	"context.WithTimeout": clock, "context.WithTimeoutCause": clock, "context.WithDeadline": clock,
	"context.WithDeadlineCause": clock, "context.AfterFunc": "starts a goroutine",
	"fmt.Print": stdio, "fmt.Printf": stdio, "fmt.Println": stdio,
	"fmt.Scan": stdio, "fmt.Scanf": stdio, "fmt.Scanln": stdio,
}

const (
	clock = "time arrives as an argument"
	stdio = "results leave as values"
)

// bannedBuiltins write to stderr or only make sense between goroutines.
var bannedBuiltins = map[string]string{"print": stdio, "println": stdio, "close": noChannels}

const noChannels = "no channels: a pure package has no goroutines to talk to"

// floatMath is what the simulator does without: results of these may differ between platforms, and a draw or an event
// order that hangs on them would too.
var floatMath = regexp.MustCompile(`^(Exp|Exp2|Expm1|Log|Log10|Log1p|Log2|Pow|Pow10|Sqrt|Cbrt|Hypot|Gamma|Lgamma|Erf|Erfc|A?(Sin|Cos|Tan)h?|Atan2|Sincos)$`)

// checkPurity finds what a pure package must not do. The rules see names and types; a mutation behind two aliases, or
// inside a third-party call, is beyond them and left to review.
func checkPurity(c *typed, rule packageRule) []finding {
	found := slices.Concat(
		checkBannedImports(c, rule.exempt),
		checkNames(c, rule.exempt),
		checkStatements(c),
		checkGlobals(c),
	)
	if under(c.path, "sim") {
		found = append(found, checkFloats(c)...)
	}
	return found
}

func checkBannedImports(c *typed, exempt []exemption) []finding {
	var found []finding
	for _, f := range c.files {
		for _, spec := range f.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil || permitted(name, importExceptions) || exemptionFor(name, exempt) != nil {
				continue
			}
			for _, ban := range bannedImports {
				if under(name, ban.target) {
					found = append(found, c.at(spec, "pure package imports %s: %s", name, ban.reason))
				}
			}
		}
	}
	return found
}

func exemptionFor(importPath string, exempt []exemption) *exemption {
	for i := range exempt {
		if exempt[i].target == importPath {
			return &exempt[i]
		}
	}
	return nil
}

// packageLevel returns the import path and name of a package-level object; ok is false for anything else, such as the
// method After of time.Time.
func packageLevel(obj types.Object) (path, name string, ok bool) {
	if obj == nil || obj.Pkg() == nil || obj.Parent() != obj.Pkg().Scope() {
		return "", "", false
	}
	return obj.Pkg().Path(), obj.Name(), true
}

// checkNames judges every use of another package's function, variable, constant or type, and of a builtin.
func checkNames(c *typed, exempt []exemption) []finding {
	var found []finding
	c.inspect(func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		obj := c.info.Uses[id]
		if b, isBuiltin := obj.(*types.Builtin); isBuiltin {
			if why, banned := bannedBuiltins[b.Name()]; banned {
				found = append(found, c.at(id, "%s: %s", b.Name(), why))
			}
			return true
		}
		path, name, ok := packageLevel(obj)
		if !ok {
			return true
		}
		if why, banned := bannedNames[path+"."+name]; banned {
			found = append(found, c.at(id, "%s.%s: %s", path, name, why))
		}
		if e := exemptionFor(path, exempt); e != nil && !regexp.MustCompile(e.names).MatchString(name) {
			found = append(found, c.at(id, "%s.%s: of %s, this package may only use names matching %s", path, name, path, e.names))
		}
		return true
	})
	return found
}

// checkStatements finds goroutines, channels and init functions.
func checkStatements(c *typed) []finding {
	var found []finding
	c.inspect(func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = append(found, c.at(n, "go statement: the caller decides about concurrency"))
		case *ast.SelectStmt:
			found = append(found, c.at(n, "select: %s", noChannels))
		case *ast.ChanType:
			found = append(found, c.at(n, "channel type: %s", noChannels))
		case *ast.SendStmt:
			found = append(found, c.at(n, "send: %s", noChannels))
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				found = append(found, c.at(n, "receive: %s", noChannels))
			}
		case *ast.RangeStmt:
			if _, ok := c.underlying(n.X).(*types.Chan); ok {
				found = append(found, c.at(n, "range over a channel: %s", noChannels))
			}
		case *ast.FuncDecl:
			if n.Name.Name == "init" && n.Recv == nil {
				found = append(found, c.at(n, "init function: wiring is plain code in cmd"))
			}
		}
		return true
	})
	return found
}

func (c *typed) underlying(e ast.Expr) types.Type {
	if t := c.info.TypeOf(e); t != nil {
		return t.Underlying()
	}
	return nil
}

// checkGlobals finds writes to package-level variables, this package's and others'.
func checkGlobals(c *typed) []finding {
	var found []finding
	flag := func(e ast.Expr, how string) {
		if v := c.global(e); v != nil {
			found = append(found, c.at(e, "%s package-level variable %s: state belongs to a value the caller owns", how, v.Name()))
		}
	}
	c.inspect(func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				flag(lhs, "assigns to")
			}
		case *ast.IncDecStmt:
			flag(n.X, "assigns to")
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if e != nil && n.Tok == token.ASSIGN {
					flag(e, "assigns to")
				}
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				flag(n.X, "takes the address of")
			}
		case *ast.CallExpr:
			c.mutatingCall(n, flag)
		}
		return true
	})
	return found
}

// mutatingCall flags calls that change their receiver or first argument.
func (c *typed) mutatingCall(call *ast.CallExpr, flag func(ast.Expr, string)) {
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		if b, ok := c.info.Uses[fun].(*types.Builtin); ok && slices.Contains([]string{"delete", "clear", "copy"}, b.Name()) {
			flag(call.Args[0], b.Name()+" on")
		}
	case *ast.SelectorExpr:
		if s := c.info.Selections[fun]; s != nil {
			if pointerMethod(s) && !isPointer(c.underlying(fun.X)) {
				flag(fun.X, "calls the pointer method "+fun.Sel.Name+" of")
			}
			return
		}
		path, name, ok := packageLevel(c.info.Uses[fun.Sel])
		if ok && len(call.Args) > 0 && sortsInPlace(path, name) {
			flag(call.Args[0], path+"."+name+" on")
		}
	}
}

func pointerMethod(s *types.Selection) bool {
	if s.Kind() != types.MethodVal {
		return false
	}
	sig, ok := s.Obj().Type().(*types.Signature)
	return ok && sig.Recv() != nil && isPointer(sig.Recv().Type())
}

func isPointer(t types.Type) bool {
	_, ok := t.(*types.Pointer)
	return ok
}

func sortsInPlace(path, name string) bool {
	switch path {
	case "sort":
		return !strings.HasPrefix(name, "Search") && !strings.HasSuffix(name, "AreSorted") && name != "Find"
	case "slices":
		return name == "Reverse" || (strings.HasPrefix(name, "Sort") && !strings.HasPrefix(name, "Sorted"))
	}
	return false
}

// global returns the package-level variable an expression is, or is a part of; nil if none.
func (c *typed) global(e ast.Expr) *types.Var {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if v, ok := c.info.Uses[e].(*types.Var); ok && !v.IsField() {
			if _, _, global := packageLevel(v); global {
				return v
			}
		}
	case *ast.SelectorExpr:
		if c.info.Selections[e] == nil { // a name qualified by its package
			return c.global(e.Sel)
		}
		return c.global(e.X)
	case *ast.IndexExpr:
		return c.global(e.X)
	case *ast.SliceExpr:
		return c.global(e.X)
	case *ast.StarExpr:
		return c.global(e.X)
	}
	return nil
}

// checkFloats finds floating-point functions and float sorting in the simulator.
func checkFloats(c *typed) []finding {
	var found []finding
	c.inspect(func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		path, name, ok := packageLevel(c.info.Uses[id])
		switch {
		case !ok:
		case path == "math" && floatMath.MatchString(name):
			found = append(found, c.at(id, "math.%s: no float decides an event", name))
		case path == "sort" && strings.HasPrefix(name, "Float64"):
			found = append(found, c.at(id, "sort.%s: no order hangs on floats", name))
		case (path == "slices" && strings.Contains(name, "Sort") || path == "cmp") && c.onFloats(id):
			found = append(found, c.at(id, "%s.%s on floats: no order hangs on floats", path, name))
		}
		return true
	})
	return found
}

// onFloats says whether a generic function is instantiated with a floating-point type.
func (c *typed) onFloats(id *ast.Ident) bool {
	args := c.info.Instances[id].TypeArgs
	for i := range args.Len() {
		if b, ok := args.At(i).Underlying().(*types.Basic); ok && b.Info()&types.IsFloat != 0 {
			return true
		}
	}
	return false
}

func TestPurityRulesFire(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fixture, path string
		rule          packageRule
	}{
		{"impure.go", "core", packageRule{}},
		{"globals.go", "core", packageRule{}},
		{"exempt.go", "core", packageRule{exempt: []exemption{{"net/http", `^(Status[A-Z]\w*|Header)$`, "words"}}}},
		{"floats.go", "sim/draw", packageRule{}},
	} {
		t.Run(c.fixture, func(t *testing.T) {
			t.Parallel()
			checked, content := checkFixture(t, c.fixture, c.path)
			expect(t, content, checkPurity(checked, c.rule))
		})
	}
}

func TestFloatsAreFineOutsideTheSimulator(t *testing.T) {
	t.Parallel()
	checked, _ := checkFixture(t, "floats.go", "core")
	report(t, checkPurity(checked, packageRule{}))
}

func TestEveryBanFires(t *testing.T) {
	t.Parallel()
	for _, ban := range bannedImports {
		src, err := parseTree(map[string][]byte{"core/a.go": []byte("package p\n\nimport _ \"" + ban.target + "/inner\"\n")})
		if err != nil {
			t.Fatal(err)
		}
		expectOne(t, ban.reason, checkBannedImports(&typed{tree: src, files: productionFiles(src.find("core"))}, nil))
	}
	for _, allowed := range importExceptions {
		src, err := parseTree(map[string][]byte{"core/a.go": []byte("package p\n\nimport _ \"" + allowed.target + "\"\n")})
		if err != nil {
			t.Fatal(err)
		}
		expectOne(t, "", checkBannedImports(&typed{tree: src, files: productionFiles(src.find("core"))}, nil))
	}
}

func TestBannedNamesExist(t *testing.T) {
	t.Parallel()
	for name := range bannedNames {
		path, object, _ := strings.Cut(name, ".")
		src, err := parseTree(map[string][]byte{"core/a.go": []byte("package p\n\nimport _ \"" + path + "\"\n")})
		if err != nil {
			t.Fatal(err)
		}
		c, err := check(src, "core")
		if err != nil {
			t.Fatal(err)
		}
		if c.pkg.Imports()[0].Scope().Lookup(object) == nil {
			t.Errorf("%s is banned but does not exist: misspelt?", name)
		}
	}
}
