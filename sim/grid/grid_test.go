package grid

import (
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/knob"
	"github.com/lameduck-proxy/lameduck/sim/record"
)

func axes(t *testing.T, texts ...string) []knob.Axis {
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

// of is a Map whose rows are written as text: '.' loses nothing, a digit loses something, '-' does not end, '?' was not done.
func of(t *testing.T, rows ...string) Map {
	t.Helper()
	texts := []string{"prestop=0s..4s:1s", "grace=10s..30s:10s"}[:min(len(rows), 2)]
	m := New(axes(t, texts...))
	for y, row := range rows {
		for x, mark := range row {
			c := m.At(x, y)
			c.Runs = 20
			switch mark {
			case '.':
				c.Verdict = record.Holds
			case '-':
				c.Verdict = record.Blocked
			case '?':
				c.Runs = 0
			default:
				c.Verdict, c.WithLoss, c.Lost.Median = record.Drops, 20, int64(mark-'0')
			}
		}
	}
	return m
}

func TestPointsAreRowByRow(t *testing.T) {
	t.Parallel()
	var got []string
	for _, p := range Points(axes(t, "replicas=1,2", "prestop=0s,5s,9s")) {
		got = append(got, p[0].Text+"/"+p[1].Text)
	}
	if want := []string{"1/0s", "2/0s", "1/5s", "2/5s", "1/9s", "2/9s"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestWhatIsNoGridIsAnError(t *testing.T) {
	t.Parallel()
	for name, list := range map[string][]knob.Axis{
		"none":         nil,
		"three":        axes(t, "replicas=1", "grace=1s", "prestop=1s"),
		"twice":        axes(t, "grace=1s", "grace=2s"),
		"2,601 points": axes(t, "replicas=0..50:1", "prestop=0s..50s:1s"),
	} {
		if Check(list) == nil {
			t.Errorf("%s is a grid", name)
		}
	}
	if err := Check(axes(t, "replicas=1..50:1", "prestop=1s..50s:1s")); err != nil {
		t.Errorf("2,500 points: %v", err)
	}
}

func TestStretchesAreWhereNothingIsLost(t *testing.T) {
	t.Parallel()
	for row, want := range map[string][]Clean{
		"32...": {{2, 4}}, ".....": {{0, 4}}, "33333": nil, ".3..3": {{0, 0}, {2, 3}}, "..-..": {{0, 1}, {3, 4}}, "..??.": {{0, 1}, {4, 4}},
	} {
		m := of(t, row)
		if got := m.Stretches(0); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", row, got, want)
		}
	}
}

func TestTheCliffIsBetweenLossAndNone(t *testing.T) {
	t.Parallel()
	m := of(t,
		"1....",
		"22...",
		"?3-..")
	want := []Edge{{0, 0, false}, {1, 0, true}, {1, 1, false}, {2, 1, true}, {2, 2, false}}
	if got := m.Cliff(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if m.Most() != 3 {
		t.Errorf("the most is %d, want 3", m.Most())
	}
}

func TestTheInputItselfCountsForTheMost(t *testing.T) {
	t.Parallel()
	m := of(t, ".....")
	m.Here.Lost.Median = 7
	if m.Most() != 7 {
		t.Errorf("the most is %d, want 7", m.Most())
	}
}
