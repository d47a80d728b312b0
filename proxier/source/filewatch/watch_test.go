package filewatch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/go-logr/logr"
)

// volume is a directory as a kubelet makes one of a ConfigMap: the file is a link into ..data, which is a link that is
// exchanged.
type volume struct {
	t    *testing.T
	dir  string
	next int
}

func (v *volume) update(content string) {
	v.t.Helper()
	v.next++
	name := "..v" + strconv.Itoa(v.next)
	err := errors.Join(
		os.Mkdir(filepath.Join(v.dir, name), 0o700),
		os.WriteFile(filepath.Join(v.dir, name, "config.conf"), []byte(content), 0o600),
		os.Symlink(name, filepath.Join(v.dir, "..tmp")),
		os.Rename(filepath.Join(v.dir, "..tmp"), filepath.Join(v.dir, "..data")),
	)
	if v.next > 1 {
		err = errors.Join(err, os.RemoveAll(filepath.Join(v.dir, "..v"+strconv.Itoa(v.next-1))))
	}
	if err != nil {
		v.t.Fatal(err)
	}
}

// A real file is looked at after what editors, programs and kubelets do to it.
func TestARealFileIsLookedAt(t *testing.T) {
	t.Parallel()
	mounted := &volume{t: t, dir: t.TempDir()}
	mounted.update("1")
	if err := os.Symlink(filepath.Join("..data", "config.conf"), filepath.Join(mounted.dir, "config.conf")); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(t.TempDir(), "plain.conf")
	write := func(text string) {
		if err := os.WriteFile(plain, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("1")
	linked := filepath.Join(t.TempDir(), "linked.conf")
	if err := os.Symlink(plain, linked); err != nil {
		t.Fatal(err)
	}
	replace := func(text string) {
		err := errors.Join(os.WriteFile(plain+".new", []byte(text), 0o600), os.Rename(plain+".new", plain))
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, path string
		changes    []func()
	}{
		{"a ConfigMap", filepath.Join(mounted.dir, "config.conf"), []func(){func() { mounted.update("2") }, func() { mounted.update("3") }, func() { mounted.update("4") }}},
		{"written and replaced", plain, []func(){func() { write("2") }, func() { replace("3") }, func() { write("4") }}},
		{"through a link", linked, []func(){func() { write("5") }, func() { replace("6") }, func() { write("7") }}},
	} {
		t.Run(c.name, func(t *testing.T) {
			looksAt(t, c.path, c.changes)
		})
	}
}

// looksAt has a file looked at through changes, each of which writes something else.
func looksAt(t *testing.T, path string, changes []func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	heard, done := make(chan string, 8), make(chan struct{})
	look := func() {
		data, err := os.ReadFile(path)
		if err != nil {
			return // in the midst of a change
		}
		heard <- string(data)
	}
	go func() { defer close(done); Run(ctx, Options{Paths: []string{path}, Look: look, Log: logr.Discard()}) }()
	<-heard
	for _, change := range changes {
		change()
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for got := ""; got != string(want); { // a write may be seen half done
			got = <-heard
		}
	}
	cancel()
	<-done
}
