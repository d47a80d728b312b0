package presets_test

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/presets"
)

// A file beside this one that is not listed would be read by nobody.
func TestEveryFileIsListed(t *testing.T) {
	t.Parallel()
	found, err := filepath.Glob("*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, f := range presets.Files() {
		name := path.Base(f.Path)
		listed = append(listed, name)
		if want, err := os.ReadFile(name); err != nil || f.Text != string(want) || path.Dir(f.Path) != "sim/presets" {
			t.Errorf("%s is not what is read: %v", f.Path, err)
		}
	}
	slices.Sort(listed)
	if !slices.Equal(found, listed) {
		t.Errorf("there are %v, and listed are %v", found, listed)
	}
}
