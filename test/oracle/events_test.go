package oracle

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

type eventKind uint8

const (
	setService eventKind = iota
	deleteService
	setSlice
	deleteSlice
	syncNow
)

// event is one thing that happens to the API, or the moment at which both sides publish
// what they have seen. Objects are never changed once an event holds them.
type event struct {
	kind    eventKind
	service *corev1.Service
	slice   *discoveryv1.EndpointSlice
	name    types.NamespacedName // of the object, for deletions
}

func (e event) String() string {
	switch e.kind {
	case setService:
		return "set Service\n" + indent(e.service)
	case setSlice:
		return "set EndpointSlice\n" + indent(e.slice)
	case deleteService:
		return fmt.Sprintf("delete Service %s\n", e.name)
	case deleteSlice:
		return fmt.Sprintf("delete EndpointSlice %s\n", e.name)
	default:
		return "sync\n"
	}
}

func indent(object any) string {
	text, err := yaml.Marshal(object)
	if err != nil {
		return "    " + err.Error() + "\n"
	}
	return "    " + strings.ReplaceAll(strings.TrimSuffix(string(text), "\n"), "\n", "\n    ") + "\n"
}

// world is one run: the nodes that look at the cluster and what happens in it.
type world struct {
	seed   uint64
	nodes  []endpoints.NodeInfo
	events []event
}

func (w world) String() string {
	var b strings.Builder
	for _, n := range w.nodes {
		fmt.Fprintf(&b, "node %q, zone %q\n", n.Name, n.Zone)
	}
	for i, e := range w.events {
		fmt.Fprintf(&b, "%d. %s", i+1, e)
	}
	return b.String()
}
