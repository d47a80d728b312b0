package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// document is a Scenario as it was written, with what --set put into it, and what is wrong
// with it so far.
type document struct {
	object   *manifest.Object // nil for Infer, whose document is made of --set alone
	value    map[string]any
	given    []given
	files    map[string]Content
	set      world.Overrides
	problems []manifest.Problem
	// misshapen is how many of the problems are of the document's shape: unknown fields, values of another kind.
	misshapen int
	balanced  bool // some traffic goes through the load balancer
	// shutdownSaid says that it is said how kubelets end their pods when a machine shuts down.
	shutdownSaid bool
	// shutdownBy is what a KubeletConfiguration of the input says of it, "" where none does, or the Scenario says something else.
	shutdownBy string
}

// given is a value that did not come from the document.
type given struct {
	path    string // within the document
	setting string // as a user writes it, such as "--set latency.watch=3s"
}

// newDocument copies what was written and puts the --set values into it.
func newDocument(o *manifest.Object, opts *Options) *document {
	d := &document{object: o, value: map[string]any{}, files: opts.Files}
	if o != nil {
		if m, ok := o.Value.(map[string]any); ok {
			d.value, _ = copyValue(m).(map[string]any)
		}
	}
	d.applySets(opts)
	return d
}

func copyValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		// order: every key is copied, the result does not depend on the order
		for k, e := range v {
			out[k] = copyValue(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = copyValue(e)
		}
		return out
	default:
		return v
	}
}

// position is where the value at a path stands: in the file, or on the command line.
func (d *document) position(at string) manifest.Position {
	if g := d.givenAt(at); g != nil {
		return manifest.Position{File: g.setting}
	}
	if d.object != nil && d.object.Has(at) {
		return d.object.ValueAt(at)
	}
	for _, g := range d.given { // a mapping that flags made
		if below(g.path, at) {
			return manifest.Position{File: g.setting}
		}
	}
	if d.object == nil {
		return manifest.Position{}
	}
	return d.object.ValueAt(at)
}

// below says whether a path is another or leads through it.
func below(path, at string) bool {
	rest, ok := strings.CutPrefix(path, at)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// keyPosition is where the key stands.
func (d *document) keyPosition(at string) manifest.Position {
	if d.givenAt(at) != nil || d.object == nil {
		return d.position(at)
	}
	return d.object.At(at)
}

// givenAt returns the last flag that gave the value at a path or around it.
func (d *document) givenAt(at string) *given {
	for i := len(d.given) - 1; i >= 0; i-- {
		g := &d.given[i]
		if below(at, g.path) {
			return g
		}
	}
	return nil
}

func (d *document) report(severity manifest.Severity, pos manifest.Position, at, format string, args ...any) {
	p := manifest.Problem{Position: pos, Field: at, Message: fmt.Sprintf(format, args...), Severity: severity}
	if d.object != nil {
		p.Kind, p.Name = d.object.Kind, d.object.ID()
	}
	d.problems = append(d.problems, p)
}

func (d *document) fail(at, format string, args ...any) {
	d.report(manifest.Error, d.position(at), at, format, args...)
}

// sorted returns the problems in the order of the document; those of other files and of the
// command line come first, in the order they were found.
func (d *document) sorted() []manifest.Problem {
	file := ""
	if d.object != nil {
		file = d.object.File
	}
	d.problems = append(d.problems[:d.misshapen:d.misshapen], slices.DeleteFunc(slices.Clone(d.problems[d.misshapen:]), d.follows)...)
	sorted.StableBy(d.problems, func(a, b manifest.Problem) int {
		inA, inB := a.File == file && a.Line > 0, b.File == file && b.Line > 0
		if !inA || !inB {
			return cmp.Compare(boolInt(inA), boolInt(inB))
		}
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.Compact(d.problems)
}

// follows says that a problem comes from another one: what is said of a field that has no value because what stands there is of another
// kind, of what would be below it, or of the field above it, which lacks it.
func (d *document) follows(p manifest.Problem) bool {
	return p.Field != "" && slices.ContainsFunc(d.problems[:d.misshapen], func(first manifest.Problem) bool {
		below, above := strings.CutPrefix(p.Field, first.Field)
		return first.Severity == manifest.Error && (above && (below == "" || below[0] == '.' || below[0] == '[') ||
			first.Field[:max(0, strings.LastIndexAny(first.Field, ".["))] == p.Field)
	})
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// child extends a path by a key.
func child(at, key string) string {
	if !isWord(key) {
		return at + "[" + strconv.Quote(key) + "]"
	}
	if at == "" {
		return key
	}
	return at + "." + key
}

func item(at string, i int) string { return at + "[" + strconv.Itoa(i) + "]" }

func isWord(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
		default:
			return false
		}
	}
	return s != ""
}

// resolve turns a file name in the document into one the caller can open: relative to the
// document; one given by --set is relative to where the user is.
func (d *document) resolve(at, name string) string {
	if path.IsAbs(name) || d.object == nil || d.object.File == "" || d.object.File == "-" || d.givenAt(at) != nil {
		return path.Clean(name)
	}
	return path.Join(path.Dir(d.object.File), name)
}

// Reference is a file that a Scenario names.
type Reference struct {
	// Path is the name to open, and the key in Options.Files. Manifests may be directories.
	Path string
	// Field is the path within the document, such as "spec.manifests[0]".
	Field string
	// Position is where the name stands.
	Position manifest.Position
}

// Content is what the caller found under a Reference's Path.
type Content struct {
	// Files is one file, or those of a directory.
	Files []manifest.File
	// Err says why there is nothing, such as "no such file or directory"; "" when there is.
	Err string
}

// References lists the files that a Scenario document and the --set values name, in the order
// in which they stand; the caller reads them into Options.Files. The document may be nil, for
// the --set values of Infer. A document that is not well-formed has what could be found.
func References(o *manifest.Object, opts Options) []Reference {
	d := newDocument(o, &opts)
	root := documentShape()
	var out []Reference
	d.references(&root, "", d.value, &out)
	return out
}

func (d *document) references(s *shape, at string, v any, out *[]Reference) {
	switch v := v.(type) {
	case string:
		if s.file && v != "" {
			*out = append(*out, Reference{Path: d.resolve(at, v), Field: at, Position: d.position(at)})
		}
	case []any:
		if s.kind == listOf {
			for i, e := range v {
				d.references(s.elem, item(at, i), e, out)
			}
		}
	case map[string]any:
		if s.kind == dist {
			spelled := distShape()
			s = &spelled
			if name, ok := v["histogram"].(string); ok && name != "" { // the short form
				at := child(at, "histogram")
				*out = append(*out, Reference{Path: d.resolve(at, name), Field: at, Position: d.position(at)})
			}
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if s.kind == mapOf {
				d.references(s.elem, child(at, key), v[key], out)
			} else if f := s.field(key); f != nil {
				d.references(f, child(at, key), v[key], out)
			}
		}
	}
}

// content returns a file that the document names, nil with an error reported when it is not
// there.
func (d *document) content(at, name string) []manifest.File {
	c, ok := d.files[d.resolve(at, name)]
	switch {
	case !ok:
		d.fail(at, "%s cannot be read here", name)
	case c.Err != "":
		d.fail(at, "%s: %s", name, c.Err)
	case len(c.Files) == 0:
		d.fail(at, "%s: no manifests in it", name)
	default:
		return c.Files
	}
	return nil
}
