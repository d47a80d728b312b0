package proxier

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/healthcheck"
	"github.com/lameduck-proxy/lameduck/proxier/pace"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// probe is what the health-check node port of Service web answers now: its status code.
func (r *rig) probe() int {
	r.t.Helper()
	synctest.Wait()
	st := r.Status()
	if st.Table == nil {
		return 0
	}
	return st.Table.Answer(endpoints.IPv4, 31000, true).Status
}

// Reference: docs/model/kube-proxy.md 5.1 Update moment: at the end of a rule sync, after the new
// rules are installed.
func TestProbesHearOfAChangeAfterTheRules(t *testing.T) {
	run(t, func(r *rig, o *Options) {
		o.Pace = pace.Policy{RetryInterval: 5 * s}
		r.backend.takes = s
		r.backend.fail = []error{nil, errors.New("no")}
	}, func(r *rig) {
		r.fill()
		r.at(s - ms)
		if got := r.probe(); got != 0 {
			t.Errorf("before the first rules: %d", got)
		}
		r.at(10 * s)
		r.SetSlice(slice("web")) // the last endpoint leaves; the sync fails, its retry does not
		for _, c := range []struct {
			at   time.Duration
			want int
		}{{10 * s, 200}, {11 * s, 200}, {16*s + 999*ms, 200}, {17 * s, 503}} {
			r.at(c.at)
			if got := r.probe(); got != c.want {
				t.Errorf("at %v the port answers %d, want %d", c.at, got, c.want)
			}
		}
		if r.lastSync().Status.Table != r.Status().Table {
			t.Error("the observer was told of another table than the published one")
		}
	})
}

// health is what /livez says of the published state.
func (r *rig) healthy() bool {
	synctest.Wait()
	return healthcheck.Healthy(r.Status().Proxy, time.Now(), healthcheck.Timeout)
}

// Reference: docs/model/kube-proxy.md 5.2 /livez.
func TestAProxyThatHangsIsUnhealthy(t *testing.T) {
	run(t, nil, func(r *rig) {
		r.fill()
		r.at(10 * s)
		hold := make(chan struct{})
		r.backend.holds(hold)
		r.SetSlice(slice("web", "10.0.0.2"))
		r.at(30 * s)
		r.SetSlice(slice("web", "10.0.0.3")) // comes while the Backend hangs
		for _, c := range []struct {
			at   time.Duration
			want bool
		}{{69 * s, true}, {70 * s, false}} {
			if r.at(c.at); r.healthy() != c.want {
				t.Errorf("at %v healthy is %t", c.at, !c.want)
			}
		}
		hold <- struct{}{} // and it goes on; the next sync hangs again
		if synctest.Wait(); !r.healthy() {
			t.Error("unhealthy after the sync")
		}
		for _, c := range []struct {
			at   time.Duration
			want bool
		}{{89 * s, true}, {90 * s, false}} { // the change of 30 s has waited since then
			if r.at(c.at); r.healthy() != c.want {
				t.Errorf("at %v healthy is %t", c.at, !c.want)
			}
		}
		close(hold)
		if synctest.Wait(); !r.healthy() {
			t.Error("unhealthy in the end")
		}
		r.want("0s resync ok: web=10.0.0.1", "1m10s apply ok: web=10.0.0.2", "1m30s apply ok: web=10.0.0.3")
	})
}

func TestAProxyThatFailsIsUnhealthyWhateverComes(t *testing.T) {
	run(t, func(r *rig, o *Options) {
		o.Pace = pace.Policy{MinInterval: s, RetryInterval: 30 * s, CheckInterval: 30 * s}
		r.backend.fail = []error{nil, errors.New("no"), errors.New("no"), errors.New("no")}
	}, func(r *rig) {
		r.fill()
		r.at(89 * s) // nothing has changed, but since 30 s the rules are not what they should be
		if !r.healthy() {
			t.Error("unhealthy within the timeout")
		}
		if r.at(91 * s); r.healthy() {
			t.Error("healthy after three failures")
		}
		if r.at(121 * s); !r.healthy() {
			t.Error("unhealthy although the rules are in force again")
		}
	})
}

