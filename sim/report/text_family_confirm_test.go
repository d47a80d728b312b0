package report

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/check"
)

// What helps behind load balancers need not be confirmed on as many runs behind each, and other cases of the workload do not count.
func TestTheHeadingSaysOnHowManyNewRunsFixesWereConfirmed(t *testing.T) {
	t.Parallel()
	family := func(runs int) check.Family {
		return check.Family{Fix: &check.Fix{Cases: []check.FixedCase{{ID: "inside", Confirm: check.Confirm{Runs: 20}}, {ID: "outside", Confirm: check.Confirm{Runs: runs}}}}}
	}
	for _, c := range []struct {
		families     []check.Family
		fewest, most int
	}{
		{nil, 0, 0}, {[]check.Family{{}}, 0, 0}, {[]check.Family{{}, family(200)}, 200, 200}, {[]check.Family{family(200), family(70), family(0)}, 70, 200},
	} {
		if fewest, most := confirmRuns(&check.Case{ID: "outside", Families: c.families}); fewest != c.fewest || most != c.most {
			t.Errorf("%d to %d, want %d to %d", fewest, most, c.fewest, c.most)
		}
	}
}
