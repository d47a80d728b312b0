package manifest

import "fmt"

// Raw reads a file of one YAML document that is no Kubernetes object, but data with fields of its own. Its Value is a
// map[string]any as of the kinds kept raw, and it knows where each field stands; its Kind and Name are "". It is nil when the
// file could not be read, and then there is an Error.
func Raw(f File) (*Object, []Problem) {
	l := newLoader(Options{})
	l.name = f.Name
	if p, over := tooBig([]File{f}, l.opts.MaxBytes); over {
		return nil, []Problem{p}
	}
	root := l.only(string(f.Data))
	if root == nil {
		return nil, l.problems
	}
	o := &Object{Position: Position{f.Name, int(root.line), int(root.col)}, root: root}
	l.findings(o, root.duplicates(nil))
	if l.failed {
		return nil, l.problems
	}
	o.Value, _ = root.generic().(map[string]any)
	return o, l.problems
}

// only is the mapping that a text holds, nil with an error noted where it holds another value, none or several.
func (l *loader) only(text string) *node {
	var roots []*node
	for _, doc := range split(text) {
		doc = doc.withoutMark()
		if err := checkText(doc.text, doc.line); err != nil {
			l.fail(err)
			return nil
		}
		root, err := parseYAML(doc.text, doc.line)
		if err != nil {
			l.fail(err)
			return nil
		}
		if !root.isNull() {
			roots = append(roots, root)
		}
	}
	switch {
	case len(roots) == 0:
		l.fail(&syntaxError{1, 1, "expected a mapping, got nothing"})
	case len(roots) > 1:
		l.fail(&syntaxError{roots[1].line, roots[1].col, fmt.Sprintf("expected one document, got %d", len(roots))})
	case roots[0].shape != mapping:
		l.fail(&syntaxError{roots[0].line, roots[0].col, "expected a mapping, got " + roots[0].describe()})
	default:
		return roots[0]
	}
	return nil
}
