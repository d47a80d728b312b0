package control

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// daemons reads nodes from words: a letter for each pod, - for none. The pods: o old and available, x old and not available,
// n new and available, m new and not available, t old and terminating, d the same and done, f failed (new), s succeeded (old),
// p new and not bound yet. After them: ! the node is to have none, # and drives away what it has, ~ it is gone, w its failed pods wait.
func daemons(words string, surge, unavailable int) *daemonInput {
	in := &daemonInput{revision: 1, surge: surge, unavailable: unavailable, surges: surge > 0, now: engine.Hour, minReady: 10 * engine.Second}
	id := api.PodID(0)
	for i, word := range strings.Fields(words) {
		n := daemonNode{number: i, runs: true, stays: true}
		for _, c := range word {
			switch c {
			case '-':
				continue
			case '!':
				n.runs = false
				continue
			case '#':
				n.runs, n.stays = false, false
				continue
			case '~':
				n.gone, n.runs, n.stays = true, false, false
				continue
			case 'w':
				n.waits = true
				continue
			}
			if p := daemonPodOf(c, id, i); c != 'd' {
				n.pods = append(n.pods, p)
			}
			id++
		}
		if n.runs {
			in.desired++
		}
		in.nodes = append(in.nodes, n)
	}
	return in
}

func daemonPodOf(c rune, id api.PodID, node int) *api.Pod {
	p := &api.Pod{ID: id, Node: node, DeletedAt: api.Never, Phase: api.PhaseRunning, Name: fmt.Sprintf("%c%d", c, id), Created: engine.Time(id) * engine.Second}
	p.Ready = strings.ContainsRune("ont", c)
	if strings.ContainsRune("nmpf", c) {
		p.Revision = 1
	}
	switch c {
	case 't':
		p.DeletedAt = engine.Minute
	case 'f':
		p.Phase = api.PhaseFailed
	case 's':
		p.Phase = api.PhaseSucceeded
	case 'p':
		p.Node, p.Phase = -1, api.PhasePending
	}
	return p
}

func (s daemonStep) words() string {
	var out []string
	for _, n := range s.create {
		out = append(out, fmt.Sprintf("+%d", n))
	}
	for _, p := range s.remove {
		out = append(out, "-"+p.Name)
	}
	return strings.Join(out, " ")
}

// Reference: Kubernetes 1.36 pkg/controller/daemon/daemon_controller.go, manage and podsShouldBeOnNode.
func TestADaemonSetHasAPodOnEachNode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, nodes string
		surge       int
		want        string
	}{
		{"a node without one gets one", "o - o", 0, "+1"},
		{"a node that is to have none does not", "o -! -#", 0, ""},
		{"what is there stays on a node that only keeps new ones off", "o! o", 0, ""},
		{"what is there goes from a node that drives it away", "o# t#", 0, "-o0"},
		{"a pod on its way out is waited for", "t o", 0, ""},
		{"... until it is done", "d o", 0, "+0"},
		{"with a surge nobody waits for it", "t o", 1, "+0"},
		{"... nor on a node that is to have none", "t! o", 1, ""},
		{"a failed pod goes, and the next sync makes another", "f o", 0, "-f0"},
		{"... not again and again", "fw o", 0, ""},
		{"one that has ended, too", "s o", 0, "-s0"},
		{"of several only the oldest stays", "om o", 0, "-m1"},
		{"a pod that is bound comes before one that is not", "pn o", 0, "-p0"},
		{"with a surge an old and a new one may be on a node", "om o", 1, ""},
		{"... until the new one is available", "on o", 1, "-o0"},
		{"... or the old one is not ready", "xm o", 1, "-x0"},
		{"... but no third one", "omm o", 1, "-m2"},
		{"nor two old ones", "oo o", 1, "-o1"},
		{"a node that is gone keeps its pods for PodGC, but those that no node has", "op~ n", 0, "-p1"},
	} {
		step := manage(daemons(c.nodes, c.surge, 1))
		if got := step.words(); got != c.want {
			t.Errorf("%s: %s: got %q, want %q", c.name, c.nodes, got, c.want)
		}
	}
	if step := manage(daemons("f o", 0, 1)); !slices.Equal(step.failed, []int{0}) {
		t.Errorf("pods have failed on %v, expected node 0", step.failed)
	}
}

