package balancer

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/lameduck-proxy/lameduck/test/golden"
)

// keptRuns has what the load balancers of each test do, whatever else it asks: what they tell and when, what happens in them, and what they answer.
const keptRuns = "testdata/kept/runs.txt"

var update = flag.Bool("update", false, "rewrite "+keptRuns+", where all tests are run")

var kept = golden.NewSums(keptRuns, update, "balancers", "events", "changes of who gets connections", "states", "cuts")

func TestMain(m *testing.M) { os.Exit(kept.Main(m)) }

// keptSeeds is how many of the load balancers are kept that a test makes with one seed after another.
const keptSeeds = 10

// keep has a fake cluster sum up what its load balancer answers each time that it has run.
func keep(t *testing.T, f *fake, b *Balancer) {
	t.Helper()
	if f.eng.Seed() > keptSeeds {
		return
	}
	f.kept = b
	kept.Keep(t, func() (string, []int) {
		f.ask()
		text := fmt.Sprintf("%s, asked %d times, answers %s\n%+v\n%+v\n%q\n%q\n", f.eng.Hash(), f.asked, &f.answers, f.sends, f.cut, f.states, f.cuts)
		return text, []int{1, int(f.eng.Events()), len(f.sends), len(f.states), len(f.cuts)} //nolint:gosec // a few
	})
}

// ask asks the load balancer all that it can be asked, and does not count what that asks of the cluster.
func (f *fake) ask() {
	b := f.kept
	if b == nil {
		return
	}
	asked := f.asked
	defer func() { f.asked = asked }()
	words := []uint64{uint64(f.eng.Now()), word(b.FailsOpen()), uint64(len(b.Unrest()))} //nolint:gosec // only told apart
	for _, id := range b.Active() {
		words = append(words, uint64(id)) //nolint:gosec // a few
	}
	for member := -1; member <= len(b.members); member++ {
		cause, actor, ok := b.Judge(member)
		words = append(words, uint64(cause), uint64(actor), word(ok), word(b.CutsUnhealthy(member)))
		for flow := range uint64(3) {
			picked, ok := b.Pick(flow*0x5555555555555555, member)
			words = append(words, uint64(picked), word(ok)) //nolint:gosec // only told apart
		}
	}
	for _, m := range b.members {
		words = append(words, uint64(m.id), uint64(m.row), m.flips, uint64(b.removedAt(m)), uint64(b.failedAt(m))) //nolint:gosec // only told apart
	}
	f.answers.Record("", words...)
}

func word(is bool) uint64 {
	if is {
		return 1
	}
	return 0
}
