package manifest

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// podSpec checks what decides how a pod starts, answers and stops. It returns
// false when there is nothing to run.
func (c *checker) podSpec(path string, spec *corev1.PodSpec) bool {
	// docs/model/pod-lifecycle.md 1.2: the API server takes it.
	if grace := spec.TerminationGracePeriodSeconds; grace != nil && *grace < 0 {
		c.warn(path+".terminationGracePeriodSeconds", "%d is negative: Kubernetes takes it for 1", *grace)
		*grace = 1
	}
	if len(spec.Containers) == 0 {
		c.replaced(path+".containers", "this "+c.o.Kind+" is skipped", "no container, at least one is needed")
		return false
	}
	names := map[string]string{}
	check := func(list string, containers []corev1.Container) {
		for i := range containers {
			at := path + "." + list + "[" + strconv.Itoa(i) + "]"
			name := containers[i].Name
			switch first, again := names[name]; {
			case !isDNSLabel(name):
				c.replaced(at+".name", "the container is used", "%q must be at most 63 lower-case letters, digits and '-'", name)
			case again:
				c.replaced(at+".name", "both are used", "%q is also the name of %s, names must differ", name, first)
			}
			names[name] = list + "[" + strconv.Itoa(i) + "]"
			c.container(at, &containers[i])
		}
	}
	check("initContainers", spec.InitContainers)
	check("containers", spec.Containers)
	tolerated := true
	for i := range spec.Tolerations {
		tolerated = c.toleration(path+".tolerations["+strconv.Itoa(i)+"]", &spec.Tolerations[i]) && tolerated
	}
	return tolerated
}

// toleration refuses what the API server refuses (pkg/apis/core/validation/validation.go, ValidateTolerations), and an operator that
// would be taken for another one.
func (c *checker) toleration(path string, t *corev1.Toleration) bool {
	known := t.Operator == "" || t.Operator == corev1.TolerationOpEqual || t.Operator == corev1.TolerationOpExists
	switch {
	case !known && c.live():
		c.warn(path+".operator", "%s is not simulated; Equal is used instead", t.Operator)
		t.Operator = corev1.TolerationOpEqual
		return true
	case !known:
		c.refuse(path+".operator", "%q is not simulated; valid here: Equal or Exists", t.Operator)
	case t.Key == "" && t.Operator != corev1.TolerationOpExists:
		c.refuse(path+".operator", "must be Exists where there is no key: the API server refuses it")
	case t.Operator == corev1.TolerationOpExists && t.Value != "":
		c.refuse(path+".value", "has no place beside the operator Exists: the API server refuses it")
	case t.Effect != "":
		return c.effect(path+".effect", t.Effect) && c.seconds(path, t)
	default:
		return c.seconds(path, t)
	}
	return false
}

// seconds refuses a time for a taint that drives nobody away.
func (c *checker) seconds(path string, t *corev1.Toleration) bool {
	if t.TolerationSeconds == nil || t.Effect == corev1.TaintEffectNoExecute {
		return true
	}
	c.refuse(path+".tolerationSeconds", "is for the effect NoExecute alone: the API server refuses it")
	return false
}

func (c *checker) container(path string, k *corev1.Container) {
	drop := make([]bool, len(k.Ports))
	for i := range k.Ports {
		p := &k.Ports[i]
		at := fmt.Sprintf("%s.ports[%d]", path, i)
		switch {
		case !validPort(p.ContainerPort):
			c.replaced(at+".containerPort", "this port is skipped", "%d %s", p.ContainerPort, portRange)
		case badProtocol(p.Protocol) != "":
			c.replaced(at+".protocol", "this port is skipped", "%s", badProtocol(p.Protocol))
		case p.Name != "" && !isPortName(p.Name):
			c.replaced(at+".name", "this port is skipped", "%q must be at most 15 lower-case letters, digits and '-', with a letter among them", p.Name)
		default:
			continue
		}
		drop[i] = true
	}
	k.Ports = filter(c, path+".ports", k.Ports, drop)
	c.quantities(path, &k.Resources)
	c.probe(path+".livenessProbe", &k.LivenessProbe, true)
	c.probe(path+".startupProbe", &k.StartupProbe, true)
	c.probe(path+".readinessProbe", &k.ReadinessProbe, false)
	c.probedPort(path+".livenessProbe", k.Ports, k.LivenessProbe)
	c.probedPort(path+".startupProbe", k.Ports, k.StartupProbe)
	c.probedPort(path+".readinessProbe", k.Ports, k.ReadinessProbe)
	if k.Lifecycle != nil {
		c.hook(path+".lifecycle.postStart", &k.Lifecycle.PostStart)
		c.hook(path+".lifecycle.preStop", &k.Lifecycle.PreStop)
	}
}

