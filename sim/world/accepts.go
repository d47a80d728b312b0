package world

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
