package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/timeline"
)

// raced is a simulation whose worst case has the lanes of racing, of which the second request is told of.
func raced(tl *timeline.Timeline) *record.Simulation {
	s := example()
	s.Fixes, s.NoHelp = nil, nil
	s.Cases = s.Cases[1:2]
	c := &s.Cases[0]
	c.Timeline, c.WorstSeed = tl, 1
	c.Causes = []record.Cause{*lost(2)}
	return s
}

// raceTimeline is that of racing, with the figures of those lost.
func raceTimeline() *timeline.Timeline {
	tl := racing()
	b := &tl.Bands[0]
	b.Lost, b.Nodes[0].Lost = 2, 2
	for i, at := range []engine.Time{13 * engine.Second, 10*engine.Second + engine.Second/2} {
		b.Nodes[i].LetGo, b.Nodes[i].Like = &at, -1
	}
	return tl
}

// drawn is the picture, which has to be well-formed, with nothing outside of it.
func drawn(t *testing.T, s *record.Simulation, show string) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteSVG(&b, s, show); err != nil {
		t.Fatal(err)
	}
	fits(t, b.String())
	return b.String()
}

var (
	viewBox = regexp.MustCompile(`viewBox="0 0 (\d+) (\d+)"`)
	places  = regexp.MustCompile(` (x|y|cx|cy)="([^"]*)"`)
)

// fits says that a picture is well-formed, and that nothing begins outside of it.
func fits(t *testing.T, picture string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(picture)); ; {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, picture)
		}
	}
	box := viewBox.FindStringSubmatch(picture)
	for _, m := range places.FindAllStringSubmatch(picture, -1) {
		most := box[1]
		if strings.HasSuffix(m[1], "y") {
			most = box[2]
		}
		bound, _ := strconv.ParseFloat(most, 64)
		if v, err := strconv.ParseFloat(m[2], 64); err != nil || v < 0 || v > bound {
			t.Errorf("%s: not in the picture of %s", m[0], most)
		}
	}
}

// Each bar begins and ends where its times are: the pod is deleted and three seconds later the last node lets go, between
// what is left free on both sides.
func TestTheRaceIsDrawnWhereItsTimesAre(t *testing.T) {
	t.Parallel()
	picture := drawn(t, raced(raceTimeline()), "")
	const second = float64(raceWide-raceLeft-raceBefore-raceAfter-raceRight) / 3
	at := func(s float64) float64 { return raceLeft + raceBefore + s*second }
	bar := func(looks string, from, to float64) string {
		return fmt.Sprintf(`<g class="bar %s"><rect x="%.1f"`, looks, from) + `[^>]*` + fmt.Sprintf(` width="%.1f"`, to-from)
	}
	for what, want := range map[string]string{
		"the API says ready":    bar(looksReady, raceLeft, at(0.25)),
		"the API says it goes":  bar(looksLeaving, at(0.25), at(2)),
		"the pod serves":        bar(looksReady, raceLeft, at(1)),
		"the pod has closed":    bar(looksClosed, at(1), at(2)),
		"node-1 uses it":        bar(looksUses, raceLeft, at(1)),
		"node-1 is late":        bar(looksLate, at(1), at(3)),
		"node-2 lets go":        bar(looksUses, raceLeft, at(0.5)),
		"requests die":          fmt.Sprintf(`<rect class="band" x="%.1f" y="\d+" width="%.1f"`, at(1), 2*second),
		"how long they do":      `requests die here: 2 s<`,
		"what is late":          `>still sends to it<`,
		"when node-1 lets go":   `lets go: 3.00 s<`,
		"what it lost":          `>2 lost<`,
		"when node-2 lets go":   `lets go: 0.50 s<`,
		"that this was in time": `>in time<`,
		"the one told of":       fmt.Sprintf(`<circle class="own" cx="%.1f"`, at(2.5)),
		"all of them":           `As it is: <tspan class="bad">2 requests lost<`,
	} {
		if !regexp.MustCompile(want).MatchString(picture) {
			t.Errorf("%s: want %s in\n%s", what, want, picture)
		}
	}
	if n := strings.Count(picture, `class="cross"`); n != 2+2 { // and two in the words below
		t.Errorf("%d crosses", n)
	}
}

