package healthcheck

import (
	"testing"
	"time"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// at returns a moment of the tests' clock, in seconds after its start.
func at(seconds float64) time.Time {
	return start.Add(time.Duration(seconds * float64(time.Second)))
}

const v4, v6 = endpoints.IPv4, endpoints.IPv6

func TestTheTimeoutIsTwiceTheSyncPeriod(t *testing.T) {
	t.Parallel()
	// Reference: kube-proxy 1.36 cmd/kube-proxy/app/server.go; docs/model/kube-proxy.md 5.2 and 6.
	if got, want := Timeout.String()+" "+SyncPeriod.String(), "1m0s 30s"; got != want {
		t.Errorf("Timeout and SyncPeriod are %s, want %s", got, want)
	}
}

// Reference: kube-proxy 1.36 pkg/proxy/healthcheck/proxy_health.go, Health, QueuedUpdate,
// Updated; docs/model/kube-proxy.md 5.2.
func TestHealthy(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		state ProxyState
		now   float64
		want  bool
	}{
		"a proxy that has just started is healthy": {ProxyState{}, 0, true},
		"a proxy that has never synced is healthy however long a change waits": {
			ProxyState{}.Queued(v4, at(0)), 3600, true},
		"a synced proxy without changes is healthy for ever": {
			ProxyState{}.Updated(v4, at(0)), 1e6, true},
		"a change that waits less than the timeout is not late": {
			ProxyState{}.Updated(v4, at(0)).Queued(v4, at(10)), 69.999999999, true},
		"a change that waits exactly the timeout is late": {
			ProxyState{}.Updated(v4, at(0)).Queued(v4, at(10)), 70, false},
		"a change that waits longer is late": {
			ProxyState{}.Updated(v4, at(0)).Queued(v4, at(10)), 71, false},
		"the oldest change counts, not the latest": {
			ProxyState{}.Updated(v4, at(0)).Queued(v4, at(10)).Queued(v4, at(69)), 70, false},
		"a sync makes a late proxy healthy": {
			ProxyState{}.Updated(v4, at(0)).Queued(v4, at(10)).Updated(v4, at(80)), 80, true},
		"after a sync the waiting starts again": {
			ProxyState{}.Updated(v4, at(0)).Queued(v4, at(10)).Updated(v4, at(20)).Queued(v4, at(30)), 89, true},
		"one late family makes the proxy unhealthy": {
			ProxyState{}.Updated(v4, at(0)).Updated(v6, at(0)).Queued(v6, at(0)), 60, false},
		"a sync of the other family does not help": {
			ProxyState{}.Updated(v4, at(0)).Updated(v6, at(0)).Queued(v4, at(0)).Updated(v6, at(59)), 60, false},
		"a family that has never synced does not make the proxy unhealthy": {
			ProxyState{}.Updated(v4, at(0)).Queued(v6, at(0)), 600, true},
		"a change from before the first sync counts from its own time when that sync was another family's": {
			ProxyState{}.Queued(v4, at(0)).Updated(v6, at(1)).Updated(v4, at(2)), 600, true},
		"a clock that has stepped back makes nothing late": {
			ProxyState{}.Updated(v4, at(0)).Queued(v4, at(100)), 50, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Healthy(tt.state, at(tt.now), Timeout); got != tt.want {
				t.Errorf("Healthy() = %v, want %v", got, tt.want)
			}
			if got := Livez(tt.state, at(tt.now), Timeout).OK(); got != tt.want {
				t.Errorf("Livez passes: %v, want %v", got, tt.want)
			}
		})
	}
}

func TestProxyStateIsAValue(t *testing.T) {
	t.Parallel()
	a := ProxyState{}.Updated(v4, at(0))
	b := a.Queued(v4, at(1))
	_ = b.Updated(v4, at(2))
	if a.Family(v4) != (FamilyState{UpdatedAt: at(0)}) || b.Family(v4) != (FamilyState{QueuedAt: at(1), UpdatedAt: at(0)}) {
		t.Errorf("a method changed its receiver: a %+v, b %+v", a, b)
	}
	if a.Family(v6) != (FamilyState{}) {
		t.Errorf("one family's event reached the other: %+v", a.Family(v6))
	}
}

// Reference: kube-proxy 1.36 pkg/proxy/healthcheck/proxy_health.go, NodeEligible; KEP-3836.
func TestEligible(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		node NodeState
		want bool
	}{
		"a node not known yet is not eligible":           {NodeState{}, false},
		"a known node is eligible":                       {NodeState{Known: true}, true},
		"empty taints are no taints":                     {NodeState{Known: true, Taints: []string{}}, true},
		"a deletion timestamp makes it not eligible":     {NodeState{Known: true, Deleting: true}, false},
		"Cluster Autoscaler's taint does":                {NodeState{Known: true, Taints: []string{"ToBeDeletedByClusterAutoscaler"}}, false},
		"it does among others":                           {NodeState{Known: true, Taints: []string{"a", "ToBeDeletedByClusterAutoscaler", "b"}}, false},
		"a cordon does not":                              {NodeState{Known: true, Taints: []string{"node.kubernetes.io/unschedulable"}}, true},
		"a node that is not ready does not":              {NodeState{Known: true, Taints: []string{"node.kubernetes.io/not-ready"}}, true},
		"Cluster Autoscaler's candidate taint does not":  {NodeState{Known: true, Taints: []string{"DeletionCandidateOfClusterAutoscaler"}}, true},
		"the taint on a node not known changes nothing":  {NodeState{Taints: []string{"ToBeDeletedByClusterAutoscaler"}}, false},
		"a key that only begins like the taint does not": {NodeState{Known: true, Taints: []string{"ToBeDeletedByClusterAutoscaler2"}}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tt.node.Eligible(); got != tt.want {
				t.Errorf("Eligible() = %v, want %v", got, tt.want)
			}
		})
	}
}

