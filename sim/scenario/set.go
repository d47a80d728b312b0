package scenario

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// applySets puts the options' values into the document, in order: first those that have a name of their own, then Set. One
// that cannot be understood is an error and changes nothing.
func (d *document) applySets(opts *Options) {
	d.set.Profile = opts.Profile
	if opts.Profile != "" {
		if _, ok := servers.Named(opts.Profile); !ok {
			d.settingError(opts.Wording.Option("profile", opts.Profile), "there is no such profile; %s", didYouMean(opts.Profile, servers.ProfileIDs()))
			d.set.Profile = ""
		}
	}
	if opts.KubernetesVersion != "" {
		d.put("spec.kubernetes.version", opts.Wording.Option("kubernetes-version", opts.KubernetesVersion), opts.KubernetesVersion)
	}
	for _, g := range sortedKeys(opts.FeatureGates) {
		setting := opts.Wording.Option("feature-gates", fmt.Sprintf("%s=%t", g, opts.FeatureGates[g]))
		d.put(child("spec.kubernetes.featureGates", g), setting, opts.FeatureGates[g])
	}
	if opts.Nodes > 0 && opts.Nodes <= maxNodes { // checkFlags tells of others
		d.put("spec.nodes.count", opts.Wording.Option("nodes", strconv.Itoa(opts.Nodes)), int64(opts.Nodes))
	}
	if opts.LB != "" {
		d.put("spec.loadBalancer.preset", opts.Wording.Option("lb", opts.LB), opts.LB)
	}
	if opts.Timeout != "" {
		d.put("spec.clients.timeout", opts.Wording.Option("timeout", opts.Timeout), opts.Timeout)
	}
	if opts.ConnectTimeout != "" {
		for _, field := range []string{"connectTimeout", "dialTimeout"} {
			d.put("spec.clients."+field, opts.Wording.Option("connect-timeout", opts.ConnectTimeout), opts.ConnectTimeout)
		}
	}
	if opts.Until != "" {
		d.put("spec.until", opts.Wording.Option("until", opts.Until), opts.Until)
	}
	for _, s := range opts.Set {
		d.applySet(s, opts.Wording)
	}
}

func (d *document) settingError(setting, format string, args ...any) {
	d.report(manifest.Error, manifest.Position{File: setting}, "", format, args...)
}

// applySet puts PATH=VALUE into the document.
func (d *document) applySet(s string, words Wording) {
	at, value, ok := strings.Cut(s, "=")
	setting := words.Option("set", s)
	if at = strings.TrimSpace(at); !ok || at == "" {
		d.settingError(setting, "want PATH=VALUE, such as latency.watch=100ms, start=5s or prestop.web=10s")
		return
	}
	if name, ok := shorthand(at, "prestop"); ok {
		if name == "" {
			d.settingError(setting, "want prestop.NAME=DURATION, NAME being a workload or a container")
			return
		}
		d.override(&d.set.PreStop, setting, name, value)
		return
	}
	if name, ok := shorthand(at, "start"); ok {
		d.override(&d.set.Start, setting, name, value)
		return
	}
	steps, err := splitPath(strings.TrimPrefix(at, "spec."))
	if err != nil {
		d.settingError(setting, "%v", err)
		return
	}
	target, path, err := d.locate(steps)
	if err != nil {
		d.settingError(setting, "%v", err)
		return
	}
	v, err := setValue(target, value)
	if err != nil {
		d.settingError(setting, "%v", err)
		return
	}
	d.put(path, setting, v)
}

// shorthand reads "start" and "start.NAME".
func shorthand(at, word string) (name string, ok bool) {
	if at == word {
		return "", true
	}
	return strings.CutPrefix(at, word+".")
}

// override is a --set start or prestop: a duration, or a distribution that is spelled out.
func (d *document) override(to *[]world.Named, setting, name, value string) {
	v, err := setValue(&shape{kind: dist}, value)
	if err != nil {
		d.settingError(setting, "%v", err)
		return
	}
	at := "set " + name
	d.given = append(d.given, given{at, setting})
	before := len(d.problems)
	d.checkDist(at, v)
	if len(d.problems) > before {
		for i := range d.problems[before:] {
			d.problems[before+i].Field = ""
		}
		return
	}
	c := cursor{d, at, v}
	*to = append(*to, world.Named{Name: name, Dist: c.dist(engine.Dist{}, "none")})
}

// step is a key, or an index when it is not negative.
type step struct {
	key   string
	index int
}

