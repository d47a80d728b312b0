package play

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzTurn turns each knob of whatever text: the answer is the text with that value, or a sentence, and never a fault of lameduck.
func FuzzTurn(f *testing.F) {
	f.Add(app, "7s")
	f.Add(strings.ReplaceAll(app, "    ", "      "), "0s")
	f.Add(`{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"template": {"spec": {"containers": [{"name": "web"}]}}}}`, "25%")
	f.Fuzz(func(t *testing.T, manifest, value string) {
		if !utf8.ValidString(manifest) {
			t.Skip() // no JSON has it
		}
		var seen Looked
		reply(t, Ask{Do: "look", Manifest: manifest}, &seen)
		for _, k := range seen.Knobs {
			var out Turned
			reply(t, Ask{Do: "turn", Manifest: manifest, Workload: k.Workload, Knob: k.Name, Value: value}, &out)
			if out.Refused != "" && out.Manifest != manifest {
				t.Errorf("%s=%s: refused, and changed", k.Name, value)
			}
		}
	})
}

func reply(t *testing.T, a Ask, into any) {
	t.Helper()
	raw := Answer([]byte(encode(a)), nil)
	if strings.Contains(string(raw), "internal error") {
		t.Errorf("%s", raw)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Error(err)
	}
}
