package world

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// The older annotation goes before the newer one, and either before the field. Reference:
// k8s.io/endpointslice 0.36.3 utils.go, hintsEnabled; reconciler.go.
func TestHintModeOf(t *testing.T) {
	t.Parallel()
	nearby := corev1.ServiceTrafficDistributionPreferClose
	const older, newer = corev1.DeprecatedAnnotationTopologyAwareHints, corev1.AnnotationTopologyMode
	for _, c := range []struct {
		name        string
		annotations map[string]string
		field       *string
		want        HintMode
	}{
		{"nothing said", nil, nil, HintsNone},
		{"the field", nil, &nearby, HintsSameZone},
		{"the annotation", map[string]string{newer: "Auto"}, nil, HintsProportional},
		{"in lower case", map[string]string{newer: "auto"}, nil, HintsProportional},
		{"in upper case it means nothing", map[string]string{newer: "AUTO"}, &nearby, HintsSameZone},
		{"both", map[string]string{newer: "Auto"}, &nearby, HintsProportional},
		{"the older annotation's word counts", map[string]string{older: "disabled", newer: "Auto"}, nil, HintsNone},
		{"the older annotation", map[string]string{older: "auto"}, nil, HintsProportional},
	} {
		svc := &corev1.Service{}
		svc.Annotations, svc.Spec.TrafficDistribution = c.annotations, c.field
		profile := endpoints.Profile{Version: endpoints.CurrentVersion(), Options: endpoints.CurrentOptions()}
		if got := HintModeOf(svc, profile); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// PreferClose came as a beta field in 1.31 (an alpha one in 1.30, off), the two others with PreferSameTrafficDistribution.
func TestHintModesOfVersions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		distribution string
		minor        int
		want         HintMode
	}{
		{corev1.ServiceTrafficDistributionPreferClose, 29, HintsNone}, {corev1.ServiceTrafficDistributionPreferClose, 30, HintsNone},
		{corev1.ServiceTrafficDistributionPreferClose, 31, HintsSameZone}, {corev1.ServiceTrafficDistributionPreferClose, 36, HintsSameZone},
		{corev1.ServiceTrafficDistributionPreferSameZone, 31, HintsNone}, {corev1.ServiceTrafficDistributionPreferSameZone, 36, HintsSameZone},
		{corev1.ServiceTrafficDistributionPreferSameNode, 31, HintsNone}, {corev1.ServiceTrafficDistributionPreferSameNode, 36, HintsSameNode},
		{"Elsewhere", 36, HintsNone},
	} {
		profile, err := endpoints.ProfileFor(endpoints.Version{Major: 1, Minor: c.minor}, nil)
		if err != nil {
			t.Fatal(err)
		}
		svc := &corev1.Service{Spec: corev1.ServiceSpec{TrafficDistribution: &c.distribution}}
		if got := HintModeOf(svc, profile); got != c.want {
			t.Errorf("%s in 1.%d: %d, want %d", c.distribution, c.minor, got, c.want)
		}
	}
}