// Reference: Kubernetes 1.36 pkg/controller/daemon/update.go, rollingUpdate.
func TestOneStepOfADaemonSetUpdate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, nodes        string
		surge, unavailable int
		want               string
	}{
		{"one old pod goes", "o o o", 0, 1, "-o0"},
		{"as many as may be unavailable", "o o o o", 0, 3, "-o0 -o1 -o2"},
		{"none while a new one is not available", "m o o", 0, 1, ""},
		{"none while a node has none", "- o o", 0, 1, ""},
		{"none while one is on its way out", "t o o", 0, 1, ""},
		{"all that are not available go anyway", "x o x o", 0, 1, "-x0 -x2"},
		{"... and count", "x o o", 0, 2, "-x0 -o1"},
		{"more unavailable than allowed leaves nothing to take", "m m o", 0, 1, ""},
		{"a node with two old pods counts as unavailable", "oo o o", 0, 1, ""},
		{"a node with an old and a new one does, too", "on o o", 0, 1, ""},
		{"an old pod where none is to be is one of them", "o! n n", 0, 1, "-o0"},
		{"one on a node that is gone, too", "o~ n n", 0, 1, "-o0"},
		{"nothing is left to do", "n n n", 0, 1, ""},
		{"surge: a new pod beside an old one", "o o o", 1, 0, "+0"},
		{"surge: as many as maxSurge", "o o o", 2, 0, "+0 +1"},
		{"surge: none while a new one is not available", "om o o", 1, 0, ""},
		{"surge: the old one goes when the new one is available", "on o o", 1, 0, "+1 -o0"},
		{"surge: beside old pods that are not available at once", "x x o", 1, 0, "+0 +1 +2"},
		{"surge: a node without a pod does not count", "- o o", 1, 0, "+1"},
		{"surge: a new pod alone does not count", "m o o", 1, 0, "+1"},
		{"surge: a node with two old pods counts", "oo o o", 1, 0, ""},
		{"surge: where none is to be an unavailable pod goes", "x! n n", 1, 0, "-x0"},
		{"surge: an available one goes when enough others are", "o! n n", 1, 0, "-o0"},
		{"surge: ... not before", "o! n m", 1, 0, ""},
		{"surge: ... and only as many as are too many", "o! o! n m", 1, 0, "-o0"},
		{"surge: an old pod on a node that is gone stops all", "o~ o o", 1, 0, ""},
		{"surge: nothing is left to do", "n n", 1, 0, ""},
	} {
		step := rollDaemons(daemons(c.nodes, c.surge, c.unavailable))
		if got := step.words(); got != c.want {
			t.Errorf("%s: %s: got %q, want %q", c.name, c.nodes, got, c.want)
		}
	}
}

// A pod that has been ready for less than minReadySeconds is not available, by the whole seconds that the API keeps.
func TestADaemonSetWaitsForMinReadySeconds(t *testing.T) {
	t.Parallel()
	in := daemons("n o", 0, 1)
	in.nodes[0].pods[0].ReadySince = in.now - 9*engine.Second - 900*engine.Millisecond
	in.now -= engine.Millisecond
	if step := rollDaemons(in); !step.nothing() {
		t.Errorf("before the tenth second since the one in which it became ready: %s", step.words())
	}
	in.now += engine.Millisecond
	if step := rollDaemons(in); step.words() != "-o1" {
		t.Errorf("at the tenth second since: %q, expected the old pod to go", step.words())
	}
}

// Every state of up to four nodes, against all choices that there are: of the choices that keep the promise of maxUnavailable
// or maxSurge a step is one of the largest.
func TestADaemonSetUpdateTakesTheLargestStepAllowed(t *testing.T) {
	t.Parallel()
	states := []string{"-", "o", "x", "n", "m", "t", "on", "om", "tm"}
	for nodes := 1; nodes <= 4; nodes++ {
		each(states, nodes, func(words string) {
			for bound := 1; bound <= nodes+1; bound++ {
				if got, want := rollDaemons(daemons(words, 0, bound)), mostRemoved(words, bound); len(got.remove) != want || len(got.create) > 0 || got.unkept(words, bound) {
					t.Fatalf("%s, maxUnavailable %d: %q, expected %d pods to go", words, bound, got.words(), want)
				}
				if got, want := rollDaemons(daemons(words, bound, 0)), mostCreated(words, bound); len(got.create) != want || len(got.remove) != strings.Count(words, "on") {
					t.Fatalf("%s, maxSurge %d: %q, expected %d new pods", words, bound, got.words(), want)
				}
			}
		})
	}
}

// each calls do with all sequences of so many states.
func each(states []string, length int, do func(string)) {
	var rest func(prefix string, left int)
	rest = func(prefix string, left int) {
		if left == 0 {
			do(prefix)
			return
		}
		for _, s := range states {
			rest(prefix+" "+s, left-1)
		}
	}
	rest("", length)
}