// Reference: kube-proxy 1.36 pkg/proxy/healthcheck/proxy_health.go, healthzHandler and
// livezHandler; docs/model/kube-proxy.md 5.2.
func TestHealthzAndLivez(t *testing.T) {
	t.Parallel()
	current, old := endpoints.CurrentOptions(), endpoints.Options{}
	json := header("Content-Type", "application/json", "X-Content-Type-Options", "nosniff")
	known, tainted := NodeState{Known: true}, NodeState{Known: true, Taints: []string{ToBeDeletedTaint}}
	both := ProxyState{}.Updated(v4, at(1)).Updated(v6, at(2.5))
	late := both.Queued(v4, at(10))

	healthz := func(p ProxyState, n NodeState, now float64, o endpoints.Options) Answer {
		return Healthz(p, n, at(now), Timeout, o)
	}
	livez := func(p ProxyState, now float64) Answer { return Livez(p, at(now), Timeout) }
	tests := map[string]struct {
		got    Answer
		status int
		body   string
	}{
		"healthz before the first sync passes on a known node": {healthz(ProxyState{}, known, 0, current), 200,
			`{"lastUpdated":"2026-03-01T12:00:00Z","currentTime":"2026-03-01T12:00:00Z","nodeEligible":true,"healthy":true}`},
		"healthz before the node is known fails, with no last update to show": {healthz(ProxyState{}, NodeState{}, 0, current), 503,
			`{"lastUpdated":"0001-01-01T00:00:00Z","currentTime":"2026-03-01T12:00:00Z","nodeEligible":false,"healthy":true}`},
		"livez before the first sync passes": {livez(ProxyState{}, 0), 200,
			`{"lastUpdated":"2026-03-01T12:00:00Z","currentTime":"2026-03-01T12:00:00Z","healthy":true}`},
		"healthy: lastUpdated is now, each family says its own": {healthz(both, known, 5, current), 200,
			`{"lastUpdated":"2026-03-01T12:00:05Z","currentTime":"2026-03-01T12:00:05Z","nodeEligible":true,"healthy":true,` +
				`"status":{"IPv4":{"lastUpdated":"2026-03-01T12:00:01Z","healthy":true},"IPv6":{"lastUpdated":"2026-03-01T12:00:02.5Z","healthy":true}}}`},
		"a single family is the only one listed": {livez(ProxyState{}.Updated(v6, at(1)), 5), 200,
			`{"lastUpdated":"2026-03-01T12:00:05Z","currentTime":"2026-03-01T12:00:05Z","healthy":true,` +
				`"status":{"IPv6":{"lastUpdated":"2026-03-01T12:00:01Z","healthy":true}}}`},
		"a node to be deleted fails healthz while the proxy is healthy; lastUpdated is the latest sync": {healthz(both, tainted, 5, current), 503,
			`{"lastUpdated":"2026-03-01T12:00:02.5Z","currentTime":"2026-03-01T12:00:05Z","nodeEligible":false,"healthy":true,` +
				`"status":{"IPv4":{"lastUpdated":"2026-03-01T12:00:01Z","healthy":true},"IPv6":{"lastUpdated":"2026-03-01T12:00:02.5Z","healthy":true}}}`},
		"a late family fails healthz": {healthz(late, known, 70, current), 503,
			`{"lastUpdated":"2026-03-01T12:00:02.5Z","currentTime":"2026-03-01T12:01:10Z","nodeEligible":true,"healthy":false,` +
				`"status":{"IPv4":{"lastUpdated":"2026-03-01T12:00:01Z","healthy":false},"IPv6":{"lastUpdated":"2026-03-01T12:00:02.5Z","healthy":true}}}`},
		"a late family fails livez": {livez(late, 70), 503,
			`{"lastUpdated":"2026-03-01T12:00:02.5Z","currentTime":"2026-03-01T12:01:10Z","healthy":false,` +
				`"status":{"IPv4":{"lastUpdated":"2026-03-01T12:00:01Z","healthy":false},"IPv6":{"lastUpdated":"2026-03-01T12:00:02.5Z","healthy":true}}}`},
		"before KEP-3836 a node to be deleted passes healthz and is not mentioned": {healthz(both, tainted, 5, old), 200,
			`{"lastUpdated":"2026-03-01T12:00:05Z","currentTime":"2026-03-01T12:00:05Z","healthy":true,` +
				`"status":{"IPv4":{"lastUpdated":"2026-03-01T12:00:01Z","healthy":true},"IPv6":{"lastUpdated":"2026-03-01T12:00:02.5Z","healthy":true}}}`},
		"before KEP-3836 a late family still fails healthz": {healthz(ProxyState{}.Updated(v4, at(1)).Queued(v4, at(2)), known, 62, old), 503,
			`{"lastUpdated":"2026-03-01T12:00:01Z","currentTime":"2026-03-01T12:01:02Z","healthy":false,` +
				`"status":{"IPv4":{"lastUpdated":"2026-03-01T12:00:01Z","healthy":false}}}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantAnswer(t, tt.got, Answer{tt.status, json, []byte(tt.body)})
		})
	}
}

func TestTimesKeepTheirZoneAndNanoseconds(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.FixedZone("", 2*3600))
	wantAnswer(t, Livez(ProxyState{}, now, Timeout), Answer{200,
		header("Content-Type", "application/json", "X-Content-Type-Options", "nosniff"),
		[]byte(`{"lastUpdated":"2026-03-01T12:00:00.123456789+02:00","currentTime":"2026-03-01T12:00:00.123456789+02:00","healthy":true}`)})
}
