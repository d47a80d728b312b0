package source

import (
	"context"
	"strings"
	"testing"
)

// What kustomize prints is a file that is called like the command; what it says when it fails is in the error.
func TestWhatKustomizePrints(t *testing.T) {
	t.Parallel()
	const shell = "/bin/sh" // in place of kustomize
	for _, c := range []struct{ script, data, err string }{
		{"echo 'a: b'; echo said >&2", "a: b\n", ""},
		{"echo 'a: b'; echo no such directory >&2; exit 3", "", "exit status 3: no such directory"},
		{"exit 4", "", "exit status 4"},
	} {
		f, err := kustomized(t.Context(), shell, []string{"kustomize", "-c", c.script})
		switch {
		case c.err == "" && (err != nil || string(f.Data) != c.data || f.Name != "kustomize -c "+c.script):
			t.Errorf("%s: %q %q, %v", c.script, f.Name, f.Data, err)
		case c.err != "" && (err == nil || !strings.HasPrefix(err.Error(), "kustomize -c "+c.script+": ") || !strings.HasSuffix(err.Error(), c.err)):
			t.Errorf("%s: %v, want %s", c.script, err, c.err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := kustomized(ctx, shell, []string{"kustomize", "-c", "echo a"}); err == nil || !strings.HasSuffix(err.Error(), context.Canceled.Error()) {
		t.Errorf("%v", err)
	}
}
