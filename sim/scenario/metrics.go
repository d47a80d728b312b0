package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
	"github.com/lameduck-proxy/lameduck/sim/units"
)

// The kube-proxy histograms that are of use.
const (
	syncMetric        = "kubeproxy_sync_proxy_rules_duration_seconds"
	programmingMetric = "kubeproxy_network_programming_duration_seconds"
)

// ProxySync reads how long a kube-proxy's syncs took from a scrape of its /metrics: the
// histogram kubeproxy_sync_proxy_rules_duration_seconds. Observations beyond the last bucket
// are an error, unless cap says how long they may have been; 0 says nothing.
func ProxySync(scrape []byte, limit engine.Time) (engine.Dist, error) {
	return measured(scrape, syncMetric, limit)
}

// ReadyToRules reads how long it took from a pod's Ready transition until the rules had it:
// kubeproxy_network_programming_duration_seconds. That metric says nothing about removals: it
// is taken at Ready transitions only (docs/model/propagation.md 2), so nothing else may be filled
// from it.
func ReadyToRules(scrape []byte, limit engine.Time) (engine.Dist, error) {
	return measured(scrape, programmingMetric, limit)
}

// measured makes a distribution of one histogram in Prometheus' text format; its series (one
// per IP family) are added up.
func measured(scrape []byte, metric string, limit engine.Time) (engine.Dist, error) {
	cumulative, err := readBuckets(string(scrape), metric)
	if err != nil {
		return engine.Dist{}, err
	}
	if len(cumulative) == 0 {
		return engine.Dist{}, fmt.Errorf("there is no histogram %s in it; is it the /metrics page of a kube-proxy?", metric)
	}
	var buckets []engine.Bucket
	below := uint64(0)
	for _, b := range cumulative {
		if b.count < below {
			return engine.Dist{}, fmt.Errorf("line %d: the buckets of %s go down", b.line, metric)
		}
		n := b.count - below
		below = b.count
		if b.bound != engine.Never {
			buckets = append(buckets, engine.Bucket{Bound: b.bound, Count: n})
			continue
		}
		if n == 0 {
			continue
		}
		last := engine.Time(0)
		if len(buckets) > 0 {
			last = buckets[len(buckets)-1].Bound
		}
		if limit == 0 {
			return engine.Dist{}, fmt.Errorf("%d observations of %s are above the last bucket, %s: say how long they may have been with cap", n, metric, last.Duration())
		}
		if limit <= last {
			return engine.Dist{}, fmt.Errorf("cap %s is not above the last bucket, %s", limit.Duration(), last.Duration())
		}
		buckets = append(buckets, engine.Bucket{Bound: limit, Count: n})
	}
	if below == 0 {
		return engine.Dist{}, fmt.Errorf("%s has no observations yet", metric)
	}
	return engine.Histogram(buckets)
}

// cumulative is one bucket as Prometheus has it: how many observations up to a bound.
type cumulative struct {
	bound engine.Time // Never for +Inf
	count uint64
	line  int
}

// readBuckets collects the buckets of a histogram, the same bound of all its series added up,
// by bound.
func readBuckets(scrape, metric string) ([]cumulative, error) {
	var out []cumulative
	number := 0
	for line := range strings.Lines(scrape) {
		number++
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), metric+"_bucket{")
		if !ok {
			continue
		}
		b, err := readBucket(rest)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		b.line = number
		i := slices.IndexFunc(out, func(c cumulative) bool { return c.bound == b.bound })
		if i < 0 {
			out = append(out, b)
			continue
		}
		if out[i].count += b.count; out[i].count > maxCount {
			return nil, fmt.Errorf("line %d: too many observations", number)
		}
	}
	sorted.By(out, func(a, b cumulative) int { return cmp.Compare(a.bound, b.bound) })
	if len(out) > 0 && out[len(out)-1].bound != engine.Never {
		return nil, errors.New("the +Inf bucket of " + metric + " is missing: the page is cut off")
	}
	return out, nil
}

// maxCount keeps sums of counts, and of counts times 1024, inside 64 bits.
const maxCount = 1 << 50

// readBucket reads `le="0.5",ip_family="IPv4"} 12` with an optional timestamp behind.
func readBucket(s string) (cumulative, error) {
	labels, value, ok := strings.Cut(s, "}")
	if !ok {
		return cumulative{}, errors.New("a bucket without its labels")
	}
	b := cumulative{bound: -1}
	for label := range strings.SplitSeq(labels, ",") {
		key, quoted, _ := strings.Cut(strings.TrimSpace(label), "=")
		if key != "le" {
			continue
		}
		le := strings.Trim(quoted, `"`)
		if le == "+Inf" {
			b.bound = engine.Never
			continue
		}
		n, err := units.Scientific(le, 9)
		if err != nil || n > uint64(units.MaxSpan) {
			return cumulative{}, fmt.Errorf("le=%s is no bound in seconds", quoted)
		}
		b.bound = engine.Time(n)
	}
	if b.bound < 0 {
		return cumulative{}, errors.New("a bucket without le")
	}
	fields := strings.Fields(value)
	if len(fields) == 0 || len(fields) > 2 {
		return cumulative{}, fmt.Errorf("%q is no count", strings.TrimSpace(value))
	}
	n, err := units.Scientific(fields[0], 0)
	if err != nil || n > maxCount {
		return cumulative{}, fmt.Errorf("%q is no count", fields[0])
	}
	b.count = n
	return b, nil
}
