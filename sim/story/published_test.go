package story

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A Service that leads to pods whatever they are is behind what meets a pod that does not listen, and behind nothing else.
func TestAServiceThatPublishesAllIsTheCulprit(t *testing.T) {
	t.Parallel()
	of := func(publishes bool) *world.Scenario {
		svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: corev1.ServiceSpec{PublishNotReadyAddresses: publishes}}
		return &world.Scenario{Services: []world.Service{{Service: svc}}, Traffic: []world.Traffic{{Service: "shop/web"}}}
	}
	for cause, want := range map[ledger.Cause]bool{ledger.NotListeningYet: true, ledger.ListenerClosed: true, ledger.KilledInFlight: false} {
		c, ok := NotReadyPublished(of(true), 0, ledger.Blame{Cause: cause})
		if ok != want || ok && c.What != "publishNotReadyAddresses: true of Service web" {
			t.Errorf("%s: %+v, %t", cause, c, ok)
		}
		if _, ok := NotReadyPublished(of(false), 0, ledger.Blame{Cause: cause}); ok {
			t.Errorf("%s: it publishes no such address", cause)
		}
	}
}
