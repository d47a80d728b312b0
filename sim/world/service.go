package world

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// Operations on Services.
type (
	// SetPort is kubectl patch service: one of its ports becomes another, or leads to another port of the pods. Its name and its node
	// port stay.
	SetPort struct {
		Service  string // "ns/name"
		Port     int    // which, by its number
		Protocol corev1.Protocol
		To       int // its new number; 0: it keeps the one it has
		Target   int // the pods' port; 0: that which it leads to, or the one of TargetName
		// TargetName is the pods' port by the name that a container has for it, "" for Target.
		TargetName string
	}
	// DeleteService is kubectl delete service. Where it ends, the Service is made again as it was, with the addresses that it had.
	DeleteService struct {
		Service string // "ns/name"
	}
)

func (o SetPort) words() (verb, target, value string) {
	var parts []string
	if o.To != 0 {
		parts = append(parts, "to="+strconv.Itoa(o.To))
	}
	if o.Target != 0 {
		parts = append(parts, "targetPort="+strconv.Itoa(o.Target))
	}
	if o.TargetName != "" {
		parts = append(parts, "targetPort="+o.TargetName)
	}
	return "setPort", o.Service + ":" + strconv.Itoa(o.Port), strings.Join(parts, " ")
}

func (o DeleteService) words() (verb, target, value string) { return "deleteService", o.Service, "" }

// On are ports as the operation leaves them.
func (o *SetPort) On(have []corev1.ServicePort) []corev1.ServicePort {
	out := slices.Clone(have)
	for i := range out {
		if p := &out[i]; int(p.Port) == o.Port && p.Protocol == o.Protocol {
			if o.To != 0 {
				p.Port = int32(o.To)
			}
			if o.Target != 0 {
				p.TargetPort = intstr.FromInt32(int32(o.Target))
			}
			if o.TargetName != "" {
				p.TargetPort = intstr.FromString(o.TargetName)
			}
		}
	}
	return out
}

// Repoints says whether an action has a Service lead to other ports of its pods.
func (s *Scenario) Repoints() bool {
	return slices.ContainsFunc(s.Actions, func(a Action) bool {
		o, ok := a.Operation.(SetPort)
		return ok && (o.Target != 0 || o.TargetName != "")
	})
}

// ListensOn says whether a pod of a template listens on a port, where a Service did not lead there from the beginning: one of its
// containers says so.
func ListensOn(spec *corev1.PodSpec, port int32, protocol endpoints.Protocol) bool {
	for _, c := range Serving(spec) {
		for _, p := range c.Ports {
			if p.ContainerPort == port && (p.Protocol == "" || string(p.Protocol) == protocol.String()) {
				return true
			}
		}
	}
	return false
}
