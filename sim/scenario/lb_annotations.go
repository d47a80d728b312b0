package scenario

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/units"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

const (
	azurePrefix = "service.beta.kubernetes.io/azure-load-balancer-"
	// targetGroup is a list of attributes of an NLB's target groups, KEY=VALUE with commas.
	targetGroup = awsPrefix + "target-group-attributes"
)

// classicDraining has a classic load balancer finish what is in flight to a target that leaves.
const classicDraining = awsPrefix + "connection-draining-enabled"

// drainClassic is what draining does: connections to a removed target go on for a while, those to
// an unhealthy one for as long as they like (docs/model/load-balancers.md 4 Classic ELB).
func drainClassic(l *world.LoadBalancer) { l.Drain, l.CutUnhealthy = deregistrationDelay, false }

// delayAttribute is the attribute of a target group that says how long it drains.
const delayAttribute = "deregistration_delay.timeout_seconds"

// deregistrationDelay is what a target group has that says no other
// (docs/model/load-balancers.md 1).
const deregistrationDelay = 300 * engine.Second

// lbAnnotation is an annotation of a Service that changes a field of its load balancer; read is
// not ok when the value is none.
type lbAnnotation struct {
	key  string
	read func(*world.LoadBalancer, string) (ok bool)
}

// lbAnnotations are those of a load balancer's provider: names as in cloud-provider-aws
// pkg/providers/v1 and cloud-provider-azure pkg/consts (read).
func lbAnnotations(lb *world.LoadBalancer) []lbAnnotation {
	switch {
	case lb.Layer7 != nil:
		return nil
	case strings.HasPrefix(lb.Preset, nlbInTree):
		return awsChecks()
	case strings.HasPrefix(lb.Preset, "aws-nlb-"):
		return append(awsChecks(), lbAnnotation{targetGroup, readTargetGroup})
	case strings.HasPrefix(lb.Preset, "aws-"):
		return append(awsChecks(), lbAnnotation{classicDraining, func(l *world.LoadBalancer, v string) bool {
			if v == "true" {
				drainClassic(l)
			}
			return v == "true" || v == "false"
		}}, lbAnnotation{awsPrefix + "connection-idle-timeout", func(l *world.LoadBalancer, v string) bool {
			return inSeconds(&l.Idle, v)
		}}, lbAnnotation{awsPrefix + "connection-draining-timeout", func(l *world.LoadBalancer, v string) bool {
			if l.Drain == 0 {
				return true // it is off
			}
			return inSeconds(&l.Drain, v)
		}})
	case strings.HasPrefix(lb.Preset, "azure-"):
		return []lbAnnotation{
			{azurePrefix + "health-probe-interval", func(l *world.LoadBalancer, v string) bool { return inSeconds(&l.Check.Interval, v) }},
			{azurePrefix + "tcp-idle-timeout", func(l *world.LoadBalancer, v string) bool { return inMinutes(&l.Idle, v) }},
			{azurePrefix + "health-probe-num-of-probe", func(l *world.LoadBalancer, v string) bool {
				ok := inAnswers(&l.Check.Unhealthy, v)
				l.Check.Healthy = l.Check.Unhealthy // Azure's threshold counts both ways
				return ok
			}},
		}
	default:
		return nil
	}
}

func awsChecks() []lbAnnotation {
	return []lbAnnotation{
		{awsPrefix + "healthcheck-interval", func(l *world.LoadBalancer, v string) bool { return inSeconds(&l.Check.Interval, v) }},
		{awsPrefix + "healthcheck-timeout", func(l *world.LoadBalancer, v string) bool { return inSeconds(&l.Check.Timeout, v) }},
		{awsPrefix + "healthcheck-healthy-threshold", func(l *world.LoadBalancer, v string) bool { return inAnswers(&l.Check.Healthy, v) }},
		{awsPrefix + "healthcheck-unhealthy-threshold", func(l *world.LoadBalancer, v string) bool { return inAnswers(&l.Check.Unhealthy, v) }},
	}
}

// inSeconds reads a positive number of seconds.
func inSeconds(to *engine.Time, value string) bool {
	n, ok := units.Decimal(value, 0)
	if !ok || n == 0 || n > uint64(units.MaxSpan/engine.Second) {
		return false
	}
	*to = engine.Time(n) * engine.Second // bounded above
	return true
}

// fromZero reads a number of seconds, 0 too.
func fromZero(to *engine.Time, value string) bool {
	if value == "0" {
		*to = 0
		return true
	}
	return inSeconds(to, value)
}

// inMinutes reads a positive number of minutes.
func inMinutes(to *engine.Time, value string) bool {
	var seconds engine.Time
	if !inSeconds(&seconds, value) || seconds > units.MaxSpan/60 {
		return false
	}
	*to = 60 * seconds
	return true
}

