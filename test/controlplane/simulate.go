package controlplane

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// begun is when the first action comes in the simulation, after the beginning of the run.
const begun = 10 * engine.Second

// file is the name of the input that a Recording becomes.
const file = "recording.yaml"

// ErrNotSimulated says that the simulator refuses what was recorded, by name.
var ErrNotSimulated = errors.New("not simulated")

// Simulate has the simulator do what was done in a recording, and returns what happened then.
func Simulate(r *Recording, seed uint64) ([]Event, error) {
	sc, err := r.scenario()
	if err != nil {
		return nil, err
	}
	log := &event.Log{}
	l := newListener(sc)
	log.Subscribe(l.hear, event.Known, event.Wrote, event.Endpoint, event.EndpointGone, event.Cordoned, event.Drained, event.EvictionRefused)
	if _, err := sim.RunWith(sc, seed, sim.Options{Events: log}); err != nil {
		if _, refused := errors.AsType[sim.NotSimulated](err); refused {
			return nil, fmt.Errorf("%w: %w", ErrNotSimulated, err)
		}
		return nil, err
	}
	return l.events, l.misplaced(r)
}

// scenario is the recording as the simulator reads it.
func (r *Recording) scenario() (*world.Scenario, error) {
	text, err := r.documents()
	if err != nil {
		return nil, err
	}
	objects, problems := manifest.Load([]manifest.File{{Name: file, Data: text}}, manifest.Options{})
	if !manifest.HasErrors(problems) {
		var list []*world.Scenario
		var more []manifest.Problem
		list, more = scenario.Parse(objects, scenario.Options{})
		if problems = append(problems, more...); len(list) == 1 && !manifest.HasErrors(problems) {
			return r.timed(list[0]), nil
		}
	}
	var errs []error
	for _, p := range problems {
		if p.Severity == manifest.Error {
			errs = append(errs, errors.New(p.Message))
		}
	}
	return nil, fmt.Errorf("%w: %w", ErrNotSimulated, errors.Join(errs...))
}

// timed gives a Scenario the delays of the recording.
func (r *Recording) timed(sc *world.Scenario) *world.Scenario {
	sc.Traffic, sc.Churn, sc.Expect, sc.Families = nil, 0, nil, nil
	sc.Latency.APIWrite, sc.Latency.Watch = span(1, 4), span(1, 3)
	sc.Latency.Controller, sc.Latency.SliceController = span(1, 5), span(1, 5)
	sc.Latency.StatusWrite, sc.Latency.Schedule = span(2, 6), span(2, 10)
	times := map[podName]world.PodTimes{}
	for _, t := range r.Times {
		p := world.PodTimes{Start: engineTime(t.Start), Ready: world.NeverReady, Stop: engineTime(t.Stop)}
		if t.Ready != nil {
			p.Ready = engineTime(*t.Ready)
		}
		times[podName{workload: t.Workload, revision: t.Revision}] = p
	}
	first := map[podName]world.FirstPod{}
	for _, p := range r.Pods {
		if name, err := parsePod(p.Pod); err == nil { // Read has looked
			first[name] = world.FirstPod{Node: p.Node, Created: begun + engineTime(p.Created), Ready: begun + engineTime(p.Ready)}
		}
	}
	names := &numbering{}
	sc.Recorded = &world.Recorded{
		First: func(workload, ordinal int) world.FirstPod {
			return first[podName{workload: sc.Workloads[workload].ObjectName(), ordinal: ordinal}]
		},
		Times: func(workload, revision int) world.PodTimes {
			name := sc.Workloads[workload].ObjectName()
			return times[podName{workload: name, revision: names.revision(name, revision)}]
		},
	}
	return sc
}

func engineTime(s Seconds) engine.Time { return engine.FromDuration(s.Duration()) }