// The run with what helps has the same seconds, below.
func TestTheRaceIsDrawnAgainWithWhatHelps(t *testing.T) {
	t.Parallel()
	s := raced(raceTimeline())
	fixed := raceTimeline()
	fixed.Failures, fixed.Bands[0].Lost, fixed.Bands[0].Nodes[0].Lost = nil, 0, 0
	closed := 25 * engine.Second
	fixed.Bands[0].From, fixed.Pods[0].Gone, fixed.Pods[0].Listens[0].To = &closed, nil, closed
	fixed.Pods[0].Marks = []timeline.Mark{{At: 10 * engine.Second, Kind: "preStop"}}
	s.Fixes = []record.Fix{{Title: "preStop: sleep 15", Cases: []record.FixedCase{{ID: "another"}, {ID: s.Cases[0].ID, Timeline: fixed}}}}
	picture := drawn(t, s, "")
	for _, want := range []string{
		`With preStop: sleep 15: <tspan class="good">nothing lost<`, "preStop waits: accepts connections until 15.00 s<", "sends to it, and is answered<", "As it is: ",
	} {
		if !strings.Contains(picture, want) {
			t.Errorf("no %q in\n%s", want, picture)
		}
	}
	if strings.Count(picture, "requests die here") != 1 || strings.Count(picture, ">in time<") != 3 {
		t.Errorf("got\n%s", picture)
	}
	fixed.Pods[0].Called = "another pod"
	if strings.Contains(drawn(t, s, ""), "With ") {
		t.Error("another pod is taken for this one")
	}
}

// Two kinds of clients come by one load balancer, which checks its targets for each of them: a row each, with their names and their own losses.
func TestALoadBalancerHasARowForEachKindOfClients(t *testing.T) {
	t.Parallel()
	tl := raceTimeline()
	tl.Clients = append(tl.Clients, timeline.ClientLane{Name: "keep-alive", Service: "default/web"})
	first, second := 12*engine.Second, 15*engine.Second
	tl.Targets = []timeline.TargetLane{
		{Balancer: "nlb", Proxy: -1, Clients: []int{1}, Pod: 4, Node: -1, Gets: []timeline.Span{{To: second}}},
		{Balancer: "nlb", Proxy: -1, Clients: []int{0}, Pod: 4, Node: -1, Gets: []timeline.Span{{To: first}}},
	}
	tl.Bands[0].Nodes = []timeline.NodeBand{
		{Node: -1, Like: -1, Name: "nlb", Clients: []int{1}, LetGo: &second}, {Node: -1, Like: -1, Name: "nlb", Clients: []int{0}, LetGo: &first},
	}
	for i := range tl.Failures {
		tl.Failures[i].Node = -1
	}
	tl.Failures = append(tl.Failures, tl.Failures[0])
	tl.Failures[2].Client, tl.Failures[2].Number = 1, 7
	picture := drawn(t, raced(tl), "")
	for _, want := range []string{">new<title>new</title>", ">keep-alive<title>", "nlb for keep-alive lets go of it at 5.00 s.", "nlb for new lets go of it at 2.00 s."} {
		if !strings.Contains(picture, want) {
			t.Errorf("no %q in\n%s", want, picture)
		}
	}
	rows := sceneAt(tl, 4, &tl.Failures[0]).rows()
	if len(rows) != 4 || rows[2].whose != "new" || len(rows[2].lost) != 2 || rows[3].whose != "keep-alive" || len(rows[3].lost) != 1 {
		t.Errorf("rows %+v", rows)
	}
	lines := strings.Join(pictureOf(tl, lost(2), 70).lines(), "\n")
	if !strings.Contains(lines, "LB: new ") || !strings.Contains(lines, "LB: keep-alive ") {
		t.Errorf("got\n%s", lines)
	}
	tl.Targets = tl.Targets[1:]
	if picture := drawn(t, raced(tl), ""); !strings.Contains(picture, ">load balancer<") || strings.Contains(picture, ">new<") {
		t.Errorf("one alone needs no clients:\n%s", picture)
	}
}

