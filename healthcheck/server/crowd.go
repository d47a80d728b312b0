package server

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
)

// Limits of the connections to one Socket. A load balancer probes from a dozen addresses or so, each over one connection, and
// many may share one address behind a NAT gateway. One connection takes some 20 kB: a port that is flooded holds 2.5 MB, and no
// other port notices.
const (
	maxConnections = 128
	// maxPerSource is for one client: an address of IPv4, or the 64 bits of IPv6 within which one machine may choose its addresses.
	maxPerSource = 32
	prefixOfIPv6 = 64
)

// crowd is a listener that always accepts, so that nobody waits behind others. Where there are as many connections as may be,
// one is closed for the new one: who connects and asks nothing keeps nobody else from asking.
type crowd struct {
	net.Listener
	mu     sync.Mutex
	guests []*guest // in the order in which they came
	count  map[netip.Prefix]int
}

// guest is one connection.
type guest struct {
	net.Conn
	crowd *crowd
	from  netip.Prefix // the zero Prefix where the network has no addresses
	stage stage
}

// stage is how far a connection has come.
type stage uint8

const (
	silent   stage = iota // no request has come yet
	answered              // the request has its answer, which may be on its way
	asking                // the request is being answered: such a connection is not closed for others
)

func newCrowd(l net.Listener) *crowd { return &crowd{Listener: l, count: map[netip.Prefix]int{}} }

// Accept waits for the next connection.
func (c *crowd) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		g := &guest{Conn: conn, crowd: c, from: sourceOf(conn.RemoteAddr())}
		leaves, admitted := c.admit(g)
		if leaves != nil {
			leaves.cut()
		}
		if admitted {
			return g, nil
		}
		g.cut()
	}
}

// admit adds a connection, and says which one has to leave for it. Where the requests of all are being answered, there is no room
// for it.
func (c *crowd) admit(g *guest) (leaves *guest, admitted bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if crowded := c.count[g.from] >= maxPerSource; crowded || len(c.guests) >= maxConnections {
		if leaves = c.leastMissed(g.from, crowded); leaves == nil {
			return nil, false
		}
		c.remove(leaves)
	}
	c.guests = append(c.guests, g)
	c.count[g.from]++
	return leaves, true
}

// leastMissed returns the connection that is closed for a new one, of the same source only or of any: one of the source with the most
// connections, as a client that has one is no flood; of its connections one without a request rather than one with an answer; of
// those the oldest. Nil is for none.
func (c *crowd) leastMissed(source netip.Prefix, same bool) *guest {
	var best *guest
	for _, g := range c.guests {
		if g.stage == asking || same && g.from != source {
			continue
		}
		if best == nil || cmp.Or(cmp.Compare(c.count[best.from], c.count[g.from]), cmp.Compare(g.stage, best.stage)) < 0 {
			best = g
		}
	}
	return best
}

// remove takes out a connection that is there.
func (c *crowd) remove(g *guest) {
	at := slices.Index(c.guests, g)
	if at < 0 {
		return
	}
	c.guests = slices.Delete(c.guests, at, at+1)
	if c.count[g.from]--; c.count[g.from] == 0 {
		delete(c.count, g.from)
	}
}

// Close ends the connection, as the server does when it has answered or waited long enough.
func (g *guest) Close() error {
	g.crowd.mu.Lock()
	g.crowd.remove(g)
	g.crowd.mu.Unlock()
	return g.Conn.Close()
}

// cut ends the connection for the sake of others. The kernel keeps nothing of it: a client that opens thousands would have it keep thousands.
func (g *guest) cut() {
	g.crowd.mu.Lock()
	unasked := g.stage == silent
	g.crowd.mu.Unlock()
	if tcp, ok := g.Conn.(*net.TCPConn); ok && unasked {
		_ = tcp.SetLinger(0) // without it the kernel only keeps it longer
	}
	_ = g.Conn.Close() // nobody could do anything about it
}

// set says how far the connection has come.
func (g *guest) set(s stage) {
	g.crowd.mu.Lock()
	g.stage = s
	g.crowd.mu.Unlock()
}

// sourceOf returns whose connection it is.
func sourceOf(a net.Addr) netip.Prefix {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	ip := tcp.AddrPort().Addr().Unmap().WithZone("")
	bits := ip.BitLen()
	if ip.Is6() {
		bits = prefixOfIPv6
	}
	prefix, _ := ip.Prefix(bits) // the zero Prefix, if there was no address
	return prefix
}

// guestKey is where the context of a request has its connection.
type guestKey struct{}

// withGuest has requests know their connection.
func withGuest(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, guestKey{}, conn)
}

// attended has connections whose requests are being answered stay.
func attended(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g, ok := r.Context().Value(guestKey{}).(*guest); ok {
			g.set(asking)
			defer g.set(answered)
		}
		h.ServeHTTP(w, r)
	})
}
