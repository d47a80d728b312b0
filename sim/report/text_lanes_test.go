package report

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/sweep"
	"github.com/lameduck-proxy/lameduck/sim/timeline"
)

// A pod is deleted at 10 s, closes at 11 s and is gone at 12 s; node-1 lets go at 13 s, node-2 at 10.5 s. Two requests are lost.
func racing() *timeline.Timeline {
	const sec = engine.Second
	at := func(t engine.Time) *engine.Time { return &t }
	rules := func(until engine.Time) []timeline.Way {
		return []timeline.Way{{Clients: []int{0}, Uses: []timeline.Use{
			{From: 0, To: until, Is: timeline.UsesReady, Pods: []int{4, 5}}, {From: until, To: 30 * sec, Is: timeline.UsesReady, Pods: []int{5}},
		}}}
	}
	return &timeline.Timeline{
		Seed: 1, End: 30 * sec, Zero: timeline.Zero{At: 10 * sec, Pod: 4},
		Clients: []timeline.ClientLane{{Name: "new", Service: "default/web"}},
		Pods: []timeline.PodLane{{
			ID: 4, Called: "old pod 0", Deleted: at(10 * sec), Gone: at(12 * sec), Listens: []timeline.Span{{From: 0, To: 11 * sec}},
			Slices: []timeline.SliceLane{{Service: "default/web", Spans: []timeline.Span{{From: 0, To: 10*sec + sec/4, Is: timeline.Ready}, {From: 10*sec + sec/4, To: 12 * sec, Is: timeline.TerminatingServing}}}},
		}},
		Nodes: []timeline.NodeLane{{Index: 0, Name: "node-1", Ways: rules(13 * sec)}, {Index: 1, Name: "node-2", Ways: rules(10*sec + sec/2)}},
		Bands: []timeline.Band{{Pod: 4, Deleted: at(10 * sec), From: at(11 * sec), To: at(13 * sec), Nodes: []timeline.NodeBand{{Node: 0, Name: "node-1"}, {Node: 1, Name: "node-2"}}}},
		Failures: []timeline.Failure{
			{Client: 0, Number: 1, At: 11*sec + sec/2, Node: 0, Pod: 4, Proxy: -1, Cause: "stale-rules", Actor: "proxy-wait", Zero: 10 * sec},
			{Client: 0, Number: 2, At: 12*sec + sec/2, Node: 0, Pod: 4, Proxy: -1, Cause: "stale-rules", Actor: "proxy-wait", Zero: 10 * sec},
		},
	}
}

// lost is the cause with one of its requests as the example.
func lost(number uint64) *record.Cause {
	return &record.Cause{Blame: ledger.Blame{Cause: ledger.StaleRules, Actor: ledger.ProxyWait}, Example: record.Example{Seed: 1, Request: ledger.Request{Number: number}}}
}

// Each row says when what it is about begins and ends, to the column.
func TestLanesStandWhereTheirTimesAre(t *testing.T) {
	t.Parallel()
	p := pictureOf(racing(), lost(2), 70) // from 9.75 to 13.25 s: 20 columns a second
	if p == nil {
		t.Fatal("there is no picture")
	}
	rows := map[string]string{}
	for _, line := range p.lines() {
		rows[strings.TrimSpace(line[:min(lanesLabel, len(line))])] = line[min(lanesLabel, len(line)):]
	}
	for label, want := range map[string]string{
		"old pod 0":      strings.Repeat("=", 25) + strings.Repeat("#", 20),
		"API says of it": strings.Repeat("=", 10) + strings.Repeat("~", 35),
		"node-1 uses it": strings.Repeat("=", 65),
		"node-2 uses it": strings.Repeat("=", 15),
		"requests lost":  strings.Repeat(" ", 35) + "x" + strings.Repeat(" ", 19) + "^",
	} {
		if rows[label] != want {
			t.Errorf("%s:\n%q, want\n%q", label, rows[label], want)
		}
	}
	if scale := rows[""]; strings.Index(scale, "0 = deleted") != 5 || strings.Index(scale, "1.00 s") != 25 || strings.Index(scale, "2.00 s") != 45 {
		t.Errorf("scale %q", scale)
	}
}