// span is the delays of a control plane on a machine without other work (docs/model/measured.md 2): watch in, work, write
// out take 5 to 10 ms together.
func span(from, to engine.Time) engine.Dist {
	d, err := engine.Uniform(from*engine.Millisecond, to*engine.Millisecond)
	if err != nil {
		panic(err) // constants in order
	}
	return d
}

// documents are the recording's objects and a document of kind Scenario.
func (r *Recording) documents() ([]byte, error) {
	var actions []map[string]any
	for i := range r.Actions {
		a, err := r.action(i)
		if err != nil {
			return nil, err
		}
		if a == nil {
			continue
		}
		a["at"] = (begun + engineTime(r.Actions[i].At)).Duration().String()
		actions = append(actions, a)
	}
	doc, err := json.Marshal(map[string]any{
		"apiVersion": "lameduck/v1alpha1", "kind": "Scenario", "metadata": map[string]any{"name": r.Name},
		"spec": map[string]any{
			"kubernetes": map[string]any{"version": minor(r.Kubernetes)},
			"until":      (begun + engineTime(r.Until)).Duration().String(), "actions": actions,
		},
	})
	if err != nil {
		return nil, err
	}
	var out []byte
	for _, o := range append(slices.Clone(r.Objects), doc) {
		out = append(append(out, o...), "\n---\n"...)
	}
	return out, nil
}

// minor is a version without what follows the second number.
func minor(version string) string {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// action is an action as a Scenario has it, nil where another says it.
func (r *Recording) action(i int) (map[string]any, error) {
	a := &r.Actions[i]
	of := r.kindOf(a.Workload) + "/" + a.Workload
	var at int
	if a.Pod != nil {
		at = *a.Pod
	}
	switch a.Do {
	case "rolloutRestart", "pause", "resume", "rollback":
		return map[string]any{a.Do: of}, nil
	case "setImage":
		return map[string]any{"setImage": map[string]any{"of": of, "image": a.Image}}, nil
	case "scale":
		return map[string]any{"scale": map[string]any{"of": of, "replicas": *a.Replicas}}, nil
	case "delete", "evict":
		return map[string]any{a.Do: map[string]any{"of": of, "pod": at}}, nil
	case "cordon":
		return r.untilThen(i, "uncordon", map[string]any{"cordon": a.Node}), nil
	case "uncordon", "speak":
		return nil, nil //nolint:nilnil // it ends an action
	case "silence":
		return r.untilThen(i, "speak", map[string]any{"component": map[string]any{"name": "kubelet/" + a.Node, "pause": true}}), nil
	case "deleteNode":
		return map[string]any{a.Do: a.Node}, nil
	case "drain":
		return map[string]any{"drain": a.drain()}, nil
	default:
		return nil, fmt.Errorf("%w: the action %s", ErrNotSimulated, a.Do)
	}
}

// untilThen gives an action its end, where another action for the same node is that.
func (r *Recording) untilThen(i int, end string, out map[string]any) map[string]any {
	a := &r.Actions[i]
	for _, then := range r.Actions[i:] {
		if then.Do == end && then.Node == a.Node {
			out["for"] = (then.At - a.At).Duration().String()
			break
		}
	}
	return out
}

func (a *Action) drain() map[string]any {
	out := map[string]any{"nodes": a.Nodes}
	if a.Grace != nil {
		out["gracePeriod"] = a.Grace.Duration().String()
	}
	if a.Timeout != nil {
		out["timeout"] = a.Timeout.Duration().String()
	}
	if a.Delete {
		out["disableEviction"] = true
	}
	return out
}

// kindOf is the kind of a workload as actions write it, "" where there is no such workload.
func (r *Recording) kindOf(workload string) string {
	for _, o := range r.Objects {
		var head struct {
			APIVersion, Kind string
			Metadata         struct{ Name string }
		}
		if json.Unmarshal(o, &head) == nil && head.Metadata.Name == workload && head.APIVersion == "apps/v1" {
			return strings.ToLower(head.Kind)
		}
	}
	return ""
}