func TestFamiliesHaveTheirOwnHealth(t *testing.T) {
	v6 := slice("web", "fd00::1")
	v6.Name, v6.AddressType = "web-6", discoveryv1.AddressTypeIPv6
	dual := service("web", "10.96.0.1")
	dual.Spec.ClusterIPs, dual.Spec.IPFamilies = append(dual.Spec.ClusterIPs, "fd10::1"), append(dual.Spec.IPFamilies, corev1.IPv6Protocol)
	for _, c := range []struct {
		name     string
		families []endpoints.IPFamily
		change   func(*rig)
		queued   string
	}{
		{"a slice is of one family", nil, func(r *rig) { r.SetSlice(slice("web", "10.0.0.9")) }, "IPv4"},
		{"and of the other", nil, func(r *rig) { r.SetSlice(v6) }, "IPv6"},
		{"slices of both", nil, func(r *rig) { r.SetSlice(v6); r.SetSlice(slice("web", "10.0.0.9")) }, "IPv4 IPv6"},
		{"a slice that is gone may have been of either", nil, func(r *rig) { r.DeleteSlice("shop", "web-1") }, "IPv4 IPv6"},
		{"a Service may be of both", nil, func(r *rig) { r.DeleteService(endpoints.ServiceName{Namespace: "shop", Name: "web"}) }, "IPv4 IPv6"},
		{"a family that nobody programs has no health", []endpoints.IPFamily{endpoints.IPv4}, func(r *rig) { r.SetSlice(v6) }, ""},
		{"nor do Services give it one", []endpoints.IPFamily{endpoints.IPv6}, func(r *rig) { r.SetService(service("api", "10.96.0.9")) }, "IPv6"},
	} {
		t.Run(c.name, func(t *testing.T) {
			run(t, func(_ *rig, o *Options) { o.Families = c.families }, func(r *rig) {
				r.SetService(dual)
				r.SetSlice(slice("web", "10.0.0.1"))
				r.Synced()
				r.at(100 * ms)
				c.change(r)
				synctest.Wait()
				var queued []string
				for _, f := range endpoints.Families() {
					if !r.Status().Proxy.Family(f).QueuedAt.IsZero() {
						queued = append(queued, f.String())
					}
				}
				if got := strings.Join(queued, " "); got != c.queued {
					t.Errorf("queued: %q, want %q", got, c.queued)
				}
			})
		})
	}
}

func TestTheNodesStateIsPublishedAtOnce(t *testing.T) {
	run(t, nil, func(r *rig) { // nothing is synced yet
		r.SetNodeState(healthcheck.NodeState{Known: true, Taints: []string{healthcheck.ToBeDeletedTaint}})
		synctest.Wait()
		if st := r.Status(); !st.Node.Known || st.Node.Eligible() {
			t.Errorf("published: %+v", st.Node)
		}
	})
}

func TestOneBadObjectNeverStopsTheOthers(t *testing.T) {
	bad := service("bad", "10.96.0.2")
	bad.Spec.ExternalIPs = []string{"no address"}
	worse := slice("bad", "10.0.1.1")
	worse.Endpoints[0].Addresses = []string{"256.0.0.1"}
	var lines []string
	run(t, func(r *rig, o *Options) {
		o.Log = funcr.New(func(_, args string) { note(r, &lines, args) }, funcr.Options{})
	}, func(r *rig) {
		r.SetService(bad)
		r.SetSlice(worse)
		r.fill()
		r.want("0s resync ok: bad= web=10.0.0.1")
		want := []string{
			`Service shop/bad: spec.externalIPs[0]: `,
			`EndpointSlice shop/bad-1: endpoints[0].addresses[0]: `,
		}
		r.wantProblems(want)
		if got := noted(r, &lines); len(got) != 2 || !strings.Contains(got[0]+got[1], "shop/bad-1") {
			t.Errorf("logged: %q", got)
		}

		r.at(10 * s) // the same again is no news
		again := bad.DeepCopy()
		again.Spec.ClusterIP, again.Spec.ClusterIPs = "10.96.0.3", []string{"10.96.0.3"}
		r.SetService(again)
		r.wantProblems(want)

		r.at(20 * s) // mended, and broken again
		r.SetSlice(slice("bad", "10.0.1.1"))
		r.at(30 * s)
		r.SetSlice(worse)
		r.wantProblems(append(want, want[1]))
		r.at(40 * s) // gone, and back
		r.DeleteService(endpoints.ServiceName{Namespace: "shop", Name: "bad"})
		r.at(50 * s)
		r.SetService(bad)
		r.wantProblems(append(want, want[1], want[0]))
	})
}