// inAnswers reads a positive number of answers in a row.
func inAnswers(to *int, value string) bool {
	n, ok := units.Decimal(value, 0)
	if !ok || n == 0 || n > maxWhole {
		return false
	}
	*to = int(n) // bounded above
	return true
}

// readTargetGroup: flows to a deregistered target are cut at the end of its delay only where
// that is switched on, those to an unhealthy one unless that is switched off
// (docs/model/load-balancers.md 4).
func readTargetGroup(l *world.LoadBalancer, value string) bool {
	delay, cut := deregistrationDelay, false
	for _, pair := range strings.Split(value, ",") {
		key, v, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if !ok {
			return false
		}
		switch key {
		case delayAttribute:
			if !fromZero(&delay, v) {
				return false
			}
		case "deregistration_delay.connection_termination.enabled":
			cut = v == "true"
		case "target_health_state.unhealthy.connection_termination.enabled":
			l.CutUnhealthy = v == "true"
		}
	}
	if cut {
		l.Drain = delay
	}
	return true
}

// refusedAttributes are those attributes of target groups in an annotation's value that the cloud provider has no use for: it makes
// nothing of a Service that has one (docs/model/load-balancers.md 2 AWS in-tree NLB, attributes of target groups).
func refusedAttributes(value string) []string {
	var out []string
	for _, pair := range strings.Split(value, ",") {
		switch key, _, _ := strings.Cut(strings.TrimSpace(pair), "="); key {
		case "", "preserve_client_ip.enabled", "proxy_protocol_v2.enabled":
		default:
			out = append(out, key)
		}
	}
	return out
}

// notReconciled is what comes of them.
func notReconciled(attributes []string) string {
	return fmt.Sprintf("the cloud provider refuses %s here, and no longer brings the load balancer up to date with this Service (one that does not know the annotation ignores it): "+
		"set it on the target groups themselves, or move to the AWS Load Balancer Controller", strings.Join(attributes, ", "))
}

// unread is a setting whose value could not be read.
type unread struct {
	object      *manifest.Object // nil for the Service
	path, value string
	why         string // "" where nobody knows the value
}

// annotate changes a preset's load balancer by what the Service asks of it, what leads requests
// to the Service, if anything does, and its BackendConfig. It returns what could not be read.
func annotate(lb *world.LoadBalancer, svc *corev1.Service, r *world.Route) []unread {
	if lb.Layer7 != nil && r != nil {
		return annotateProxy(lb, r)
	}
	var out []unread
	for _, a := range lbAnnotations(lb) {
		if value, ok := svc.Annotations[a.key]; ok && !a.read(lb, strings.TrimSpace(value)) {
			out = append(out, unread{path: annotationPath(a.key), value: value})
		}
	}
	if refused := refusedAttributes(svc.Annotations[targetGroup]); strings.HasPrefix(lb.Preset, nlbInTree) && len(refused) > 0 {
		out = append(out, unread{path: annotationPath(targetGroup), why: notReconciled(refused)})
	}
	return out
}

func annotationPath(key string) string { return fmt.Sprintf("metadata.annotations[%q]", key) }

// checkAnnotations warns of settings that could not be read.
func (b *builder) checkAnnotations(list []unread, svc *corev1.Service) {
	s, ok := b.world.service(svc.Namespace + "/" + svc.Name)
	if !ok {
		return
	}
	for _, u := range list {
		o := s.Object
		if u.object != nil {
			o = u.object
		}
		why := u.why
		if why == "" {
			why = fmt.Sprintf("%q is no value that could be read: the load balancer is as without it", u.value)
		}
		p := o.Problem(manifest.Warning, u.path, why)
		if !slices.Contains(b.doc.problems, p) {
			b.doc.problems = append(b.doc.problems, p)
		}
	}
}

// otherProbe returns an annotation that makes a stream's load balancer ask something else, ""
// when there is none.
func otherProbe(t *world.Traffic, svc *corev1.Service) string {
	if t.LB == nil || t.LB.Check.Probe == world.ProbeNone {
		return ""
	}
	e := balancerEvidence{svc: svc}
	switch {
	case t.LB.Layer7 != nil:
		return otherProxyProbe(t)
	case strings.HasPrefix(t.LB.Preset, "aws-"):
		return e.annotation(awsPrefix+"healthcheck-port", awsPrefix+"healthcheck-protocol", awsPrefix+"healthcheck-path")
	case strings.HasPrefix(t.LB.Preset, "azure-") && t.LB.Check.Probe == world.ProbeHealthPort:
		return "" // with policy Local Azure asks the health-check node port, whatever these say (docs/model/load-balancers.md 1)
	case strings.HasPrefix(t.LB.Preset, "azure-"):
		return e.annotation(azurePrefix+"health-probe-protocol", azurePrefix+"health-probe-request-path", azurePrefix+"health-probe-port")
	default:
		return ""
	}
}
