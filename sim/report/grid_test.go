package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/grid"
	"github.com/lameduck-proxy/lameduck/sim/knob"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

func axesOf(t *testing.T, texts ...string) []knob.Axis {
	t.Helper()
	var out []knob.Axis
	for _, text := range texts {
		a, err := knob.ParseAxis(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, a)
	}
	return out
}

// sweptMap is a Map in which so many tenths of a second are lost: a cell a rune, '.' for nothing, '-' for what does not end, 'x' for
// what is refused, 'r' for what loses something in one run.
func sweptMap(axes []knob.Axis, id string, rows ...string) grid.Map {
	m := grid.New(axes)
	m.ID, m.Action, m.Workload = id, "rolling restart", "shop/web"
	for y, row := range rows {
		for x, mark := range row {
			c := m.At(x, y)
			c.Runs = 20
			switch mark {
			case '.':
				c.Verdict = record.Holds
			case '-':
				c.Verdict = record.Blocked
			case 'x':
				c.Runs, c.Refused = 0, "--sweep grace=5s: web.yaml:9: the API server refuses it"
			case 'r':
				c.Verdict, c.WithLoss, c.Lost = record.Rare, 1, record.Range{Max: int64(engine.Second / 50)}
			default:
				lost := int64(mark-'0') * int64(engine.Second/10)
				c.Verdict, c.WithLoss, c.Lost = record.Drops, 20, record.Range{Min: lost / 2, Median: lost, Max: 2 * lost}
			}
		}
	}
	return m
}

func sweeps(t *testing.T) map[string]*grid.Result {
	t.Helper()
	line := axesOf(t, "prestop=0s..8s:1s")
	field := axesOf(t, "prestop=0s..4s:1s", "latency.proxySync=100ms,1s,2s,5s")
	wide := axesOf(t, "prestop=0s..49s:1s", "grace=10s,30s")
	one := sweptMap(line, "rollout/web:80", "91......x")
	one.Here, one.HereX = *one.At(0, 0), "0s"
	hostile := sweptMap(line, "rollout/\x1b[31m<b>:80", "9r..x..-.")
	hostile.Workload = "shop/\x1b[31m<script>alert(1)</script>\u202e"
	two := sweptMap(field, "rollout/web:80", "8r...", "95...", "995r.", "99987")
	two.Here, two.HereX = *two.At(0, 1), "0s"
	fifty := sweptMap(wide, "drain/web:80", "9"+strings.Repeat(".", 9)+strings.Repeat("x", 40), "91"+strings.Repeat(".", 28)+strings.Repeat("-", 20))
	fifty.Here, fifty.HereX, fifty.HereY = *fifty.At(0, 1), "0s", "30s"
	unknown := sweptMap(line, "rollout/web:80", "9995.....")
	unknown.Here, unknown.HereX, unknown.Traffic, unknown.Unknown = *unknown.At(0, 0), "0s", "outside :80", true
	return map[string]*grid.Result{
		"unknown": {Maps: []grid.Map{unknown}, Runs: 20, Seed: 1},
		"line":    {Maps: []grid.Map{one}, Runs: 20, Seed: 1},
		"field":   {Maps: []grid.Map{two}, Runs: 20, Seed: 1},
		"wide":    {Maps: []grid.Map{fifty}, Runs: 20, Seed: 1, Interrupted: true},
		"hostile": {Maps: []grid.Map{hostile, hostile, hostile, hostile, hostile}, Runs: 20, Seed: 1},
		"nothing": {Runs: 20, Seed: 1},
	}
}

// What --sweep prints, whole: somebody has read it, and looked at the pictures.
func TestSweeps(t *testing.T) {
	t.Parallel()
	for name, r := range sweeps(t) { // order: each by itself
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var text, picture strings.Builder
			if err := errors.Join(WriteSweep(&text, r, 0), WriteSweepSVG(&picture, r)); err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, "testdata/sweeps/sweep-"+name+".out", text.String(), *update)
			golden.Compare(t, "testdata/sweeps/sweep-"+name+".svg", picture.String(), *update)
			for _, line := range strings.Split(text.String(), "\n") {
				if len([]rune(line)) > 100 {
					t.Errorf("%d columns: %s", len([]rune(line)), line)
				}
			}
			if strings.ContainsAny(text.String(), "\x1b\u202e") {
				t.Error("the text obeys what the input says")
			}
			for d := xml.NewDecoder(strings.NewReader(picture.String())); ; {
				token, err := d.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if e, ok := token.(xml.StartElement); ok && e.Name.Local == "script" {
					t.Error("a name of the input is markup")
				}
			}
		})
	}
}