// wantProblems compares what was reported with beginnings. The first two come in any order.
func (r *rig) wantProblems(want []string) {
	r.t.Helper()
	got := noted(r, &r.problems)
	if len(got) > 1 && !strings.HasPrefix(got[0], "Service") {
		got[0], got[1] = got[1], got[0]
	}
	if len(got) != len(want) {
		r.t.Fatalf("%d problems, want %d: %q", len(got), len(want), got)
	}
	for i, p := range got {
		if !strings.HasPrefix(p, want[i]) {
			r.t.Errorf("problem %d: %q, want %q...", i, p, want[i])
		}
	}
}

func TestDeliveriesNeverWaitForTheBackend(t *testing.T) {
	const services, rounds = 40, 50
	run(t, nil, func(r *rig) {
		hold := make(chan struct{})
		r.backend.holds(hold)
		r.fill()
		synctest.Wait() // the first sync hangs
		var sources sync.WaitGroup
		for n := range services {
			sources.Go(func() {
				name := fmt.Sprintf("s%02d", n)
				for round := range rounds {
					r.SetService(service(name, fmt.Sprintf("10.96.1.%d", n)))
					r.SetSlice(slice(name, fmt.Sprintf("10.0.%d.%d", n, round)))
					if round%2 == 1 && n%2 == 1 {
						r.DeleteService(endpoints.ServiceName{Namespace: "shop", Name: name})
						r.DeleteSlice("shop", name+"-1")
					}
				}
			})
		}
		sources.Wait()
		if at := time.Since(r.began); at != 0 {
			t.Errorf("deliveries took %v", at)
		}
		close(hold)
		r.at(10 * s)
		if n := len(noted(r, &r.syncs)); n != 2 {
			t.Fatalf("%d syncs for what came in during one", n)
		}
		last := r.lastSync()
		if got, want := last.Plan.Len(), 1+services/2; got != want {
			t.Errorf("%d Services, want %d", got, want)
		}
		if got := contents(last.Plan); !strings.Contains(got, "s38=10.0.38.49") || strings.Contains(got, "s39") {
			t.Errorf("not the last word on each: %s", got)
		}
		if want := services*rounds + services*rounds/4; last.ServiceWrites != want || last.SliceWrites != want {
			t.Errorf("%d Services and %d slices delivered, want %d of each", last.ServiceWrites, last.SliceWrites, want)
		}
	})
}

// watching is a backend that tells of disturbances.
type watching struct {
	*backend
	disturbed chan struct{}
}

func (w watching) Watch(context.Context) (<-chan struct{}, error) { return w.disturbed, nil }

func TestADisturbanceIsLookedAtAtOnce(t *testing.T) {
	disturbed := make(chan chan struct{}, 1)
	run(t, func(r *rig, o *Options) {
		w := watching{r.backend, make(chan struct{})}
		disturbed <- w.disturbed
		o.Backend = w
	}, func(r *rig) {
		tell := <-disturbed
		r.fill()
		r.at(10 * s)
		tell <- struct{}{}
		synctest.Wait()
		tell <- struct{}{}
		r.at(20 * s)
		close(tell)
		r.at(30 * s)
		r.SetSlice(slice("web", "10.0.0.2"))
		r.want("0s resync ok: web=10.0.0.1", "10s apply ok: web=10.0.0.1", "11s apply ok: web=10.0.0.1", "30s apply ok: web=10.0.0.2")
	})
}

// deaf is a backend that cannot tell of disturbances.
type deaf struct {
	*backend
	why error
}