// mostRemoved tries all sets of nodes from which the only pod, an old one, could go: at most so many nodes may then be without a
// pod that is available and alone, except for those that are now.
func mostRemoved(words string, unavailable int) int {
	nodes := strings.Fields(words)
	most := 0
	for set := range 1 << len(nodes) {
		taken, dark, available := 0, 0, false
		for i, pods := range nodes {
			chosen := set&(1<<i) != 0
			switch {
			case chosen && pods != "o" && pods != "x":
				taken = -len(nodes) // not a choice
			case chosen:
				taken++
				available = available || pods == "o"
			}
			if chosen || pods != "o" && pods != "n" {
				dark++
			}
		}
		if dark <= unavailable || !available {
			most = max(most, taken)
		}
	}
	return most
}

// unkept says that a step in place breaks its promise: more nodes are dark than may be, and one of them was not.
func (s daemonStep) unkept(words string, unavailable int) bool {
	dark, taken := 0, false
	for _, pods := range strings.Fields(words) {
		if pods != "o" && pods != "n" {
			dark++
		}
	}
	for _, p := range s.remove {
		if strings.HasPrefix(p.Name, "o") {
			dark++
			taken = true
		}
	}
	return taken && dark > unavailable
}

// mostCreated tries all sets of nodes that could get a new pod beside an old one: at most so many may have one that is not available
// beside one that is.
func mostCreated(words string, surge int) int {
	nodes := strings.Fields(words)
	most := 0
	for set := range 1 << len(nodes) {
		taken, beside, available := 0, 0, false
		for i, pods := range nodes {
			chosen := set&(1<<i) != 0
			switch {
			case chosen && pods != "o" && pods != "x":
				taken = -len(nodes)
			case chosen:
				taken++
				available = available || pods == "o"
			}
			if chosen && pods == "o" || pods == "om" {
				beside++
			}
		}
		if beside <= surge || !available {
			most = max(most, taken)
		}
	}
	return most
}

// Whole updates of 1 to 12 nodes, each new pod available before the next sync: never more nodes are without a pod than
// maxUnavailable says, never more have two than maxSurge, and it takes as many rounds as that needs.
func TestADaemonSetUpdateKeepsItsPromise(t *testing.T) {
	t.Parallel()
	for nodes := 1; nodes <= 12; nodes++ {
		for _, bound := range []string{"1", "2", "3", "12", "1%", "10%", "25%", "33%", "50%", "99%", "100%"} {
			for _, surges := range []bool{false, true} {
				s, u := intstr.Parse("0"), intstr.Parse(bound)
				if surges {
					s, u = u, s
				}
				surge, unavailable := world.DaemonFenceposts(nodes, s, u)
				want := roundedUp(bound, nodes)
				if surge+unavailable != want || surges != (surge > 0) {
					t.Fatalf("%s of %d nodes: surge %d, unavailable %d, expected %d", bound, nodes, surge, unavailable, want)
				}
				if rounds := playDaemons(t, nodes, surge, unavailable); rounds != (nodes+want-1)/want {
					t.Errorf("%s of %d nodes, surge %v: %d rounds", bound, nodes, surges, rounds)
				}
			}
		}
	}
}

func roundedUp(bound string, nodes int) int {
	var n int
	if _, err := fmt.Sscanf(bound, "%d%%", &n); err == nil && strings.HasSuffix(bound, "%") {
		return (n*nodes + 99) / 100
	}
	return n
}

// playDaemons counts the rounds in which pods were replaced.
func playDaemons(t *testing.T, nodes, surge, unavailable int) int {
	t.Helper()
	at := slices.Repeat([]string{"o"}, nodes)
	for round := 0; round < 100; round++ {
		if !strings.Contains(strings.Join(at, ""), "o") {
			return round
		}
		step := rollDaemons(daemons(strings.Join(at, " "), surge, unavailable))
		if n := len(step.remove); n > unavailable || len(step.create) > surge || n+len(step.create) == 0 {
			t.Fatalf("%d nodes, surge %d, unavailable %d, %v: %s", nodes, surge, unavailable, at, step.words())
		}
		for _, p := range step.remove {
			at[p.Node] = "-" // and its successor is available
		}
		for _, n := range step.create {
			at[n] = "on"
		}
		if len(step.create) > 0 {
			after := rollDaemons(daemons(strings.Join(at, " "), surge, unavailable))
			if len(after.remove) != len(step.create) {
				t.Fatalf("%v: %s, expected what was replaced to go", at, after.words())
			}
		}
		for i, pods := range at {
			if pods != "o" {
				at[i] = "n"
			}
		}
	}
	t.Fatalf("%d nodes, surge %d, unavailable %d: no end", nodes, surge, unavailable)
	return 0
}
