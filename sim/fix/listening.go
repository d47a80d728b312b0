package fix

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// listening is a TCP port on which the app listens: the one that clients are led to, else the first that its container names; 0 where
// neither is known. A containerPort need not be there for a port to be open, and may be that of metrics. But where a container names one port,
// and clients are led to another one that is a Service's own, for it has no targetPort, a probe on that might never pass.
func (t *target) listening() int32 {
	var named []int32
	for _, p := range t.container().Ports {
		if p.Protocol == "" || p.Protocol == corev1.ProtocolTCP {
			named = append(named, p.ContainerPort)
		}
	}
	for i := range t.sc.Traffic {
		port, guessed := t.askedFor(&t.sc.Traffic[i])
		if guessed && len(named) == 1 {
			return named[0]
		}
		if port != 0 {
			return port
		}
	}
	if len(named) == 0 {
		return 0
	}
	return named[0]
}

// askedFor is the port of the app's pods that a stream comes to over TCP, 0 where it does not; guessed says that it is the Service's own, which
// has no targetPort.
func (t *target) askedFor(a *world.Traffic) (port int32, guessed bool) {
	for i := range t.sc.Services {
		svc := t.sc.Services[i].Service
		if svc.Namespace+"/"+svc.Name != a.Service || svc.Namespace != t.w.Namespace() || !world.Selects(svc, t.w.Template().Labels) {
			continue
		}
		for k := range svc.Spec.Ports {
			if p := &svc.Spec.Ports[k]; int(p.Port) == a.Port && p.Protocol == corev1.ProtocolTCP {
				o := t.sc.Services[i].Object
				return targetOf(p, t.w.Template()), o != nil && !o.Has(fmt.Sprintf("spec.ports[%d].targetPort", k))
			}
		}
	}
	return 0, false
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