// splitPath reads a.b[0]["c.d"].
func splitPath(path string) ([]step, error) {
	bad := fmt.Errorf("%q is no path, such as latency.watch, traffic[0].rate or apps[\"my.app\"].start", path)
	var steps []step
	for first := true; path != ""; first = false {
		switch {
		case strings.HasPrefix(path, `["`):
			quoted, err := strconv.QuotedPrefix(path[1:])
			if err != nil || !strings.HasPrefix(path[1+len(quoted):], "]") {
				return nil, bad
			}
			name, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, bad
			}
			steps = append(steps, step{name, -1})
			path = path[len(quoted)+2:]
		case path[0] == '[':
			inside, rest, ok := strings.Cut(path[1:], "]")
			n, err := strconv.Atoi(inside)
			if !ok || err != nil || n < 0 {
				return nil, bad
			}
			steps = append(steps, step{"", n})
			path = rest
		default:
			if !first {
				if path[0] != '.' {
					return nil, bad
				}
				path = path[1:]
			}
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			if end == 0 {
				return nil, bad
			}
			steps = append(steps, step{path[:end], -1})
			path = path[end:]
		}
	}
	if len(steps) == 0 {
		return nil, bad
	}
	return steps, nil
}

// locate follows a path through the grammar, and through the document where there are lists.
func (d *document) locate(steps []step) (*shape, string, error) {
	root := specShape()
	s, at := &root, "spec"
	v := d.value["spec"]
	for _, st := range steps {
		if s.kind == dist {
			spelled := distShape()
			s = &spelled
		}
		switch {
		case st.index >= 0:
			l, _ := v.([]any)
			if s.kind != listOf {
				return nil, "", fmt.Errorf("%s is no list", at)
			}
			if st.index >= len(l) {
				return nil, "", fmt.Errorf("%s has %d items, counted from 0: there is no [%d]", at, len(l), st.index)
			}
			s, at, v = s.elem, item(at, st.index), l[st.index]
		case s.kind == mapOf:
			m, _ := v.(map[string]any)
			s, at, v = s.elem, child(at, st.key), m[st.key]
		case s.kind == object:
			f := s.field(st.key)
			if f == nil {
				valid := s.names()
				if at == "spec" {
					valid = append(valid, "start", "prestop")
				}
				return nil, "", fmt.Errorf("%s has no field %s; %s", at, st.key, didYouMean(st.key, valid))
			}
			m, _ := v.(map[string]any)
			s, at, v = f, child(at, st.key), m[st.key]
		default:
			return nil, "", fmt.Errorf("%s is a single value, it has no %s", at, st.key)
		}
	}
	return s, at, nil
}

// setValue reads what stands behind the =. Where the grammar wants words it is taken as it
// is; else it is YAML.
func setValue(s *shape, value string) (any, error) {
	switch s.kind {
	case text, duration, rate, changes, spanOr:
		return value, nil
	case dist:
		if !strings.HasPrefix(strings.TrimSpace(value), "{") {
			return value, nil
		}
	default:
	}
	if strings.ContainsAny(value, "\n\r") {
		return nil, fmt.Errorf("the value has more than one line")
	}
	const head = "apiVersion: lameduck/v1alpha1\nkind: Scenario\nspec: "
	objects, problems := manifest.Load([]manifest.File{{Name: "value", Data: []byte(head + value + "\n")}}, manifest.Options{})
	if manifest.HasErrors(problems) || len(objects.Scenarios) != 1 {
		return nil, fmt.Errorf("%q is no YAML value", value)
	}
	m, _ := objects.Scenarios[0].Value.(map[string]any)
	return m["spec"], nil
}

// put stores a value at a path of the grammar, making the mappings on the way.
func (d *document) put(at, setting string, v any) {
	steps, err := splitPath(at)
	if err != nil {
		d.settingError(setting, "%v", err)
		return
	}
	d.value, _ = putInto(d.value, steps, v).(map[string]any)
	d.given = append(d.given, given{at, setting})
}

func putInto(into any, steps []step, v any) any {
	if len(steps) == 0 {
		return v
	}
	st := steps[0]
	if st.index >= 0 {
		l, _ := into.([]any)
		if st.index < len(l) {
			l[st.index] = putInto(l[st.index], steps[1:], v)
		}
		return l
	}
	m, ok := into.(map[string]any)
	if !ok || m == nil {
		m = map[string]any{}
	}
	m[st.key] = putInto(m[st.key], steps[1:], v)
	return m
}
