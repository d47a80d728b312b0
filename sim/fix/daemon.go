package fix

import (
	"fmt"

	"github.com/lameduck-proxy/lameduck/sim/edit"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// daemonStrategy is where a DaemonSet says how it is updated.
const daemonStrategy = "spec.updateStrategy.rollingUpdate"

// isDaemon says that the workload is a DaemonSet.
func (t *target) isDaemon() bool { return t.w.Kind() == world.DaemonSet }

// beside has a DaemonSet's new pods come beside the old ones, on as many nodes at a time as were to be without one. A host port
// forbids it: there the new pod would never find room.
func (t *target) beside() *Change {
	if ports, _ := world.HostPorts(&t.w.Template().Spec); len(ports) > 0 {
		return nil
	}
	surge, unavailable := world.RollingOf(t.w.Resource)
	if surge == nil || unavailable == nil || isZero(surge.String()) == isZero(unavailable.String()) || isZero(unavailable.String()) {
		return nil
	}
	return &Change{
		ID: "maxSurge", Title: fmt.Sprintf("maxSurge: %s, maxUnavailable: 0", unavailable.String()), Edits: t.daemonBounds(unavailable.String(), "0"),
		Cost: "room for a second pod on a node during a rollout", Has: []string{oneByOneID},
	}
}

const oneByOneID = "oneByOne"

// oneByOne has a DaemonSet that takes several pods away at a time take one.
func (t *target) oneByOne() *Change {
	surge, unavailable := world.RollingOf(t.w.Resource)
	if _, most := t.w.Fenceposts(); !t.isDaemon() || most < 2 || surge == nil || !isZero(surge.String()) || unavailable == nil {
		return nil
	}
	return &Change{ID: oneByOneID, Title: "maxUnavailable: 1", Edits: []edit.Edit{t.edit(daemonStrategy+".maxUnavailable", 1)}}
}

// after has a DaemonSet's new pods come after the old ones, on as many nodes at a time as were to have both.
func (t *target) after() *Change {
	surge, _ := world.RollingOf(t.w.Resource)
	if surge == nil || isZero(surge.String()) {
		return nil
	}
	return &Change{
		ID: "inPlace", Title: fmt.Sprintf("maxSurge: 0, maxUnavailable: %s", surge.String()), Edits: t.daemonBounds("0", surge.String()),
		Cost: "a node is without its pod at its turn during a rollout",
	}
}

func isZero(bound string) bool { return bound == "0" || bound == "0%" }

// daemonBounds sets both bounds, since exactly one of them may be anything but 0.
func (t *target) daemonBounds(surge, unavailable string) []edit.Edit {
	if t.w.Object != nil && !t.w.Object.Has(daemonStrategy) {
		return []edit.Edit{t.edit(daemonStrategy, fmt.Sprintf("{maxUnavailable: %s, maxSurge: %s}", unavailable, surge))}
	}
	return []edit.Edit{t.edit(daemonStrategy+".maxUnavailable", unavailable), t.edit(daemonStrategy+".maxSurge", surge)}
}
