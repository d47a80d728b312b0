package scenario

import "math"

// Schema is the grammar of a Scenario as a JSON Schema (draft 2020-12): values of maps, lists and texts as
// encoding/json writes them. Editors check and complete files with it.
func Schema() map[string]any {
	root := documentShape()
	about := aboutFields()
	out := schemaOf("", &root, about)
	out["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	out["title"] = "Scenario of lameduck"
	properties, _ := out["properties"].(map[string]any)
	properties["apiVersion"] = map[string]any{"const": "lameduck/v1alpha1"}
	properties["kind"] = map[string]any{"const": "Scenario"}
	out["required"] = []string{"apiVersion", "kind"}
	return out
}

func schemaOf(path string, s *shape, about map[string]FieldDoc) map[string]any {
	out := map[string]any{}
	switch {
	case s.kind == object:
		properties := map[string]any{}
		for i := range s.fields {
			f := &s.fields[i]
			properties[f.name] = schemaOf(child(path, f.name), &f.shape, about)
		}
		out["type"], out["properties"], out["additionalProperties"] = "object", properties, false
		if s.short != "" {
			out = map[string]any{"anyOf": []any{map[string]any{"type": "string"}, out}}
		}
	case s.kind == mapOf:
		out["type"], out["additionalProperties"] = "object", schemaOf(path+".NAME", s.elem, about)
	case s.kind == listOf && s.elem.kind == object:
		out["type"], out["items"] = "array", schemaOf(path+"[]", s.elem, about)
	case s.kind == listOf:
		out["type"], out["items"] = "array", schemaOf(path, s.elem, nil)
	default:
		out = valueSchema(s)
	}
	if d := about[path]; d.About != "" {
		out["description"] = d.About
		if d.Default != "" {
			out["description"] = d.About + " (default: " + d.Default + ")"
		}
	}
	return out
}

// A duration as time.ParseDuration reads it, without a sign; a rate as parseRate does.
const (
	durationPattern = `^(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`
	ratePattern     = `^ *[0-9]+(\.[0-9]+)? */ *(s|m|min|h) *$`
)

// valueSchema is that of a single value.
func valueSchema(s *shape) map[string]any {
	matches := func(pattern string) map[string]any { return map[string]any{"type": "string", "pattern": pattern} }
	switch s.kind {
	case text:
		if len(s.words) > 0 {
			return map[string]any{"enum": s.words}
		}
		return map[string]any{"type": "string"}
	case whole:
		return map[string]any{"type": "integer", "minimum": 0}
	case priority:
		return map[string]any{"type": "integer", "minimum": math.MinInt32, "maximum": math.MaxInt32}
	case number:
		return map[string]any{"type": "number", "minimum": 0}
	case part:
		return map[string]any{"type": "number", "minimum": 0, "maximum": 1}
	case boolean:
		return map[string]any{"type": "boolean"}
	case rate, changes:
		return matches(ratePattern)
	case portOfPods:
		return map[string]any{"type": []any{"integer", "string"}}
	case share:
		return map[string]any{"anyOf": []any{map[string]any{"type": "integer", "minimum": 0}, matches(sharePattern)}}
	case quantity:
		return map[string]any{"type": []any{"string", "number"}}
	case spanOr:
		return map[string]any{"anyOf": []any{matches(durationPattern), map[string]any{"const": s.words[0]}}}
	case dist:
		spelled := distShape()
		object := schemaOf("", &spelled, nil)
		object["minProperties"], object["maxProperties"] = 1, 1
		return map[string]any{"anyOf": []any{matches(durationPattern), object}}
	default:
		return matches(durationPattern)
	}
}
