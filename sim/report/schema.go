package report

import (
	"reflect"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Schema is what sim prints with -o json, as a JSON Schema (draft 2020-12), made of the types that are printed. Fields are only ever added:
// a program that reads results has to let pass what it does not know.
func Schema() map[string]any {
	defs := map[string]any{}
	out := schemaOf(reflect.TypeFor[Result](), defs)
	out["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	out["title"] = "SimulationResult of lameduck"
	out["$defs"] = defs
	return out
}

// schemaOf describes a type as encoding/json writes it; structs are named in defs.
func schemaOf(t reflect.Type, defs map[string]any) map[string]any {
	if t == reflect.TypeFor[engine.Time]() {
		return map[string]any{"type": "number", "description": "seconds"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return map[string]any{"anyOf": []any{schemaOf(t.Elem(), defs), map[string]any{"type": "null"}}}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem(), defs)}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schemaOf(t.Elem(), defs)}
	case reflect.Struct:
		if _, known := defs[t.Name()]; !known {
			defs[t.Name()] = nil // a type may hold itself
			defs[t.Name()] = structSchema(t, defs)
		}
		return map[string]any{"$ref": "#/$defs/" + t.Name()}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	default:
		return map[string]any{"type": "integer"}
	}
}

func structSchema(t reflect.Type, defs map[string]any) map[string]any {
	properties, required := map[string]any{}, []string{}
	for i := range t.NumField() {
		if !t.Field(i).IsExported() { // it is not printed
			continue
		}
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		properties[name] = schemaOf(t.Field(i).Type, defs)
		if !strings.Contains(options, "omitempty") {
			required = append(required, name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required}
}