func (d deaf) Watch(context.Context) (<-chan struct{}, error) { return nil, d.why }

// That a dataplane has no way to tell of changes is no error, as it is when that fails.
func TestADataplaneThatTellsNobodyIsNoError(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		why   error
		wrong bool
	}{
		"cannot tell":    {fmt.Errorf("nobody is told: %w", errors.ErrUnsupported), false},
		"fails to do so": {errors.New("no more sockets"), true},
	} {
		t.Run(name, func(t *testing.T) {
			var said []string
			run(t, func(r *rig, o *Options) {
				o.Backend = deaf{r.backend, x.why}
				o.Log = funcr.New(func(_, line string) {
					if strings.Contains(line, x.why.Error()) {
						said = append(said, line)
					}
				}, funcr.Options{})
			}, func(r *rig) {
				r.fill()
				r.at(10 * s)
			})
			if len(said) != 1 || strings.Contains(said[0], `"error"=`) != x.wrong {
				t.Errorf("the log has %q, want one line, an error: %v", said, x.wrong)
			}
		})
	}
}

// Reference: docs/model/kube-proxy.md 9, what is pending, the totals, when a sync was last queued.
func TestTheStatusSaysHowMuchThereIsToDo(t *testing.T) {
	run(t, nil, func(r *rig) {
		var want Status
		wants := func(services, slices Deliveries, v4, v6 time.Duration) {
			t.Helper()
			synctest.Wait()
			want = r.Status()
			want.Services, want.Slices = services, slices
			want.QueuedAt = [2]time.Time{r.began.Add(v4), r.began.Add(v6)}
			if diff := cmp.Diff(want, r.Status(), cmp.AllowUnexported(healthcheck.ProxyState{}), cmp.Comparer(sameTable)); diff != "" {
				t.Errorf("at %v (-want +got):\n%s", time.Since(r.began), diff)
			}
		}
		r.fill()
		wants(Deliveries{Total: 1}, Deliveries{Total: 1}, 0, 0)
		hold := make(chan struct{})
		r.backend.holds(hold)
		r.at(10 * s)
		r.SetSlice(slice("web", "10.0.0.2")) // is on its way at once
		wants(Deliveries{Total: 1}, Deliveries{Total: 2}, 10*s, 0)
		r.at(20 * s)
		r.SetSlice(slice("web", "10.0.0.3")) // waits for the sync before
		r.SetSlice(slice("web", "10.0.0.4"))
		r.SetService(service("api", "10.96.0.2"))
		wants(Deliveries{Total: 2, Pending: 1}, Deliveries{Total: 4, Pending: 2}, 20*s, 20*s)
		close(hold)
		r.at(30 * s)
		r.SetSlice(slice("web", "10.0.0.4")) // changes nothing
		wants(Deliveries{Total: 2}, Deliveries{Total: 5}, 20*s, 20*s)
	})
}

func sameTable(a, b *healthcheck.Table) bool { return a == b }

// Reference: docs/model/kube-proxy.md 9, network_programming_duration.
func TestASyncSaysSinceWhenItWasWaitedFor(t *testing.T) {
	at := func(r *rig, d time.Duration, service string, ips ...string) *discoveryv1.EndpointSlice {
		sl := slice(service, ips...)
		sl.Annotations = map[string]string{corev1.EndpointsLastChangeTriggerTime: r.began.Add(d).Format(time.RFC3339Nano)}
		return sl
	}
	run(t, func(r *rig, o *Options) {
		o.Pace = pace.Policy{MinInterval: s, RetryInterval: 5 * s}
		r.backend.fail = []error{nil, errors.New("no")}
	}, func(r *rig) {
		r.SetService(service("web", "10.96.0.1"))
		r.SetSlice(at(r, -s, "web", "10.0.0.1"))
		r.Synced()
		r.at(10 * s)
		r.wantTriggers() // from before the start
		r.SetSlice(at(r, 9*s, "web", "10.0.0.2"))
		r.at(10*s + 100*ms)
		r.wantTriggers() // the sync failed
		r.SetService(service("api", "10.96.0.2"))
		r.SetSlice(at(r, 8*s, "api", "10.0.1.1"))
		r.SetService(service("gone", "10.96.0.3"))
		r.SetSlice(at(r, 7*s, "gone", "10.0.1.1"))
		r.at(10*s + 200*ms)
		r.DeleteSlice("shop", "gone-1")
		r.at(20 * s)
		r.wantTriggers(8*s, 9*s) // of the sync that failed, too
		r.SetSlice(at(r, 19*s, "web", "10.0.0.3"))
		r.at(30 * s)
		r.wantTriggers(19 * s)
		v6 := at(r, 29*s, "web", "fd00::1")
		v6.Name, v6.AddressType = "web-6", discoveryv1.AddressTypeIPv6
		r.SetSlice(v6)
		r.at(40 * s)
		r.wantTriggers(29 * s)
		if got := r.lastSync().Triggers[0].Family; got != endpoints.IPv6 {
			t.Errorf("the slice of IPv6 is said to be of %s", got)
		}
	})
}

