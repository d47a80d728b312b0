package world

// Graceful says whether an app that shuts down finishes what it has begun. Such servers send
// GOAWAY where they speak HTTP/2: Go's net/http, Envoy, gRPC's GracefulStop
// (docs/model/propagation.md 5; for others it is recalled).
func (a *App) Graceful() bool { return !a.IgnoresSIGTERM && a.InFlight == InFlightFinish }

// Tells says whether an app that shuts down tells its HTTP/2 clients: one that finishes, and one that closes its connections while it drains.
func (a *App) Tells() bool { return a.Graceful() || a.Leaves() }

// Leaves says whether an app closes each connection with its next answer from SIGTERM on (docs/model/propagation.md 5 istio-proxy).
func (a *App) Leaves() bool {
	return a.ClosesAnswered && !a.IgnoresSIGTERM && a.Listener == ListenerDrains
}

// UWSGI is the profile of uWSGI, which up to 2.0 starts anew at SIGTERM unless it is told to end then (docs/model/propagation.md 5 uWSGI).
const UWSGI = "uwsgi"

// Reloads says that the app starts anew at SIGTERM, in the same process and with its port open: it cuts what it has begun, and what comes waits until it
// is there again.
func (a *App) Reloads() bool { return a.Profile == UWSGI && a.IgnoresSIGTERM }
