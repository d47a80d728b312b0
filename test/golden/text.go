package golden

import (
	"reflect"
	"slices"
	"strconv"
)

// Text is all that a value has and leads to, for a sum: fields that say nothing are left out, so that a new one changes only what it is set in. Functions
// are left out, too. What leads back to itself has no end.
func Text(value any) string { return string(appendText(nil, reflect.ValueOf(value))) }

func appendText(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return appendText(b, v.Elem())
	case reflect.Struct:
		return appendStruct(b, v)
	case reflect.Slice, reflect.Array:
		b = append(b, '[')
		for i := range v.Len() {
			b = append(appendText(b, v.Index(i)), ' ')
		}
		return append(b, ']')
	case reflect.Map:
		return appendMap(b, v)
	case reflect.String:
		return strconv.AppendQuote(b, v.String())
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(b, v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.AppendUint(b, v.Uint(), 10)
	case reflect.Float32, reflect.Float64:
		return strconv.AppendFloat(b, v.Float(), 'g', -1, 64)
	default: // nothing, or a function
		return append(b, "nil"...)
	}
}

func appendStruct(b []byte, v reflect.Value) []byte {
	b = append(b, '{')
	for i := range v.NumField() {
		if field := v.Field(i); !field.IsZero() && field.Kind() != reflect.Func {
			b = append(append(b, v.Type().Field(i).Name...), ':')
			b = append(appendText(b, field), ' ')
		}
	}
	return append(b, '}')
}

func appendMap(b []byte, v reflect.Value) []byte {
	var entries []string
	for at := v.MapRange(); at.Next(); {
		entries = append(entries, string(appendText(append(appendText(nil, at.Key()), ':'), at.Value())))
	}
	slices.Sort(entries)
	b = append(b, '{')
	for _, entry := range entries {
		b = append(append(b, entry...), ' ')
	}
	return append(b, '}')
}
