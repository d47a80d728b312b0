package scenario

import (
	"fmt"
	"regexp"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/units"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// proxyConfigKey is the annotation of a pod with which it says what its istio-proxy does otherwise than the mesh's, in YAML or JSON.
const proxyConfigKey = "proxy.istio.io/config"

var (
	drainWords = regexp.MustCompile(`["']?terminationDrainDuration["']?\s*:\s*["']?([0-9][0-9.hms]*)`)
	exitWords  = regexp.MustCompile(`(?i)["']?EXIT_ON_ZERO_ACTIVE_CONNECTIONS["']?\s*:\s*["']?true`)
)

// readProxyConfig has an istio-proxy drain for as long as the pod's annotation says, and wait for its connections where that asks for it. The
// agent's variable of the old name stands over it (docs/model/propagation.md 5 istio-proxy).
func (b *builder) readProxyConfig(w *world.Workload, c *corev1.Container) {
	const profile, variable = "istio-proxy", "TERMINATION_DRAIN_DURATION_SECONDS"
	text := w.Template().Annotations[proxyConfigKey]
	if w.App.Profile != profile || w.App.Basis != inferred || text == "" {
		return
	}
	said := ""
	if m := drainWords.FindStringSubmatch(text); m != nil && !servers.Sets(c, variable) {
		if d, ok := units.ParseSpan(m[1], engine.Second); ok {
			w.App.DrainFor, said = d, "terminationDrainDuration "+d.Duration().String()
		}
	}
	if exitWords.MatchString(text) {
		w.App.InFlight = world.InFlightFinish
	}
	if said != "" {
		where := place(w.Object, fmt.Sprintf("spec.template.metadata.annotations[%q]", proxyConfigKey), "")
		w.App.Evidence += fmt.Sprintf(", %s by annotation %s%s", said, proxyConfigKey, where)
	}
}