// Behind an ingress controller it is its pods that still send to the one that goes: a row each, that of the one which had asked for the request
// first, with what was lost there and when it let go. Those that send to other pods have none.
func TestThePodsOfAnIngressControllerHaveRows(t *testing.T) {
	t.Parallel()
	tl := raceTimeline()
	first, second := 12*engine.Second, 13*engine.Second
	target := func(name string, proxy, pod int, until engine.Time) timeline.TargetLane {
		return timeline.TargetLane{Balancer: name + " of ingress", Proxy: proxy, Clients: []int{0}, Pod: pod, Node: -1, Gets: []timeline.Span{{To: until}}}
	}
	tl.Targets = []timeline.TargetLane{
		{Balancer: "nlb", Proxy: -1, Clients: []int{0}, Pod: -1, Node: 0, Gets: []timeline.Span{{To: tl.End}}},
		target("pod 0", 0, 4, first), target("pod 1", 1, 4, second), target("pod 1", 1, 5, tl.End), target("pod 2", 2, 5, tl.End),
	}
	tl.Nodes = tl.Nodes[:1]
	tl.Bands[0].Nodes = []timeline.NodeBand{
		{Node: -1, Proxy: 1, Like: -1, Name: "pod 1 of ingress", LetGo: &second, Lost: 2}, {Node: -1, Proxy: 0, Like: -1, Name: "pod 0 of ingress", LetGo: &first},
	}
	for i := range tl.Failures {
		tl.Failures[i].Node, tl.Failures[i].Proxy = -1, 1
	}
	rows := sceneAt(tl, 4, &tl.Failures[0]).rows()
	if len(rows) != 4 || rows[2].name != "ingress pod 1" || rows[3].name != "ingress pod 0" || len(rows[2].lost) != 2 || len(rows[3].lost) != 0 || rows[2].ends != &second || rows[2].count != 2 {
		t.Errorf("rows %+v", rows)
	}
	picture := drawn(t, raced(tl), "")
	for _, want := range []string{">ingress pod 1<", ">ingress pod 0<", ">lets go: 3.00 s<", ">2 lost<", ">still sends to it"} {
		if !strings.Contains(picture, want) {
			t.Errorf("no %q in\n%s", want, picture)
		}
	}
	lines := pictureOf(tl, lost(2), 70).lines()
	if len(lines) != 7 || !strings.HasPrefix(lines[3], "ingress pod 1   "+strings.Repeat("=", 60)) || !strings.HasPrefix(lines[4], "ingress pod 0   "+strings.Repeat("=", 40)) {
		t.Errorf("got\n%s", strings.Join(lines, "\n"))
	}
	for proxy := 3; proxy < 9; proxy++ { // a controller may have many
		tl.Targets = append(tl.Targets, target("pod 9", proxy, 4, first))
	}
	if lines := pictureOf(tl, lost(2), 70).lines(); len(lines) != 8 {
		t.Errorf("got %d lines\n%s", len(lines), strings.Join(lines, "\n"))
	}
}

