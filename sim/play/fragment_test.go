package play

import (
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
)

// A link made here holds what the page's own links hold, in the letters that its reader takes.
func TestFragments(t *testing.T) {
	t.Parallel()
	world := strings.Repeat("# é & \"<b>\"\nkind: Service\n", 20)
	got, err := Fragment("one.yaml", world)
	if err != nil || !regexp.MustCompile(`^1\.[\w-]+$`).MatchString(got) {
		t.Fatal(got, err)
	}
	raw, err := io.ReadAll(flate.NewReader(base64.NewDecoder(base64.RawURLEncoding, strings.NewReader(got[2:]))))
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Name, Manifest string
		Flags, View    map[string]any
	}
	if err := json.Unmarshal(raw, &v); err != nil || v.Name != "one.yaml" || v.Manifest != world || v.Flags == nil || v.View == nil {
		t.Errorf("%+v, %v", v, err)
	}
	page, err := os.ReadFile("../html/web/src/play/link.ts")
	if err != nil || !strings.Contains(string(page), `const version = "`+shareVersion+`";`) {
		t.Errorf("the page reads another version than %s, %v", shareVersion, err)
	}
}
