package kubeproxy

import "github.com/lameduck-proxy/lameduck/endpoints/manifest"

// Change is what differs between the configuration that a proxy runs with and another.
type Change struct {
	// Now names the fields that it follows at once, Later those that wait until it is started again. Both are in the
	// order of the API.
	Now, Later []string
}

// Reread returns the configuration with which a running proxy goes on when an object has taken the place of the one that
// it read: the object's where it can be followed at once, else the one that it was started with. What has no effect is no
// change. With problems that are errors there is no other configuration. The flags are those that it was started with.
func Reread(running *Config, o *manifest.Object, overrides ...Override) (*Config, Change, []manifest.Problem) {
	next, problems := Read(o, overrides...)
	if manifest.HasErrors(problems) {
		return nil, Change{}, problems
	}
	change := Change{Later: running.differences(next, start)}
	if next.Mode != running.Mode { // it goes on in its mode, for which other sections and defaults count
		mode := Override{Flag: string(running.Mode), Path: "mode", Set: func(c *KubeProxyConfiguration) { c.Mode = running.Mode }}
		if next, problems = Read(o, append(overrides[:len(overrides):len(overrides)], mode)...); manifest.HasErrors(problems) {
			return nil, Change{}, problems
		}
	}
	change.Now = running.differences(next, live)
	return running.follow(next), change, problems
}

// differences names the fields of some effect in which another configuration differs.
func (c *Config) differences(other *Config, of effect) []string {
	var paths []string
	before, table := values(&c.KubeProxyConfiguration), rules()
	eachField(&other.KubeProxyConfiguration, func(f field) {
		if f.text() != before[f.path] && ruleOf(table, f.path, c.Mode).effect == of {
			paths = append(paths, f.path)
		}
	})
	return paths
}

// follow returns the configuration with the other's values where a running proxy can take them over.
func (c *Config) follow(other *Config) *Config {
	out := &Config{given: other.given, object: other.object, flags: other.flags}
	out.KubeProxyConfiguration = *c.DeepCopy()
	var to []field
	eachField(&out.KubeProxyConfiguration, func(f field) { to = append(to, f) })
	table := rules()
	eachField(other.DeepCopy(), func(f field) {
		if ruleOf(table, f.path, c.Mode).effect == live {
			to[0].value.Set(f.value)
		}
		to = to[1:] // the same fields in the same order
	})
	return out
}
