package scenario

import (
	"strings"
)

// FieldDoc is one field of a document of kind Scenario, for people: a row of the reference.
type FieldDoc struct {
	Path    string // "spec.traffic[].timeout"; NAME stands for any key
	Type    string // "duration", or the words that are valid
	Default string // "" when the field has to be given, or is nothing without being given
	About   string // with the unit, where the type does not say it
}

// Fields lists every field of a Scenario, in the order of the grammar.
func Fields() []FieldDoc {
	root := documentShape()
	var out []FieldDoc
	about := aboutFields()
	walkShape("", &root, func(path string, s *shape) {
		d := about[path]
		d.Path, d.Type = path, typeWords(s)
		out = append(out, d)
	})
	return out
}

// walkShape visits the fields of a shape that have a value of their own, in the order of the grammar. What a
// field of an app says once more for each revision is left out.
func walkShape(path string, s *shape, visit func(path string, s *shape)) {
	switch {
	case s.kind == object && strings.HasSuffix(path, ".revisions.old"), s.kind == object && strings.HasSuffix(path, ".revisions.new"):
		visit(path, s)
	case s.kind == object:
		for i := range s.fields {
			walkShape(child(path, s.fields[i].name), &s.fields[i].shape, visit)
		}
	case s.kind == mapOf:
		walkShape(path+".NAME", s.elem, visit)
	case s.kind == listOf && s.elem.kind == object:
		walkShape(path+"[]", s.elem, visit)
	default:
		visit(path, s)
	}
}

// typeWords says what a value has to be.
func typeWords(s *shape) string {
	switch {
	case s.kind == listOf:
		return "list: " + typeWords(s.elem)
	case s.file:
		return "file"
	case s.kind == spanOr:
		return "duration or " + s.words[0]
	case len(s.words) > 0:
		return strings.Join(s.words, ", ")
	}
	return [...]string{
		"object", "map", "list", "text", "whole number", "number", "part of 1", "true or false", "duration", "rate", "rate or 0/s", "", "distribution", "quantity", "whole number", "port number or name", "number of pods or per cent",
	}[s.kind]
}

// aboutFields says what each field is for, by path.
func aboutFields() map[string]FieldDoc {
	out := map[string]FieldDoc{}
	root := documentShape()
	walkShape("", &root, func(path string, s *shape) {
		if s.about != "" {
			out[path] = FieldDoc{Path: path, Default: s.def, About: s.about}
		}
	})
	for _, row := range LatencyTable(Wording{}) {
		out["spec."+row.ID] = FieldDoc{Default: row.Value, About: row.What}
	}
	for _, f := range lbFields() {
		for _, of := range []string{"spec.loadBalancer.", "spec.ingress."} {
			out[of+f.name] = FieldDoc{Default: "that of the preset", About: f.what}
		}
	}
	return out
}