// Nothing of a legend is cut off, in a face that is wide.
func TestTheLegendOfASweepFits(t *testing.T) {
	t.Parallel()
	for name, s := range sweeps(t) {
		var b bytes.Buffer
		if err := WriteSweepSVG(&b, s); err != nil {
			t.Fatal(err)
		}
		box := viewBox.FindStringSubmatch(b.String())
		wide, _ := strconv.Atoi(box[1])
		for _, m := range regexp.MustCompile(`<text x="(\d+)" y="\d+">([^<]*)</text>`).FindAllStringSubmatch(b.String(), -1) {
			if x, _ := strconv.Atoi(m[1]); x > wide/2 && x+7*len(m[2]) > wide {
				t.Errorf("%s: %q at %d is wider than %d", name, m[2], x, wide)
			}
		}
	}
}

func TestASweepSaysFromWhereOnNothingIsLost(t *testing.T) {
	t.Parallel()
	axes := axesOf(t, "prestop=0s..4s:1s")
	for row, want := range map[string]string{
		"91...": "Nothing is lost from prestop 2s on.",
		".....": "Nothing is lost, whatever prestop is.",
		"99999": "Every value of prestop loses something.",
		"9.9..": "Nothing is lost with prestop 1s, and from prestop 3s on.",
		"..999": "Nothing is lost up to prestop 1s.",
		"9..99": "Nothing is lost from prestop 1s to 2s.",
		"9999.": "Nothing is lost with prestop 4s.",
		"9..--": "Nothing is lost from prestop 1s to 2s.",
		"-9999": "Every value of prestop loses something, or never finishes.",
		"-----": "Every value of prestop never finishes.",
		"99xx-": "Every value of prestop that can be loses something, or never finishes.",
	} {
		m := sweptMap(axes, "x", row)
		if got := strings.Join(cliffWords(&m), " "); got != want {
			t.Errorf("%s: %q, want %q", row, got, want)
		}
	}
}

// light is how much light a colour, "#rrggbb", sends out: from 0 to 1.
func light(t *testing.T, colour string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(strings.TrimPrefix(colour, "#"), 16, 32)
	if err != nil || len(colour) != 7 {
		t.Fatalf("%q is no colour", colour)
	}
	sum := 0.0
	for i, part := range []float64{0.2126, 0.7152, 0.0722} {
		c := float64(n>>(16-8*i)&0xff) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += part * c
	}
	return sum
}

func contrast(a, b float64) float64 { return (max(a, b) + 0.05) / (min(a, b) + 0.05) }

// On white paper and on black, the more is lost, the farther a colour is from the paper; figures can be read on each, and the cliff on what
// is beneath it.
func TestTheScaleOfASweepReadsAlikeInLightAndDark(t *testing.T) {
	t.Parallel()
	bright, dark, ok := strings.Cut(svgBase, "@media (prefers-color-scheme: dark)")
	lightSteps, darkSteps, okSteps := strings.Cut(stepStyles(), "@media (prefers-color-scheme: dark)")
	if !ok || !okSteps {
		t.Fatal("the style knows no dark scheme")
	}
	of := func(style, class, property string) string {
		for _, m := range regexp.MustCompile(`([^{}]+)\{([^}]*)\}`).FindAllStringSubmatch(style, -1) {
			for _, selector := range strings.Split(m[1], ",") {
				if _, value, ok := strings.Cut(m[2], property+": "); ok && strings.TrimSpace(selector) == "."+class {
					return value[:7]
				}
			}
		}
		t.Fatalf("no %s of .%s", property, class)
		return ""
	}
	for name, scheme := range map[string]struct{ style, steps string }{"light": {bright, lightSteps}, "dark": {strings.Replace(dark, "{", "", 1), strings.Replace(darkSteps, "{", "", 1)}} {
		paper, last := light(t, of(scheme.style, "paper", "fill")), 0.0
		for i := range cividis {
			step := light(t, of(scheme.steps, stepClass(i), "fill"))
			if c := contrast(step, paper); c <= last {
				t.Errorf("%s: step %d is not farther from the paper: %.2f after %.2f", name, i, c, last)
			} else {
				last = c
			}
			on := "onlittle"
			if i >= firstDark {
				on = "onmuch"
			}
			if c := contrast(light(t, of(scheme.style, on, "fill")), step); c < 4.5 {
				t.Errorf("%s: figures on step %d have a contrast of %.2f", name, i, c)
			}
		}
		for line, beneath := range map[string]string{"cliff": "beneath", "here": "herein"} {
			if c := contrast(light(t, of(scheme.style, line, "stroke")), light(t, of(scheme.style, beneath, "stroke"))); c < 3 {
				t.Errorf("%s: the %s has a contrast of %.2f", name, line, c)
			}
		}
		if c := contrast(light(t, of(scheme.style, "value", "fill")), paper); c < 4.5 {
			t.Errorf("%s: the value of the cliff has a contrast of %.2f", name, c)
		}
	}
}

