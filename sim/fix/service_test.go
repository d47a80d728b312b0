package fix

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// changeOf is a change of the workload whose Service has something more in its spec.
func changeOf(t *testing.T, id, spec, annotations, lb string) (*world.Scenario, *Change) {
	t.Helper()
	text := strings.Replace(fill(map[string]string{}), "  selector: {app: web}\n", "  "+spec+"\n  selector: {app: web}\n", 1)
	text = strings.Replace(text, "metadata: {name: web, namespace: shop}\nspec:\n  "+spec, "metadata: {name: web, namespace: shop, annotations: {"+annotations+"}}\nspec:\n  "+spec, 1)
	sc, w := worldOf(t, text, scenario.Options{LB: lb})
	for _, c := range Changes(sc, w, engine.Second) {
		if c.ID == id {
			return sc, &c
		}
	}
	return sc, nil
}

// A Service whose endpoints are ready whatever their pods are is to lead to ready pods only; the Scenario given stays as it is.
func TestNotReadyAddressesAreTakenBack(t *testing.T) {
	t.Parallel()
	sc, c := changeOf(t, "publishNotReadyAddresses", "publishNotReadyAddresses: true", "", "")
	if c == nil || len(c.Edits) != 1 || c.Edits[0].Path != "spec.publishNotReadyAddresses" || c.Edits[0].Line == 0 || c.Edits[0].To.YAML != "false" {
		t.Fatalf("%+v", c)
	}
	after := Apply(sc, "shop/web", []Change{*c})
	if !sc.Services[0].Service.Spec.PublishNotReadyAddresses || after.Services[0].Service.Spec.PublishNotReadyAddresses {
		t.Error("the change is not that of the Service")
	}
	if !strings.Contains(c.Destructive, "may never be ready") {
		t.Errorf("it says nothing of pods that find each other by the Service: %q", c.Destructive)
	}
	if _, c := changeOf(t, "publishNotReadyAddresses", "type: NodePort", "", ""); c != nil {
		t.Errorf("it does so already: %+v", c)
	}
}

// An NLB that resets connections to unhealthy targets is told not to, beside what its annotation says already.
func TestConnectionsToUnhealthyTargetsAreKept(t *testing.T) {
	t.Parallel()
	const attributes = "service.beta.kubernetes.io/aws-load-balancer-target-group-attributes"
	const kept = "target_health_state.unhealthy.connection_termination.enabled=false"
	for annotations, want := range map[string]string{
		"": kept, attributes + ": 'preserve_client_ip.enabled=true,target_health_state.unhealthy.connection_termination.enabled=true'": kept + ",preserve_client_ip.enabled=true",
	} {
		sc, c := changeOf(t, "unhealthyTargets", "type: LoadBalancer", annotations, "aws-nlb-instance")
		if c == nil || len(c.Edits) != 1 || c.Edits[0].To.YAML != want {
			t.Errorf("%q: %+v", annotations, c)
			continue
		}
		for _, line := range c.Edits[0].YAML() {
			if annotations == "" && len(line) > 90 {
				t.Errorf("a line of %d columns: %s", len(line), line)
			}
		}
		if after := Apply(sc, "shop/web", []Change{*c}); !sc.Traffic[0].LB.CutUnhealthy || after.Traffic[0].LB.CutUnhealthy {
			t.Errorf("%q: the change is not that of the load balancer", annotations)
		}
	}
	if _, c := changeOf(t, "unhealthyTargets", "type: LoadBalancer", attributes+": "+kept, "aws-nlb-instance"); c != nil {
		t.Errorf("it does so already: %+v", c)
	}
	if _, c := changeOf(t, "unhealthyTargets", "type: LoadBalancer", "", "gke-l4"); c != nil {
		t.Errorf("another one: %+v", c)
	}
}

