package observe

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// told returns what is logged with a level of detail.
func told(level int, before, after *plan.Plan) []string {
	var out []string
	Log{funcr.New(func(_, args string) { out = append(out, args) }, funcr.Options{Verbosity: level})}.Tell(before, after, Names(before, after))
	return out
}

// What one decision of each kind says.
func TestALoggedDecision(t *testing.T) {
	t.Parallel()
	before := (&world{svc: object(nil), pods: []pod{{lame, "here", ""}, {up, "there", ""}}}).plan()
	after := (&world{svc: object(nil), pods: []pod{{failing, "here", ""}, {up, "there", ""}}}).plan()
	want := []string{
		`"level"=0 "msg"="Endpoint decided" "servicePort"="shop/web" "ipFamily"="IPv4" "endpoint"="10.0.0.1:8080" "list"="Cluster" "used"=false "fallback"=false "reason"="terminating-not-serving" "was"="ready-preferred" "sentence"="terminating and readiness fails: a terminating pod that is not serving is never used" "endpointSlice"="web-1"`,
		`"level"=0 "msg"="Endpoint decided" "servicePort"="shop/web" "ipFamily"="IPv4" "endpoint"="10.0.0.1:8080" "list"="Local" "used"=false "fallback"=false "reason"="terminating-not-serving" "was"="terminating-fallback" "sentence"="terminating and readiness fails: a terminating pod that is not serving is never used" "endpointSlice"="web-1"`,
		`"level"=0 "msg"="Frontend decided" "frontend"="0.0.0.0:30080/TCP" "kind"="node port" "servicePort"="shop/web" "from"="outside" "action"="drop" "was"="forward" "reason"="no-local-endpoints"`,
	}
	if diff := cmp.Diff(want, told(0, before, after)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	back := told(0, after, before)
	if line := back[1]; !strings.Contains(line, `"used"=true "fallback"=true "reason"="terminating-fallback" "was"="terminating-not-serving"`) {
		t.Error(line)
	}
	gone := told(0, before, (&world{}).plan())
	if line := gone[len(gone)-1]; line != `"level"=0 "msg"="Health-check node port decided" "service"="shop/web" "ipFamily"="IPv4" "port"=0 "localEndpoints"=0 "passes"=false "wasPort"=31000 "wasLocalEndpoints"=0` {
		t.Error(line)
	}
	fresh := told(0, (&world{}).plan(), before)
	if line := fresh[len(fresh)-1]; !strings.HasSuffix(line, `"port"=31000 "localEndpoints"=0 "passes"=false "wasPort"=0 "wasLocalEndpoints"=0`) {
		t.Error(line)
	}
}

// Of a large change a hundred decisions are for everybody; how many there were is said where there are more, and details have all.
func TestALargeChangeIsCounted(t *testing.T) {
	t.Parallel()
	count := func(level, n int) (decided int, more string) {
		w := world{svc: object(nil)}
		empty := w.plan()
		for range n {
			w.pods = append(w.pods, pod{up, "there", ""})
		}
		for _, line := range told(level, empty, w.plan()) {
			if strings.Contains(line, " decided\" ") {
				decided++
			} else {
				more += line
			}
		}
		return decided, more
	}
	met := map[int]bool{}
	for n := 46; n <= 52; n++ { // each endpoint is decided for two lists
		all, _ := count(detailLevel, n)
		met[all] = true
		few, more := count(0, n)
		if few != min(all, linesPerSync) {
			t.Errorf("%d of %d decisions", few, all)
		}
		want := ""
		if all > linesPerSync {
			want = fmt.Sprintf(`"level"=0 "msg"="More was decided differently than is logged" "decisions"=%d "logged"=100 "services"=1 "allWith"="-v=4"`, all)
		}
		if more != want {
			t.Errorf("of %d decisions: %s", all, more)
		}
	}
	if !met[linesPerSync] {
		t.Errorf("no change of %d decisions: %v", linesPerSync, met)
	}
}

// What is decided at the start is counted for everybody, and told one by one to those who ask for details.
func TestTheFirstPlanIsCounted(t *testing.T) {
	t.Parallel()
	p := (&world{svc: object(nil), pods: []pod{{lame, "here", ""}, {up, "there", ""}}}).plan()
	want := `"level"=0 "msg"="Decided for the first time, nothing is programmed" "node"="here" "dialect"="` + p.Node().Dialect.String() +
		`" "terminatingFallback"="` + endpoints.CurrentOptions().TerminatingFallback.String() +
		`" "services"=1 "servicePorts"=1 "endpoints"=2 "portsInFallback"=1 "droppingFrontends"=0 "rejectingFrontends"=0 "healthCheckNodePorts"=1`
	if got := told(0, nil, p); len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %s", got, want)
	}
	details := told(detailLevel, nil, p)
	if len(details) != 6 || !strings.HasPrefix(details[1], `"level"=4 "msg"="Endpoint decided"`) || !strings.HasPrefix(details[5], `"level"=4 "msg"="Health-check`) {
		t.Errorf("%d: %s", len(details), strings.Join(details, "\n"))
	}
}
