package scenario

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A service mesh has proxies beside the clients, or on their nodes, choose the endpoint: kube-proxy's
// rules are then not what decides. Its labels and annotations are those of Istio's reference
// ("Resource Labels", "Resource Annotations") and of Linkerd's "Automatic Proxy Injection"; recalled.

// mesh is what the pods of a workload or a namespace are in; the zero value is none.
type mesh struct {
	name  string // "Istio"
	proxy string // what clients go through: "sidecars"
}

func (m mesh) reason() string {
	return "clients inside the cluster go through " + m.name + "'s " + m.proxy + ", not through kube-proxy's rules"
}

const (
	istioInject   = "sidecar.istio.io/inject"
	istioInjected = "istio-injection"
	istioRevision = "istio.io/rev"
	istioMode     = "istio.io/dataplane-mode"
	linkerdInject = "linkerd.io/inject"
)

// saidMesh is what labels and annotations ask for; no says that they ask for none.
func saidMesh(labels, annotations map[string]string) (m mesh, no bool) {
	inject, linkerd := cmp.Or(labels[istioInject], annotations[istioInject]), annotations[linkerdInject]
	switch {
	case labels[istioMode] == "ambient":
		return mesh{"Istio", "node proxies"}, false
	case inject == "true", labels[istioInjected] == "enabled", labels[istioRevision] != "" && inject != "false":
		return mesh{"Istio", "sidecars"}, false
	case linkerd == "enabled", linkerd == "ingress":
		return mesh{"Linkerd", "sidecars"}, false
	}
	return mesh{}, inject == "false" || linkerd == "disabled" || labels[istioInjected] == "disabled" || labels[istioMode] == "none"
}

// sidecarIn finds a mesh's proxy among the containers of a pod: injected before the manifest was
// written.
func sidecarIn(pod *corev1.PodSpec) mesh {
	for _, containers := range [][]corev1.Container{pod.Containers, pod.InitContainers} {
		for i := range containers {
			image := servers.ParseImage(containers[i].Image)
			switch c := &containers[i]; {
			case c.Name == "istio-proxy", image.Named("proxyv2"):
				return mesh{"Istio", "sidecars"}
			case c.Name == "linkerd-proxy":
				return mesh{"Linkerd", "sidecars"}
			}
		}
	}
	return mesh{}
}

// meshOf is the mesh that the pods of a template in a namespace are in.
func (w *inventory) meshOf(namespace string, t *corev1.PodTemplateSpec) mesh {
	m, no := saidMesh(t.Labels, t.Annotations)
	switch gateway := len(t.Spec.Containers) == 1 && len(t.Spec.InitContainers) == 0; {
	case gateway && sidecarIn(&t.Spec).name != "": // the proxy is the server
		return mesh{}
	case m.name != "" || no:
		return m
	case sidecarIn(&t.Spec).name != "":
		return sidecarIn(&t.Spec)
	default:
		return w.meshed[namespace]
	}
}

// meshTo is the mesh whose proxies take clients to a Service: that of the pods behind it, or Istio
// where one of its rules names it.
func (w *inventory) meshTo(e *entry) mesh {
	if m := w.meshOf(e.service.Namespace, e.template); m.name != "" {
		return m
	}
	for _, o := range w.meshRules {
		if ruleNames(o, e.service.Namespace, e.service.Name) {
			return mesh{"Istio", "sidecars"}
		}
	}
	return mesh{}
}

// ruleNames says whether a VirtualService or DestinationRule is about a Service, by one of the names
// that resolve to it: a short one is of the rule's own namespace.
func ruleNames(o *manifest.Object, namespace, name string) bool {
	is := func(host string) bool {
		short, domain, long := strings.Cut(host, ".")
		if !long {
			domain = o.Namespace
		}
		own, _, _ := strings.Cut(domain, ".")
		return short == name && own == namespace
	}
	if o.Kind == "DestinationRule" {
		return is(rawText(o.Value, "spec", "host"))
	}
	for _, kind := range []string{"http", "tcp", "tls"} {
		for _, rule := range rawList(o.Value, "spec", kind) {
			for _, to := range rawList(rule, "route") {
				if is(rawText(to, "destination", "host")) && inMesh(o) {
					return true
				}
			}
		}
	}
	return false
}

// inMesh says whether a VirtualService is for the sidecars of clients, and not for gateways alone.
func inMesh(o *manifest.Object) bool {
	gateways := rawList(o.Value, "spec", "gateways")
	for _, g := range gateways {
		if g == "mesh" {
			return true
		}
	}
	return len(gateways) == 0
}

// atGateway says whether a VirtualService is for a gateway, beside the sidecars or not.
func atGateway(o *manifest.Object) bool {
	return slices.ContainsFunc(rawList(o.Value, "spec", "gateways"), func(g any) bool { return g != "mesh" })
}

// throughMesh says why the clients of an entry do not use kube-proxy's rules, "" when they do: those
// inside, over TCP; the API server is in no mesh, and UDP is not taken by sidecars.
func (b *builder) throughMesh(e *entry) string {
	switch e.class {
	case ClassInside, ClassH2, ClassSession, ClassPeer:
	default:
		return ""
	}
	if e.routed != "" || outside(e.class, &e.subject) || e.port.Protocol != corev1.ProtocolTCP {
		return ""
	}
	if m := b.world.meshTo(e); m.name != "" {
		return m.reason()
	}
	return ""
}

// meshLeftOut names the sidecar that a workload's own pods have.
func (b *builder) meshLeftOut(w *world.Workload) {
	if m := b.world.meshOf(w.Namespace(), w.Template()); m.name != "" {
		b.notModelled("mesh", m.name+"'s proxy before its pods is left out: its own start, its own end and its retries", w.Kind()+" "+w.Name(), "unknown")
	}
}
