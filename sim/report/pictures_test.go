package report

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/explain"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/sweep"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

// summed is what stands for a text that is not kept whole.
func summed(text string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return fmt.Sprintf("%d lines, %016x", strings.Count(text, "\n"), h.Sum64())
}

// bodyOf is a picture without its style and its patterns.
func bodyOf(t *testing.T, picture string) string {
	t.Helper()
	head, rest, ok := strings.Cut(picture, "<style>")
	_, body, ok2 := strings.Cut(rest, "</style>")
	if !ok || !ok2 {
		t.Fatal(picture)
	}
	return head + strings.ReplaceAll(body, racePatterns, "(the patterns)")
}

// pictured are examples of what there is to draw: of each cause and of each who may be late, of load balancers, ingress controllers, machines that go
// and what never ends.
var pictured = []string{
	"all-terminating-readiness", "all-unhealthy-fail-closed", "cluster-policy-node-crashed", "drain-blocked-by-a-budget", "drain-single-replica",
	"field-aws-1124", "field-jac-7895", "field-quay-6871", "gke-local-drain-ends", "gke-local-no-prestop", "grace-too-short", "headless-stale-dns",
	"ingress-controller-app-no-retries", "ingress-nginx-no-retries", "internal-traffic-policy-local", "karpenter-two-nodes", "keep-alive-resets",
	"liveness-follows-a-dependency", "max-unavailable-of-one", "new-revision-answers-500", "nlb-ip-no-readiness-gate", "no-readiness-probe",
	"node-comes-back", "node-crash-local", "pool-upgrade-grace-too-long", "publish-not-ready", "ready-then-crash", "service-recreated",
	"spot-notice-too-short", "statefulset-stuck", "surge-without-room", "udp-pinned-flow", "zone-hints",
}

