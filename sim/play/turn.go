package play

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/edit"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/knob"
)

// turn changes one field of a workload in the text of the manifest, and nothing else.
func turn(a *Ask) *Turned {
	out := &Turned{Answered: failed(a.Do, errors.New("")), Manifest: a.Manifest}
	text, err := turned(a)
	if err != nil {
		out.Refused = err.Error()
		return out
	}
	out.Manifest = string(text)
	return out
}

func turned(a *Ask) ([]byte, error) {
	if err := smallText(a.Manifest); err != nil {
		return nil, err
	}
	k, ok := knob.Find(a.Knob)
	if !ok || a.Workload == "" {
		return nil, fmt.Errorf("%s is no field of a workload: give it as a flag, set", a.Knob)
	}
	value := a.Value
	if _, err := strconv.Atoi(value); err == nil && k.Unit == knob.Seconds {
		value += "s"
	}
	axis, err := knob.ParseAxis(k.Name + "=" + value)
	if err != nil {
		return nil, err
	}
	if len(axis.Values) != 1 {
		return nil, fmt.Errorf("%s=%s: want one value", k.Name, a.Value)
	}
	to := axis.Values[0]
	data := []byte(a.Manifest)
	objects, o := workload(a.Name, data, a.Workload)
	if o == nil {
		return nil, fmt.Errorf("the manifest has no %s", a.Workload)
	}
	path, ok := k.Path(objects, o)
	if !ok {
		return nil, fmt.Errorf("%s has no %s", a.Workload, k.Says)
	}
	text, err := written(data, o, k, path, to)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.At(path), err)
	}
	// What was written is read again: a text that does not say what was meant is never handed back.
	again, now := workload(a.Name, text, a.Workload)
	if now != nil {
		if got, ok := k.Of(again, func(id string) bool { return id == now.ID() }); ok && got == to.Text {
			return text, nil
		}
	}
	return nil, fmt.Errorf("%s: %s cannot be changed here by itself: change it by hand", o.At(path), path)
}

// workload finds an object by its kind and name.
func workload(name string, data []byte, id string) (*manifest.Objects, *manifest.Object) {
	objects, _ := manifest.Load([]manifest.File{{Name: name, Data: data}}, manifest.Options{})
	for _, o := range objects.All {
		if o.String() == id {
			return objects, o
		}
	}
	return objects, nil
}

// written writes a knob's value into the text.
func written(data []byte, o *manifest.Object, k knob.Knob, path string, v knob.Value) ([]byte, error) {
	number := edit.ValueOf(v.Number, "")
	switch {
	case k.Name == "prestop" && v.Time == 0:
		return edit.Without(data, o, path)
	case k.Unit == knob.Seconds:
		number = edit.ValueOf(int64(v.Time/engine.Second), "")
	case k.Unit == knob.CountOrPercent && v.Text != fmt.Sprint(v.Number):
		number = edit.ValueOf(v.Text, "")
	}
	if k.Name != "prestop" {
		return edit.With(data, o, path, number)
	}
	if seconds := path + ".sleep.seconds"; o.Has(seconds) {
		return edit.With(data, o, seconds, number)
	}
	text := data
	if o.Has(path) { // a hook of another kind makes room
		var err error
		if text, err = edit.Without(data, o, path); err != nil {
			return nil, err
		}
		objects, _ := manifest.Load([]manifest.File{{Name: o.File, Data: text}}, manifest.Options{})
		for _, x := range objects.All {
			if x.String() == o.String() {
				o = x
			}
		}
	}
	return edit.With(text, o, path, edit.Value{YAML: sleep(data, number.YAML)})
}

// sleep is a hook that sleeps, with its names in quotes where the text is JSON.
func sleep(data []byte, seconds string) string {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return `{"sleep": {"seconds": ` + seconds + "}}"
	}
	return "{sleep: {seconds: " + seconds + "}}"
}
