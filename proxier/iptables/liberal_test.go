package iptables

import (
	"os"
	"path/filepath"
	"testing"
)

// A setting of the kernel is on where it is there, and is not 0.
func TestASettingThatIsOn(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "setting")
	if isOn(file) {
		t.Error("a setting that is not there is on")
	}
	for text, want := range map[string]bool{"0\n": false, "0": false, "1\n": true, "2": true} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := isOn(file); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