// Where the load balancer has no target its row says so, where the requests are lost: in the picture and in the one of the terminal. The pod
// is the one that the request's story counts from.
func TestALoadBalancerWithoutATarget(t *testing.T) {
	t.Parallel()
	tl := raceTimeline()
	tl.Targets = []timeline.TargetLane{{Balancer: "alb", Proxy: -1, Clients: []int{0}, Pod: 4, Node: -1, Gets: []timeline.Span{{To: 11 * engine.Second}}}}
	tl.Dry = []timeline.DryLane{
		{Balancer: "alb", Proxy: -1, Clients: []int{1}, Spans: []timeline.Span{{To: 30 * engine.Second}}},
		{Balancer: "alb", Proxy: -1, Clients: []int{0}, Spans: []timeline.Span{{From: 11 * engine.Second, To: 14 * engine.Second, Is: timeline.NoTarget}}},
	}
	for i := range tl.Failures {
		tl.Failures[i].Node, tl.Failures[i].Pod, tl.Failures[i].Zero = -1, -1, 10*engine.Second
	}
	tl.Zero.Pod = 99
	if picture := drawn(t, raced(tl), ""); !strings.Contains(picture, ">has no target to send to<") {
		t.Errorf("no bar in\n%s", picture)
	}
	rows := sceneAt(tl, 4, &tl.Failures[0]).rows()
	if last := rows[2].stretches[len(rows[2].stretches)-1]; last.looks != looksNobody || last.from != 11*engine.Second || last.to != 14*engine.Second || len(rows[2].lost) != 2 {
		t.Errorf("rows %+v", rows)
	}
	p := pictureOf(tl, lost(2), 70)
	if p == nil {
		t.Fatal("there is no picture")
	}
	if lines := strings.Join(p.lines(), "\n"); !strings.Contains(lines, "=!!!!") || !strings.Contains(lines, "old pod 0") {
		t.Errorf("got\n%s", lines)
	}
	tl.Failures[0].Pod = 4
	if picture := sceneAt(tl, 4, &tl.Failures[0]); len(picture.dry(&tl.Targets[0])) > 0 {
		t.Error("a request that met a pod had a target")
	}
}

func TestWhereNobodyIsLeftTheNodesHaveNoPodToSendTo(t *testing.T) {
	t.Parallel()
	tl := raceTimeline()
	tl.Nodes[0].Ways[0].Uses[1].Is, tl.Nodes[0].Ways[0].Uses[1].Pods = timeline.UsesReject, nil
	for i := range tl.Failures {
		tl.Failures[i].Pod, tl.Failures[i].At = -1, tl.Failures[i].At+2*engine.Second
	}
	tl.Lost = []timeline.LostCause{{Cause: tl.Failures[0].Cause, Count: 5, Without: 2}, {Cause: "another", Count: 7}}
	picture := drawn(t, raced(tl), "")
	for _, want := range []string{">has no pod to send to: refuses<", "3 requests lost<"} {
		if !strings.Contains(picture, want) {
			t.Errorf("no %q in\n%s", want, picture)
		}
	}
	if strings.Contains(picture, "requests die here") {
		t.Error("they do not die at that pod")
	}
}

func TestAPictureWithoutALostRequest(t *testing.T) {
	t.Parallel()
	tl := raceTimeline()
	tl.Failures, tl.Bands[0].Lost, tl.Bands[0].Nodes[0].Lost = nil, 0, 0
	s := raced(tl)
	s.Cases[0].Causes = nil
	if picture := drawn(t, s, ""); !strings.Contains(picture, "As it is: <tspan class=\"good\">nothing lost") || !strings.Contains(picture, ">nobody asked<") || strings.Contains(picture, "Why:") {
		t.Errorf("got\n%s", picture)
	}
	tl.Bands = nil
	if picture := drawn(t, s, ""); !strings.Contains(picture, "no pod goes") {
		t.Errorf("got\n%s", picture)
	}
	if picture := drawn(t, s, "nobody"); !strings.Contains(picture, "Nothing to draw") {
		t.Errorf("got\n%s", picture)
	}
}

