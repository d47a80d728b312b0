package table

import (
	"strings"
	"testing"
)

func TestQuantiles(t *testing.T) {
	t.Parallel()
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(100 - i)
	}
	for _, c := range []struct {
		values []float64
		q      float64
		want   float64
	}{
		{hundred, 0.5, 50}, {hundred, 0.99, 99}, {hundred, 1, 100}, {hundred, 0, 1},
		{[]float64{3}, 0.99, 3}, {[]float64{2, 1}, 0.5, 1}, {[]float64{2, 1}, 0.51, 2},
	} {
		if got := Quantile(c.values, c.q); got != c.want {
			t.Errorf("quantile %g of %v is %g, want %g", c.q, c.values, got, c.want)
		}
	}
	if got := Median([]float64{4, 1, 2, 3}); got != 2.5 {
		t.Errorf("median of 1 to 4 is %g", got)
	}
	if got := Median([]float64{9, 1, 2}); got != 2 {
		t.Errorf("median of 1, 2, 9 is %g", got)
	}
}

func TestRatios(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b float64
		want string
	}{
		{1, 8.3, "1/8.3"}, {1, 1, "1.0"}, {1.26, 1, "1.3"}, {1, 3817, "1/3800"}, {1, 99.7, "1/100"}, {1, 42.4, "1/42"},
		{1, 9.97, "1/10"}, {0, 1, ""}, {1, 0, ""},
	} {
		if got := Ratio(c.a, c.b); got != c.want {
			t.Errorf("%g to %g is %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

func TestDurations(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[float64]string{
		13.3: "13 s", 3.81: "3.8 s", 0.9996: "1.0 s", 0.113: "110 ms", 0.0037: "3.7 ms", 0.00031: "310 us", 0.0000421: "42 us",
	} {
		if got := duration(seconds); got != want {
			t.Errorf("%g s is %q, want %q", seconds, got, want)
		}
	}
}

func example() *Table {
	var kube, ours Column
	for _, v := range []float64{4, 3, 8} {
		kube.Add(map[string]Sample{"replaced": {v, 15}, "peak": {437e6, 1}})
	}
	ours.Add(map[string]Sample{"replaced": {0.0004, 200}, "peak": {92e6, 1}, "lost": {0, 41234}})
	ours.Add(map[string]Sample{"replaced": {0.0006, 200}, "peak": {94e6, 1}, "lost": {1, 41000}})
	return &Table{
		Names: []string{"kube-proxy", "lameduck"}, Compare: true,
		Rows: []Row{
			{"start", "start", Seconds}, {"replaced", "endpoint replaced, p50", Seconds}, {"peak", "peak memory", Bytes}, {"lost", "connections lost", Of},
		},
		Sections: []Section{
			{Title: "10000x5, nftables", Columns: []Column{kube, ours}},
			{Title: "10000x50, nftables", Columns: []Column{{Missing: "not done after 240 s"}, ours}},
			{Title: "10000x50, iptables-nft", Columns: []Column{{Missing: "not done after 240 s"}, {Missing: "-"}}},
		},
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	want := `
10000x5, nftables       kube-proxy    lameduck        lameduck : kube-proxy
endpoint replaced, p50  4.0 s (n=45)  500 us (n=400)  1/8000
peak memory             440 MB        93 MB           1/4.7
connections lost                      1 of 82234

10000x50, nftables      kube-proxy            lameduck        lameduck : kube-proxy
endpoint replaced, p50  not done after 240 s  500 us (n=400)
peak memory             not done after 240 s  93 MB
connections lost        not done after 240 s  1 of 82234

10000x50, iptables-nft  kube-proxy            lameduck  lameduck : kube-proxy
nothing measured        not done after 240 s  -
`
	if got := example().Text(); got != strings.TrimPrefix(want, "\n") {
		t.Errorf("got:\n%s\nwant:%s", got, want)
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	want := `| 10000x5, nftables | kube-proxy | lameduck | lameduck : kube-proxy |
|---|---|---|---|
| endpoint replaced, p50 | 4.0 s (n=45) | 500 us (n=400) | 1/8000 |
| peak memory | 440 MB | 93 MB | 1/4.7 |
| connections lost |  | 1 of 82234 |  |
`
	table := example()
	table.Sections = table.Sections[:1]
	if got := table.Markdown(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestNothingToCompare(t *testing.T) {
	t.Parallel()
	alone := example()
	alone.Compare, alone.Names = false, alone.Names[1:]
	alone.Sections = []Section{{Title: "100x5", Columns: alone.Sections[0].Columns[1:]}, {Title: "200x5", Columns: []Column{{Missing: "failed"}}}}
	want := `
100x5                   lameduck
endpoint replaced, p50  500 us (n=400)
peak memory             93 MB
connections lost        1 of 82234

200x5             lameduck
nothing measured  failed
`
	if got := alone.Text(); got != strings.TrimPrefix(want, "\n") {
		t.Errorf("got:\n%s\nwant:%s", got, want)
	}
}
