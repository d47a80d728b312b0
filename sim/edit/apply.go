package edit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// Apply makes the edit in an object, a pointer to one of the API's types or a map[string]any. Nothing but the field is touched;
// what is missing above it is made. A field or item that the object cannot have is an error.
func (e *Edit) Apply(object any) error {
	var value any
	err := yaml.Unmarshal([]byte(e.To.YAML), &value)
	if err == nil {
		var data []byte
		if data, err = json.Marshal(value); err == nil {
			err = set(reflect.ValueOf(object), manifest.Steps(e.Path), data)
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", e.Path, err)
	}
	return nil
}

// Read is the value that an object has at a path, the zero Value where it has none. words are what is said of it.
func Read(object any, path, words string) Value {
	v := reflect.ValueOf(object)
	for _, step := range manifest.Steps(path) {
		for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		next, err := below(v, step)
		if err != nil || !next.IsValid() {
			return Value{}
		}
		v = next
	}
	if k := v.Kind(); !v.IsValid() || (k == reflect.Pointer || k == reflect.Interface || k == reflect.Slice || k == reflect.Map) && v.IsNil() {
		return Value{}
	}
	return ValueOf(v.Interface(), words)
}

// set replaces what is at a path with what some JSON says.
func set(v reflect.Value, steps []any, data []byte) error {
	if v.Kind() == reflect.Pointer && (len(steps) > 0 || !v.CanSet()) {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		return set(v.Elem(), steps, data)
	}
	if len(steps) == 0 {
		value := reflect.New(v.Type())
		d := json.NewDecoder(bytes.NewReader(data))
		d.DisallowUnknownFields()
		if err := d.Decode(value.Interface()); err != nil {
			return err
		}
		v.Set(value.Elem())
		return nil
	}
	switch v.Kind() {
	case reflect.Interface:
		return setInside(v, steps, data)
	case reflect.Map:
		return setKey(v, steps, data)
	default:
		field, err := below(v, steps[0])
		if err != nil {
			return err
		}
		return set(field, steps[1:], data)
	}
}

// setInside sets a field of a value of any type: a map where there is none yet.
func setInside(v reflect.Value, steps []any, data []byte) error {
	inside := reflect.ValueOf(&map[string]any{}).Elem()
	if !v.IsNil() {
		inside = reflect.New(v.Elem().Type()).Elem()
		inside.Set(v.Elem())
	}
	if err := set(inside, steps, data); err != nil {
		return err
	}
	v.Set(inside)
	return nil
}

// setKey sets a value of a map, whose values are not addressable.
func setKey(v reflect.Value, steps []any, data []byte) error {
	value := reflect.New(v.Type().Elem()).Elem()
	old, err := below(v, steps[0])
	if err != nil {
		return err
	}
	if old.IsValid() {
		value.Set(old)
	}
	if err := set(value, steps[1:], data); err != nil {
		return err
	}
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	v.SetMapIndex(reflect.ValueOf(steps[0]), value)
	return nil
}

// below is one step down: a field by its name in JSON, an item by its index, or a key, the invalid Value for one that is not there.
func below(v reflect.Value, step any) (reflect.Value, error) {
	name, named := step.(string)
	index, _ := step.(int)
	switch {
	case named && v.Kind() == reflect.Map:
		return v.MapIndex(reflect.ValueOf(name)), nil
	case named && v.Kind() == reflect.Struct:
		if field, ok := fieldOf(v, name); ok {
			return field, nil
		}
		return reflect.Value{}, fmt.Errorf("%s has no %s", v.Type(), name)
	case !named && v.Kind() == reflect.Slice && index < v.Len():
		return v.Index(index), nil
	case !v.IsValid():
		return v, nil
	default:
		return reflect.Value{}, fmt.Errorf("%s has no [%v]", v.Type(), step)
	}
}

func fieldOf(v reflect.Value, name string) (reflect.Value, bool) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == name {
			return v.Field(i), true
		}
		if f.Anonymous && tag == "" && f.Type.Kind() == reflect.Struct {
			if field, ok := fieldOf(v.Field(i), name); ok {
				return field, true
			}
		}
	}
	return reflect.Value{}, false
}