// Examples are drawn as they were: the first lanes of a terminal are kept whole, with 5 for X, and of all that is made of one run else there are sums.
func TestPicturesOfExamples(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes a second")
	}
	var out strings.Builder
	for _, name := range pictured {
		data, err := os.ReadFile(filepath.Join("../../examples/scenarios", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		objects, _ := manifest.Load([]manifest.File{{Name: "f", Data: data}}, manifest.Options{})
		cases, _ := scenario.Parse(objects, scenario.Options{})
		s, err := sweep.Run(context.Background(), sweep.Scenarios(cases), sweep.Options{Runs: 1, Timelines: 1, Wording: flags()})
		if err != nil {
			t.Fatal(name, err)
		}
		fmt.Fprintf(&out, "%s\n", name)
		drawAll(t, &out, s)
	}
	golden.Compare(t, "testdata/pictures/examples.txt", out.String(), *update)
}

func drawAll(t *testing.T, out *strings.Builder, s *record.Simulation) {
	t.Helper()
	var lanes []string
	for i := range s.Cases {
		c := &s.Cases[i]
		for k := range c.Causes {
			words := fmt.Sprintf("  %v: no picture\n", c.Causes[k].Blame)
			if p := pictureOf(c.Timeline, &c.Causes[k], 80); p != nil {
				words = fmt.Sprintf("  %v\n    %s\n", c.Causes[k].Blame, strings.ReplaceAll(strings.Join(p.lines(), "\n    "), "X", "5"))
			}
			lanes = append(lanes, words)
		}
	}
	const whole = 2
	fmt.Fprintf(out, "%s  further lanes %s\n", strings.Join(lanes[:min(whole, len(lanes))], ""), summed(strings.Join(lanes[min(whole, len(lanes)):], "")))
	doc, err := json.Marshal(Build(s))
	if err != nil {
		t.Fatal(err)
	}
	var units strings.Builder
	if err := WriteJUnit(&units, s, func(c *record.Case) bool { return c == nil || c.Verdict == record.Drops }); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(out, "  drawn %s\n  said %s\n  in full %s\n  as JSON %s\n  as JUnit %s\n", summed(bodyOf(t, drawn(t, s, ""))),
		summed(compose(s, TextOptions{Lanes: true, Width: 100})), summed(compose(s, TextOptions{All: true, Verbose: true})), summed(string(doc)), summed(units.String()))
}

// Pictures that are made by hand are kept whole.
func TestPicturesMadeByHand(t *testing.T) {
	t.Parallel()
	of := func(s *record.Simulation) string { return bodyOf(t, drawn(t, s, "")) }
	fixed := raced(raceTimeline())
	fixed.Fixes = []record.Fix{{Title: "preStop: sleep 15", Cases: []record.FixedCase{{ID: fixed.Cases[0].ID, Timeline: raceTimeline()}}}}
	node := func(changes ...func(*explain.Explanation)) string {
		x := fallsBack()
		for _, change := range changes {
			change(x)
		}
		return bodyOf(t, nodePage(t, x).Picture)
	}
	dead := func(x *explain.Explanation) {
		x.Services[0].Traffic[0] = explain.Traffic{From: "outside", To: "external", Action: "drop"}
		x.Services[0].Traffic[1] = explain.Traffic{From: "node", To: "clusterIP", Action: "reject"}
	}
	many := func(x *explain.Explanation) {
		s := &x.Services[0]
		for i := range 20 {
			e := s.Decisions[i%3]
			e.Endpoint = fmt.Sprintf("10.244.3.%d:8080", i)
			s.Decisions = append(s.Decisions, e)
		}
		for range 5 {
			x.Services = append(x.Services, *s)
		}
		x.Services[1].Decisions = nil
	}
	for name, picture := range map[string]string{ // order: each by itself
		"race": of(raced(raceTimeline())), "race-stays": of(raced(stayingTimeline())), "race-fixed": of(fixed),
		"node": node(), "node-dead": node(dead), "node-many": node(many),
		"node-nothing": node(func(x *explain.Explanation) { x.Services = nil }),
	} {
		golden.Compare(t, "testdata/pictures/"+name+".svg", picture, *update)
	}
}

// What a page says of a node is kept for explanations of which one field is another.
func TestChangedNodesAreKept(t *testing.T) {
	t.Parallel()
	x := fallsBack()
	x.Services = append(x.Services, x.Services[0])
	x.Services[1].Traffic = slices.Clone(x.Services[0].Traffic)
	x.Services[1].Decisions = slices.Clone(x.Services[0].Decisions)
	var rows []string
	eachFigure("", reflect.ValueOf(x).Elem(), func(path string, v reflect.Value) {
		was := reflect.New(v.Type()).Elem()
		was.Set(v)
		for _, c := range figureChanges {
			if !c.do(v) {
				continue
			}
			p, err := PageOfNode(x)
			if err != nil {
				t.Fatal(err)
			}
			words := fmt.Sprintf("%s %s %+v", p.Title, p.Whose, p.Ports)
			rows = append(rows, fmt.Sprintf("%s %s: drawn %s; said %s", path, c.name, summed(bodyOf(t, p.Picture)), summed(words)))
			v.Set(was)
		}
	})
	golden.Compare(t, "testdata/pictures/nodes.txt", strings.Join(rows, "\n")+"\n", *update)
}

// What else is made of a sweep is kept: its page, but for the picture, and its document.
func TestSweepsAsPagesAndDocuments(t *testing.T) {
	t.Parallel()
	all := sweeps(t)
	var names []string
	for name := range all { // order: sorted below
		names = append(names, name)
	}
	slices.Sort(names)
	var out strings.Builder
	for _, name := range names {
		p, err := PageOfSweep(all[name])
		if err != nil {
			t.Fatal(err)
		}
		page := *p
		page.Picture, page.Style = "", ""
		for i := range page.Maps {
			page.Maps[i].Rows = page.Maps[i].Rows[:min(1, len(page.Maps[i].Rows))]
		}
		doc, err := json.MarshalIndent(BuildSweep(all[name], "v1"), "  ", " ")
		if err != nil {
			t.Fatal(err)
		}
		shown, err := json.MarshalIndent(page, "  ", " ")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s\n  %s\n  document %s\n", name, shown, summed(string(doc)))
	}
	golden.Compare(t, "testdata/pictures/sweeps.txt", out.String(), *update)
}

// What a pipeline is told is kept: of cases of all verdicts, and of what is left out.
func TestDocumentsOfJUnit(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	for _, name := range figured {
		s := goldens[name].of(t)
		s.LeftOut = []record.LeftOut{{Kind: "Deployment", Name: "shop/left", Why: "spec.selector: does not match", Source: "web.yaml:3:4"}}
		s.Nowhere = []record.LeftOut{{Kind: "Service", Name: "shop/nowhere", Why: "spec.selector: matches no pod", Source: "web.yaml:7:4"}}
		if err := WriteJUnit(&out, s, func(c *record.Case) bool { return c.Verdict.Rank() < record.Rare.Rank() }); err != nil {
			t.Fatal(err)
		}
	}
	golden.Compare(t, "testdata/pictures/junit.xml", out.String(), *update)
}