// Names come from outside: they are text, and no longer than there is room for.
func TestNamesInAPictureAreText(t *testing.T) {
	t.Parallel()
	tl := raceTimeline()
	const hostile = `<script>alert("x")</script>` + "\x1b[31m\u202e"
	tl.Nodes[0].Name, tl.Pods[0].Called = hostile, hostile
	s := raced(tl)
	s.Cases[0].Workload = strings.Repeat("long", 100)
	picture := drawn(t, s, "")
	if strings.Contains(picture, "<script") || strings.ContainsAny(picture, "\x1b\u202e") {
		t.Errorf("got\n%s", picture)
	}
	for _, text := range regexp.MustCompile(`<text[^>]*>([^<]*)<`).FindAllStringSubmatch(picture, -1) {
		if n := len([]rune(text[1])); n > 140 {
			t.Errorf("%d letters: %s", n, text[1])
		}
	}
}

// Where nothing says who was late, that is not made up; and of several actors the commonest is named.
func TestALateNodeSaysWhy(t *testing.T) {
	t.Parallel()
	r := raceRow{stretches: []stretch{{looks: looksUses, words: []string{"a"}}, {looks: looksLate, words: []string{"b"}}}}
	r.explain("")
	r.explain("nobody that is known")
	if !slices.Equal(r.stretches[1].words, []string{"b"}) {
		t.Error(r.stretches)
	}
	r.explain(commonest(map[string]int{"watch": 1, ledger.ProxySync.String(): 3, ledger.ProxyWait.String(): 3}))
	if want := late[ledger.ProxySync]; r.stretches[1].words[1] != want || len(r.stretches[0].words) != 1 {
		t.Errorf("%v, want %q", r.stretches, want)
	}
}

// What helps has the rows of the run without it: the load balancer, too, though no request is lost there that says by which one.
func TestTheRaceWithWhatHelpsHasTheLoadBalancer(t *testing.T) {
	t.Parallel()
	balanced := func() *timeline.Timeline {
		tl := raceTimeline()
		tl.Targets = []timeline.TargetLane{
			{Balancer: "nlb", Proxy: -1, Clients: []int{0}, Pod: -1, Node: 0, Gets: []timeline.Span{{To: 14 * engine.Second}}},
			{Balancer: "nlb", Proxy: -1, Clients: []int{0}, Pod: -1, Node: 1, Gets: []timeline.Span{{To: 30 * engine.Second}}},
		}
		return tl
	}
	s, fixed := raced(balanced()), balanced()
	fixed.Failures, fixed.Bands[0].Lost, fixed.Bands[0].Nodes[0].Lost = nil, 0, 0
	slices.Reverse(fixed.Nodes)
	for i := range fixed.Nodes {
		fixed.Nodes[i].Index = i
	}
	fixed.Targets[0].Node, fixed.Targets[1].Node = 1, 0
	s.Fixes = []record.Fix{{Title: "preStop: sleep 15", Cases: []record.FixedCase{{ID: s.Cases[0].ID, Timeline: fixed}}}}
	panels := panelsOf(s, &s.Cases[0])
	if len(panels) != 2 {
		t.Fatalf("%d panels", len(panels))
	}
	for _, p := range panels {
		if rows := p.rows(); len(rows) < 3 || rows[2].name != "load balancer" || rows[2].stretches[len(rows[2].stretches)-1].to != 14*engine.Second {
			t.Errorf("%s: %+v", p.title, rows)
		}
	}
	fixed.Nodes[1].Name = "another node"
	if x := panelsOf(s, &s.Cases[0])[1]; x.via != -1 {
		t.Errorf("by node %d, which is another one", x.via)
	}
}

