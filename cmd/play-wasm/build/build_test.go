package main

import (
	"bytes"
	"compress/gzip"
	"io"
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
