// Package kubeproxy answers what a KubeProxyConfiguration (kubeproxy.config.k8s.io/v1alpha1), and the flags that stand
// for its fields, ask of a service proxy: with kube-proxy's defaults, checked by kube-proxy's rules, and with a word on
// each setting that has no effect. It opens no file and changes nothing.
//
//	manifest.Object, flags -> decode -> defaults -> checks -> Config, problems
package kubeproxy

import (
	"fmt"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// APIVersion is that of what is read.
const APIVersion = "kubeproxy.config.k8s.io/v1alpha1"

// kind is how messages call the object.
const kind = "KubeProxyConfiguration"

// Config is a KubeProxyConfiguration that can be used.
type Config struct {
	// KubeProxyConfiguration has kube-proxy's defaults where nothing was said. It is only to be read.
	KubeProxyConfiguration

	given  KubeProxyConfiguration // what file and flags say, without defaults
	object *manifest.Object       // nil for no file
	flags  map[string]string      // by path, the flag that a field was set by
}

// Override is a field that a flag sets. Flags win over the file.
type Override struct {
	// Flag is what the user wrote, such as --cluster-cidr. Messages begin with it.
	Flag string
	// Path is the field, such as clusterCIDR.
	Path string
	// Set sets it.
	Set func(*KubeProxyConfiguration)
}

// Read returns the configuration that an object, nil for none, and flags make. It is strict: what kube-proxy would only
// log, such as an unknown field, is an error here, for it was meant to have an effect. All problems are returned at once; a
// Config with errors is not to be used. Warnings name what has no effect.
func Read(o *manifest.Object, overrides ...Override) (*Config, []manifest.Problem) {
	c := &Config{object: o, flags: map[string]string{}}
	var problems []manifest.Problem
	if o != nil {
		problems = decode(o, &c.given)
	}
	for _, v := range overrides {
		v.Set(&c.given)
		c.flags[v.Path] = v.Flag
	}
	c.KubeProxyConfiguration = *c.given.DeepCopy()
	setDefaults(&c.KubeProxyConfiguration)
	for _, v := range overrides {
		v.Set(&c.KubeProxyConfiguration) // a zero that a flag gives is one
	}
	problems = append(problems, c.check()...)
	problems = append(problems, c.checkGates()...)
	if !manifest.HasErrors(problems) {
		problems = append(problems, c.unused()...)
	}
	manifest.SortByPlace(problems, strings.Compare)
	return c, problems
}

// decode fills a configuration from an object. The object is strictly what the API has: manifest passes over unknown
// fields with a warning, since manifests may be of a newer cluster.
func decode(o *manifest.Object, into *KubeProxyConfiguration) []manifest.Problem {
	problems := o.Decode(into)
	for i := range problems {
		p := &problems[i]
		p.Severity = manifest.Error
		p.Message = strings.Replace(p.Message, "unknown field, ignored", "unknown field", 1)
		if p.Message == "unknown field" {
			p.Message += "; " + APIVersion + " has none of that name here"
		}
		if p.Field == "logging.flushFrequency" { // a type that reads itself, and says so in Go's words
			p.Message = "expected a duration such as 5s, or a number of nanoseconds"
		}
	}
	return problems
}

// Present says whether there is a configuration at all, beside flags and defaults.
func (c *Config) Present() bool { return c.object != nil }

// Name is where the configuration stands, for messages.
func (c *Config) Name() string {
	if c.object == nil {
		return kind
	}
	return c.object.Position.String() + ": " + kind
}

// Where says where a field stands, for messages: the flag, or its place in the file.
func (c *Config) Where(path string) string {
	p := c.problem(manifest.Error, path, "")
	return strings.TrimSuffix(p.Error(), ": ")
}

// From says who set a field: a flag, a place in the file, or nobody.
func (c *Config) From(path string) string {
	switch {
	case c.flags[path] != "":
		return c.flags[path]
	case c.Given(path) && c.object != nil:
		return c.object.ValueAt(path).String()
	default:
		return "kube-proxy's default"
	}
}

// Given says whether file or flags give a field a value. One that is empty or zero is none to kube-proxy, unless the
// field can be unset.
func (c *Config) Given(path string) bool {
	if _, ok := c.flags[path]; ok {
		return true
	}
	given := false
	eachField(&c.given, func(f field) {
		given = given || f.path == path && !f.value.IsZero()
	})
	return given
}

// problem is one with a field, at the flag or the place that set it.
func (c *Config) problem(severity manifest.Severity, path, format string, args ...any) manifest.Problem {
	message := fmt.Sprintf(format, args...)
	if flag := c.flags[path[:max(0, strings.LastIndexByte(path, '['))]] + c.flags[path]; flag != "" { // of a list, or of a field
		return manifest.Problem{Position: manifest.Position{File: flag}, Message: message, Severity: severity}
	}
	if c.object == nil {
		return manifest.Problem{Position: manifest.Position{File: kind}, Field: path, Message: message, Severity: severity}
	}
	return c.object.Problem(severity, path, message)
}
