package scenario

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/units"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// proxyConfigKey is the annotation of a pod with which it says what its istio-proxy does otherwise than the mesh's, in YAML or JSON.
const proxyConfigKey = "proxy.istio.io/config"

// readProxyConfig has an istio-proxy drain for as long as the pod's annotation says, and wait for its connections where that asks for it. The
// agent's variable of the old name stands over it (docs/model/propagation.md 5 istio-proxy).
func (b *builder) readProxyConfig(w *world.Workload, c *corev1.Container) {
	const variable = "TERMINATION_DRAIN_DURATION_SECONDS"
	lasts := servers.IstioDrain(&w.App)
	text := w.Template().Annotations[proxyConfigKey]
	if lasts == nil || w.App.Basis != inferred || text == "" {
		return
	}
	path := fmt.Sprintf("spec.template.metadata.annotations[%q]", proxyConfigKey)
	config, problems := manifest.Raw(manifest.File{Name: proxyConfigKey, Data: []byte(text)})
	if config == nil {
		p := w.Object.Problem(manifest.Warning, path, "it is no YAML that could be read ("+problems[0].Message+"): the proxy is as without it")
		if !slices.Contains(b.doc.problems, p) {
			b.doc.problems = append(b.doc.problems, p)
		}
		return
	}
	said := ""
	if value := rawText(config.Value, "terminationDrainDuration"); value != "" && !servers.Sets(c, variable) {
		if d, ok := units.ParseSpan(value, engine.Second); ok {
			*lasts, said = d, "terminationDrainDuration "+d.Duration().String()
		}
	}
	if exit := rawAt(config.Value, "proxyMetadata", "EXIT_ON_ZERO_ACTIVE_CONNECTIONS"); exit != nil && strings.EqualFold(fmt.Sprint(exit), "true") {
		w.App.InFlight = world.InFlightFinish
	}
	if said != "" {
		where := place(w.Object, path, "")
		w.App.Evidence += fmt.Sprintf(", %s by annotation %s%s", said, proxyConfigKey, where)
	}
}