// A pod that ends with its machine is deleted long after, by whoever notices: times count from its end.
func TestAPodThatEndsBeforeItIsDeleted(t *testing.T) {
	t.Parallel()
	tl := raceTimeline()
	deleted := 29 * engine.Second
	tl.Bands[0].Deleted, tl.Pods[0].Deleted = &deleted, &deleted
	noticed := 12 * engine.Second
	tl.Bands[0].Nodes[1].LetGo = &noticed
	picture := drawn(t, raced(tl), "")
	for _, want := range []string{": old pod 0 ends<", "in seconds since then", "The pod accepts no connections from 0.00 s on. node-1 lets go of it at 2.00 s."} {
		if !strings.Contains(picture, want) {
			t.Errorf("no %q in\n%s", want, picture)
		}
	}
	if strings.Contains(picture, "-1") && strings.Contains(picture, "at -") {
		t.Errorf("a time below zero in\n%s", picture)
	}
}

// Nothing is sent from a machine that is gone, so its node is not late.
func TestANodeWhoseMachineIsGone(t *testing.T) {
	t.Parallel()
	tl := raceTimeline()
	at := 11 * engine.Second
	n := &tl.Bands[0].Nodes[1]
	n.LetGo, n.Gone = &at, true
	tl.Nodes[1].Ways[0].Uses[0].To = at
	picture := drawn(t, raced(tl), "")
	for want, times := range map[string]int{">its machine is gone<": 1, ">in time<": 0, "node-2 is gone, as its machine is, at 1.00 s.": 1} {
		if n := strings.Count(picture, want); n != times {
			t.Errorf("%d times %q, want %d, in\n%s", n, want, times, picture)
		}
	}
}

// stayingTimeline is a new pod that is created at 10 s, ready in the slices from 11 s on, and listens from 13 s on; nothing goes.
func stayingTimeline() *timeline.Timeline {
	const sec = engine.Second
	tl := racing()
	tl.Bands = nil
	tl.Zero = timeline.Zero{At: 10 * sec, Pod: -1}
	tl.Events = []timeline.Event{{Number: 1, At: 10 * sec, Kind: "action", What: "rolling restart of default/web"}}
	tl.Pods[0] = timeline.PodLane{
		ID: 4, Called: "new pod 0", Phases: []timeline.Span{{From: 10 * sec, To: 30 * sec, Is: timeline.Ready}}, Listens: []timeline.Span{{From: 13 * sec, To: 30 * sec}},
		Slices: []timeline.SliceLane{{Service: "default/web", Spans: []timeline.Span{{From: 11 * sec, To: 30 * sec, Is: timeline.Ready}}}},
	}
	for i := range tl.Nodes {
		tl.Nodes[i].Like = -1
		tl.Nodes[i].Ways[0].Uses = []timeline.Use{{From: 0, To: 11 * sec, Is: timeline.UsesReady, Pods: []int{5}}, {From: 11 * sec, To: 30 * sec, Is: timeline.UsesReady, Pods: []int{4, 5}}}
	}
	for i := range tl.Failures {
		tl.Failures[i].Cause = "not-listening-yet"
	}
	tl.Lost = []timeline.LostCause{{Cause: "not-listening-yet", Count: 2}}
	return tl
}

