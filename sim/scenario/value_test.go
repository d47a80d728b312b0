package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// The quantiles of a measured distribution stand where the buckets say: 10 of 15 observations
// in (1 ms, 2 ms], 5 up to 1 ms.
func TestMeasuredQuantiles(t *testing.T) {
	t.Parallel()
	const scrape = "# HELP x y\n" + syncMetric + `_bucket{le="0.001"} 5` + "\n" + syncMetric + `_bucket{le="0.002"} 1.5e+01 1700000000000` + "\n" + syncMetric + `_bucket{le="+Inf"} 15` + "\n"
	d, err := ProxySync([]byte(scrape), 0)
	if err != nil {
		t.Fatal(err)
	}
	if d.Min() != 0 || d.Max() != 2*engine.Millisecond {
		t.Errorf("from %s to %s", d.Min().Duration(), d.Max().Duration())
	}
	// a third of the observations lies below 1 ms
	if got := d.Sample(1 << 63 / 3 * 2); got < 995*engine.Microsecond || got > 1005*engine.Microsecond {
		t.Errorf("the 1/3 quantile is %s", got.Duration())
	}
}

func TestMeasuredErrors(t *testing.T) {
	t.Parallel()
	b := func(lines ...string) string {
		return programmingMetric + "_bucket{" + strings.Join(lines, "\n"+programmingMetric+"_bucket{") + "\n"
	}
	for _, tt := range []struct {
		scrape string
		limit  engine.Time
		want   string
	}{
		{"", 0, "there is no histogram " + programmingMetric},
		{b(`le="1"} 1`, `le="+Inf"} 2`), 0, "1 observations of " + programmingMetric + " are above the last bucket, 1s: say how long"},
		{b(`le="1"} 1`, `le="+Inf"} 2`), engine.Second, "cap 1s is not above the last bucket"},
		{b(`le="1"} 1`, `le="+Inf"} 2`), 2 * engine.Second, ""},
		{b(`le="1"} 1`), 0, "+Inf bucket of " + programmingMetric + " is missing"},
		{b(`le="1"} 3`, `le="+Inf"} 2`), 0, "line 2: the buckets of " + programmingMetric + " go down"},
		{b(`le="1"} 0`, `le="+Inf"} 0`), 0, "has no observations yet"},
		{b(`le="x"} 1`), 0, `line 1: le="x" is no bound`},
		{b(`le="-1"} 1`), 0, `line 1: le="-1" is no bound`},
		{b(`ge="1"} 1`), 0, "line 1: a bucket without le"},
		{b(`le="1" 1`), 0, "line 1: a bucket without its labels"},
		{b(`le="1"} one`), 0, `line 1: "one" is no count`},
		{b(`le="1"}`), 0, `line 1: "" is no count`},
		{b(`le="1"} -1`), 0, `line 1: "-1" is no count`},
		{b(`le="1"} 2e15`), 0, `line 1: "2e15" is no count`},
	} {
		_, err := ReadyToRules([]byte(tt.scrape), tt.limit)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: got %v, want %s", tt.scrape, err, tt.want)
		}
	}
}

func TestSplitPath(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, want string }{
		{"a", "[{a -1}]"}, {"a.b-c_d", "[{a -1} {b-c_d -1}]"}, {"a[0].b", "[{a -1} { 0} {b -1}]"}, {`a["b.c"].d`, "[{a -1} {b.c -1} {d -1}]"},
		{"", "bad"}, {".", "bad"}, {"a.", "bad"}, {"a..b", "bad"}, {"a[", "bad"}, {"a[x]", "bad"}, {"a[-1]", "bad"}, {`a["b`, "bad"}, {`a["b"x`, "bad"}, {"a[0]b", "bad"}, {".a", "bad"},
	} {
		steps, err := splitPath(tt.in)
		got := fmt.Sprint(steps)
		if err != nil {
			got = "bad"
		}
		if got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.in, got, tt.want)
		}
	}
}

// Changes are letters that are added, missing, or others, and neighbours that have changed places.
func TestDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "a", 0}, {"a", "A", 0}, {"a", "b", 1}, {"a", "", 1}, {"", "abc", 3}, {"ab", "ba", 1}, {"abcd", "badc", 2}, {"abc", "cab", 2},
		{"surge", "surgr", 1}, {"surge", "srge", 1}, {"surge", "ssurge", 1}, {"abc", "xyz", 3}, {"abc", "abcdef", 3}, {"abcdef", "abc", 3}, {"ab", "abcdef", 100}, {"abcdef", "ab", 100},
		{strings.Repeat("a", 64), strings.Repeat("a", 64), 0}, {strings.Repeat("a", 65), strings.Repeat("a", 65), 100},
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("%.10q and %.10q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	words := []string{"from", "traffic", "rolloutRestart", "proxySync", "at"}
	for _, tt := range []struct{ in, want string }{
		{"form", "from"}, {"FROM", "from"}, {"trafiic", "traffic"}, {"rollout", "rolloutRestart"}, {"proxysync", "proxySync"},
		{"att", "at"}, {"x", ""}, {"", ""}, {"nothing", ""}, {strings.Repeat("x", 10_000), ""},
	} {
		if got := nearest(tt.in, words); got != tt.want {
			t.Errorf("%.20q: got %q, want %q", tt.in, got, tt.want)
		}
	}
}
