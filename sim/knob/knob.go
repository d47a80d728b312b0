package knob

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Knob is a setting of a workload's manifest.
type Knob struct {
	Name string // as --sweep has it
	Unit Unit
	Says string // the field, for people
	turn func(t *target, v Value) error
	read func(t *target) (string, bool)
}

// Unit is what the values of a setting are.
type Unit int

// The units.
const (
	Seconds        Unit = iota // whole ones, such as 15s
	Count                      // such as 3
	CountOrPercent             // such as 1 or 25%
	Free                       // whatever a Scenario's field takes
)

// All are the settings of manifests that can be turned, in the order in which a reader looks for them.
func All() []Knob {
	return []Knob{
		{"prestop", Seconds, "lifecycle.preStop.sleep.seconds of the container that serves; 0s for no hook", turnPreStop, readPreStop},
		{"grace", Seconds, "terminationGracePeriodSeconds", turnGrace, readGrace},
		{"replicas", Count, "spec.replicas", turnReplicas, readReplicas},
		{"minReadySeconds", Seconds, "spec.minReadySeconds", turnMinReady, readMinReady},
		{"maxSurge", CountOrPercent, "maxSurge of a Deployment's or DaemonSet's rolling update", turnRolling(surge), readRolling(surge)},
		{"maxUnavailable", CountOrPercent, "maxUnavailable of a rolling update", turnRolling(unavailable), readRolling(unavailable)},
		{"readiness.periodSeconds", Seconds, "readinessProbe.periodSeconds of the container that serves", turnProbe(period), readProbe(period)},
		{"readiness.failureThreshold", Count, "readinessProbe.failureThreshold of the container that serves", turnProbe(failures), readProbe(failures)},
	}
}

// Find returns the setting of a name.
func Find(name string) (Knob, bool) {
	list := All()
	i := slices.IndexFunc(list, func(k Knob) bool { return strings.EqualFold(k.Name, name) })
	if i < 0 {
		return Knob{}, false
	}
	return list[i], true
}

// Turn gives the setting a value in each workload of the objects that is wanted, by "ns/name", and says how many there were. What
// a workload cannot have is an error that names it; all others are turned.
func (k Knob) Turn(objects *manifest.Objects, wanted func(id string) bool, v Value) (turned int, err error) {
	var errs []error
	for _, o := range objects.All {
		t := targetOf(objects, o)
		if t == nil || !wanted(o.ID()) {
			continue
		}
		if err := k.turn(t, v); err != nil {
			errs = append(errs, fmt.Errorf("%s=%s: %s: %w", k.Name, v.Text, o, err))
			continue
		}
		world.Default(t.resource)
		turned++
	}
	return turned, errors.Join(errs...)
}

// Refused says which of the wanted workloads the API server would refuse once all their settings have been turned: each of two may be fine, and
// both together not.
func Refused(objects *manifest.Objects, wanted func(id string) bool) error {
	for _, o := range objects.All {
		t := targetOf(objects, o)
		if t == nil || !wanted(o.ID()) {
			continue
		}
		if field, why := manifest.RefusedRollout(t.resource); field != "" {
			return fmt.Errorf("%s:%d: %s: %s: %s", o.File, o.ValueAt(field).Line, o, field, why)
		}
	}
	return nil
}

// Of is the value that the wanted workloads have, ok false where they have several, or none.
func (k Knob) Of(objects *manifest.Objects, wanted func(id string) bool) (value string, ok bool) {
	for _, o := range objects.All {
		t := targetOf(objects, o)
		if t == nil || !wanted(o.ID()) {
			continue
		}
		v, has := k.read(t)
		if !has || ok && v != value {
			return "", false
		}
		value, ok = v, true
	}
	return value, ok
}

// target is a workload whose setting is turned, and its container that serves.
type target struct {
	resource world.Resource
	spec     *corev1.PodSpec
	server   *corev1.Container
}

// targetOf is an object as a target, nil for one that is no workload with pods of its own. A ReplicaSet's template and a Pod are not
// changed by editing them.
func targetOf(objects *manifest.Objects, o *manifest.Object) *target {
	var r world.Resource
	switch v := o.Value.(type) {
	case *appsv1.Deployment:
		r = v
	case *appsv1.StatefulSet:
		r = v
	case *appsv1.DaemonSet:
		r = v
	default:
		return nil
	}
	template := world.TemplateOf(r)
	if len(template.Spec.Containers) == 0 {
		return nil
	}
	return &target{resource: r, spec: &template.Spec, server: serverOf(objects, r.GetNamespace(), template)}
}

// serverOf is the container that a Service leads to: by the target port, else the first with a port, else the first.
func serverOf(objects *manifest.Objects, namespace string, template *corev1.PodTemplateSpec) *corev1.Container {
	containers := template.Spec.Containers
	for i := range objects.Services {
		s := objects.Services[i].Value
		if s.Namespace != namespace || !world.Selects(s, template.Labels) {
			continue
		}
		for _, p := range s.Spec.Ports {
			if at := slices.IndexFunc(containers, func(c corev1.Container) bool { return listens(&c, p.TargetPort) }); at >= 0 {
				return &containers[at]
			}
		}
	}
	at := slices.IndexFunc(containers, func(c corev1.Container) bool { return len(c.Ports) > 0 })
	return &containers[max(at, 0)]
}

// listens says whether a container has a port that a Service names.
func listens(c *corev1.Container, port intstr.IntOrString) bool {
	return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool {
		return p.Name != "" && p.Name == port.StrVal || p.ContainerPort == port.IntVal
	})
}

// seconds is a time as a setting's value.
func seconds(n int64) string { return fmt.Sprintf("%ds", n) }

// wholeSeconds is a value in the API's unit.
func wholeSeconds(v Value) int64 { return int64(v.Time / engine.Second) }
