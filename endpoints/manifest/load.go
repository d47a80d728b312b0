package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// DefaultMaxBytes is the total input Load reads when Options do not say
// otherwise: 64 MiB.
const DefaultMaxBytes = 64 << 20

// maxProblems is how many problems Load lists. A last one says how many more
// there were: 64 MiB can hold millions of broken documents.
const maxProblems = 10_000

// Options are Load's settings; the zero value is the usual case.
type Options struct {
	// MaxBytes is the limit on the input as a whole; 0 means DefaultMaxBytes.
	MaxBytes int64
	// Namespace is given to namespaced objects that have none; "" means
	// "default".
	Namespace string
}

// Load reads the files, in order, into objects, with API defaults filled in and
// what the API server would refuse taken out. It never returns nil Objects:
// whatever could be read is in them, however many problems there are. The
// problems are in input order. The Objects are the caller's.
func Load(files []File, opts Options) (*Objects, []Problem) {
	l := newLoader(opts)
	if p, over := tooBig(files, l.opts.MaxBytes); over {
		return &Objects{}, []Problem{p}
	}
	for _, f := range files {
		l.file(f)
	}
	objects := l.finish()
	sortProblems(l.problems, files)
	if l.unlisted > 0 {
		last := l.problems[len(l.problems)-1]
		more := Problem{Position: last.Position, Message: fmt.Sprintf("%d more problems are not listed", l.unlisted), Severity: Warning}
		if l.unlistedError {
			more.Severity = Error
		}
		l.problems = append(l.problems, more)
	}
	return objects, l.problems
}

func tooBig(files []File, limit int64) (Problem, bool) {
	var total int64
	for _, f := range files {
		total += int64(len(f.Data))
		if total > limit {
			return Problem{
				Position: Position{f.Name, 1, 1},
				Message:  fmt.Sprintf("the input is larger than the limit of %s; nothing was read, give fewer or smaller files", byteCount(limit)),
			}, true
		}
	}
	return Problem{}, false
}

func byteCount(n int64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}

// loader is the state of one Load.
type loader struct {
	opts     Options
	kinds    map[string]*kindInfo
	dec      *decoder
	name     string // of the current file
	objects  []*Object
	seen     map[objectKey]*Object
	skipped  map[[2]string]int
	unusable []*Object
	problems []Problem
	// failed is set when an error is noted; the reader of one object uses it.
	failed bool
	// unlisted counts the problems beyond maxProblems.
	unlisted      int
	unlistedError bool
}

type objectKey struct{ apiVersion, kind, namespace, name string }

func newLoader(opts Options) *loader {
	opts.MaxBytes = cmp.Or(opts.MaxBytes, DefaultMaxBytes)
	opts.Namespace = cmp.Or(opts.Namespace, "default")
	return &loader{
		opts:    opts,
		kinds:   kindTable(),
		dec:     newDecoder(),
		seen:    map[objectKey]*Object{},
		skipped: map[[2]string]int{},
	}
}

func (l *loader) file(f File) {
	l.name = f.Name
	text := string(f.Data)
	if strings.HasPrefix(text, "\xfe\xff") || strings.HasPrefix(text, "\xff\xfe") {
		l.fail(&syntaxError{1, 1, "this is UTF-16; save the file as UTF-8"})
		return
	}
	clean := isCleanText(text)
	for _, doc := range split(text) {
		l.document(doc, clean)
	}
}

func (l *loader) document(doc document, clean bool) {
	doc = doc.withoutMark()
	content := doc.content()
	if content == "" {
		return
	}
	if h, ok := doc.scanHeader(); ok && !isList(l.kinds, h.apiVersion, h.kind) {
		if u := lookup(l.kinds, h.apiVersion, h.kind); u.skip && u.message == "" {
			l.skipped[[2]string{h.apiVersion, h.kind}]++
			return
		}
	}
	if !clean {
		if err := checkText(doc.text, doc.line); err != nil {
			l.fail(err)
			return
		}
	}
	if content[0] == '{' || content[0] == '[' {
		l.jsonDocument(doc, content)
		return
	}
	root, err := parseYAML(doc.text, doc.line)
	if err != nil {
		l.fail(err)
		return
	}
	l.root(root)
}

// jsonDocument reads the JSON values of a document, one or several. What does
// not parse as JSON may be flow-style YAML.
func (l *loader) jsonDocument(doc document, content string) {
	text := doc.text
	if marker(text) == "---" {
		text = "   " + text[3:] // keeps the columns
	}
	roots, jsonErr := parseJSON(text, doc.line)
	if jsonErr != nil {
		root, err := parseYAML(doc.text, doc.line)
		if err != nil && looksLikeJSON(content) {
			err = jsonErr
		}
		if err != nil {
			l.fail(err)
			return
		}
		roots = []*node{root}
	}
	for _, root := range roots {
		l.root(root)
	}
}

