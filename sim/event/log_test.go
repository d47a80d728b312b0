package event

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// began returns a log whose clock stands at 5 s.
func began(l *Log) *Log {
	l.Begin(func() engine.Time { return 5 * engine.Second })
	return l
}

// Who subscribes to kinds hears of those, in the order of the subscriptions; who names none hears of all.
func TestSubscribersHearOfTheirKinds(t *testing.T) {
	t.Parallel()
	var l Log
	var heard []string
	for name, kinds := range [][]Kind{{Ready, Gone}, nil, {Ready}} {
		l.Subscribe(func(e Event) { heard = append(heard, fmt.Sprint(name, " ", e.Kind, " ", e.At/engine.Second)) }, kinds...)
	}
	began(&l)
	l.Tell(Event{Kind: Ready, At: engine.Second})
	l.TellLate(Event{Kind: Gone, At: engine.Second})
	l.OfPod(Flow, 3)
	want := []string{
		fmt.Sprint(0, " ", Ready, " 5"), fmt.Sprint(1, " ", Ready, " 5"), fmt.Sprint(2, " ", Ready, " 5"),
		fmt.Sprint(0, " ", Gone, " 1"), fmt.Sprint(1, " ", Gone, " 1"), fmt.Sprint(1, " ", Flow, " 5"),
	}
	if !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
}

// Nobody hears of anything before the run begins: what there is at the beginning did not happen.
func TestNothingIsToldBeforeTheBeginning(t *testing.T) {
	t.Parallel()
	n := 0
	l := &Log{}
	l.Subscribe(func(Event) { n++ })
	l.Tell(Event{Kind: Created})
	l.TellLate(Event{Kind: SyncEnded})
	l.OfPod(Created, 1)
	if n != 0 || l.Hears(Created) || l.Follows(Wait, 0) {
		t.Errorf("%d events before the beginning", n)
	}
	began(l).OfPod(Created, 1)
	if n != 1 {
		t.Errorf("%d events, want one", n)
	}
}

// An event of a pod is of no node and no stream of requests.
func TestOfPod(t *testing.T) {
	t.Parallel()
	var got Event
	l := &Log{}
	l.Subscribe(func(e Event) { got = e })
	began(l).OfPod(Kill, 3)
	if got.Kind != Kill || got.Pod != 3 || got.Node != -1 || got.Stream != -1 || got.At != 5*engine.Second {
		t.Errorf("got %+v", got)
	}
}

func TestFollow(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		nodes []int
		want  [3]bool
	}{{nil, [3]bool{true, true, true}}, {[]int{}, [3]bool{}}, {[]int{1}, [3]bool{1: true}}} {
		l := &Log{}
		l.Subscribe(func(Event) {}, Rules)
		l.Follow(tt.nodes)
		began(l)
		got := [3]bool{l.Follows(Rules, 0), l.Follows(Rules, 1), l.Follows(Rules, 2)}
		if got != tt.want || l.Follows(Wait, 1) {
			t.Errorf("of nodes %v: %v, want %v", tt.nodes, got, tt.want)
		}
	}
}

// A story tells of what happens in a cluster; what a judge needs besides is none of it.
func TestStories(t *testing.T) {
	t.Parallel()
	kinds := Stories()
	if len(kinds) != int(Known) || !slices.Contains(kinds, Action) || !slices.Contains(kinds, NoHistory) || slices.Contains(kinds, Known) {
		t.Errorf("got %v", kinds)
	}
}

// A nil Log is one that nobody subscribed to.
func TestNilLog(t *testing.T) {
	t.Parallel()
	var l *Log
	l.Begin(func() engine.Time { return 0 })
	l.Tell(Event{Kind: Ready})
	l.OfPod(Ready, 1)
	if l.Hears(Ready) || l.Follows(Rules, 0) {
		t.Error("somebody hears")
	}
}

// An event that nobody hears of costs a look at a list, and nothing is allocated.
func BenchmarkTell(b *testing.B) {
	pods := func(l *Log) func() { return func() { l.OfPod(Ready, 1) } }
	var quiet, loud Log
	loud.Subscribe(func(Event) {}, Ready)
	for _, c := range []struct {
		name string
		tell func()
	}{{"nobody", pods(began(&quiet))}, {"somebody", pods(began(&loud))}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.tell()
			}
		})
	}
}
