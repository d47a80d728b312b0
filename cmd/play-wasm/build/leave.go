package main

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

//go:embed instead/*.txt
var instead embed.FS

// module is a module of which a copy is compiled.
type module struct {
	path string
	// without are files, or patterns of them, that are left out. One that is not there is an error: it would be a list that nobody needs.
	without []string
	// with are files that stand for them, by where they go.
	with map[string]string
	// rewritten are files, by a pattern, that are compiled in another way.
	rewritten map[string]func([]byte) ([]byte, error)
}

// modules are what is left out, and why: a package variable that names a function keeps it, and all that it calls, whoever uses it. A scheme names
// every type there is. What is called after all does not compile, and test/play compares the answers.
var modules = []module{
	{
		path: "k8s.io/api",
		without: []string{
			"*/*/register.go", "*/*/generated.pb.go", "*/*/types_swagger_doc_generated.go", "*/*/zz_generated.prerelease-lifecycle.go",
			"*/*/zz_generated.model_name.go",
		},
		rewritten: map[string]func([]byte) ([]byte, error){"*/*/zz_generated.deepcopy.go": copiesAlike},
	},
	{
		path: "k8s.io/apimachinery",
		without: []string{
			"pkg/apis/meta/v1/register.go", "pkg/apis/meta/v1/conversion.go", "pkg/apis/meta/v1/zz_generated.conversion.go", // schemes
			"pkg/apis/meta/v1/zz_generated.defaults.go", "pkg/apis/meta/v1/*_swagger_doc_generated.go", "pkg/apis/meta/v1/zz_generated.model_name.go",
			"pkg/apis/meta/v1/generated.pb.go", "pkg/apis/meta/v1/*_proto.go", "pkg/apis/meta/v1/*_fuzz.go",
			"pkg/runtime/scheme*.go", "pkg/runtime/converter.go", "pkg/runtime/conversion.go", "pkg/runtime/codec*.go", "pkg/runtime/mapper.go",
			"pkg/runtime/negotiate.go", "pkg/runtime/helper.go", "pkg/runtime/splice.go", "pkg/runtime/allocator.go", "pkg/runtime/error.go",
			"pkg/runtime/embedded.go", "pkg/runtime/fieldinfo_*.go", "pkg/runtime/swagger_doc_generator.go", "pkg/runtime/generated.pb.go",
			"pkg/runtime/types_proto.go", "pkg/runtime/zz_generated.model_name.go",
			"pkg/watch/streamwatcher.go",                   // net/http
			"pkg/runtime/serializer/cbor/direct/direct.go", // another form of objects
		},
		with: map[string]string{
			"pkg/runtime/play.go":                          "runtime.go.txt",
			"pkg/apis/meta/v1/play.go":                     "metav1.go.txt",
			"pkg/runtime/serializer/cbor/direct/direct.go": "cbor.go.txt",
		},
	},
	{
		path:    "k8s.io/klog/v2",
		without: []string{"*.go", "*/*.go", "*/*/*.go"},
		with:    map[string]string{"klog.go": "klog.go.txt"},
	},
}

// hashing is the file of Go's own packages that another one stands for, from GOROOT/src: its package needs many others.
const hashing = "crypto/sha256/sha256.go"

// patch is what a file of Go's own packages is compiled without: a text of it, and what stands in its place.
type patch struct {
	instead map[string]string
	more    string // at its end
}

// patches are those files, from GOROOT/src.
var patches = map[string]patch{
	// \p{...} of a regular expression asks for all scripts and categories of Unicode. No expression of the module has one: it would not compile, and
	// test/play would see it.
	"regexp/syntax/parse.go": {
		instead: map[string]string{
			"unicode.Categories[": "noTables[", "unicode.FoldCategory[": "noTables[", "unicode.Scripts[": "noTables[", "unicode.FoldScript[": "noTables[",
			"range unicode.CategoryAliases": "range map[string]string{}",
		},
		more: "\nvar noTables map[string]*unicode.RangeTable\n",
	},
	// Expressions of a kind that can be matched in one go have a machine of their own, which says the same as the one for all others, only sooner.
	"regexp/regexp.go": {instead: map[string]string{"onepass:     compileOnePass(prog),": "", "if regexp.onepass == nil {": "if true {"}},
	"regexp/exec.go":   {instead: map[string]string{"if re.onepass != nil {": "if false {"}},
	// How often a setting of GODEBUG made a difference is a metric of the runtime's, and keeps all of them. Nobody reads them here.
	"internal/godebug/godebug.go": {
		instead: map[string]string{`registerMetric("/godebug/non-default-behavior/"+s.Name()+":events", s.nonDefault.Load)`: ""},
	},
}