// The NLB of the cloud provider takes no such annotation, and no longer reconciles a Service that has it: the advice is to set the attribute on the
// target groups themselves. What it does is tried all the same.
// Reference: docs/model/load-balancers.md 2 AWS in-tree NLB, attributes of target groups.
func TestNoAnnotationIsAdvisedThatTheCloudProviderRefuses(t *testing.T) {
	t.Parallel()
	sc, c := changeOf(t, "unhealthyTargets", "type: LoadBalancer", "service.beta.kubernetes.io/aws-load-balancer-type: nlb", "")
	if c == nil || len(c.Edits) != 0 || c.Title != "target_health_state.unhealthy.connection_termination.enabled=false on the target groups" {
		t.Fatalf("%+v", c)
	}
	for _, words := range []string{"aws elbv2 modify-target-group-attributes sets it", "the AWS Load Balancer Controller takes it", "wait for their own timeouts"} {
		if !strings.Contains(c.Cost, words) {
			t.Errorf("it does not say %q: %s", words, c.Cost)
		}
	}
	if after := Apply(sc, "shop/web", []Change{*c}); !sc.Traffic[0].LB.CutUnhealthy || after.Traffic[0].LB.CutUnhealthy {
		t.Error("the change is not tried")
	}
}

// A classic load balancer that closes connections to unhealthy targets is told to drain, and those to a removed target go on, too.
func TestAClassicLoadBalancerIsToDrain(t *testing.T) {
	t.Parallel()
	const enabled = "service.beta.kubernetes.io/aws-load-balancer-connection-draining-enabled"
	for _, annotations := range []string{"", enabled + `: "false"`} {
		sc, c := changeOf(t, "unhealthyTargets", "type: LoadBalancer", annotations, "aws-classic")
		if c == nil || len(c.Edits) != 1 || c.Edits[0].Key() != enabled || c.Edits[0].To.YAML != `"true"` || c.Cost == "" {
			t.Errorf("%q: %+v", annotations, c)
			continue
		}
		was, lb := sc.Traffic[0].LB, Apply(sc, "shop/web", []Change{*c}).Traffic[0].LB
		if !was.CutUnhealthy || was.Drain != 0 || lb.CutUnhealthy || lb.Drain != 300*engine.Second {
			t.Errorf("%q: the change is not that of the load balancer: %+v", annotations, lb)
		}
	}
	if _, c := changeOf(t, "unhealthyTargets", "type: LoadBalancer", enabled+`: "true"`, "aws-classic"); c != nil {
		t.Errorf("it does so already: %+v", c)
	}
}

// A Service that leads to the pods of the asked node alone is to lead to those of any, and its load balancer checks what it checks then.
// What somebody has said of the load balancer stays.
func TestAnyNodeLeadsToAnyPod(t *testing.T) {
	t.Parallel()
	sc, c := changeOf(t, "externalTrafficPolicy", "type: LoadBalancer\n  externalTrafficPolicy: Local", "", "aws-nlb-instance")
	if c == nil || len(c.Edits) != 1 || c.Edits[0].Line == 0 || c.Edits[0].To.YAML != "Cluster" || c.Destructive == "" {
		t.Fatalf("%+v", c)
	}
	sc.Traffic[0].LB.Propagation = engine.Constant(7 * engine.Second)
	after := Apply(sc, "shop/web", []Change{*c})
	lb, was, svc := after.Traffic[0].LB, sc.Traffic[0].LB, after.Services[0].Service.Spec
	if svc.ExternalTrafficPolicy != "Cluster" || svc.HealthCheckNodePort != 0 || sc.Services[0].Service.Spec.HealthCheckNodePort == 0 {
		t.Errorf("the Service: %+v", svc)
	}
	if was.Check.Probe != world.ProbeHealthPort || lb.Check.Probe != world.ProbeNodePort || lb.Propagation != engine.Constant(7*engine.Second) || lb.Service != was.Service {
		t.Errorf("the load balancer: %+v", lb)
	}
	for _, spec := range []string{"type: LoadBalancer", "type: ClusterIP"} {
		if _, c := changeOf(t, "externalTrafficPolicy", spec, "", ""); c != nil {
			t.Errorf("%s: %+v", spec, c)
		}
	}
}

