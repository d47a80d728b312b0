package kubeproxy

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// effect is what a running proxy makes of a field.
type effect uint8

const (
	none  effect = iota // nothing
	live                // it follows a change at once
	start               // it reads it when it starts
)

// rule is what becomes of a field, or of all fields below one.
type rule struct {
	path   string
	effect effect
	why    string // it has no effect
}

// rules say what becomes of every field that a KubeProxyConfiguration has: the longest path that fits counts.
func rules() []rule {
	const (
		windows   = "it is for Windows nodes"
		ipvs      = "lameduck has no mode ipvs"
		unwritten = "lameduck writes each line of its log at once, to stderr"
	)
	return []rule{
		{"featureGates", start, ""},
		{"clientConnection", start, ""},
		{"logging.verbosity", live, ""},
		{"logging.format", start, ""},
		{"logging.vmodule", start, ""},
		{"logging.flushFrequency", none, unwritten},
		{"logging.options", none, unwritten},
		{"hostnameOverride", start, ""},
		{"bindAddress", start, ""},
		{"healthzBindAddress", start, ""},
		{"metricsBindAddress", start, ""},
		{"bindAddressHardFail", start, ""},
		{"enableProfiling", start, ""},
		{"showHiddenMetricsForVersion", none, "lameduck hides no metrics"},
		{"mode", start, ""},
		{"iptables", live, ""},
		{"iptables.masqueradeBit", start, ""},
		{"nftables", live, ""},
		{"nftables.masqueradeBit", start, ""},
		{"ipvs", none, ipvs},
		{"winkernel", none, windows},
		{"detectLocalMode", live, ""},
		{"detectLocal", live, ""},
		{"clusterCIDR", live, ""},
		{"nodePortAddresses", live, ""},
		{"oomScoreAdj", live, ""},
		{"conntrack", live, ""},
		{"configSyncPeriod", none, "lameduck hears of each change of an object and has no use for hearing of all objects again"},
		{"portRange", none, "it was for the mode userspace, which kube-proxy had until 1.25"},
		{"windowsRunAsService", none, windows},
	}
}

// ruleOf returns the rule for a field in a mode. The other mode's section has no effect, as in kube-proxy.
func ruleOf(rules []rule, path string, mode ProxyMode) rule {
	for _, section := range []ProxyMode{IPTables, NFTables} {
		if section != mode && strings.HasPrefix(path, string(section)+".") {
			return rule{path, none, "the mode is " + string(mode)}
		}
	}
	best := rule{}
	for _, r := range rules {
		if (path == r.path || strings.HasPrefix(path, r.path+".")) && len(r.path) > len(best.path) {
			best = r
		}
	}
	return best
}

// field is one that holds a value, and no further fields.
type field struct {
	path  string // as the file has it
	value reflect.Value
}

// text is the value as JSON has it, for comparing and showing.
func (f field) text() string {
	data, err := json.Marshal(f.value.Interface())
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// eachField calls yield for each field of a configuration, in the order of the API.
func eachField(c *KubeProxyConfiguration, yield func(field)) {
	walk("", reflect.ValueOf(c).Elem(), yield)
}

func walk(path string, v reflect.Value, yield func(field)) {
	marshals := v.Type().Implements(reflect.TypeFor[json.Marshaler]())
	if v.Kind() != reflect.Struct || marshals {
		yield(field{path, v})
		return
	}
	for i := range v.NumField() {
		t := v.Type().Field(i)
		name, _, _ := strings.Cut(t.Tag.Get("json"), ",")
		switch {
		case t.Type == reflect.TypeFor[metav1.TypeMeta]():
		case t.Anonymous && name == "":
			walk(path, v.Field(i), yield)
		case path == "":
			walk(name, v.Field(i), yield)
		default:
			walk(path+"."+name, v.Field(i), yield)
		}
	}
}

// values are the fields by path.
func values(c *KubeProxyConfiguration) map[string]string {
	out := map[string]string{}
	eachField(c, func(f field) { out[f.path] = f.text() })
	return out
}

// unused warns of what has no effect and says something else than kube-proxy's defaults do. The zeros that kubeadm writes
// into its configuration say nothing.
func (c *Config) unused() []manifest.Problem {
	otherwise, table := values(Defaults()), rules()
	now := values(&c.KubeProxyConfiguration)
	useful := map[string]bool{}       // flags that set several fields, one of which counts
	for path, flag := range c.flags { // order: a set is made of it
		if ruleOf(table, path, c.Mode).effect != none {
			useful[flag] = true
		}
	}
	var problems []manifest.Problem
	eachField(&c.given, func(f field) {
		r := ruleOf(table, f.path, c.Mode)
		if r.effect != none || useful[c.flags[f.path]] || !given(f.value) || now[f.path] == otherwise[f.path] {
			return
		}
		problems = append(problems, c.problem(manifest.Warning, f.path, "%s has no effect: %s", f.text(), r.why))
	})
	return problems
}

// given tells a value from a field that was left out.
func given(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() > 0
	default:
		return !v.IsZero()
	}
}

// Text is a field's value as JSON has it, "" for a field that there is not.
func (c *Config) Text(path string) string { return values(&c.KubeProxyConfiguration)[path] }

// Paths are those of all fields, in the order of the API.
func Paths() []string {
	var paths []string
	eachField(&KubeProxyConfiguration{}, func(f field) { paths = append(paths, f.path) })
	return slices.Clip(paths)
}
