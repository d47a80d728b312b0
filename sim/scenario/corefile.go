package scenario

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/units"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// readCorefile has CoreDNS do at SIGTERM what its Corefile says, where that is in a ConfigMap of the input: for how long it goes on serving, and
// whether it tells its readiness probe (docs/model/propagation.md 5 CoreDNS).
func (b *builder) readCorefile(w *world.Workload, c *corev1.Container) {
	const profile = "coredns"
	if w.App.Profile != profile || w.App.Basis != inferred {
		return
	}
	o, key := b.world.mounted(w, c, cmp.Or(after(append(slices.Clone(c.Command), c.Args...), "-conf"), "Corefile"))
	if o == nil {
		return
	}
	lasts, ready, ok := corefile(rawText(o.Value, "data", key))
	if !ok {
		return
	}
	asksReady := c.ReadinessProbe == nil || c.ReadinessProbe.HTTPGet == nil || c.ReadinessProbe.HTTPGet.Path != "/health"
	w.App.Alternatives = nil
	w.App.DrainFor, w.App.ReadinessFails = lasts, ready && asksReady
	what := "no lameduck"
	if lasts > 0 {
		what = "lameduck " + lasts.Duration().String()
	} else {
		w.App.Listener, w.App.ReadinessFails = servers.UnknownApp().Listener, false
	}
	w.App.Evidence += fmt.Sprintf(", %s in its Corefile%s", what, place(o, fmt.Sprintf("data[%q]", key), ""))
}

// after is the word that follows a flag.
func after(argv []string, flag string) string {
	if i := slices.Index(argv, flag); i >= 0 && i+1 < len(argv) {
		return argv[i+1]
	}
	return ""
}

// mounted is the ConfigMap of the input that a container has a file from, and the key that it is there; nil where there is none.
func (w *inventory) mounted(of *world.Workload, c *corev1.Container, file string) (o *manifest.Object, key string) {
	for _, m := range c.VolumeMounts {
		name, ok := fileIn(&m, file)
		for _, v := range of.Template().Spec.Volumes {
			if v.Name != m.Name || v.ConfigMap == nil || !ok {
				continue
			}
			key := name
			if items := v.ConfigMap.Items; len(items) > 0 {
				i := slices.IndexFunc(items, func(k corev1.KeyToPath) bool { return k.Path == name })
				if i < 0 {
					continue
				}
				key = items[i].Key
			}
			if o := w.configMaps[of.Namespace()+"/"+v.ConfigMap.Name]; o != nil && rawText(o.Value, "data", key) != "" {
				return o, key
			}
		}
	}
	return nil, ""
}

// fileIn is which file of a volume a mount has at a path: one of the directory, or the only one, by its subPath. A path that is not absolute may be
// in any directory.
func fileIn(m *corev1.VolumeMount, file string) (name string, ok bool) {
	switch at := path.Clean(m.MountPath); {
	case m.SubPath != "":
		return m.SubPath, at == file || !path.IsAbs(file) && path.Base(at) == path.Base(file)
	default:
		return path.Base(file), !path.IsAbs(file) || path.Dir(file) == at
	}
}

// corefile reads for how long CoreDNS goes on serving, the times of all its health plugins one after another, and whether the plugin
// ready tells of it. ok is false where what is not here, or cannot be read, may say it.
func corefile(text string) (lasts engine.Time, ready, ok bool) {
	depth, health, found := 0, false, false
	for _, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.FieldsFunc(strings.NewReplacer("{", " { ", "}", " } ").Replace(line), unicode.IsSpace)
		for i, word := range words {
			switch {
			case word == "{":
				depth++
			case word == "}":
				depth--
				health = health && depth > 1
			case word == "import" && i == 0:
				found = true
			case depth == 1 && i == 0:
				health = word == "health"
				ready = ready || word == "ready"
			case depth == 2 && health && word == "lameduck" && i+1 < len(words):
				d, read := units.ParseSpan(words[i+1], engine.Second)
				if !read {
					return 0, false, false
				}
				lasts += d
			}
		}
	}
	return lasts, ready, depth == 0 && text != "" && (lasts > 0 || !found)
}