// Behind a proxy of HTTP requests pods see the proxy's address with either policy: nothing is taken from them.
func TestAnyNodeTakesNothingBehindAProxy(t *testing.T) {
	t.Parallel()
	sc, c := changeOf(t, "externalTrafficPolicy", "type: LoadBalancer\n  externalTrafficPolicy: Local", "", "aws-nlb-instance")
	if c == nil || c.Destructive == "" {
		t.Fatalf("%+v", c)
	}
	for i := range sc.Traffic {
		sc.Traffic[i].Route = &world.Route{}
	}
	w := sc.Workload("shop/web")
	for _, direct := range []bool{false, true} {
		if direct { // others come without it
			more := sc.Traffic[0]
			more.External, more.Route = true, nil
			sc.Traffic = append(sc.Traffic, more)
		}
		if c := (&target{sc: sc, w: w}).anyNode(); c == nil || (c.Destructive != "") != direct {
			t.Errorf("%v: %+v", direct, c)
		}
	}
}

// A Service that leads clients in the cluster to the pods of their own node alone is to lead them to those of any.
func TestAnyNodeLeadsClientsInsideToAnyPod(t *testing.T) {
	t.Parallel()
	sc, c := changeOf(t, "internalTrafficPolicy", "internalTrafficPolicy: Local", "", "")
	if c == nil || len(c.Edits) != 1 || c.Edits[0].Line == 0 || c.Edits[0].Path != "spec.internalTrafficPolicy" || c.Edits[0].To.YAML != "Cluster" || c.Destructive == "" {
		t.Fatalf("%+v", c)
	}
	after := Apply(sc, "shop/web", []Change{*c})
	if is, was := *after.Services[0].Service.Spec.InternalTrafficPolicy, *sc.Services[0].Service.Spec.InternalTrafficPolicy; is != "Cluster" || was != "Local" {
		t.Errorf("%s, and before %s", is, was)
	}
	for _, spec := range []string{"type: ClusterIP", "internalTrafficPolicy: Cluster", "type: LoadBalancer\n  internalTrafficPolicy: Local"} { // those of the last one come from outside
		if _, c := changeOf(t, "internalTrafficPolicy", spec, "", "gke-l4"); c != nil {
			t.Errorf("%s: %+v", spec, c)
		}
	}
}

// A cluster from before KEP-1669 was on by default may be upgraded; one that has it, or whose gate somebody turned off, gains nothing.
func TestAnUpgradeIsOfferedWhereItBringsTheFallback(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version string
		gates   map[string]bool
		want    bool
	}{
		{"1.22", nil, true}, {"1.25", nil, true}, {"1.26", nil, false}, {"", nil, false},
		{"1.25", map[string]bool{"ProxyTerminatingEndpoints": false}, false}, {"1.25", map[string]bool{"ProxyTerminatingEndpoints": true}, false},
	} {
		sc, w := worldOf(t, fill(map[string]string{}), scenario.Options{KubernetesVersion: c.version, FeatureGates: c.gates})
		var offered *Change
		for _, x := range Changes(sc, w, engine.Second) {
			if x.ID == "kubernetes" {
				offered = &x
			}
		}
		if (offered != nil) != c.want {
			t.Errorf("%s %v: %+v", c.version, c.gates, offered)
		}
		if offered == nil {
			continue
		}
		after := Apply(sc, "shop/web", []Change{*offered})
		if after.Kubernetes.Options.TerminatingFallback != endpoints.FallbackAll || sc.Kubernetes.Options.TerminatingFallback == endpoints.FallbackAll {
			t.Errorf("%s: %+v, and before %+v", c.version, after.Kubernetes, sc.Kubernetes)
		}
	}
}
