package manifest

import (
	"cmp"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// File is one input: its bytes, and the name to print for them.
type File struct {
	// Name is what the user called the file. "-" is printed as <stdin>.
	Name string
	// Data is the whole content, UTF-8 YAML or JSON. Load only reads it, and
	// what Load returns does not refer to it.
	Data []byte
}

// Position is a place in an input. Lines and columns count from 1, columns in
// characters (Unicode code points), a tab being one. The zero Position means
// "nowhere".
type Position struct {
	File         string
	Line, Column int
}

// String returns "file:line:column", without the parts that are not known.
func (p Position) String() string {
	name := displayName(p.File)
	if p.Line == 0 {
		return name
	}
	return name + ":" + strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column)
}

func displayName(file string) string {
	if file == "-" {
		return "<stdin>"
	}
	return file
}

// Severity tells a document that could not be read from one that could.
type Severity uint8

const (
	// Error means that the document could not be read; none of its content is in
	// the Objects. Callers exit with 2.
	Error Severity = iota
	// Warning means that the object or a part of it was skipped or looks wrong,
	// and the rest is still useful. The message says what was done.
	Warning
)

// String returns "error" or "warning".
func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Problem is one thing wrong with the input. It is an error.
type Problem struct {
	// Position is where the value at fault starts, or the nearest thing to it
	// that exists.
	Position
	// Kind is the object's kind, "" when the document never got that far.
	Kind string
	// Name is "namespace/name", or just the name of a cluster-scoped object,
	// or "".
	Name string
	// Field is the path within the object, such as "spec.ports[0].port", or ""
	// when the whole document or object is meant.
	Field string
	// Message says what is wrong, what would be valid and, for a Warning, what
	// lameduck did about it. Lower case, no full stop.
	Message string
	// Severity is Error or Warning.
	Severity Severity
	// Refused says that the API server refuses the object as it stands, so that no cluster has it: who asks what a cluster does leaves it
	// out. It is never said of an object that a cluster has accepted.
	Refused bool
	// Nowhere says that it is a Service, or a port of one, that leads to nothing which the input has.
	Nowhere bool
	// SetLater is a label by which that Service selects pods that the input has otherwise, and that is in no template: the app or an operator may set
	// it while pods run. "" where there is no such label.
	SetLater string
	// Meant is the field that a misspelled one was most likely meant to be, "" for any other problem.
	Meant string
	// Instead is what is used in place of a value that is Refused by who does not leave the object out, "" when nothing is.
	Instead string
}

// Error returns "file:line:column: Kind ns/name: field: message", leaving out
// what is empty.
func (p Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.Position.String())
	if object := strings.TrimSpace(p.Kind + " " + p.Name); object != "" {
		b.WriteString(": " + object)
	}
	if p.Field != "" {
		b.WriteString(": " + p.Field)
	}
	b.WriteString(": " + p.Message)
	if p.Instead != "" {
		b.WriteString("; " + p.Instead)
	}
	return b.String()
}

// String returns what Error returns; without it the embedded Position's String
// would be the one printed.
func (p Problem) String() string { return p.Error() }

// HasErrors reports whether any of the problems is of Severity Error. No
// problems, no errors.
func HasErrors(problems []Problem) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return p.Severity == Error })
}

// sortProblems orders by file as given, then position; problems of one place
// keep the order they were found in.
func sortProblems(problems []Problem, files []File) {
	order := make(map[string]int, len(files))
	for i := len(files) - 1; i >= 0; i-- {
		order[files[i].Name] = i
	}
	SortByPlace(problems, func(a, b string) int { return cmp.Compare(order[a], order[b]) })
}

// SortByPlace orders problems by file, as files compare, then position; problems of
// one place keep the order they were found in.
func SortByPlace(problems []Problem, files func(a, b string) int) {
	sort.Stable(&byPlace{problems, files})
}

// byPlace is an order of problems. It is no call of slices.SortStableFunc, for
// that is compiled again for each type, and the module of lameduck play is small.
type byPlace struct {
	problems []Problem
	files    func(a, b string) int
}

func (s *byPlace) Len() int { return len(s.problems) }

func (s *byPlace) Swap(i, j int) { s.problems[i], s.problems[j] = s.problems[j], s.problems[i] }

func (s *byPlace) Less(i, j int) bool {
	a, b := &s.problems[i], &s.problems[j]
	return cmp.Or(s.files(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) < 0
}
