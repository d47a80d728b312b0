package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// What is squeezed says neither a name nor a time: the same module is the same bytes.
func TestSqueezed(t *testing.T) {
	t.Parallel()
	want := bytes.Repeat([]byte("module "), 1000)
	once, err := squeezed(want)
	if err != nil {
		t.Fatal(err)
	}
	again, err := squeezed(want)
	if err != nil || !bytes.Equal(once, again) {
		t.Errorf("not the same bytes twice: %v", err)
	}
	r, err := gzip.NewReader(bytes.NewReader(once))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) || r.Name != "" || !r.ModTime.IsZero() {
		t.Errorf("%d bytes, name %q, time %v, %v", len(got), r.Name, r.ModTime, err)
	}
}

// The licences in the repository are those of what is imported now. make play writes them.
func TestLicences(t *testing.T) {
	t.Parallel()
	const root = "../../.."
	want, err := licences(root)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, dist, licensed))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s/%s has %d bytes, want %d: make play (%v)", dist, licensed, len(got), len(want), err)
	}
	for _, module := range []string{"Go\n", "k8s.io/api v", "k8s.io/apimachinery v", "go.yaml.in/yaml/", "github.com/tidwall/btree v"} {
		if !bytes.HasPrefix(want, []byte(module)) && !bytes.Contains(want, []byte("\n----\n\n"+module)) {
			t.Errorf("no licence of %s", module)
		}
	}
}

func TestAModuleWithoutALicenceIsAnError(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	if _, err := licencesIn("example.org/m v1.0.0", top, map[string]bool{top: true}); err == nil {
		t.Error("no error")
	}
	below := filepath.Join(top, "third_party")
	if err := os.Mkdir(below, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{filepath.Join(top, "LICENSE.txt"): "mine\n", filepath.Join(below, "COPYING"): "theirs", filepath.Join(top, "m.go"): "package m"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := licencesIn("example.org/m v1.0.0", top, map[string]bool{top: true, below: true})
	if want := "example.org/m v1.0.0\n\nmine\n\nthird_party\n\ntheirs\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

func TestLeaves(t *testing.T) {
	t.Parallel()
	m := module{without: []string{"*/*/register.go", "pkg/runtime/codec*.go"}}
	for name, want := range map[string]bool{
		"core/v1/register.go": true, "core/v1/types.go": false, "pkg/runtime/codec_check.go": true, "register.go": false, "a/b/c/register.go": false,
	} {
		if got := m.leaves(name, make([]bool, 2)); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
