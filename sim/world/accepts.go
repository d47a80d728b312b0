package world

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// ShutdownGrace is the argument by which the controller of ingress-nginx waits before it stops nginx.
const ShutdownGrace = "--shutdown-grace-period"

// AcceptsFlag is the argument of an app's program that says for how long it goes on accepting connections after SIGTERM, "" where there is
// none.
func (a *App) AcceptsFlag() string {
	if a.Profile == "ingress-nginx" {
		return ShutdownGrace
	}
	return ""
}

// ClosesUnseen says that the app has such an argument, fails its readiness probe at SIGTERM, and closes its port before that has failed so
// often as counts.
func (a *App) ClosesUnseen(p *corev1.Probe) bool {
	return p != nil && a.ReadinessFails && a.AcceptsFlag() != "" && a.DrainFor < SeenAfter(p)
}

// SeenAfter is how long it takes at most until a probe has failed so often as counts.
func SeenAfter(p *corev1.Probe) engine.Time {
	return engine.Time(p.PeriodSeconds*p.FailureThreshold) * engine.Second
}
