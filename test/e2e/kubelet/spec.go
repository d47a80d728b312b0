package kubelet

import (
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/test/e2e/app"
)

// spec is what of a pod's specification this kubelet acts on.
type spec struct {
	container string
	app       app.Config
	readiness *probe        // nil: ready as soon as it runs
	preStop   time.Duration // 0: none
}

// probe is a readiness probe by HTTP.
type probe struct {
	port               uint16
	path               string
	delay              time.Duration
	period, timeout    time.Duration
	successes, failure int32
}

// read reads a pod's specification, as the API server has filled it in.
func read(pod *corev1.Pod) (*spec, error) {
	if len(pod.Spec.Containers) != 1 || len(pod.Spec.InitContainers) != 0 || pod.Spec.HostNetwork || len(pod.Spec.ReadinessGates) != 0 {
		return nil, errors.New("this kubelet runs pods of one container that have a network of their own, without readiness gates")
	}
	c := &pod.Spec.Containers[0]
	if c.LivenessProbe != nil || c.StartupProbe != nil || len(c.EnvFrom) > 0 || len(c.Command) > 0 || len(c.Args) > 0 {
		return nil, errors.New("this kubelet knows no liveness or startup probes, no commands, and no variables from elsewhere")
	}
	env := map[string]string{}
	for _, v := range c.Env {
		if v.ValueFrom != nil {
			return nil, fmt.Errorf("this kubelet knows no variables from elsewhere, such as %s", v.Name)
		}
		env[v.Name] = v.Value
	}
	config, err := app.Parse(env)
	if err != nil {
		return nil, err
	}
	s := &spec{container: c.Name, app: config}
	if s.readiness, err = readProbe(c); err != nil {
		return nil, err
	}
	if c.Lifecycle != nil {
		if c.Lifecycle.PostStart != nil || c.Lifecycle.PreStop == nil || c.Lifecycle.PreStop.Sleep == nil {
			return nil, errors.New("this kubelet knows no hooks but preStop's sleep")
		}
		s.preStop = time.Duration(c.Lifecycle.PreStop.Sleep.Seconds) * time.Second
	}
	return s, nil
}

func readProbe(c *corev1.Container) (*probe, error) {
	p := c.ReadinessProbe
	if p == nil {
		return nil, nil //nolint:nilnil // no probe is a usual thing
	}
	if p.HTTPGet == nil || p.HTTPGet.Host != "" {
		return nil, errors.New("this kubelet probes by HTTP only, and its own pods")
	}
	port := p.HTTPGet.Port.IntValue()
	if port == 0 {
		for _, named := range c.Ports {
			if named.Name == p.HTTPGet.Port.StrVal {
				port = int(named.ContainerPort)
			}
		}
	}
	if port < 1 || port > 65535 {
		return nil, fmt.Errorf("the readiness probe's port %s is none of the container's", p.HTTPGet.Port.String())
	}
	return &probe{
		port: uint16(port), path: p.HTTPGet.Path,
		delay:  time.Duration(p.InitialDelaySeconds) * time.Second,
		period: time.Duration(p.PeriodSeconds) * time.Second, timeout: time.Duration(p.TimeoutSeconds) * time.Second,
		successes: p.SuccessThreshold, failure: p.FailureThreshold,
	}, nil
}
