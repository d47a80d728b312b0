package kubelet

import (
	"fmt"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// An app that serves two requests at a time and has room for one more makes the third wait for the first free place, and turns the fourth away.
func TestAnAppWithAQueue(t *testing.T) {
	t.Parallel()
	const ms = engine.Millisecond
	i := &Instance{App: &world.App{Serve: engine.Constant(100 * ms), Concurrency: 2, Queue: 1}}
	for n, tt := range []struct {
		at, end engine.Time
		how     Reply
	}{
		{0, 100 * ms, Answered},
		{30 * ms, 130 * ms, Answered},
		{40 * ms, 200 * ms, Answered}, // waits for the first
		{50 * ms, 0, TurnedAway},
		{100 * ms, 230 * ms, Answered}, // the first is done, and the third has its place: waits for the second
		{110 * ms, 0, TurnedAway},
		{130 * ms, 300 * ms, Answered},
		{500 * ms, 600 * ms, Answered}, // long idle
	} {
		if end, how := i.Serve(1, tt.at); end != tt.end || how != tt.how {
			t.Errorf("request %d at %s s: %s s, %d, want %s s, %d", n, tt.at.Seconds(), end.Seconds(), how, tt.end.Seconds(), tt.how)
		}
	}
}

// Errors are per mille of the requests, drawn for each, and take their time.
func TestAnAppThatErrs(t *testing.T) {
	t.Parallel()
	for _, perMille := range []int{0, 250, 1000} {
		t.Run(fmt.Sprint(perMille), func(t *testing.T) {
			t.Parallel()
			i := &Instance{App: &world.App{Serve: engine.Constant(engine.Second), Errors: perMille}}
			draws, erred := engine.New(7, engine.Limits{}).Stream("clients", "requests"), 0
			const n = 4000
			for k := range uint64(n) {
				end, how := i.Serve(draws.Draw(k), engine.Second)
				if how == Erred {
					erred++
				}
				if end != 2*engine.Second || how == TurnedAway {
					t.Fatalf("request %d: %s s, %d", k, end.Seconds(), how)
				}
			}
			if want := n * perMille / 1000; erred < want-150 || erred > want+150 || perMille%1000 == 0 && erred != want {
				t.Errorf("%d errors, want about %d", erred, want)
			}
		})
	}
}