// A page has each point of a sweep in words, those that cannot be with their reasons, and says where the input is.
func TestThePageOfASweep(t *testing.T) {
	t.Parallel()
	p, err := PageOfSweep(sweeps(t)["line"])
	if err != nil || len(p.Maps) != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	m := p.Maps[0]
	if len(m.Rows) != 1 || len(m.Rows[0].Cells) != 9 || len(m.Columns) != 9 || m.Y != "" {
		t.Fatalf("%+v", m)
	}
	cells := m.Rows[0].Cells
	if c := cells[0]; !c.Here || c.Clean || c.Runs != "20 of 20" || c.Lost != "0.9 s (0.45-1.8)" {
		t.Errorf("the first point: %+v", c)
	}
	if c := cells[2]; c.Here || !c.Clean || c.Lost != "nothing" {
		t.Errorf("the third point: %+v", c)
	}
	if c := cells[8]; c.Lost != "refused" || c.Runs != "" || len(m.Refused) != 1 || m.Refused[0] != "--sweep grace=5s: web.yaml:9: the API server refuses it" {
		t.Errorf("what is refused: %+v, %q", c, m.Refused)
	}
	if !strings.Contains(p.Picture, "<style>"+p.Style+"</style>") {
		t.Error("the picture has another style")
	}
}

// The edge has its value: that from which on nothing is lost, or up to which; of the other axis where that alone decides; none where there is no
// room.
func TestTheCliffSaysItsValue(t *testing.T) {
	t.Parallel()
	prestop := axesOf(t, "prestop=0s..3s:1s")
	both := append(slices.Clone(prestop), axesOf(t, "grace=10s,20s,30s")...)
	for name, c := range map[string]struct {
		m    grid.Map
		want []string
	}{
		"from where on":        {sweptMap(prestop, "a", "93.."), []string{"2s"}},
		"up to where":          {sweptMap(prestop, "a", "..39"), []string{"1s"}},
		"one step for many":    {sweptMap(both, "a", "9...", "9...", "999."), []string{"1s", "3s"}},
		"the other axis":       {sweptMap(both, "a", "9999", "....", "...."), []string{"20s"}},
		"the other axis, down": {sweptMap(both, "a", "....", "....", "9999"), []string{"20s"}},
		"no edge":              {sweptMap(prestop, "a", "9999"), nil},
	} {
		var b strings.Builder
		if err := WriteSweepSVG(&b, &grid.Result{Maps: []grid.Map{c.m}}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range regexp.MustCompile(`<text class="value"[^>]*>([^<]*)<`).FindAllStringSubmatch(b.String(), -1) {
			got = append(got, m[1])
		}
		if !slices.Equal(got, c.want) || strings.Contains(b.String(), "the loss ends") != (c.want != nil) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	wide := sweptMap(axesOf(t, "prestop=0s..1s:1s", "grace=10s..60s:1s"), "a", slices.Repeat([]string{"9.", ".9"}, 25)...)
	var b strings.Builder
	if err := WriteSweepSVG(&b, &grid.Result{Maps: []grid.Map{wide}}); err != nil || strings.Contains(b.String(), `class="value"`) {
		t.Errorf("values where they have no room: %v", err)
	}
}

// Reasons that differ in the point or in figures are one, and the first of them is shown.
func TestRefusalsOfASweep(t *testing.T) {
	t.Parallel()
	m := &grid.Map{Cells: []grid.Cell{
		{Refused: "prestop=31s: 31 is more than the grace period, 30"}, {}, {Refused: "prestop=32s: 32 is more than the grace period, 30"}, {Refused: "replicas=-1: is negative"},
	}}
	if got, want := refusals(m), []string{m.Cells[0].Refused, m.Cells[3].Refused}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
