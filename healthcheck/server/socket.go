package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// RetryInterval passes before an address that could not be listened on is tried again, as in kube-proxy 1.36
// (cmd/kube-proxy/app/server.go, serveHealthz and serveMetrics; verified).
const RetryInterval = 5 * time.Second

// Limits of every socket. A client may hold a connection no longer than this, and what is sent is thrown away
// unread. No connection is kept for a second request: load balancers ask once in some seconds, Prometheus once in 15 s or more, and a
// connection that is kept takes the place of a client that asks.
const (
	headerTimeout  = 5 * time.Second
	readTimeout    = 10 * time.Second
	answerTimeout  = 10 * time.Second
	maxHeaderBytes = 16 << 10
	maxBodyBytes   = 16 << 10 // nobody reads a body; this is for handlers that come from elsewhere
	// closeGrace is for answers that are on their way when a socket closes.
	closeGrace = time.Second
)

// Listen opens a socket, as net.ListenConfig does.
type Listen func(ctx context.Context, network, address string) (net.Listener, error)

// ListenError says that an address cannot be listened on: nobody is answered there.
type ListenError struct {
	Address string
	Err     error
}

// Error returns "listen on ADDRESS: " and what was wrong.
func (e *ListenError) Error() string { return fmt.Sprintf("listen on %s: %v", e.Address, e.Err) }

// Unwrap returns what was wrong.
func (e *ListenError) Unwrap() error { return e.Err }

// Socket is an address that something is served on for as long as it is wanted.
type Socket struct {
	Network string // "tcp", or "tcp4" or "tcp6" for a socket that leaves the other family's port alone
	Address string // with its port
	Handler http.Handler
	// AnswerTimeout is how long an answer may take, 0 for 10 s.
	AnswerTimeout time.Duration
	// Listening hears of each time that the socket is open, Trouble of what goes wrong: that the port is taken, once, and
	// again when it had been open in between. Both may be called from any goroutine, and may be nil.
	Listening func(net.Addr)
	Trouble   func(error)
	// Listen opens the socket; nil is the machine's.
	Listen Listen
	// FailHard has Serve give up at the first error (KubeProxyConfiguration, bindAddressHardFail).
	FailHard bool
}

// Serve serves until the context ends. What cannot be listened on is tried again after RetryInterval, or with FailHard returned,
// a ListenError, which Trouble has heard of. Otherwise the error is nil.
func (s Socket) Serve(ctx context.Context) error { return s.serve(ctx, func() {}) }

// serve says by released when the address is free again: no later than when it returns.
func (s Socket) serve(ctx context.Context, released func()) error {
	defer released()
	said := ""
	for ctx.Err() == nil {
		open, err := s.once(ctx, released)
		if open {
			said = ""
		}
		if err != nil && err.Error() != said {
			said = err.Error()
			s.trouble(err)
		}
		if err != nil && s.FailHard {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(RetryInterval):
		}
	}
	return nil
}

// once serves until the context ends or something goes wrong. It says whether the socket was open.
func (s Socket) once(ctx context.Context, released func()) (open bool, err error) {
	listen := s.Listen
	if listen == nil {
		listen = (&net.ListenConfig{}).Listen
	}
	l, err := listen(ctx, s.Network, s.Address)
	if ctx.Err() != nil {
		if err == nil {
			_ = l.Close() // nobody has heard of it
		}
		return false, nil
	}
	if err != nil {
		return false, &ListenError{Address: s.Address, Err: err}
	}
	if s.Listening != nil {
		s.Listening(l.Addr())
	}
	l = newCrowd(l)
	server := s.server()
	served := make(chan error, 1)
	var serving sync.WaitGroup
	serving.Go(func() { served <- server.Serve(l) })
	select {
	case err := <-served:
		return true, errors.Join(fmt.Errorf("serve %s: %w", s.Address, err), server.Close())
	case <-ctx.Done():
	}
	_ = l.Close() // the server closes it as well
	released()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeGrace)
	defer cancel()
	_ = server.Shutdown(grace) // who is not done by then is cut off
	_ = server.Close()
	serving.Wait()
	return true, nil
}

func (s Socket) server() *http.Server {
	timeout := s.AnswerTimeout
	if timeout == 0 {
		timeout = answerTimeout
	}
	server := &http.Server{
		Handler:           attended(http.MaxBytesHandler(s.Handler, maxBodyBytes)),
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: timeout,
		MaxHeaderBytes: maxHeaderBytes, ConnContext: withGuest,
		// "OPTIONS *" gets the answer that everybody gets, not a 200 of the library.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     log.New(complaints{s.trouble}, "", 0),
	}
	server.SetKeepAlivesEnabled(false)
	return server
}

func (s Socket) trouble(err error) {
	if s.Trouble != nil {
		s.Trouble(err)
	}
}

// complaints hands on what an http.Server has to say.
type complaints struct{ trouble func(error) }

// Write takes one message.
func (c complaints) Write(text []byte) (int, error) {
	c.trouble(errors.New(string(bytes.TrimSpace(text))))
	return len(text), nil
}
