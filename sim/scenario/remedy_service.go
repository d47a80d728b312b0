package scenario

import (
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/edit"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// WithoutNotReady has a Service ("ns/name") lead to ready pods only: with publishNotReadyAddresses an endpoint is ready whatever its
// pod is, and clients are sent to pods that start and to pods that end (docs/model/controllers.md 9.1). ok is false where it says no
// such thing, or is headless: a name that peers find each other by is to have them all.
func WithoutNotReady(s *world.Scenario, service string) (r Remedy, ok bool) {
	r = Remedy{Title: "publishNotReadyAddresses: false", Scenario: s.Clone()}
	at := serviceAt(s, service)
	if at < 0 {
		return r, false
	}
	v := s.Services[at]
	if !v.Service.Spec.PublishNotReadyAddresses || v.Service.Spec.ClusterIP == corev1.ClusterIPNone {
		return r, false
	}
	r.Edit = edit.New(v.Object, v.Service, "spec.publishNotReadyAddresses", edit.Value{YAML: "false"}, "")
	r.Edit.Kind = "Service"
	v.Service = v.Service.DeepCopy()
	v.Service.Spec.PublishNotReadyAddresses = false
	r.Scenario.Services = append(append(r.Scenario.Services[:at:at], v), r.Scenario.Services[at+1:]...)
	return r, true
}

// unhealthyAttribute says what becomes of connections to a target that fails its health checks (docs/model/load-balancers.md 4).
const unhealthyAttribute = "target_health_state.unhealthy.connection_termination.enabled"

// WithUnhealthyKept has an AWS network or classic load balancer before a Service ("ns/name") leave connections alone to a target that
// fails its health checks: it resets them by default. Where no annotation can ask for it there is no Edit. ok is false where no such load balancer stands before it, or it does so already.
func WithUnhealthyKept(s *world.Scenario, service string) (r Remedy, ok bool) {
	r.Scenario = s.Clone()
	classic, inTree := false, false
	for i := range r.Scenario.Traffic {
		t := &r.Scenario.Traffic[i]
		if t.LB == nil || t.Service != service || !t.LB.CutUnhealthy || t.LB.Layer7 != nil || !strings.HasPrefix(t.LB.Preset, "aws-") {
			continue
		}
		lb := *t.LB
		if classic = !strings.HasPrefix(lb.Preset, "aws-nlb-"); classic {
			drainClassic(&lb)
		}
		lb.CutUnhealthy, inTree = false, strings.HasPrefix(lb.Preset, nlbInTree)
		t.LB, ok = &lb, true
	}
	at := serviceAt(s, service)
	if !ok || at < 0 {
		return r, false
	}
	v := s.Services[at]
	if classic {
		r.Title = "connection draining of the classic load balancer"
		r.Edit = edit.New(v.Object, v.Service, annotationPath(classicDraining), edit.Value{YAML: `"true"`}, "")
		r.Edit.Kind = "Service"
		return r, true
	}
	r.Title = unhealthyAttribute + "=false"
	if inTree { // whose Service refuses it
		r.Title += " on the target groups"
		r.Cost = "aws elbv2 modify-target-group-attributes sets it, on each target group of the load balancer; the cloud provider refuses it as an annotation, " +
			"and the AWS Load Balancer Controller takes it"
		return r, true
	}
	attributes := []string{r.Title}
	for _, pair := range strings.Split(v.Service.Annotations[targetGroup], ",") {
		if pair = strings.TrimSpace(pair); pair != "" && !strings.HasPrefix(pair, unhealthyAttribute+"=") {
			attributes = append(attributes, pair)
		}
	}
	r.Edit = edit.New(v.Object, v.Service, annotationPath(targetGroup), edit.Value{YAML: strings.Join(attributes, ",")}, "")
	r.Edit.Kind, r.Edit.Merge = "Service", r.Edit.At == r.Edit.Path
	return r, true
}

// WithInternalClusterPolicy has a Service ("ns/name") with internalTrafficPolicy Local lead clients in the cluster to pods on any node. ok is
// false where it does so already, or no client of the Scenario asks its ClusterIP.
func WithInternalClusterPolicy(s *world.Scenario, service string) (r Remedy, ok bool) {
	r = Remedy{Title: "internalTrafficPolicy: Cluster", Scenario: s.Clone()}
	at := serviceAt(s, service)
	if at < 0 {
		return r, false
	}
	v := s.Services[at]
	if p := v.Service.Spec.InternalTrafficPolicy; p == nil || *p != corev1.ServiceInternalTrafficPolicyLocal {
		return r, false
	}
	r.Edit = edit.New(v.Object, v.Service, "spec.internalTrafficPolicy", edit.Value{YAML: string(policyCluster)}, "")
	r.Edit.Kind = "Service"
	cluster := corev1.ServiceInternalTrafficPolicyCluster
	v.Service = v.Service.DeepCopy()
	v.Service.Spec.InternalTrafficPolicy = &cluster
	r.Scenario.Services = append(append(r.Scenario.Services[:at:at], v), r.Scenario.Services[at+1:]...)
	for i := range s.Traffic {
		t := &s.Traffic[i]
		ok = ok || t.Service == service && !t.External && t.LB == nil
	}
	return r, ok
}

// WithClusterPolicy has a Service ("ns/name") with externalTrafficPolicy Local lead to pods on any node, with the load balancers before it
// as they are then. ok is false where it does so already, or nobody comes from outside.
func WithClusterPolicy(s *world.Scenario, service string) (r Remedy, ok bool) {
	r = Remedy{Title: "externalTrafficPolicy: Cluster", Scenario: s.Clone()}
	at := serviceAt(s, service)
	if at < 0 || s.Services[at].Service.Spec.ExternalTrafficPolicy != corev1.ServiceExternalTrafficPolicyLocal {
		return r, false
	}
	v := s.Services[at]
	r.Edit = edit.New(v.Object, v.Service, "spec.externalTrafficPolicy", edit.Value{YAML: string(policyCluster)}, "")
	r.Edit.Kind = "Service"
	v.Service = v.Service.DeepCopy()
	v.Service.Spec.ExternalTrafficPolicy, v.Service.Spec.HealthCheckNodePort = policyCluster, 0
	r.Scenario.Services = append(append(r.Scenario.Services[:at:at], v), r.Scenario.Services[at+1:]...)
	for i := range r.Scenario.Traffic {
		t := &r.Scenario.Traffic[i]
		if t.Service != service || !t.External || t.LB != nil && t.LB.Target != world.TargetNodes {
			continue
		}
		ok, t.HealthyNodesOnly = true, false
		if t.LB != nil {
			t.LB = withPolicy(t.LB, s.Services[at].Service, v.Service)
		}
	}
	return r, ok
}

// withPolicy is the load balancer of a Service after its policy has changed: what the preset says of the old one becomes what it says of
// the new one, and what has been said otherwise stays.
func withPolicy(lb *world.LoadBalancer, before, after *corev1.Service) *world.LoadBalancer {
	own, _ := presetFor(lb.Preset, "")
	other, ok := presetFor(own.Family, after.Spec.ExternalTrafficPolicy)
	if !ok {
		return lb
	}
	was, now, out := own.LoadBalancer, other.LoadBalancer, *lb
	annotate(&was, before, nil)
	annotate(&now, after, nil)
	for i := range reflect.TypeFor[world.LoadBalancer]().NumField() {
		field := reflect.ValueOf(&out).Elem().Field(i)
		if reflect.DeepEqual(field.Interface(), reflect.ValueOf(was).Field(i).Interface()) {
			field.Set(reflect.ValueOf(now).Field(i))
		}
	}
	return &out
}

// serviceAt is the index of a Service, -1 for none.
func serviceAt(s *world.Scenario, service string) int {
	for i := range s.Services {
		if v := s.Services[i].Service; v.Namespace+"/"+v.Name == service {
			return i
		}
	}
	return -1
}
