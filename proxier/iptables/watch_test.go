package iptables

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
)

// news is one thing that a Listener hears.
type news struct {
	generation uint32
	concerned  bool
}

// radio is a Listener that hears what a test has it hear, and then ends.
type radio struct {
	now   uint32
	heard []news
}

func (r *radio) Next() (uint32, bool, error) {
	if len(r.heard) == 0 {
		return 0, false, io.EOF
	}
	n := r.heard[0]
	r.heard = r.heard[1:]
	return n.generation, n.concerned, nil
}

func (r *radio) Generation() (uint32, error) { return r.now, nil }

func (r *radio) Close() error { return nil }

func TestOnlyWhatOthersDidAfterTheLastCallIsTold(t *testing.T) {
	t.Parallel()
	const most = ^uint32(0)
	for name, c := range map[string]struct {
		after, now uint32 // the last call left the ruleset at, and it is at
		heard      []news
		want       bool
	}{
		"nothing":                             {7, 7, nil, false},
		"a call's own transactions":           {7, 7, []news{{5, true}, {6, true}, {7, true}}, false},
		"somebody else's":                     {7, 8, []news{{8, true}}, true},
		"somebody else's elsewhere":           {7, 8, []news{{8, false}}, false},
		"one's own, then somebody else's":     {7, 9, []news{{7, true}, {8, false}, {9, true}}, true},
		"some were missed, of the call's own": {7, 7, []news{{0, true}}, false},
		"some were missed, of others":         {7, 8, []news{{0, true}}, true},
		"the number wraps around":             {most, 1, []news{{1, true}}, true},
		"the number has wrapped around":       {1, 1, []news{{most, true}}, false},
		"many times":                          {7, 9, []news{{8, true}, {9, true}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &radio{now: c.after, heard: c.heard}
			x := &listening{listener: r}
			x.call()()
			r.now = c.now
			told := make(chan struct{}, 1)
			x.listen(r, told)
			if got := len(told) == 1; got != c.want {
				t.Errorf("told %v, want %v", got, c.want)
			}
			x.end()
			if !x.own(c.now + 1) {
				t.Error("told after its end")
			}
		})
	}
}

// Each call counts as its own what came while it was under way.
func TestEachCallIsTheBackendsOwn(t *testing.T) {
	t.Parallel()
	w := backendtest.NewWorld(1, testNode())
	b, _ := onFakes(w.Node, Options{})
	r := &radio{}
	b.listening.listener = r
	p, d := w.Step(t)
	for i, call := range []func() error{
		func() error { return b.Apply(p, d) }, func() error { return b.Check(p) }, func() error { return b.Resync(p) }, b.Cleanup,
	} {
		r.now++
		if err := call(); err != nil || b.listening.at != r.now {
			t.Errorf("call %d: at generation %d, want %d, %v", i, b.listening.at, r.now, err)
		}
	}
}

func TestWhatConcernsABackend(t *testing.T) {
	t.Parallel()
	b, _ := onFakes(testNode(), Options{Families: []endpoints.IPFamily{endpoints.IPv4}})
	for _, c := range []struct {
		table, chain string
		gone, want   bool
	}{
		{"nat", "KUBE-SERVICES", false, true}, {"nat", "KUBE-SVC-AAAAAAAAAAAAAAAA", true, true}, {"filter", "KUBE-FORWARD", true, true},
		{"mangle", "KUBE-LAMEDUCK-CANARY", true, true}, {"mangle", "KUBE-PROXY-CANARY", false, true},
		{"mangle", "KUBE-KUBELET-CANARY", false, false}, {"filter", "KUBE-FIREWALL", false, false},
		{"nat", "", true, true}, {"nat", "", false, false}, {"raw", "", true, false}, {"lameduck", "services", true, false},
		{"nat", "OUTPUT", true, true}, {"nat", "OUTPUT", false, false}, {"filter", "DOCKER-USER", true, false}, {"raw", "OUTPUT", true, false},
		{"nat", "KUBERNETES", true, false}, {"nat", "DUCK-SERVICES", true, false},
	} {
		if got := b.concerns(endpoints.IPv4, c.table, c.chain, c.gone); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
		if b.concerns(endpoints.IPv6, c.table, c.chain, c.gone) {
			t.Errorf("%+v of another family", c)
		}
	}
}

func TestIPTablesLegacyCannotBeWatched(t *testing.T) {
	t.Parallel()
	b, _ := onFakes(testNode(), Options{})
	if _, err := b.Watch(t.Context()); !errors.Is(err, errLegacy) {
		t.Errorf("got %v", err)
	}
	for _, f := range b.families {
		f.features.nft = true
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := b.Watch(ctx); err == nil || errors.Is(err, errLegacy) {
		t.Errorf("with nobody to listen: %v", err)
	}
	b.opts.Listen = func(func(endpoints.IPFamily, string, string, bool) bool) (Listener, error) {
		return &radio{now: 3}, nil
	}
	if _, err := b.Watch(ctx); err != nil {
		t.Error(err)
	}
}
