package report

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/record"
)

// What helps behind load balancers need not be confirmed on as many runs behind each, and other cases of the workload do not count.
func TestTheHeadingSaysOnHowManyNewRunsFixesWereConfirmed(t *testing.T) {
	t.Parallel()
	family := func(runs int) record.Family {
		return record.Family{Fix: &record.Fix{Cases: []record.FixedCase{{ID: "inside", Confirm: record.Confirm{Runs: 20}}, {ID: "outside", Confirm: record.Confirm{Runs: runs}}}}}
	}
	for _, c := range []struct {
		families     []record.Family
		fewest, most int
	}{
		{nil, 0, 0}, {[]record.Family{{}}, 0, 0}, {[]record.Family{{}, family(200)}, 200, 200}, {[]record.Family{family(200), family(70), family(0)}, 70, 200},
	} {
		if fewest, most := confirmRuns(&record.Case{ID: "outside", Families: c.families}); fewest != c.fewest || most != c.most {
			t.Errorf("%d to %d, want %d to %d", fewest, most, c.fewest, c.most)
		}
	}
}