// probe removes a probe that does not say how to probe. once is for the probes
// whose successThreshold must be 1.
func (c *checker) probe(path string, probe **corev1.Probe, once bool) {
	p := *probe
	if p == nil {
		return
	}
	notNegative(c, path+".initialDelaySeconds", &p.InitialDelaySeconds, 0)
	notNegative(c, path+".timeoutSeconds", &p.TimeoutSeconds, 1)
	notNegative(c, path+".periodSeconds", &p.PeriodSeconds, 10)
	notNegative(c, path+".successThreshold", &p.SuccessThreshold, 1)
	notNegative(c, path+".failureThreshold", &p.FailureThreshold, 3)
	if once && p.SuccessThreshold != 1 {
		c.replaced(path+".successThreshold", "1 is used instead", "%d must be 1 for this probe", p.SuccessThreshold)
		p.SuccessThreshold = 1
	}
	if g := p.TerminationGracePeriodSeconds; g != nil && (*g < 1 || !once) {
		c.replaced(path+".terminationGracePeriodSeconds", "it is ignored", "must be at least 1, and is for liveness and startup probes only")
		p.TerminationGracePeriodSeconds = nil
	}
	switch n := count(p.Exec != nil, p.HTTPGet != nil, p.TCPSocket != nil, p.GRPC != nil); {
	case n != 1:
		c.replaced(path, "this probe is ignored", "has %d of exec, httpGet, tcpSocket and grpc, exactly one is needed", n)
		*probe = nil
	case badCommand(p.Exec) != "":
		c.replaced(path+".exec.command", "this probe is ignored", "%s", badCommand(p.Exec))
		*probe = nil
	case p.Exec != nil:
		c.nameless(path, p.Exec)
	case p.HTTPGet != nil && badPortReference(p.HTTPGet.Port) != "":
		c.replaced(path+".httpGet.port", "this probe is ignored", "%s", badPortReference(p.HTTPGet.Port))
		*probe = nil
	case p.TCPSocket != nil && badPortReference(p.TCPSocket.Port) != "":
		c.replaced(path+".tcpSocket.port", "this probe is ignored", "%s", badPortReference(p.TCPSocket.Port))
		*probe = nil
	case p.GRPC != nil && !validPort(p.GRPC.Port):
		c.replaced(path+".grpc.port", "this probe is ignored", "%d %s", p.GRPC.Port, portRange)
		*probe = nil
	case p.HTTPGet != nil:
		c.scheme(path, p.HTTPGet)
	}
}

// hook removes a lifecycle hook that does not say what to do.
func (c *checker) hook(path string, hook **corev1.LifecycleHandler) {
	h := *hook
	if h == nil {
		return
	}
	switch n := count(h.Exec != nil, h.HTTPGet != nil, h.TCPSocket != nil, h.Sleep != nil); {
	case n != 1:
		c.replaced(path, "this hook is ignored", "has %d of exec, httpGet and sleep, exactly one is needed", n)
		*hook = nil
	case badCommand(h.Exec) != "":
		c.replaced(path+".exec.command", "this hook is ignored", "%s", badCommand(h.Exec))
		*hook = nil
	case h.Exec != nil:
		c.nameless(path, h.Exec)
	case h.HTTPGet != nil && badPortReference(h.HTTPGet.Port) != "":
		c.replaced(path+".httpGet.port", "this hook is ignored", "%s", badPortReference(h.HTTPGet.Port))
		*hook = nil
	case h.TCPSocket != nil && badPortReference(h.TCPSocket.Port) != "":
		h.TCPSocket.Port = intstr.FromInt32(0) // it never did anything
	case h.Sleep != nil && h.Sleep.Seconds < 0:
		c.replaced(path+".sleep.seconds", "this hook is ignored", "%d must not be negative", h.Sleep.Seconds)
		*hook = nil
	case h.HTTPGet != nil:
		c.scheme(path, h.HTTPGet)
	}
}

func (c *checker) scheme(path string, h *corev1.HTTPGetAction) {
	enum(c, path+".httpGet.scheme", &h.Scheme, corev1.URISchemeHTTP, corev1.URISchemeHTTP, corev1.URISchemeHTTPS)
}

func count(conditions ...bool) int {
	n := 0
	for _, c := range conditions {
		if c {
			n++
		}
	}
	return n
}
