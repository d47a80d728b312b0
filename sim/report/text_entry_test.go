package report

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/record"
)

// An Envoy on each node takes users' requests in and is not simulated; what is behind it is. The
// text begins with that, unless another way in is judged or somebody asks for a case.
func TestWhereUsersEnterComesFirst(t *testing.T) {
	t.Parallel()
	const entry, inside, nobody = 0, 2, 5 // of scenario.Users
	envoy := record.Case{
		ID: "shop/envoy/rollout/envoy:80", Workload: "shop/envoy", Kind: "DaemonSet", Traffic: "outside :80", Headline: true,
		Users: entry, Verdict: record.NotJudged, Reason: "rolling updates of a DaemonSet are not yet simulated",
	}
	web := record.Case{
		ID: "shop/web/rollout/web:80", Workload: "shop/web", Kind: "Deployment", Action: "rolling restart", Traffic: "inside :80",
		Headline: true, Users: inside, Verdict: record.Holds,
	}
	routed := web
	routed.ID, routed.Users = "shop/web/rollout/public:80", entry
	admin := envoy
	admin.Headline, admin.Users = false, nobody
	const said = "NOT JUDGED  shop/envoy, where users enter (outside :80): rolling updates of a DaemonSet are not"
	for _, tt := range []struct {
		what  string
		cases []record.Case
		show  string
		want  bool
	}{
		{"behind it", []record.Case{web, envoy}, "", true},
		{"another way in is judged", []record.Case{web, envoy, routed}, "", false},
		{"somebody asks for the case behind it", []record.Case{web, envoy}, "web", false},
		{"what is not judged is for operators", []record.Case{web, admin}, "", false},
	} {
		out := compose(&record.Simulation{Cases: tt.cases, Runs: 1, Seed: 1}, TextOptions{Show: tt.show})
		if strings.HasPrefix(out, said) != tt.want {
			t.Errorf("%s:\n%s", tt.what, out)
		}
	}
}