func (r *rig) wantTriggers(want ...time.Duration) {
	r.t.Helper()
	var got []time.Duration
	for _, t := range r.lastSync().Triggers {
		got = append(got, t.At.Sub(r.began))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		r.t.Errorf("at %v, waited for since (-want +got):\n%s", time.Since(r.began), diff)
	}
}

// flows is a Conntrack that notes what it is told.
type flows struct {
	began   time.Time
	backend *backend
	takes   time.Duration

	mu    sync.Mutex
	calls []string
	due   bool
	fail  []error
}

func (f *flows) Follow(p *plan.Plan, changed []endpoints.ServiceName) bool {
	text := fmt.Sprintf("%v follow %s:", time.Since(f.began), contents(p))
	for _, name := range changed {
		text += " " + name.Name
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.backend.inForce != p {
		text += ", which is not in force"
	}
	f.calls = append(f.calls, text)
	return f.due
}

// expect says what the next calls return.
func (f *flows) expect(due bool, fail ...error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.due, f.fail = due, fail
}

func (f *flows) Clean() ([2]int, error) {
	time.Sleep(f.takes)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, fmt.Sprintf("%v clean", time.Since(f.began)))
	var err error
	if len(f.fail) > 0 {
		err, f.fail = f.fail[0], f.fail[1:]
	}
	return [2]int{7, 1}, err
}

func TestFlowsFollowTheRules(t *testing.T) {
	var f *flows
	run(t, func(r *rig, o *Options) {
		f = &flows{began: r.began, backend: r.backend, takes: 200 * ms}
		o.Conntrack = f
		r.backend.fail = []error{nil, errors.New("no")}
		o.Pace = pace.Policy{MinInterval: s, RetryInterval: 5 * s, CheckInterval: 60 * s}
	}, func(r *rig) {
		r.fill()
		r.at(10 * s)
		f.expect(true, nil, errors.New("no"))
		r.SetSlice(slice("web", "10.0.0.2")) // fails
		r.at(10*s + 500*ms)
		r.SetService(service("api", "10.96.0.2"))
		r.at(11*s + 100*ms)
		if got := len(noted(r, &r.syncs)); got != 3 {
			t.Errorf("%d syncs reported while flows are looked through, want 3", got)
		}
		r.SetSlice(slice("web", "10.0.0.3")) // while flows are looked through: they come first
		r.at(60 * s)
		f.expect(false)
		r.at(80 * s)
		f.mu.Lock()
		defer f.mu.Unlock()
		if diff := cmp.Diff([]string{
			"0s follow web=10.0.0.1: web",
			"11s follow api= web=10.0.0.2: api web",
			"11.2s clean",
			"12.2s follow api= web=10.0.0.3: web",
			"12.4s clean",
			"1m12.4s follow api= web=10.0.0.3:",
		}, f.calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		c := noted(r, &r.cleaned)
		if len(c) != 2 || c[0].Forgotten != [2]int{7, 1} || c[0].Err != nil || c[1].Err == nil || c[0].End.Sub(c[0].Start) != 200*ms {
			t.Errorf("reported: %+v", c)
		}
	})
}
