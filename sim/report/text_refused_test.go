package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// refusedObject is one that the API server refuses, beside the cases of the example.
var refusedObject = record.LeftOut{
	Kind: "Deployment", Name: "shop/old", Why: "apiVersion: extensions/v1beta1 is gone since Kubernetes 1.16; skipped, use apps/v1",
	Source: "shop.yaml:7:13", File: "shop.yaml", Line: 7,
}

// A report begins with the objects that it is not about, however many there are.
func TestAReportBeginsWithWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	s := example()
	s.LeftOut = []record.LeftOut{refusedObject}
	if text := flow(compose(s, TextOptions{})); !strings.HasPrefix(text, "Left out: Deployment shop/old: "+refusedObject.Why+" (shop.yaml:7). What follows is without. ") {
		t.Error(text)
	}
	for range 4 {
		s.LeftOut = append(s.LeftOut, refusedObject)
	}
	if text := flow(compose(s, TextOptions{})); strings.Count(text, "Left out: Deployment") != 3 || !strings.Contains(text, "Left out, too: 2 objects more (-v).") {
		t.Error(text)
	}
	if text := flow(compose(s, TextOptions{Verbose: true})); strings.Count(text, "Left out: Deployment") != 5 {
		t.Error(text)
	}
	if got := Build(s).LeftOut; len(got) != 5 || got[0] != (LeftOut{"Deployment shop/old", "shop.yaml:7:13", refusedObject.Why}) {
		t.Errorf("%+v", got)
	}
	var junit strings.Builder
	if err := WriteJUnit(&junit, s, func(*record.Case) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if text := junit.String(); !strings.Contains(text, `failures="5"`) || !strings.Contains(text, `<testcase classname="input" name="Deployment shop/old">`) {
		t.Error(text)
	}
}

// What stands in for a proxy that is not simulated is said whichever workload is told in full.
func TestAStandInOfAnotherCaseIsSaid(t *testing.T) {
	t.Parallel()
	s := example()
	told := s.Worst()[0].ID
	other := -1
	for i := range s.Cases {
		if s.Cases[i].ID != told && s.Cases[i].Verdict != record.NotJudged {
			other = i
		}
	}
	const what = "Traefik is not simulated: l7-generic stands in for it"
	s.Cases[other].NotModelled = append(s.Cases[other].NotModelled, world.NotModelled{ID: world.StandIn, What: what, Direction: "unknown"})
	if text := flow(compose(s, TextOptions{})); strings.Count(text, "of "+s.Cases[other].Workload+": "+what) != 1 {
		t.Error(text)
	}
	if text := flow(compose(s, TextOptions{Show: told})); strings.Contains(text, what) {
		t.Error(text)
	}
	for i := range s.Cases { // it is that of the case that is told, too
		if s.Cases[i].ID == told {
			s.Cases[i].NotModelled = s.Cases[other].NotModelled
		}
	}
	if text := flow(compose(s, TextOptions{})); strings.Count(text, what) != 1 {
		t.Error(text)
	}
}

