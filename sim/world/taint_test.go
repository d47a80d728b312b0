package world

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Reference: k8s.io/api/core/v1, Toleration.ToleratesTaint; an effect of PreferNoSchedule is a wish.
func TestTolerates(t *testing.T) {
	t.Parallel()
	taint := corev1.Taint{Key: "dedicated", Value: "batch", Effect: corev1.TaintEffectNoSchedule}
	other := corev1.Taint{Key: "gpu", Effect: corev1.TaintEffectNoExecute}
	for name, c := range map[string]struct {
		tolerations []corev1.Toleration
		taints      []corev1.Taint
		want        bool
	}{
		"no taint":                    {nil, nil, true},
		"a wish":                      {nil, []corev1.Taint{{Key: "x", Effect: corev1.TaintEffectPreferNoSchedule}}, true},
		"no toleration":               {nil, []corev1.Taint{taint}, false},
		"key and value":               {[]corev1.Toleration{{Key: "dedicated", Value: "batch"}}, []corev1.Taint{taint}, true},
		"another value":               {[]corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpEqual, Value: "web"}}, []corev1.Taint{taint}, false},
		"any value":                   {[]corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}, []corev1.Taint{taint}, true},
		"another effect":              {[]corev1.Toleration{{Key: "dedicated", Value: "batch", Effect: corev1.TaintEffectNoExecute}}, []corev1.Taint{taint}, false},
		"another key":                 {[]corev1.Toleration{{Key: "gpu", Operator: corev1.TolerationOpExists}}, []corev1.Taint{taint}, false},
		"everything":                  {[]corev1.Toleration{{Operator: corev1.TolerationOpExists}}, []corev1.Taint{taint, other}, true},
		"one of two":                  {[]corev1.Toleration{{Key: "dedicated", Value: "batch"}}, []corev1.Taint{taint, other}, false},
		"no key is any with Exists":   {[]corev1.Toleration{{Value: "batch"}}, []corev1.Taint{taint}, false},
		"each of two by one for each": {[]corev1.Toleration{{Key: "gpu", Operator: corev1.TolerationOpExists}, {Key: "dedicated", Value: "batch"}}, []corev1.Taint{taint, other}, true},
	} { // order: each for itself
		node := &corev1.Node{Spec: corev1.NodeSpec{Taints: c.taints}}
		if got := Tolerates(c.tolerations, TaintsOf(node)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if TaintsOf(nil) != nil {
		t.Error("a made-up node has a taint")
	}
}

// 68 years and more, which no clock of 64 bits and nanoseconds could add to much longer, are for ever.
func TestATolerationThatOutlastsEveryRunIsForEver(t *testing.T) {
	t.Parallel()
	taint := corev1.Taint{Key: "a", Effect: corev1.TaintEffectNoExecute}
	for _, test := range []struct {
		seconds int64
		ever    bool
	}{{0, false}, {1 << 30, false}, {1 << 31, true}, {9_300_000_000, true}, {1<<63 - 1, true}} {
		patience, ever := Endures([]corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpExists, TolerationSeconds: &test.seconds}}, taint)
		if ever != test.ever || patience < 0 || !ever && patience != engine.Time(test.seconds)*engine.Second {
			t.Errorf("%d s: %v, for ever %v", test.seconds, patience, ever)
		}
	}
}
