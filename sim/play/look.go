package play

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/knob"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/servers"
)

// look says what is wrong with a manifest, what would be simulated, and what can be turned and chosen.
func look(a *Ask) *Looked {
	r := readManifest(a)
	out := &Looked{Answered: r.answered, Cases: []Case{}, Knobs: []Knob{}}
	for i := range r.cases {
		c := &r.cases[i]
		out.Cases = append(out.Cases, Case{ID: c.ID, Action: c.Action, Workload: c.Workload, Traffic: c.Traffic, Judged: c.Verdict == "", Reason: c.Reason})
	}
	for _, o := range r.objects.All {
		if slices.ContainsFunc(r.cases, func(c scenario.Case) bool { return slices.Contains(strings.Split(c.Workload, ", "), o.ID()) }) {
			out.Knobs = append(out.Knobs, knobsOf(r.objects, o)...)
		}
	}
	if len(r.cases) > 0 {
		out.Knobs = append(out.Knobs, settings(a, r)...)
	}
	out.Choices, out.InForce = choices(a, r)
	return out
}

// scale is where a knob's values lie.
type scale struct {
	max, step int
	words     string
}

// scales are those of the knobs of a workload. A written value beyond has the scale go on to it.
func scales() map[string]scale {
	return map[string]scale{
		"prestop":                    {60, 1, "how long the pod goes on as before when it is deleted, until SIGTERM; 0s for no hook"},
		"grace":                      {180, 1, "from the deletion to SIGKILL, preStop included"},
		"replicas":                   {20, 1, "how many pods there are"},
		"minReadySeconds":            {60, 1, "how long a new pod has to be ready before the rollout goes on"},
		"maxSurge":                   {10, 1, "how many pods more than replicas a rollout may have"},
		"maxUnavailable":             {10, 1, "how many of the replicas a rollout may be without"},
		"readiness.periodSeconds":    {60, 1, "how often the kubelet asks whether the pod is ready"},
		"readiness.failureThreshold": {10, 1, "how many failures in a row make it not ready"},
	}
}

// knobsOf are the settings of a workload's manifest.
func knobsOf(objects *manifest.Objects, o *manifest.Object) []Knob {
	var out []Knob
	of := scales()
	for _, k := range knob.All() {
		path, ok := k.Path(objects, o)
		if !ok {
			continue
		}
		s := of[k.Name]
		x := Knob{Workload: o.String(), Name: k.Name, Max: s.max, Step: s.step, Words: s.words, Written: o.Has(path)}
		x.Value, _ = k.Of(objects, func(id string) bool { return id == o.ID() })
		switch {
		case k.Unit == knob.Seconds:
			x.Unit = "s"
		case strings.HasSuffix(x.Value, "%"):
			x.Unit, x.Max = "%", 100
		}
		if k.Name == "replicas" || strings.HasPrefix(k.Name, "readiness.") || k.Name == "grace" {
			x.Min = 1
		}
		if x.Written {
			x.Line = o.At(path).Line
		}
		if n, err := strconv.Atoi(strings.TrimSuffix(x.Value, x.Unit)); err == nil {
			x.Max = max(x.Max, n)
		}
		out = append(out, x)
	}
	return out
}

// settings are the values of --set that are worth a slider.
func settings(a *Ask, r *read) []Knob {
	at := slices.IndexFunc(r.cases, func(c scenario.Case) bool { return c.Scenario != nil && len(c.Scenario.Nodes) > 0 })
	if at < 0 {
		return nil
	}
	sc := r.cases[at].Scenario
	period := sc.Nodes[0].Proxy.MinSyncPeriod
	out := []Knob{{
		Name: "nodes.proxy.minSyncPeriod", Unit: "s", Value: period.Duration().String(), Max: 30, Step: 1,
		Words: "how long kube-proxy waits after a sync of its rules before the next one",
	}}
	if len(sc.Workloads) > 0 {
		x := Knob{Name: "start", Unit: "s", Max: 120, Step: 1, Words: "how long an app takes from its container's start until it listens"}
		if d, err := time.ParseDuration(sc.Workloads[0].App.Start.String()); err == nil && d%time.Second == 0 {
			x.Value = d.String()
		}
		out = append(out, x)
	}
	for i := range out {
		if v := setting(a, out[i].Name); v != "" {
			out[i].Value, out[i].Written = v, true
		}
	}
	return out
}

// setting is the value that --set gives a path, "" for none.
func setting(a *Ask, path string) string {
	for _, s := range a.Flags.Set {
		if v, ok := strings.CutPrefix(s, path+"="); ok {
			return v
		}
	}
	return ""
}

// choices are the flags that take one of a list, and what is in force.
func choices(a *Ask, r *read) (map[string][]Option, map[string]string) {
	f := &a.Flags
	newest := endpoints.CurrentVersion()
	version := f.KubernetesVersion
	if at := slices.IndexFunc(r.cases, func(c scenario.Case) bool { return c.Scenario != nil }); at >= 0 && version == "" {
		version = r.cases[at].Scenario.Kubernetes.Version.String()
	}
	var actions, environments, profiles, versions []Option
	for _, word := range scenario.Actions() {
		actions = append(actions, Option{word, ""})
	}
	for _, e := range scenario.Environments() {
		environments = append(environments, Option{e.ID, e.What})
	}
	for _, p := range servers.Profiles() {
		profiles = append(profiles, Option{p.ID, p.Match})
	}
	for minor := newest.Minor; minor >= oldestOffered; minor-- {
		versions = append(versions, Option{fmt.Sprintf("%d.%d", newest.Major, minor), ""})
	}
	return map[string][]Option{"action": actions, "env": environments, "lb": balancers(), "profile": profiles, "kubernetes-version": versions},
		map[string]string{
			"action": strings.Join(f.Actions, ","), "env": f.Env, "lb": cmp.Or(f.LB, "auto"), "profile": f.Profile,
			"kubernetes-version": cmp.Or(version, newest.String()),
		}
}

// oldestOffered is the oldest minor version in the list: the oldest that is simulated.
const oldestOffered = 19

// balancers are what --lb takes: a family, and not both of its presets.
func balancers() []Option {
	out := []Option{{"auto", "as the manifest says"}, {"none", "one without any delay"}}
	for _, p := range scenario.Presets() {
		if !slices.ContainsFunc(out, func(o Option) bool { return o.Value == p.Family }) {
			out = append(out, Option{p.Family, p.Short})
		}
	}
	return out
}
