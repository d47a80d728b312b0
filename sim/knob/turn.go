package knob

import (
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

func turnPreStop(t *target, v Value) error {
	if v.Time == 0 {
		if t.server.Lifecycle != nil {
			t.server.Lifecycle.PreStop = nil
		}
		return nil
	}
	if t.server.Lifecycle == nil {
		t.server.Lifecycle = &corev1.Lifecycle{}
	}
	t.server.Lifecycle.PreStop = &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: wholeSeconds(v)}}
	return nil
}

// readPreStop knows hooks that sleep, and that there is none; what another program does is not read from the manifest here.
func readPreStop(t *target) (string, bool) {
	l := t.server.Lifecycle
	switch {
	case l == nil || l.PreStop == nil:
		return seconds(0), true
	case l.PreStop.Sleep != nil:
		return seconds(l.PreStop.Sleep.Seconds), true
	default:
		return "", false
	}
}

func turnGrace(t *target, v Value) error {
	n := wholeSeconds(v)
	t.spec.TerminationGracePeriodSeconds = &n
	return nil
}

func readGrace(t *target) (string, bool) {
	return seconds(int64(world.GraceOf(t.spec) / engine.Second)), true
}

var errDaemon = errors.New("a DaemonSet has a pod on each node, and no replicas")

func turnReplicas(t *target, v Value) error {
	if _, daemon := t.resource.(*appsv1.DaemonSet); daemon {
		return errDaemon
	}
	world.SetReplicas(t.resource, int32(v.Number))
	return nil
}

func readReplicas(t *target) (string, bool) {
	_, daemon := t.resource.(*appsv1.DaemonSet)
	return fmt.Sprint(world.ReplicasOf(t.resource)), !daemon
}

func turnMinReady(t *target, v Value) error {
	n := int32(wholeSeconds(v))
	switch r := t.resource.(type) {
	case *appsv1.Deployment:
		r.Spec.MinReadySeconds = n
	case *appsv1.StatefulSet:
		r.Spec.MinReadySeconds = n
	case *appsv1.DaemonSet:
		r.Spec.MinReadySeconds = n
	}
	return nil
}

func readMinReady(t *target) (string, bool) {
	return seconds(int64(world.MinReadySecondsOf(t.resource))), true
}

// rolling names a number of a rolling update.
type rolling int

const (
	surge rolling = iota
	unavailable
)

// field is where a workload has the number; nil where it has none.
func (r rolling) field(t *target, create bool) **intstr.IntOrString {
	switch x := t.resource.(type) {
	case *appsv1.Deployment:
		s := &x.Spec.Strategy
		if create {
			s.Type = appsv1.RollingUpdateDeploymentStrategyType
		}
		if s.RollingUpdate == nil && create {
			s.RollingUpdate = &appsv1.RollingUpdateDeployment{}
		}
		if s.RollingUpdate == nil {
			return nil
		}
		return pick(r, &s.RollingUpdate.MaxSurge, &s.RollingUpdate.MaxUnavailable)
	case *appsv1.DaemonSet:
		s := &x.Spec.UpdateStrategy
		if s.RollingUpdate == nil && create {
			s.Type, s.RollingUpdate = appsv1.RollingUpdateDaemonSetStrategyType, &appsv1.RollingUpdateDaemonSet{}
		}
		if s.RollingUpdate == nil {
			return nil
		}
		return pick(r, &s.RollingUpdate.MaxSurge, &s.RollingUpdate.MaxUnavailable)
	case *appsv1.StatefulSet:
		s := &x.Spec.UpdateStrategy
		if s.RollingUpdate == nil && create {
			s.Type, s.RollingUpdate = appsv1.RollingUpdateStatefulSetStrategyType, &appsv1.RollingUpdateStatefulSetStrategy{}
		}
		if s.RollingUpdate == nil || r == surge {
			return nil
		}
		return &s.RollingUpdate.MaxUnavailable
	}
	return nil
}

func pick(r rolling, surges, unavailables **intstr.IntOrString) **intstr.IntOrString {
	if r == surge {
		return surges
	}
	return unavailables
}

func turnRolling(r rolling) func(*target, Value) error {
	return func(t *target, v Value) error {
		at := r.field(t, true)
		if at == nil {
			return errors.New("a StatefulSet's rolling update has no surge")
		}
		n := intstr.Parse(v.Text)
		*at = &n
		return nil
	}
}

func readRolling(r rolling) func(*target) (string, bool) {
	return func(t *target) (string, bool) {
		at := r.field(t, false)
		if at == nil || *at == nil {
			return "", false
		}
		return (*at).String(), true
	}
}

// probing names a number of a probe.
type probing int

const (
	period probing = iota
	failures
)

var errNoProbe = errors.New("it has no readinessProbe")

func (p probing) field(t *target) *int32 {
	switch probe := t.server.ReadinessProbe; {
	case probe == nil:
		return nil
	case p == period:
		return &probe.PeriodSeconds
	default:
		return &probe.FailureThreshold
	}
}

func turnProbe(p probing) func(*target, Value) error {
	return func(t *target, v Value) error {
		at := p.field(t)
		switch {
		case at == nil:
			return errNoProbe
		case p == period:
			*at = int32(wholeSeconds(v))
		default:
			*at = int32(v.Number)
		}
		return nil
	}
}

func readProbe(p probing) func(*target) (string, bool) {
	return func(t *target) (string, bool) {
		at := p.field(t)
		if at == nil {
			return "", false
		}
		if p == period {
			return seconds(int64(*at)), true
		}
		return fmt.Sprint(*at), true
	}
}
