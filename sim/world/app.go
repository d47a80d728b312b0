package world

// Graceful says whether an app that shuts down finishes what it has begun. Such servers send
// GOAWAY where they speak HTTP/2: Go's net/http, Envoy, gRPC's GracefulStop
// (docs/model/propagation.md 5; for others it is recalled).
func (a *App) Graceful() bool { return !a.IgnoresSIGTERM && a.InFlight == InFlightFinish }
