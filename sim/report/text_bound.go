package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
)

// waits are the assumptions that say for how long clients wait.
var waits = []string{"connect-timeout", "timeout"}

// bounded says of a loss that is as long as clients are taken to wait, and not as long as nobody could answer: whoever gives up sooner asks
// again sooner. "" for others.
func bounded(c *record.Case) string {
	id, limit := waited(c)
	if id == "" {
		return ""
	}
	words := fmt.Sprintf("it is %s because a client is taken to wait so long for %s (%s)", span(limit), map[string]string{"timeout": "an answer", "connect-timeout": "a connection"}[id], setBy(c, id))
	if gone := withoutPod(c); gone.Median > 0 {
		words += "; a pod is ready again after " + span(engine.Time(gone.Median))
	}
	return words
}

// waited is the assumption that a case's longest time without an answer is as long as, in the median run and in the shortest, where many of the
// requests that are lost time out, and what it says; "" for none.
func waited(c *record.Case) (id string, limit engine.Time) {
	if len(c.Clients) == 0 || len(c.Runs) == 0 {
		return "", 0
	}
	_, longest, sum := c.Client(worstClient(c))
	if 3*sum.Outcomes[ledger.Timeout] < sum.Failed {
		return "", 0
	}
	for _, id := range waits {
		limit := assumedTime(c, id)
		part := int64(limit / 50)
		if limit > 0 && longest.Min >= int64(limit)-part && longest.Median <= int64(limit)+part {
			return id, limit
		}
	}
	return "", 0
}

// assumedTime is the duration that an assumption is, 0 where it is none.
func assumedTime(c *record.Case, id string) engine.Time {
	value, _, _ := assumed(c, id)
	d, err := time.ParseDuration(value)
	if err != nil {
		return 0
	}
	return engine.Time(d)
}

// setBy is the first of the ways to say an assumption.
func setBy(c *record.Case, id string) string {
	_, settle, _ := assumed(c, id)
	flag, _, _ := strings.Cut(settle, ",")
	return flag
}

// withoutPod is for how long no pod of a workload could answer, per run.
func withoutPod(c *record.Case) record.Range {
	var all []int64
	for i := range c.Runs {
		all = append(all, int64(c.Runs[i].WithoutPod()))
	}
	slices.Sort(all)
	if len(all) == 0 {
		return record.Range{}
	}
	return record.Range{Min: all[0], Median: all[(len(all)-1)/2], Max: all[len(all)-1]}
}

// unmoved says that as much is lost without the wait of kube-proxy that most of a loss is put down to, in the median run and in all together: it
// is the occasion, and not what makes the loss so long. Runs that lose less than others do not say so: the wait may cost something in the others.
func unmoved(c *record.Case) bool {
	if len(c.Causes) == 0 || c.Causes[0].Actor != ledger.ProxyWait {
		return false
	}
	a := withoutWait(c)
	return a != nil && a.Effect == record.NoEffect && a.LostSeconds.Median > 0 && a.Shift > -tenPercent && c.Typical(a.Runs)
}

const tenPercent = 10

// withoutWait is a case with minSyncPeriod 0, nil where that was not tried.
func withoutWait(c *record.Case) *record.Alternative {
	for i := range c.Alternatives {
		if a := &c.Alternatives[i]; record.WithoutWait(a.ID, a.Value) {
			return a
		}
	}
	return nil
}

// instead says what makes a loss so long of which the wait of kube-proxy is only the occasion: for how long a client tries a pod that is gone, where
// with less than that half as much is lost, or less.
func instead(c *record.Case) string {
	words := "as much is lost without kube-proxy's minSyncPeriod"
	for _, id := range waits {
		for i := range c.Alternatives {
			a := &c.Alternatives[i]
			if a.ID == id && a.Effect != record.NoEffect && 2*a.LostSeconds.Median <= c.LostSeconds.Median {
				limit := assumedTime(c, id)
				if limit == 0 {
					limit = assumedTime(c, "timeout") // as the whole request
				}
				return words + fmt.Sprintf(": what costs is the %s for which a client is taken to try to connect to a pod that is gone (%s; with %s: %s lost)",
					span(limit), setBy(c, id), spaced(otherValue(a)), span(engine.Time(a.LostSeconds.Median)))
			}
		}
	}
	return words
}