// No label is cut: it has as many columns as it needs, and where too few would be left for the time a line of its own.
func TestNoLabelOfALaneIsCut(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"ip-10-0-12-34.internal":                      "\nip-10-0-12-34.internal uses it =====",
		"a-node-" + strings.Repeat("with-a-name-", 4): "\na-node-" + strings.Repeat("with-a-name-", 4) + " uses it\n" + strings.Repeat(" ", 46) + "=====",
	} {
		tl := racing()
		tl.Nodes[0].Name = name
		p := pictureOf(tl, lost(2), 70)
		lines := p.lines()
		if text := strings.Join(lines, "\n"); !strings.Contains(text, want) || p.columns < lanesFewest {
			t.Errorf("%d columns of time, no %q in\n%s", p.columns, want, text)
		}
		for _, l := range lines[:len(lines)-1] {
			if len(l) > lanesLabel+70 {
				t.Errorf("%d columns: %s", len(l), l)
			}
		}
	}
}

func TestWhereNoPodIsBehindALossTheNodesSendToNobody(t *testing.T) {
	t.Parallel()
	tl := racing()
	tl.Nodes[0].Ways[0].Uses[1].Is, tl.Nodes[0].Ways[0].Uses[1].Pods = timeline.UsesDrop, nil
	for i := range tl.Failures {
		tl.Failures[i].Pod, tl.Failures[i].At = -1, tl.Failures[i].At+2*engine.Second
	}
	text := strings.Join(pictureOf(tl, lost(1), 70).lines(), "\n")
	if !strings.Contains(text, "=!!!!") || !strings.Contains(text, "! to nobody") || strings.Count(text, "^") != 2 {
		t.Errorf("got:\n%s", text)
	}
}

// A pod that stays is drawn from its beginning, and nothing is said to be deleted.
func TestLanesOfAPodThatStays(t *testing.T) {
	t.Parallel()
	p := pictureOf(stayingTimeline(), lost(2), 70) // from 9.75 to 13.25 s: 20 columns a second
	if p == nil {
		t.Fatal("there is no picture")
	}
	text := strings.Join(p.lines(), "\n")
	for _, want := range []string{
		"new pod 0            " + strings.Repeat("#", 60) + "=====\n", "API says of it" + strings.Repeat(" ", 27) + strings.Repeat("=", 45) + "\n",
		"node-1 uses it" + strings.Repeat(" ", 27) + strings.Repeat("=", 45) + "\n", "     0 s ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestThereIsNoPictureOfWhatIsNotInTheTimeline(t *testing.T) {
	t.Parallel()
	tl := racing()
	if pictureOf(tl, lost(2), lanesFewest-1) != nil {
		t.Error("there is one in no room")
	}
	tl.Bands = nil
	for i := range tl.Failures {
		tl.Failures[i].Pod = -1
	}
	if pictureOf(tl, lost(2), 70) != nil {
		t.Error("there is one without a pod that went")
	}
	tl = racing()
	tl.Pods = nil
	if pictureOf(tl, lost(2), 70) != nil {
		t.Error("there is one without a lane of the pod")
	}
	tl = racing()
	tl.Failures = nil
	if pictureOf(tl, lost(2), 70) != nil {
		t.Error("there is one without a lost request")
	}
}

// The whole text of a real run with its picture: no line is wider than the page, and the picture is not there without a wish.
func TestTextsWithLanes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"gke-local-no-prestop", "last-local-endpoint-before-kep-1669", "drain-single-replica", "keep-alive-resets"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join("../../examples/scenarios", name+".yaml")
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			objects, _ := manifest.Load([]manifest.File{{Name: file, Data: data}}, manifest.Options{})
			list, problems := scenario.Parse(objects, scenario.Options{})
			if len(list) != 1 {
				t.Fatal(problems)
			}
			s, err := sweep.Run(context.Background(), sweep.Scenarios(list), sweep.Options{Runs: 5, Timelines: 1})
			if err != nil {
				t.Fatal(err)
			}
			with, without := compose(s, TextOptions{Width: 100, Lanes: true}), compose(s, TextOptions{Width: 100})
			const row = "API says of it"
			if !strings.Contains(with, row) || strings.Contains(without, row) {
				t.Errorf("with: %v, without: %v", strings.Contains(with, row), strings.Contains(without, row))
			}
			if strings.Contains(compose(s, TextOptions{Width: 80, Lanes: true}), row) {
				t.Error("there is one where it has no room")
			}
			lines := strings.Split(with, "\n")
			if i := slices.IndexFunc(lines, func(l string) bool { return len([]rune(l)) > 100 }); i >= 0 {
				t.Errorf("%d columns: %s", len([]rune(lines[i])), lines[i])
			}
			if n := len(lines) - 1; n > linesOfOne+linesOfPicture {
				t.Errorf("%d lines", n)
			}
			_, picture, _ := strings.Cut(with, row)
			if picture, _, _ = strings.Cut(picture, "\n\n"); !strings.Contains(picture, "^") {
				t.Errorf("the request is not in its picture:\n%s", picture)
			}
		})
	}
}