// A pod that gets traffic before it listens stays: the picture is of its beginning, from what was done on.
func TestAPodThatStaysIsDrawnFromItsBeginning(t *testing.T) {
	t.Parallel()
	picture := drawn(t, raced(stayingTimeline()), "")
	const second = float64(raceWide-raceLeft-raceBefore-raceAfter-raceRight) / 3
	at := func(s float64) float64 { return raceLeft + raceBefore + s*second }
	bar := func(looks string, from, to float64) string {
		return fmt.Sprintf(`<g class="bar %s"><rect x="%.1f"[^>]* width="%.1f"`, looks, from, to-from)
	}
	for what, want := range map[string]string{
		"what it is about":       `: new pod 0<`,
		"what times count from":  `in seconds since rolling restart of default/web<`,
		"the pod begins":         bar(looksClosed, at(0), at(3)) + `[^\n]*\n[^\n]*\n<text[^>]*>begins: accepts no connections yet<`,
		"a node is early":        bar(looksLate, at(1), at(3)),
		"what it does then":      `>sends to it before it listens<`,
		"a node uses it at last": bar(looksUses, at(3), raceWide-raceRight),
		"all of them":            `As it is: <tspan class="bad">2 requests lost<`,
		"the one told of":        fmt.Sprintf(`<circle class="own" cx="%.1f"`, at(2.5)),
	} {
		if !regexp.MustCompile(want).MatchString(picture) {
			t.Errorf("%s: want %s in\n%s", what, want, picture)
		}
	}
	for _, no := range []string{"lets go", "requests die here", "deleted", " ends<"} {
		if strings.Contains(picture, no) {
			t.Errorf("%q in\n%s", no, picture)
		}
	}
	tl := stayingTimeline()
	tl.Lost[0].Count = 1200
	if picture := drawn(t, raced(tl), ""); !strings.Contains(picture, "at least 2 requests lost") {
		t.Errorf("two of 1,200 failures are listed, in\n%s", picture)
	}
}

// With what helps the same pod is drawn again, though nothing is lost with it.
func TestAPodThatStaysIsDrawnAgainWithWhatHelps(t *testing.T) {
	t.Parallel()
	s := raced(stayingTimeline())
	fixed := stayingTimeline()
	fixed.Failures, fixed.Lost = nil, nil
	fixed.Pods[0].Slices[0].Spans[0].From = 13 * engine.Second
	s.Fixes = []record.Fix{{Title: "a readiness probe", Cases: []record.FixedCase{{ID: s.Cases[0].ID, Timeline: fixed}}}}
	picture := drawn(t, s, "")
	if !strings.Contains(picture, "With a readiness probe: <tspan class=\"good\">nothing lost<") {
		t.Errorf("no second panel in\n%s", picture)
	}
}

// A pod that answers with errors until it is rolled back goes, and what is lost is lost before: it is drawn from what was done on.
func TestAPodThatGoesAfterWhatItLost(t *testing.T) {
	t.Parallel()
	tl := raceTimeline()
	tl.Events = []timeline.Event{{Number: 1, At: engine.Second, Kind: "action", What: "rolling restart of default/web"}}
	for i := range tl.Failures {
		f := &tl.Failures[i]
		f.At, f.End, f.Zero = engine.Time(3+i)*engine.Second, engine.Time(3+i)*engine.Second, engine.Second
	}
	picture := drawn(t, raced(tl), "")
	for _, want := range []string{"in seconds since rolling restart of default/web", ": old pod 0<", "lets go: 12.00 s<"} {
		if !strings.Contains(picture, want) {
			t.Errorf("no %q in\n%s", want, picture)
		}
	}
}

func TestWhyThereIsNoPicture(t *testing.T) {
	t.Parallel()
	tl := raceTimeline()
	s := raced(tl)
	says := func() string { return strings.Join(strings.Fields(drawn(t, s, "")), " ") }
	tl.Failures = nil
	if got, want := says(), "the request that is told of met no pod that goes."; !strings.Contains(got, want) {
		t.Errorf("no %q in %s", want, got)
	}
	tl.Bands = nil
	if got, want := says(), "in the run that is looked at, no pod goes."; !strings.Contains(got, want) {
		t.Errorf("no %q in %s", want, got)
	}
	s.Cases[0].Timeline = nil
	if got, want := says(), "no run of it was kept."; !strings.Contains(got, want) {
		t.Errorf("no %q in %s", want, got)
	}
}

// Lines are as long as they may be, and no longer; a word that is longer stands alone.
func TestFoldedLines(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ab cd": "ab cd", "ab cde": "ab|cde", "a b c d": "a b c|d", "abcdefg h": "abcdefg|h", "h abcdefg": "h|abcdefg", "": "", "  a  b ": "a b",
	} {
		if got := strings.Join(foldedLines(text, 5), "|"); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
