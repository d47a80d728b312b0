package agent

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"

	"github.com/lameduck-proxy/lameduck/proxier/pace"
)

// A file is looked at when the proxy begins, once after a burst of changes, and now and then; what can be used of it is
// handed on, what cannot is not, and a file that cannot be read is said to be so once.
func TestFollowingAFile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		content, unreadable, looks := "good 1", false, 0
		var taken, handed, logged []string
		f := &follower{
			log: funcr.New(func(_, line string) { logged = append(logged, line) }, funcr.Options{}),
			read: func() ([]byte, error) {
				mu.Lock()
				defer mu.Unlock()
				looks++
				if unreadable {
					return nil, fs.ErrNotExist
				}
				return []byte(content), nil
			},
			reload: &Reload{Take: func(data []byte) (Settings, bool) {
				taken = append(taken, string(data))
				return Settings{Pace: pace.Policy{MinInterval: time.Duration(len(taken))}}, strings.HasPrefix(string(data), "good")
			}},
			take: func(s Settings) { handed = append(handed, s.Pace.MinInterval.String()) },
		}
		ctx, cancel := context.WithCancel(t.Context())
		changed := make(chan struct{}, 1)
		done := make(chan struct{})
		go func() { defer close(done); f.run(ctx, changed) }()
		write := func(text string, readable bool) {
			mu.Lock()
			content, unreadable = text, !readable
			mu.Unlock()
			changed <- struct{}{}
		}
		for _, step := range []struct {
			name string
			do   func()
			wait time.Duration
			want string
		}{
			{"at first", func() {}, 0, "looks 1 taken [good 1] handed [1ns]"},
			{"a burst", func() {
				for _, text := range []string{"good", "bad", "good 2"} {
					write(text, true)
					time.Sleep(settleTime / 4)
				}
			}, settleTime, "looks 2 taken [good 1 good 2] handed [1ns 2ns]"},
			{"a word about nothing", func() { write("good 2", true) }, 2 * settleTime, "looks 3 taken [good 1 good 2] handed [1ns 2ns]"},
			{"what cannot be used", func() { write("bad", true) }, 2 * settleTime, "looks 4 taken [good 1 good 2 bad] handed [1ns 2ns]"},
			{"gone", func() { write("", false) }, 2 * settleTime, "looks 5 taken [good 1 good 2 bad] handed [1ns 2ns]"},
			{"and still, when nobody says anything", func() {}, 2 * lookInterval, "looks 7 taken [good 1 good 2 bad] handed [1ns 2ns]"},
			{"back, and nobody tells", func() { mu.Lock(); content, unreadable = "good 3", false; mu.Unlock() }, lookInterval, "looks 8 taken [good 1 good 2 bad good 3] handed [1ns 2ns 4ns]"},
			{"somebody who never stops writing", func() {
				for range 10 {
					write("good 4", true)
					time.Sleep(settleTime / 2)
				}
			}, settleTime, "looks 13 taken [good 1 good 2 bad good 3 good 4] handed [1ns 2ns 4ns 5ns]"},
			{"no more words, looks now and then", func() { close(changed) }, 2*lookInterval + settleTime, "looks 15 taken [good 1 good 2 bad good 3 good 4] handed [1ns 2ns 4ns 5ns]"},
		} {
			step.do()
			time.Sleep(step.wait)
			synctest.Wait()
			mu.Lock()
			got := "looks " + strconv.Itoa(looks) + " taken [" + strings.Join(taken, " ") + "] handed [" + strings.Join(handed, " ") + "]"
			mu.Unlock()
			if got != step.want {
				t.Errorf("%s: %s, want %s", step.name, got, step.want)
			}
		}
		cancel()
		<-done
		if len(logged) != 1 || !strings.Contains(logged[0], "cannot be read") {
			t.Errorf("logged %q", logged)
		}
	})
}

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

// A real file is followed through what editors, programs and kubelets do to it.
func TestFollowingARealFile(t *testing.T) {
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
			follows(t, c.path, c.changes)
		})
	}
}

// follows has a file followed through changes, each of which writes something else.
func follows(t *testing.T, path string, changes []func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	heard, done := make(chan string, 8), make(chan struct{})
	o := &Reload{Path: path, Take: func(data []byte) (s Settings, ok bool) { heard <- string(data); return s, ok }}
	go func() { defer close(done); reloads(ctx, o, &feed{}, logr.Discard()) }()
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
