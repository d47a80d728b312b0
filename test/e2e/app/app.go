// Package app is what runs in a pod's container: a server that says who it is, over HTTP and UDP,
// and behaves at its end as its environment says.
//
//	PORT                8080      HTTP
//	UDP_PORT            8080      datagrams
//	START_DELAY         0s        from the start of the container to listening
//	ON_SIGTERM          exit      "exit": ends at once, with all connections; "ignore": waits for SIGKILL;
//	                              a duration such as "10s": serves that long, then lets requests finish and ends
//	READY_AFTER_SIGTERM true      what /ready answers from then on: 200 or, if false, 503
//
// Any path but /ready is answered with "POD CLIENT", the client being the address and port that
// the pod sees; ?for=200ms has the answer take that long. A datagram is answered the same way.
package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"
)

// Config is how an app behaves.
type Config struct {
	Port, UDPPort uint16
	StartDelay    time.Duration
	Ignore        bool          // SIGTERM
	Serve         time.Duration // after SIGTERM
	Unready       bool          // after SIGTERM
}

// Parse reads a container's environment. What it does not know is an error.
func Parse(env map[string]string) (Config, error) {
	c := Config{Port: 8080, UDPPort: 8080}
	var errs []error
	for name, value := range env { // order: each is read by itself
		var err error
		switch name {
		case "PORT":
			c.Port, err = parsePort(value)
		case "UDP_PORT":
			c.UDPPort, err = parsePort(value)
		case "START_DELAY":
			c.StartDelay, err = time.ParseDuration(value)
		case "ON_SIGTERM":
			err = c.onSIGTERM(value)
		case "READY_AFTER_SIGTERM":
			var ready bool
			ready, err = strconv.ParseBool(value)
			c.Unready = !ready
		default:
			err = errors.New("the app knows no such variable")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s=%s: %w", name, value, err))
		}
	}
	return c, errors.Join(errs...)
}

func parsePort(s string) (uint16, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	return uint16(n), err
}

func (c *Config) onSIGTERM(value string) (err error) {
	switch value {
	case "exit":
	case "ignore":
		c.Ignore = true
	default:
		if c.Serve, err = time.ParseDuration(value); err != nil {
			err = errors.Join(errors.New("want exit, ignore or a duration"), err)
		}
	}
	return err
}

// Host is where an app listens.
type Host interface {
	Listen(ctx context.Context, address string) (net.Listener, error)
	ListenPacket(ctx context.Context, address string) (net.PacketConn, error)
}

// Exit codes of a container: of an app that ended by itself, of one that SIGTERM ended, of one
// that SIGKILL ended.
const (
	ExitDone       = 0
	ExitTerminated = 128 + 15
	ExitKilled     = 128 + 9
	exitFailed     = 1
)

// App is a running app.
type App struct {
	name   string
	config Config

	terminated, killed chan struct{} // the signals, closed once each
	ended              chan struct{}
	code               int // once ended
	err                error
	unready            atomic.Bool
	started            atomic.Bool
}

// Start starts an app. It listens when its delay is over.
func Start(name string, c Config, h Host) *App {
	a := &App{name: name, config: c, terminated: make(chan struct{}), killed: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		a.code, a.err = a.run(h)
		close(a.ended)
	}()
	return a
}

// Terminate is SIGTERM. It is sent once.
func (a *App) Terminate() { close(a.terminated) }

// Kill is SIGKILL. It is sent once.
func (a *App) Kill() { close(a.killed) }

// Ended is closed when the app has ended.
func (a *App) Ended() <-chan struct{} { return a.ended }

// Exit is the exit code of an app that has ended, and what it would have logged.
func (a *App) Exit() (int, error) { return a.code, a.err }

// run is the app's life.
func (a *App) run(h Host) (code int, err error) {
	select {
	case <-time.After(a.config.StartDelay):
	case <-a.terminated: // no handler is installed yet
		return ExitTerminated, nil
	case <-a.killed:
		return ExitKilled, nil
	}
	s, err := a.listen(h)
	if err != nil {
		return exitFailed, err
	}
	defer s.close()
	a.started.Store(true)
	select {
	case <-a.terminated:
	case <-a.killed:
		return ExitKilled, nil
	}
	a.unready.Store(a.config.Unready)
	switch {
	case a.config.Ignore:
		<-a.killed
		return ExitKilled, nil
	case a.config.Serve == 0:
		return ExitTerminated, nil
	}
	select {
	case <-time.After(a.config.Serve):
	case <-a.killed:
		return ExitKilled, nil
	}
	return a.drain(s)
}

// drain lets requests finish.
func (a *App) drain(s *sockets) (int, error) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	drained := make(chan error, 1)
	go func() { drained <- s.http.Shutdown(ctx) }()
	select {
	case err := <-drained:
		return ExitDone, err
	case <-a.killed:
		return ExitKilled, nil
	}
}

// sockets are an app's. The kernel closes a process's sockets when it ends, however it ends; so
// does close, connections included.
type sockets struct {
	http *http.Server
	udp  net.PacketConn
}

func (s *sockets) close() { _ = errors.Join(s.http.Close(), s.udp.Close()) } // they may be closed

func (a *App) listen(h Host) (*sockets, error) {
	ctx := context.Background()
	l, err := h.Listen(ctx, fmt.Sprintf(":%d", a.config.Port))
	if err != nil {
		return nil, err
	}
	udp, err := h.ListenPacket(ctx, fmt.Sprintf(":%d", a.config.UDPPort))
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	s := &sockets{http: &http.Server{Handler: a, ReadHeaderTimeout: time.Minute}, udp: udp}
	go func() { _ = s.http.Serve(l) }() // it ends when it is closed
	go a.echo(udp)
	return s, nil
}

// ServeHTTP answers a request.
func (a *App) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/ready" {
		if a.unready.Load() {
			http.Error(w, "terminating", http.StatusServiceUnavailable)
		}
		return
	}
	if text := r.URL.Query().Get("for"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		time.Sleep(d)
	}
	fmt.Fprintf(w, "%s %s", a.name, r.RemoteAddr)
}

// echo answers datagrams until the socket is closed.
func (a *App) echo(c net.PacketConn) {
	var b [512]byte
	for {
		_, from, err := c.ReadFrom(b[:])
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			_, _ = c.WriteTo(slices.Concat([]byte(a.name), []byte(" "+from.String())), from) // datagrams may be lost
		}
	}
}