// An annotation that is not followed is on every page: whoever wrote it takes it for followed.
func TestAnAnnotationThatIsNotFollowedIsAlwaysSaid(t *testing.T) {
	t.Parallel()
	w := newText(&record.Simulation{}, TextOptions{}, room{bare: true})
	w.notModelled([]NotModelled{
		{ID: "a", What: "one thing"}, {ID: "b", What: "another"},
		{ID: record.Unfollowed, What: "annotation a/healthcheck-port is not followed", Direction: "unknown"},
	})
	const want = "Not modelled: annotation a/healthcheck-port is not followed (reality loses more or less); 2 things (-v says which)."
	if got := flow(w.String()); !strings.Contains(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Workloads that no Service selects are named, too: nobody's requests say what becomes of them.
func TestWorkloadsWithoutAServiceAreNamed(t *testing.T) {
	t.Parallel()
	s := example()
	for i, name := range []string{"shop/mailer", "shop/worker", "shop/queue", "shop/batch", "shop/more"} {
		s.Unserved = append(s.Unserved, record.LeftOut{Kind: "Deployment", Name: name, Why: "no Service selects its pods", File: "b.yaml", Line: 7 + i, Source: "b.yaml:7:1"})
	}
	const want = "Deployment shop/mailer (b.yaml:7), Deployment shop/worker (:8) and 3 more, which no Service selects."
	if got := flow(compose(s, TextOptions{})); strings.Count(got, want) != 1 {
		t.Error(got)
	}
	const all = "Deployment shop/queue (:9), Deployment shop/batch (:10) and Deployment shop/more (:11), which no Service selects."
	if got := flow(compose(s, TextOptions{All: true})); strings.Count(got, all) != 1 {
		t.Error(got)
	}
	s.Unserved[1].HostPorts = "8125, 8126"
	const clients = "Deployment shop/worker and clients of its host port 8125, 8126 (:8) and 3 more, which no Service selects."
	if got := flow(compose(s, TextOptions{})); strings.Count(got, clients) != 1 {
		t.Error(got)
	}
	wanted := NotModelled{ID: "no-service", What: "Deployment shop/mailer: no Service selects its pods (b.yaml:7:1)", Object: "Deployment shop/mailer", Direction: "more"}
	if r := Build(s); !slices.Contains(r.NotModelled, wanted) {
		t.Errorf("%+v", r.NotModelled)
	}
}

// Services that lead nowhere stand in the headline where there is nothing else, below the cases where there is, and in the document.
func TestServicesThatLeadNowhereAreNamed(t *testing.T) {
	t.Parallel()
	nowhere := []record.LeftOut{{Kind: "Service", Name: "shop/typo", Why: "it selects no workload of the input", File: "a.yaml", Line: 7, Source: "a.yaml:7:3"}}
	const line = "Leads nowhere: Service shop/typo: it selects no workload of the input (a.yaml:7)."
	got := flow(compose(&record.Simulation{Nowhere: nowhere}, TextOptions{}))
	if !strings.HasPrefix(got, "NOT JUDGED nothing to judge: 1 Service leads nowhere, and") || !strings.Contains(got, line) {
		t.Error(got)
	}
	s := example()
	s.Nowhere = nowhere
	if got := flow(compose(s, TextOptions{})); strings.Count(got, line) != 1 || strings.HasPrefix(got, "NOT JUDGED") {
		t.Error(got)
	}
	want := NotModelled{ID: "leads-nowhere", What: "Service shop/typo: it selects no workload of the input (a.yaml:7:3)", Object: "Service shop/typo", Direction: "more"}
	if r := Build(s); !slices.Contains(r.NotModelled, want) {
		t.Errorf("%+v", r.NotModelled)
	}
}

// One that leads somewhere where pods are labelled later is not said to lead nowhere whatever happens.
func TestAServiceMayLeadSomewhereLater(t *testing.T) {
	t.Parallel()
	later := record.LeftOut{Kind: "Service", Name: "shop/rw", Why: "no template has its label role=primary", SetLater: "role=primary", File: "a.yaml", Line: 7, Source: "a.yaml:7:3"}
	const line = "Leads nowhere, unless the app or an operator sets label role=primary while pods run (not simulated): Service shop/rw (a.yaml:7)."
	got := flow(compose(&record.Simulation{Nowhere: []record.LeftOut{later}}, TextOptions{}))
	if !strings.HasPrefix(got, "NOT JUDGED nothing to judge: 1 Service leads nowhere unless pods are labelled while they run, and no other") || !strings.Contains(got, "gets no answer where that is not so") || !strings.Contains(got, line) {
		t.Error(got)
	}
	s := example()
	s.Nowhere = []record.LeftOut{later}
	if got := flow(compose(s, TextOptions{})); !strings.Contains(got, line) {
		t.Error(got)
	}
}

// A field that is misspelled is told to programs, too.
func TestAMisspelledFieldIsNotModelled(t *testing.T) {
	t.Parallel()
	s := &record.Simulation{Misspelled: []record.Misspelled{{Object: "Service shop/web", Field: "spec.ports[0].targetport", Meant: "targetPort", Source: "a.yaml:7:3"}}}
	want := NotModelled{ID: "misspelled-field", What: "Service shop/web: spec.ports[0].targetport is no field (a.yaml:7:3); targetPort is", Object: "Service shop/web", Direction: "unknown"}
	if got := Build(s).NotModelled; len(got) != 1 || got[0] != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
