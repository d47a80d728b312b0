package fix

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// listening is a TCP port on which the app listens: the one that clients are led to, else the first that its container names; 0 where
// neither is known. A containerPort need not be there for a port to be open, and may be that of metrics.
func (t *target) listening() int32 {
	for i := range t.sc.Traffic {
		if port := t.askedFor(&t.sc.Traffic[i]); port != 0 {
			return port
		}
	}
	for _, p := range t.container().Ports {
		if p.Protocol == "" || p.Protocol == corev1.ProtocolTCP {
			return p.ContainerPort
		}
	}
	return 0
}

// askedFor is the port of the app's pods that a stream comes to over TCP, 0 where it does not.
func (t *target) askedFor(a *world.Traffic) int32 {
	for i := range t.sc.Services {
		svc := t.sc.Services[i].Service
		if svc.Namespace+"/"+svc.Name != a.Service || svc.Namespace != t.w.Namespace() || !world.Selects(svc, t.w.Template().Labels) {
			continue
		}
		for k := range svc.Spec.Ports {
			if p := &svc.Spec.Ports[k]; int(p.Port) == a.Port && p.Protocol == corev1.ProtocolTCP {
				return targetOf(p, t.w.Template())
			}
		}
	}
	return 0
}

// targetOf is the number of a Service port's target, 0 where no container has its name.
func targetOf(p *corev1.ServicePort, pod *corev1.PodTemplateSpec) int32 {
	if p.TargetPort.Type == intstr.Int {
		if p.TargetPort.IntVal == 0 {
			return p.Port
		}
		return p.TargetPort.IntVal
	}
	number, _ := world.TargetPort(p.TargetPort, pod)
	return number
}
