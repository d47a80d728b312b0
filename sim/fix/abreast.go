package fix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/edit"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// abreast has what a proxy passes its requests on to live as long as the proxy, whose own hook is long enough: as long as that hook takes. Where that is
// too short, or there is none, preStop has both sleep. nil where nothing behind the server ends before it.
func (t *target) abreast(lateness engine.Time) *Change {
	own := min(t.w.Hooks[t.w.Server].Duration.Min(), t.w.EffectiveGrace())
	if own < engine.Time(Sleep(lateness))*engine.Second {
		return nil
	}
	c, seconds := &Change{ID: "preStopBehind"}, int64((own+engine.Second-1)/engine.Second)
	containers := t.containers()
	var names []string
	rest := engine.Time(0)
	for i := range containers {
		name := containers[i].Name
		hook := t.w.Hooks[name]
		if !slices.Contains(t.w.Behind, name) || hook.Duration.Min() >= own {
			continue
		}
		h, ok := t.sleepingHook(containers[i], seconds)
		if !ok {
			return nil
		}
		names, rest = append(names, name+h.words+h.needs()), max(rest, h.rest)
		c.Cost += h.costs()
		c.Edits = append(c.Edits, t.editOf(t.pathIn(i, "lifecycle.preStop"), edit.Value{YAML: h.yaml}, hook.Why))
	}
	if len(names) == 0 {
		return nil
	}
	c.Title = fmt.Sprintf("preStop: sleep %d in container %s, behind %s", seconds, strings.Join(names, " and "), t.w.Server)
	if needed := seconds + int64((spare+rest)/engine.Second); needed > t.graceSeconds() {
		c.Title += ", " + graceWords(needed)
		c.Edits = append(c.Edits, t.edit(gracePath, needed))
	}
	c.Cost = strings.TrimPrefix(c.Cost, "; ")
	return c
}
