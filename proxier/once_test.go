package proxier

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/pace"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

func TestOnceProgramsAllThatHasBeenDelivered(t *testing.T) {
	t.Parallel()
	b := &backend{t: t, began: time.Now()}
	f := &flows{began: time.Now(), backend: b, due: true, fail: []error{errors.New("flows stay")}}
	p, err := New(Options{Backend: b, Conntrack: f})
	if err != nil {
		t.Fatal(err)
	}
	p.SetService(service("web", "10.96.0.1"))
	p.SetSlice(slice("web", "10.0.0.1"))
	if err := p.Once(); err == nil || !strings.Contains(err.Error(), "node is not known") {
		t.Errorf("without a node: %v", err)
	}
	p.SetNode(node())
	if err := p.Once(); err == nil || err.Error() != "flows stay" {
		t.Errorf("with flows that cannot be cleaned up: %v", err)
	}
	p.SetSlice(slice("web", "10.0.0.2"))
	if err := p.Once(); err != nil {
		t.Error(err)
	}
	b.fail = []error{errors.New("no")}
	if err := p.Once(); err == nil || err.Error() != "no" {
		t.Errorf("a Backend that fails: %v", err)
	}
	var got []string
	for _, call := range b.calls {
		_, what, _ := strings.Cut(call, " ") // without the time
		got = append(got, what)
	}
	if diff := cmp.Diff([]string{"resync ok: web=10.0.0.1", "resync ok: web=10.0.0.2", "resync fails: web=10.0.0.2"}, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if got := p.Status().Table.Answer(endpoints.IPv4, 31000, true).Status; got != 200 {
		t.Errorf("the health-check node port answers %d, want 200", got)
	}
}

func TestOneRunAtATime(t *testing.T) {
	run(t, nil, func(r *rig) {
		r.fill()
		r.at(s)
		if err := r.Run(context.Background()); !errors.Is(err, errRunning) {
			t.Errorf("a second Run: %v", err)
		}
		if err := r.Once(); !errors.Is(err, errRunning) {
			t.Errorf("Once beside Run: %v", err)
		}
	})
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	if _, err := New(Options{}); err == nil {
		t.Error("a Proxier without a Backend")
	}
	old := &plan.Node{Name: "old", Options: endpoints.Options{ZoneHints: true}}
	for _, c := range []struct {
		name string
		give Options
		pace pace.Policy
		want endpoints.Options
	}{
		{"nothing is said", Options{}, pace.Lameduck(), endpoints.CurrentOptions()},
		{"the node's behaviour", Options{Node: old}, pace.Lameduck(), endpoints.Options{ZoneHints: true}},
		{"another one wins", Options{Node: old, Behaviour: endpoints.Options{NodeHints: true}}, pace.Lameduck(), endpoints.Options{NodeHints: true}},
		{"retries are never without a pause", Options{Pace: pace.Policy{MinInterval: ms}}, pace.Policy{MinInterval: ms, RetryInterval: 30 * s}, endpoints.CurrentOptions()},
	} {
		b := &backend{t: t}
		c.give.Backend = b
		p, err := New(c.give)
		if err != nil {
			t.Fatal(err)
		}
		p.SetNode(&plan.Node{Name: "n"}) // its Options are the Proxier's
		if err := p.Once(); err != nil {
			t.Fatal(err)
		}
		if got := b.inForce.Node().Options; got != c.want {
			t.Errorf("%s: behaviour %+v, want %+v", c.name, got, c.want)
		}
		if got := p.owner.opts.Pace; got != c.pace {
			t.Errorf("%s: pace %+v, want %+v", c.name, got, c.pace)
		}
	}
}
