package facts

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// fact is one row of a facts file: a row of a table, an item of a list, or a section without
// either.
type fact struct {
	id   string // of a numbered row, or of its section
	key  string // of a row without a number: the words of its first cell
	line int
}

var (
	heading  = regexp.MustCompile(`^#{2,3} (\d+(?:\.\d+)*)\.? `)
	numbered = regexp.MustCompile(`^(\d+(?:\.\d+)*[a-z]?)(?:\s|$)`)
	item     = regexp.MustCompile(`^(\d+)\. `)
	subItem  = regexp.MustCompile(`^\s+([a-z])\. `)
	divider  = regexp.MustCompile(`^\|[-|: ]+\|?$`)
)

// readFacts reads the rows of one facts file. file is its name without the extension.
func readFacts(path, file string) ([]fact, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := factReader{file: file}
	for i, line := range strings.Split(string(text), "\n") {
		r.read(line, i+1)
	}
	r.endSection()
	return r.out, nil
}

type factReader struct {
	file    string
	section string
	begins  int    // the section's line
	prose   bool   // the section has text
	rows    bool   // and rows
	header  string // the first column's name, of the table being read
	last    string // of the list being read
	inTable bool
	out     []fact
}

func (r *factReader) endSection() {
	if r.section != "" && r.prose && !r.rows {
		r.out = append(r.out, fact{id: r.file + " " + r.section, line: r.begins})
	}
}

func (r *factReader) read(line string, n int) {
	if m := heading.FindStringSubmatch(line); m != nil {
		r.endSection()
		r.section, r.begins, r.prose, r.rows, r.inTable, r.last = m[1], n, false, false, false, ""
		return
	}
	switch {
	case r.section == "" || strings.TrimSpace(line) == "":
		r.inTable = r.inTable && r.section != "" && strings.TrimSpace(line) != ""
	case strings.HasPrefix(line, "|"):
		r.row(line, n)
	case item.MatchString(line):
		r.last = item.FindStringSubmatch(line)[1]
		r.add(r.section+"."+r.last, n)
	case subItem.MatchString(line) && r.last != "":
		r.add(r.section+"."+r.last+subItem.FindStringSubmatch(line)[1], n)
	default:
		r.prose, r.inTable = true, false
	}
}

// row reads a line of a table. Rows are numbered where the first column says so.
func (r *factReader) row(line string, n int) {
	first := plain(strings.SplitN(line, "|", 3)[1])
	switch {
	case !r.inTable:
		r.inTable, r.header = true, first
	case divider.MatchString(line):
	default:
		number := numbered.FindStringSubmatch(first)
		letter := len(first) == 1 && first >= "a" && first <= "z"
		switch {
		case r.header == "Step" && letter:
			r.add(r.section+first, n)
		case (r.header == "#" || r.header == "Hop") && number != nil && strings.Contains(number[1], "."):
			r.add(number[1], n)
		case (r.header == "#" || r.header == "Hop") && number != nil:
			r.add(r.section+"."+number[1], n)
		default:
			r.rows = true
			r.out = append(r.out, fact{r.file + " " + r.section, first, n})
		}
	}
}

func (r *factReader) add(id string, line int) {
	r.rows = true
	r.out = append(r.out, fact{id: r.file + " " + id, line: line})
}

// plain takes the markup off a cell.
func plain(cell string) string {
	return strings.TrimSpace(strings.NewReplacer("*", "", "`", "").Replace(cell))
}

// covers says whether an entry's id speaks of a fact: it is its number, its section as a whole, or
// its section and the first words of its first cell. A whole section never stands for a numbered
// row, unless sections says so.
func covers(id string, f fact, sections bool) bool {
	if f.key == "" {
		return id == f.id || sections && within(id, f.id)
	}
	rest, ok := strings.CutPrefix(id, f.id)
	return ok && (rest == "" || rest[0] == ' ' && strings.HasPrefix(strings.ToLower(f.key), strings.ToLower(rest[1:]))) || sections && within(id, f.id)
}

// within says whether a row or section belongs to a section: "controllers 4" holds
// "controllers 4.1".
func within(section, id string) bool {
	rest, ok := strings.CutPrefix(id, section)
	return ok && rest != "" && (rest[0] == '.' || rest[0] >= 'a' && rest[0] <= 'z')
}

// packageTests lists the tests of a package's directory, and those of its external tests.
func packageTests(dir string) (map[string]bool, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && regexp.MustCompile(`^(Test|Example|Fuzz)`).MatchString(fn.Name.Name) {
				out[fn.Name.Name] = true
			}
		}
	}
	return out, nil
}

// namedMutant is an entry of some table of mutants.
type namedMutant struct {
	table string // the directory below test/
	name  string
	facts []string
}

// readMutants reads the tables of mutants below test/: every composite literal of []mutant, whose
// elements begin with a name and may have a list of facts. An element in which either is not
// written out is not read.
func readMutants() ([]namedMutant, error) {
	files, err := filepath.Glob(root + "/test/*/mutants*_test.go")
	if err != nil {
		return nil, err
	}
	var out []namedMutant
	for _, name := range files {
		list, err := mutantsIn(name, nil)
		if err != nil {
			return nil, err
		}
		for i := range list {
			list[i].table = filepath.Base(filepath.Dir(name))
		}
		out = append(out, list...)
	}
	return out, nil
}

// mutantsIn reads one file, or src if it is not nil.
func mutantsIn(name string, src any) ([]namedMutant, error) {
	f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var out []namedMutant
	ast.Inspect(f, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok || !isListOf(lit.Type, "mutant") {
			return true
		}
		for _, e := range lit.Elts {
			if m, ok := mutantOf(e); ok {
				out = append(out, m)
			}
		}
		return true
	})
	return out, nil
}

func mutantOf(e ast.Expr) (m namedMutant, ok bool) {
	lit, isLit := e.(*ast.CompositeLit)
	if !isLit {
		return m, false
	}
	for _, field := range lit.Elts {
		key := ""
		if kv, ok := field.(*ast.KeyValueExpr); ok {
			if id, ok := kv.Key.(*ast.Ident); ok {
				key = id.Name
			}
			field = kv.Value
		}
		switch v := field.(type) {
		case *ast.BasicLit:
			if text, err := strconv.Unquote(v.Value); err == nil && m.name == "" && (key == "" || key == "name") {
				m.name = text
			}
		case *ast.CompositeLit:
			if m.facts == nil && (key == "facts" || key == "" && isListOf(v.Type, "string")) {
				m.facts = texts(v)
			}
		}
	}
	return m, m.name != ""
}

func isListOf(e ast.Expr, name string) bool {
	list, ok := e.(*ast.ArrayType)
	if !ok {
		return false
	}
	elem, ok := list.Elt.(*ast.Ident)
	return ok && elem.Name == name
}

func texts(lit *ast.CompositeLit) []string {
	var out []string
	for _, e := range lit.Elts {
		if v, ok := e.(*ast.BasicLit); ok {
			if text, err := strconv.Unquote(v.Value); err == nil {
				out = append(out, text)
			}
		}
	}
	return slices.Clip(out)
}