// looksLikeJSON decides which parser's error is the better one: JSON's when the
// first key is in quotes, or when there is no key.
func looksLikeJSON(content string) bool {
	content = strings.TrimLeft(content[1:], " \t\r\n")
	return content == "" || strings.IndexByte("\"[]}", content[0]) >= 0
}

func (l *loader) root(root *node) {
	if root.isNull() {
		return
	}
	l.object(root, "", "", 0)
}

func (l *loader) fail(err *syntaxError) {
	l.note(Problem{
		Position: Position{l.name, int(err.line), int(err.col)},
		Message:  err.message,
	})
}

func (l *loader) report(severity Severity, at *node, kind, name, field, message string) {
	l.note(Problem{
		Position: Position{l.name, int(at.line), int(at.col)},
		Kind:     kind, Name: name, Field: field, Message: message, Severity: severity,
	})
}

func (l *loader) skip(apiVersion, kind string, u use, at Position, name string) {
	if u.message != "" {
		l.note(Problem{Position: at, Kind: kind, Name: name, Field: u.field, Message: u.message, Severity: u.severity, Refused: u.severity == Warning && groupOf(apiVersion) != kustomize})
	}
	if u.severity == Warning || u.message == "" {
		l.skipped[[2]string{apiVersion, kind}]++
	}
}

// note adds problems, up to a number that is past anyone's patience.
func (l *loader) note(problems ...Problem) {
	for _, p := range problems {
		if len(l.problems) < maxProblems {
			l.problems = append(l.problems, p)
			continue
		}
		l.unlisted++
		l.unlistedError = l.unlistedError || p.Severity == Error
	}
	l.failed = l.failed || HasErrors(problems)
}

// isList reports whether a kind is a list whose items may be of use. A kind
// that merely ends in List, of a group lameduck does not know, is not.
func isList(kinds map[string]*kindInfo, apiVersion, kind string) bool {
	item, ok := strings.CutSuffix(kind, "List")
	if !ok {
		return false
	}
	if item == "" {
		return apiVersion == "v1"
	}
	return (kinds[item] != nil || foreign(groupOf(apiVersion), item)) && lookup(kinds, apiVersion, item).usable()
}

// usable reports whether an item of a list deserves a look: because it is read,
// or because there is something to say about it.
func (u use) usable() bool { return !u.skip || u.message != "" }

// object reads one document or list item. apiVersion and kind are what a typed
// list says its items are.
func (l *loader) object(n *node, apiVersion, kind string, depth int) {
	if n.shape != mapping {
		l.report(Error, n, "", "", "", "expected a Kubernetes object (a mapping with apiVersion, kind and metadata), got "+n.describe())
		return
	}
	apiVersion = cmp.Or(n.str("apiVersion"), apiVersion)
	kind = cmp.Or(n.str("kind"), kind)
	if apiVersion == "" || kind == "" {
		l.incomplete(n, apiVersion, kind)
		return
	}
	if isList(l.kinds, apiVersion, kind) {
		l.list(n, apiVersion, kind, depth)
		return
	}
	u := lookup(l.kinds, apiVersion, kind)
	_, meta := n.value("metadata")
	if u.skip {
		at := n
		if _, v := n.value(u.field); v != nil {
			at = v
		}
		l.skip(apiVersion, kind, u, Position{l.name, int(at.line), int(at.col)}, l.identify(u, meta))
		return
	}
	l.read(n, meta, kind, u)
}

// incomplete is for a mapping without apiVersion or kind. If nothing about it
// looks like an object, it is some other YAML file in the same directory.
func (l *loader) incomplete(n *node, apiVersion, kind string) {
	looks := false
	for _, name := range []string{"apiVersion", "kind", "metadata", "spec"} {
		_, v := n.value(name)
		looks = looks || v != nil
	}
	_, meta := n.value("metadata")
	switch {
	case !looks:
		l.report(Warning, n, "", "", "", "not a Kubernetes object, it has neither apiVersion nor kind; skipped")
	case apiVersion == "" && kind == "":
		l.report(Error, n, "", meta.str("name"), "apiVersion", "apiVersion and kind are missing; for a Service they are v1 and Service")
	case apiVersion == "":
		message := "missing"
		if info := l.kinds[kind]; info != nil {
			message = "missing; for a " + kind + " it is " + info.apiVersion
		}
		l.report(Error, n, kind, meta.str("name"), "apiVersion", message)
	case meta == nil && n.str("name") != "" && n.str("version") != "":
		l.report(Error, n, "", "", "kind", "missing; this is the Chart.yaml of a Helm chart: render the chart first, for example with helm template")
	default:
		l.report(Error, n, "", meta.str("name"), "kind", "missing; what kind of "+apiVersion+" object is this?")
	}
}

