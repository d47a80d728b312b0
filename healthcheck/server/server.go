package server

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/healthcheck"
)

// State is what answers follow from. Table is that of the rules in force.
type State struct {
	Table *healthcheck.Table
	Proxy healthcheck.ProxyState
	Node  healthcheck.NodeState
}

// Trouble is a socket that cannot be opened, or something that went wrong with it.
type Trouble struct {
	Service endpoints.ServiceName // whose port it is; zero for the proxy's own
	Address string
	Err     error
}

// Options of a Server.
type Options struct {
	// Address is where /healthz and /livez are served, "" for nowhere.
	Address string
	// State returns what is known at the moment, from any goroutine. Its Table is no older than that of the last Follow.
	State func() State
	// Behaviour is that of the Kubernetes version.
	Behaviour endpoints.Options
	// Now is the clock, nil for the machine's.
	Now func() time.Time
	// Answered hears of each answer of the proxy's own port, Listening of each socket that is open, Trouble of each that
	// cannot be, once as long as nothing about it changes. All may be called from any goroutine, and may be nil.
	Answered  func(path string, status int)
	Listening func(net.Addr)
	Trouble   func(Trouble)
	// Listen opens sockets; nil is the machine's.
	Listen Listen
	// FailHard has Run give up when Address cannot be listened on (KubeProxyConfiguration, bindAddressHardFail). The ports of
	// Services are tried again whatever it says, as kube-proxy 1.36 leaves them out of it (server.go, serveHealthz; verified).
	FailHard bool
}

// Server is all sockets on which a proxy is asked for its health.
type Server struct {
	opts Options

	mu      sync.Mutex
	table   *healthcheck.Table
	addrs   []netip.Addr
	changed chan struct{} // has room for one signal: more would say the same
}

// New returns a Server that listens nowhere until Run.
func New(o Options) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Answered == nil {
		o.Answered = func(string, int) {}
	}
	if o.Trouble == nil {
		o.Trouble = func(Trouble) {}
	}
	return &Server{opts: o, changed: make(chan struct{}, 1)}
}

// Follow has the ports of the Services in a Table open at the addresses, each at those of its own family, and no others. An
// unspecified address, 0.0.0.0 or ::, stands for all of its family. It returns at once: call it when the rules that the
// Table belongs to are in force.
func (s *Server) Follow(t *healthcheck.Table, addrs []netip.Addr) {
	s.mu.Lock()
	s.table, s.addrs = t, addrs
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Run keeps sockets open until the context ends. The error is nil, but with FailHard.
func (s *Server) Run(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	ctx, end := context.WithCancel(ctx)
	defer end()
	failed := make(chan error, 1)
	if s.opts.Address != "" {
		own := s.socket(func() endpoints.ServiceName { return endpoints.ServiceName{} }, "tcp", s.opts.Address, s.own())
		own.FailHard = s.opts.FailHard
		running.Go(func() {
			if err := own.Serve(ctx); err != nil {
				failed <- err
			}
		})
	}
	ports := nodePorts{server: s, open: map[netip.AddrPort]*opened{}, running: &running}
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-failed:
			return err
		case <-s.changed:
			ports.follow(ctx)
		}
	}
}

// socket is a Socket that reports as the Server does. Whose port it is may change while it is open.
func (s *Server) socket(service func() endpoints.ServiceName, network, address string, h http.Handler) Socket {
	return Socket{
		Network: network, Address: address, Handler: h, Listening: s.opts.Listening, Listen: s.opts.Listen,
		Trouble: func(err error) { s.opts.Trouble(Trouble{Service: service(), Address: address, Err: err}) },
	}
}

// Handler answers /healthz and /livez as the proxy's own port does, for a port that has them beside something else.
func (s *Server) Handler() http.Handler { return s.own() }

// own answers on the proxy's own port. Everything but its two paths is not found, as in kube-proxy 1.36
// (pkg/proxy/healthcheck/proxy_health.go, Run; verified), and the method does not matter.
func (s *Server) own() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) {
		st := s.opts.State()
		s.answer(w, "/healthz", healthcheck.Healthz(st.Proxy, st.Node, s.opts.Now(), healthcheck.Timeout, s.opts.Behaviour))
	})
	mux.HandleFunc("/livez", func(w http.ResponseWriter, _ *http.Request) {
		s.answer(w, "/livez", healthcheck.Livez(s.opts.State().Proxy, s.opts.Now(), healthcheck.Timeout))
	})
	return mux
}

func (s *Server) answer(w http.ResponseWriter, path string, a healthcheck.Answer) {
	s.opts.Answered(path, a.Status)
	write(w, a)
}

// NodePort answers, whatever is asked, as a Service's port does, also where it is not open.
func (s *Server) NodePort(family endpoints.IPFamily, port uint16) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		st := s.opts.State()
		write(w, st.Table.Answer(family, port, healthcheck.Healthy(st.Proxy, s.opts.Now(), healthcheck.Timeout)))
	})
}

// write writes an Answer as it is.
func write(w http.ResponseWriter, a healthcheck.Answer) {
	for key, values := range a.Header { // order: a header has none
		w.Header()[key] = values
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) // who asked is gone
}
