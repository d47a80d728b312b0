package graft

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// globs are the inputs, seen from the root of the repository: manifests, and lists of cases as sim/scenario has them.
var globs = []string{
	"examples/*.yaml", "examples/*/*.yaml", "sim/scenario/testdata/*.txt", "sim/scenario/testdata/manifests/*.yaml", "sim/report/testdata/*.yaml",
	"sim/report/testdata/sets/*.yaml", "sim/testdata/*.yaml", "sim/fix/testdata/*.yaml",
}

// gathered are all inputs of the repository, a line each.
func gathered(root string) ([]string, error) {
	var texts []string
	for _, glob := range globs {
		paths, err := filepath.Glob(filepath.Join(root, glob))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			if filepath.Ext(path) != ".txt" {
				texts = append(texts, string(data))
				continue
			}
			web, err := os.ReadFile(filepath.Join(filepath.Dir(path), "web.yaml"))
			if err != nil {
				return nil, err
			}
			for _, c := range strings.Split("\n"+string(data), "\n=== ")[1:] {
				texts = append(texts, caseOf(c, string(web)))
			}
		}
	}
	more, err := written(root)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var lines []string
	for _, text := range append(texts, more...) {
		line, err := json.Marshal(objectsOf(text))
		if err == nil && len(line) > len("null") && !seen[string(line)] { // a key that is no text is none in JSON
			seen[string(line)] = true
			lines = append(lines, string(line))
		}
	}
	return lines, nil
}

// caseOf is the input of a case in a list of them.
func caseOf(c, web string) string {
	_, rest, _ := strings.Cut(c, "\n")
	text, _, _ := strings.Cut(rest, "----\n")
	var out strings.Builder
	for line := range strings.Lines(text) {
		switch {
		case line == "$ with web\n":
			web = "\n---\n" + web
		case strings.HasPrefix(line, "$ "):
		case strings.HasPrefix(line, "--> "):
			out.WriteString("---\n")
		default:
			out.WriteString(line)
		}
	}
	if strings.HasPrefix(web, "\n") {
		out.WriteString(web)
	}
	return out.String()
}

// objectsOf are the objects of a text, all in one namespace; from what is no YAML on they are left out.
func objectsOf(text string) []object {
	var out []object
	for d := yaml.NewDecoder(strings.NewReader(strings.ReplaceAll(text, "shop/", "default/"))); ; {
		var o object
		if d.Decode(&o) != nil {
			return out
		}
		if kind, _ := o["kind"].(string); kind == "" || kind == "List" {
			continue
		}
		if m, ok := o["metadata"].(object); ok {
			delete(m, "namespace")
		}
		out = append(out, o)
	}
}

// sources are tests that have inputs in their texts, seen from the root of the repository.
var sources = []string{"sim/scenario/*_test.go", "sim/fix/*_test.go", "sim/sweep/*_test.go", "sim/cluster/*_test.go", "sim/*_test.go", "endpoints/manifest/*_test.go"}

// written returns the texts of Go sources that may be inputs: constants, and what is put together of them. What else stands in between is a word.
func written(root string) ([]string, error) {
	var out []string
	for _, glob := range sources {
		paths, err := filepath.Glob(filepath.Join(root, glob))
		if err != nil {
			return nil, err
		}
		var files []*ast.File
		named := map[string]string{}
		for _, path := range paths {
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			files = append(files, f)
			ast.Inspect(f, func(n ast.Node) bool {
				if v, ok := n.(*ast.ValueSpec); ok && len(v.Names) == len(v.Values) {
					for i, name := range v.Names {
						if text := textOf(v.Values[i], named); text != placeholder {
							named[name.Name] = text
						}
					}
				}
				return true
			})
		}
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				e, ok := n.(ast.Expr)
				if !ok {
					return true
				}
				text := textOf(e, named)
				if strings.Contains(text, "kind: ") {
					out = append(out, text)
				}
				return text == placeholder
			})
		}
	}
	return out, nil
}

// placeholder stands for what is worked out when the test runs.
const placeholder = "web"

// textOf is the text of an expression.
func textOf(e ast.Expr, named map[string]string) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return text
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			if x, y := textOf(e.X, named), textOf(e.Y, named); x != placeholder || y != placeholder {
				return x + y
			}
		}
	case *ast.ParenExpr:
		return textOf(e.X, named)
	case *ast.Ident:
		if text, ok := named[e.Name]; ok {
			return text
		}
	}
	return placeholder
}
