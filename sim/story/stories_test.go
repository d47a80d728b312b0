package story

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

// The stories of the examples are kept: of each the lines that ask for what happens, and the first request that was lost to each cause, with what
// stands behind it; where nothing was lost, how the first pod was replaced. Moments are left out: they are the simulator's and no story's.
func TestStoriesOfExamples(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../../examples/scenarios/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	var out strings.Builder
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		objects, _ := manifest.Load([]manifest.File{{Name: "f", Data: data}}, manifest.Options{})
		list, _ := scenario.Parse(objects, scenario.Options{})
		for _, sc := range list {
			fmt.Fprintf(&out, "%s\n", name)
			tellOf(t, &out, sc)
		}
	}
	golden.Compare(t, "testdata/stories.txt", out.String(), *update)
}

func tellOf(t *testing.T, out *strings.Builder, sc *world.Scenario) {
	t.Helper()
	recorder := &Recorder{}
	res, err := sim.RunWith(sc, 1, sim.Options{Events: recorder.Log(nil)})
	if err != nil {
		t.Fatal(err)
	}
	tell := NewTeller(sc, recorder, res.Pods)
	fmt.Fprintf(out, "  asked for by %s\n", strings.Join(askedFor(tell), ", "))
	seen := map[ledger.Blame]bool{}
	for _, r := range res.Ledger.Failures() {
		if !seen[r.Blame] {
			seen[r.Blame] = true
			fmt.Fprintf(out, "  %v %v%s\n", r.Outcome, r.Blame, behind(tell, &r))
			tellLines(out, tell.Tell(r))
		}
	}
	if len(seen) == 0 {
		fmt.Fprintf(out, "  kept, with %s s of fallback\n", tell.Fallback().Seconds())
		tellLines(out, tell.Kept())
	}
	pod, ok := tell.FirstDeleted()
	if !ok {
		return
	}
	// A recorder that keeps only what matters to one pod tells the same of it.
	few := RecorderAbout(pod)
	for _, e := range recorder.events {
		few.Record(e)
	}
	about := NewTeller(sc, few, res.Pods)
	var all, same strings.Builder
	tellLines(&all, tell.Kept())
	tellLines(&same, about.Kept())
	if all.String() != same.String() || tell.Fallback() != about.Fallback() {
		t.Errorf("%s: of the first pod that is deleted\n%sfallback %v, and with all events\n%sfallback %v", sc.Name, same.String(), about.Fallback(), all.String(), tell.Fallback())
	}
	fmt.Fprintf(out, "  %d events, %d about the first pod that is deleted\n", len(recorder.events), len(few.events))
}

// askedFor are the lines of the manifests behind all that happens, each with the first event that it asks for.
func askedFor(tell *Teller) []string {
	var list, seen []string
	for _, l := range tell.All() {
		where := fmt.Sprintf("%s:%d", l.File, l.Line)
		if l.File != "" && !slices.Contains(seen, where) {
			seen = append(seen, where)
			list = append(list, fmt.Sprintf("%d (%s of %s)", l.Line, l.Words(), l.Object))
		}
	}
	return list
}

// behind is whose manifest stands behind a loss, and with what.
func behind(tell *Teller, r *ledger.Request) string {
	w, words := tell.Met(*r), ""
	if w == nil {
		return ""
	}
	add := func(title string, c Culprit, ok bool) {
		if ok {
			words += fmt.Sprintf("; %s %s (%s, %s:%d)", title, c.What, c.Object, c.File, c.Line)
		}
		if c.Probe != "" {
			words += fmt.Sprintf(", %s (%s:%d)", c.Probe, c.ProbeFile, c.ProbeLine)
		}
	}
	c, ok := CulpritOf(w, r.Blame, tell.sc.Updates())
	add("by", c, ok)
	c, ok = ScaledToNothing(tell.sc, w)
	add("scaled:", c, ok)
	c, ok = NotReadyPublished(tell.sc, r.Stream, r.Blame)
	add("published:", c, ok)
	c, ok = tell.RestartedBy(*r)
	add("restarted:", c, ok)
	return words
}

func tellLines(out *strings.Builder, lines []Line) {
	for i := range lines {
		l := &lines[i]
		mark := ""
		if l.Origin {
			mark += " ORIGIN"
		}
		if l.Blamed {
			mark += " BLAMED"
		}
		if l.Decides {
			mark += " DECIDES"
		}
		fmt.Fprintf(out, "    %s: %s (%s:%d)%s\n", l.Object, l.Words(), l.File, l.Line, mark)
	}
}
