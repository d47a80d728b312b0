package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"

	"github.com/lameduck-proxy/lameduck/proxier"
	"github.com/lameduck-proxy/lameduck/proxier/iptables"
	"github.com/lameduck-proxy/lameduck/proxier/metrics"
)

// ledger is what is logged and counted.
type ledger struct {
	mu    sync.Mutex
	lines []string
}

func (l *ledger) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

func (l *ledger) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() { l.lines = nil }()
	return l.lines
}

func (l *ledger) count(what metrics.Interference, n int) { l.add("%s +%d", what, n) }

func (l *ledger) log() logr.Logger {
	return funcr.New(func(_, line string) {
		_, line, _ = strings.Cut(line, `"msg"=`)
		l.add("%s", line)
	}, funcr.Options{})
}

// disturbed is a Backend that says what a test has it say.
type disturbed struct {
	nowhere
	repairs int
	removed []string
	without error
}

func (d *disturbed) Repairs() int { return d.repairs }

func (d *disturbed) Removed() []string {
	defer func() { d.removed = nil }()
	return d.removed
}

func (d *disturbed) Without() error { return d.without }

func TestWhatOthersDoToTheRulesIsLoggedAndCountedOnce(t *testing.T) {
	t.Parallel()
	l, b := &ledger{}, &disturbed{}
	i := &interference{backend: b, log: l.log(), count: l.count, rivals: &rivals{log: l.log(), count: l.count}}
	const (
		repaired = `"Another program changed the rules; they were written again" "repairs"=`
		removed  = `"Another program's table stood in the place of ours and was removed" "removed"="table ip lameduck"`
		without  = `"The rules are in force but for a part" "error"="no localhost"`
		rival    = `"Another service proxy programs this node: end it, and have it clean up" "rival"="kube-proxy in mode iptables, or what it left"`
	)
	back := fmt.Errorf("sync: %w", iptables.ErrKubeProxy)
	for n, step := range []struct {
		change func()
		err    error
		want   []string
	}{
		{func() {}, nil, nil},
		{func() { b.repairs = 1 }, nil, []string{"repair +1", repaired + "1"}},
		{func() {}, nil, nil},
		{func() { b.repairs = 3 }, errors.New("another thing failed"), []string{"repair +2", repaired + "3"}},
		{func() { b.removed = []string{"table ip lameduck"} }, nil, []string{"removal +1", removed}},
		{func() { b.without = errors.New("no localhost") }, nil, []string{without}},
		{func() {}, nil, nil},
		{func() { b.without = nil }, nil, nil},
		{func() { b.without = errors.New("no localhost") }, nil, []string{without}},
		{func() {}, back, []string{"rival +1", rival}},
		{func() {}, back, nil},
	} {
		step.change()
		i.observe(proxier.Sync{Err: step.err})
		if diff := cmp.Diff(step.want, l.take()); diff != "" {
			t.Errorf("step %d (-want +got):\n%s", n, diff)
		}
	}
}

func TestARivalIsLoggedWhenItComesAndWhenItGoes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		var mu sync.Mutex
		var there []string
		var failed error
		r := &rivals{log: l.log(), count: l.count, look: func() ([]string, error) {
			mu.Lock()
			defer mu.Unlock()
			return there, failed
		}}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); r.run(ctx) }()
		comes := func(who string) []string {
			return []string{"rival +1", `"Another service proxy programs this node: end it, and have it clean up" "rival"="` + who + `"`}
		}
		goes := `"No other service proxy programs this node any more" "rival"="`
		unseen := []string{`"Other service proxies would not be noticed" "error"="no right"`}
		for n, step := range []struct {
			there  []string
			failed error
			want   []string
		}{
			{nil, nil, nil},
			{[]string{"a"}, nil, comes("a")},
			{[]string{"a"}, nil, nil},
			{[]string{"a", "b"}, nil, comes("b")},
			{nil, errors.New("no right"), unseen},
			{nil, errors.New("no right"), nil},
			{[]string{"b"}, nil, []string{goes + `a"`}},
			{[]string{"a", "b"}, nil, comes("a")},
		} {
			mu.Lock()
			there, failed = step.there, step.failed
			mu.Unlock()
			time.Sleep(rivalInterval)
			synctest.Wait()
			if diff := cmp.Diff(step.want, l.take()); diff != "" {
				t.Errorf("step %d (-want +got):\n%s", n, diff)
			}
		}
		r.add("c", true)
		time.Sleep(rivalInterval)
		synctest.Wait()
		if diff := cmp.Diff(comes("c"), l.take()); diff != "" {
			t.Errorf("one that no look has to see (-want +got):\n%s", diff)
		}
		cancel()
		<-done
	})
}