func (l *loader) list(n *node, apiVersion, kind string, depth int) {
	key, items := n.value("items")
	if items == nil || items.isNull() {
		return
	}
	if items.shape != sequence {
		l.report(Error, items, kind, "", "items", "expected a list, got "+items.describe())
		return
	}
	if depth > 8 {
		l.report(Error, key, kind, "", "items", "lists in lists, nested too deep")
		return
	}
	itemKind := strings.TrimSuffix(kind, "List")
	itemVersion := apiVersion
	if itemKind == "" {
		itemVersion = ""
	}
	for i := range items.kids {
		l.object(&items.kids[i], itemVersion, itemKind, depth+1)
	}
}

// identify returns "namespace/name" as far as the metadata goes.
func (l *loader) identify(u use, meta *node) string {
	name := meta.str("name")
	if name == "" || u.info == nil || u.info.clusterScoped {
		return name
	}
	return cmp.Or(meta.str("namespace"), l.opts.Namespace) + "/" + name
}

// read decodes, defaults and checks an object of a known kind.
func (l *loader) read(n, meta *node, kind string, u use) {
	o := &Object{
		Position:   Position{l.name, int(n.line), int(n.col)},
		APIVersion: u.info.apiVersion, Kind: kind,
		Name: meta.str("name"),
		root: n,
	}
	if !u.info.clusterScoped {
		o.Namespace = cmp.Or(meta.str("namespace"), l.opts.Namespace)
	}
	l.failed = false
	if u.newValue == nil {
		l.decodeRaw(o)
	} else {
		l.decodeTyped(o, u)
	}
	if !u.info.unnamed {
		l.checkName(o)
	}
	if l.failed || o.gone {
		return
	}
	if u.info.foreign && o.Name == "" {
		l.skipped[[2]string{o.APIVersion, kind}]++
		return
	}
	if u.info.finish != nil {
		problems, ok := u.info.finish(o)
		l.note(problems...)
		if !ok {
			l.unusable = append(l.unusable, o)
			return
		}
	}
	l.add(o)
}

func (l *loader) findings(o *Object, found []finding) {
	for _, f := range found {
		l.note(Problem{
			Position: Position{l.name, int(f.at.line), int(f.at.col)},
			Kind:     o.Kind, Name: o.ID(), Field: f.field, Message: f.message, Severity: f.severity, Meant: f.meant,
		})
	}
}

func (l *loader) decodeRaw(o *Object) {
	l.findings(o, o.root.duplicates(nil))
	var meta struct {
		Metadata struct {
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"metadata"`
	}
	for _, f := range l.dec.decode(o.root, &meta) {
		if f.severity == Error {
			l.findings(o, []finding{f})
		}
	}
	o.Value, _ = o.root.generic().(map[string]any)
}

func (l *loader) decodeTyped(o *Object, u use) {
	value := u.newValue()
	l.findings(o, l.dec.decode(o.root, value))
	value = convertOld(value)
	value.SetNamespace(o.Namespace)
	value.GetObjectKind().SetGroupVersionKind(schemaKind(o.APIVersion, o.Kind))
	o.Value = value
}

// checkName reports a missing name, and takes an object out whose name the API
// server would refuse: names go into rules, comments and reports.
func (l *loader) checkName(o *Object) {
	switch {
	case o.metadataIsBroken():
		return // reported by the decoder
	case o.Name == "":
		message := "missing; every object needs a name"
		if o.Has("metadata.generateName") {
			message = "missing; generateName needs an API server to make one up, give a name"
		}
		l.note(o.Problem(Error, "metadata.name", message))
		return
	}
	if rule := badName(o.Kind, o.Name); rule != "" {
		p := o.Problem(Warning, "metadata.name", rule+"; this object is skipped")
		p.Refused = !o.Has("metadata.uid")
		l.note(p)
		o.gone = true
	}
	if o.Namespace != "" && !isDNSLabel(o.Namespace) {
		l.note(o.Problem(Warning, "metadata.namespace", "must be at most 63 lower-case letters, digits and '-', starting and ending with a letter or digit; this object is skipped"))
		o.gone = true
	}
}

func (o *Object) metadataIsBroken() bool {
	_, meta := o.root.value("metadata")
	return meta != nil && meta.shape != mapping && !meta.isNull()
}

// add puts the object into the result, in place of one of the same name.
func (l *loader) add(o *Object) {
	key := objectKey{o.APIVersion, o.Kind, o.Namespace, o.Name}
	if first := l.seen[key]; first != nil {
		first.gone = true
		l.note(o.Problem(Warning, "", fmt.Sprintf("defined again, the first is at %s; this later one is used", first.Position)))
	}
	l.seen[key] = o
	l.objects = append(l.objects, o)
}

func (l *loader) finish() *Objects {
	out := &Objects{Unusable: l.unusable}
	for _, o := range l.objects {
		if !o.gone {
			out.All = append(out.All, o)
		}
	}
	out.collect()
	keys := map[string][2]string{}
	for key := range l.skipped { // order: the keys are sorted
		keys[key[0]+"\x00"+key[1]] = key
	}
	for _, name := range sortedKeys(keys) {
		key := keys[name]
		out.Skipped = append(out.Skipped, Skipped{key[0], key[1], l.skipped[key]})
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