// overlay writes what is compiled in place of hashing and with patches, and the file by which the compiler hears of that.
func overlay() error {
	root, err := goSays("env", "GOROOT")
	if err != nil {
		return err
	}
	replace := map[string]string{}
	write := func(path string, data []byte) error {
		ours := filepath.Join(work, strings.ReplaceAll(path, "/", "-"))
		replace[filepath.Join(root, "src", filepath.FromSlash(path))] = ours
		return os.WriteFile(ours, data, 0o600)
	}
	hash, err := instead.ReadFile("instead/sha256.go.txt")
	if err = errors.Join(err, write(hashing, hash)); err != nil {
		return err
	}
	for path := range patches { // order: each is a file
		p := patches[path]
		text, err := os.ReadFile(filepath.Join(root, "src", filepath.FromSlash(path))) //nolint:gosec // one of Go's own
		if err != nil {
			return err
		}
		if text, err = p.applied(path, text); err != nil {
			return err
		}
		if err := write(path, text); err != nil {
			return err
		}
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(work, "overlay.json"), list, 0o600)
}

// applied is a file's text with the patch. What it is to be without has to be there: else the module would get larger, and nobody knew why.
func (p *patch) applied(path string, text []byte) ([]byte, error) {
	out := string(text)
	for old, anew := range p.instead { // order: they have nothing in common
		if !strings.Contains(out, old) {
			return nil, fmt.Errorf("%s: there is no %s", path, old)
		}
		out = strings.ReplaceAll(out, old, anew)
	}
	return []byte(out + p.more), nil
}

// copies writes the modules that are compiled instead, and a go.mod that names them.
func copies() error {
	if err := os.RemoveAll(work); err != nil {
		return err
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	sum, err := os.ReadFile("go.sum")
	if err != nil {
		return err
	}
	for i := range modules {
		m := &modules[i]
		to := filepath.Join(work, strings.ReplaceAll(m.path, "/", "-"))
		if err := m.copy(to); err != nil {
			return fmt.Errorf("%s: %w", m.path, err)
		}
		mod = fmt.Appendf(mod, "\nreplace %s => ./%s\n", m.path, filepath.ToSlash(to))
	}
	if err := os.WriteFile(filepath.Join(work, "go.mod"), mod, 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(work, "go.sum"), sum, 0o600)
}

// copy copies the module's Go files, without those that are left out.
func (m *module) copy(to string) error {
	from, err := goSays("list", "-m", "-f", "{{.Dir}}", m.path)
	if err != nil {
		return err
	}
	used := make([]bool, len(m.without))
	err = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(from, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "testing"):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o755) //nolint:gosec // as a checkout is
		case strings.HasSuffix(name, "_test.go") || filepath.Ext(name) != ".go" && d.Name() != "go.mod" || m.leaves(filepath.ToSlash(name), used):
			return nil
		}
		data, err := os.ReadFile(path)
		if err == nil {
			data, err = m.compiled(filepath.ToSlash(name), data)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return os.WriteFile(filepath.Join(to, name), data, 0o600)
	})
	if err != nil {
		return err
	}
	for i, ok := range used {
		if !ok {
			return fmt.Errorf("there is no %s to leave out", m.without[i])
		}
	}
	for name, file := range m.with { // order: each is a file of its own
		data, err := instead.ReadFile("instead/" + file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// compiled is the text of a file as it is compiled.
func (m *module) compiled(name string, text []byte) ([]byte, error) {
	for pattern, rewrite := range m.rewritten { // order: no file has two
		if ok, err := filepath.Match(pattern, name); ok && err == nil {
			return rewrite(text)
		}
	}
	return text, nil
}

var (
	imports = regexp.MustCompile(`(?s)\nimport \(\n.*?\n\)\n`)
	copying = regexp.MustCompile(`(?s)(\nfunc \(in \*\w+\) DeepCopyInto\(out \*\w+\) \{\n).*?\n\}\n`)
)

// copiesAlike has the copies of objects made by their types (instead/runtime.go.txt): the code that is generated for each is a sixtieth of the module.
// What else is imported is for that.
func copiesAlike(text []byte) ([]byte, error) {
	if !imports.Match(text) || !copying.Match(text) {
		return nil, errors.New("it has no imports, or copies nothing")
	}
	text = imports.ReplaceAll(text, []byte("\nimport runtime \"k8s.io/apimachinery/pkg/runtime\"\n"))
	return copying.ReplaceAll(text, []byte("${1}\truntime.CopyInto(in, out)\n}\n")), nil
}

// leaves says whether a file is left out, and notes by which pattern.
func (m *module) leaves(name string, used []bool) bool {
	for i, pattern := range m.without {
		if ok, err := filepath.Match(pattern, name); ok && err == nil {
			used[i] = true
			return true
		}
	}
	return false
}
