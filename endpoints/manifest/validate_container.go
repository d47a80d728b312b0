package manifest

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// badCommand says what is wrong with the command of a probe or a hook, "" for nothing: the API server wants one
// (validateExecAction in pkg/apis/core/validation, 1.36).
func badCommand(e *corev1.ExecAction) string {
	if e != nil && len(e.Command) == 0 {
		return "has no word, a program is needed"
	}
	return ""
}

// nameless warns of a command that the API server takes and nothing can run.
func (c *checker) nameless(path string, e *corev1.ExecAction) {
	if e.Command[0] == "" {
		c.warn(path+".exec.command[0]", `"" is the name of no program: it always fails`)
	}
}

// quantities leaves out what a container asks for that is less than nothing, as the API server refuses it.
func (c *checker) quantities(path string, r *corev1.ResourceRequirements) {
	for _, list := range []struct {
		name  string
		items corev1.ResourceList
	}{{"requests", r.Requests}, {"limits", r.Limits}} {
		var names []string
		for name := range list.items { // order: sorted below
			names = append(names, string(name))
		}
		slices.Sort(names)
		for _, name := range names {
			if q := list.items[corev1.ResourceName(name)]; q.Sign() < 0 {
				c.replaced(path+".resources."+list.name+"."+name, "it is left out", "%s must not be negative", q.String())
				delete(list.items, corev1.ResourceName(name))
			}
		}
	}
}

// probedPort warns of a probe of a port by a name that its container does not have, which the kubelet looks for there only
// (extractPort in pkg/kubelet/util, 1.36). A port's number says nothing: containers listen on ports that manifests do not list.
func (c *checker) probedPort(path string, own []corev1.ContainerPort, p *corev1.Probe) {
	var port intstr.IntOrString
	switch {
	case p == nil:
		return
	case p.HTTPGet != nil:
		path, port = path+".httpGet.port", p.HTTPGet.Port
	case p.TCPSocket != nil:
		path, port = path+".tcpSocket.port", p.TCPSocket.Port
	}
	if port.Type == intstr.String && !slices.ContainsFunc(own, func(o corev1.ContainerPort) bool { return o.Name == port.StrVal }) {
		c.warn(path, "the container has no port named %q%s: the probe always fails", port.StrVal, named(own))
	}
}

// named lists the names of ports.
func named(ports []corev1.ContainerPort) string {
	var names []string
	for _, p := range ports {
		if p.Name != "" {
			names = append(names, p.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " (it has " + strings.Join(names, ", ") + ")"
}
