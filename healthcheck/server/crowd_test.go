package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// stubborn holds connections to a port as long as it may, and comes back some time after each is closed.
type stubborn struct {
	lane  *lane
	from  netip.Addr
	sends string
	pause time.Duration
}

func (s *stubborn) run(ctx context.Context) {
	for ctx.Err() == nil {
		conn := s.lane.dialFrom(s.from)
		stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
		_, _ = io.WriteString(conn, s.sends) // it may be closed already
		_, _ = io.Copy(io.Discard, conn)
		stop()
		_ = conn.Close()
		select {
		case <-ctx.Done():
		case <-time.After(s.pause):
		}
	}
}

// hostile is what clients that want to blind a port send over their connections.
func hostile(i int) string {
	return []string{
		"", "GET / HTTP/1.1\r\nHost:", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
	}[i%4]
}

// probe asks once, within a second.
func probe(l *lane, from netip.Addr) error {
	conn := l.dialFrom(from)
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	if _, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		return err
	}
	answer, err := io.ReadAll(conn)
	if err == nil && !strings.HasPrefix(string(answer), "HTTP/1.1 200 OK") {
		err = fmt.Errorf("answered %q", answer)
	}
	return err
}

// serveLane serves a handler on a lane until the returned function is called.
func serveLane(t *testing.T, handler http.HandlerFunc) (l *lane, stop func()) {
	t.Helper()
	l = newLane()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- Socket{Handler: handler, Listen: func(context.Context, string, string) (net.Listener, error) { return l, nil }}.Serve(ctx)
	}()
	return l, func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestHostileConnectionsDoNotKeepAProbeFromItsAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ sources, each int }{{1, 10000}, {20, 1000}} {
		t.Run(fmt.Sprintf("%d from each of %d addresses", c.each, c.sources), func(t *testing.T) {
			t.Parallel()
			if testing.Short() { // the race detector takes ten times as long
				c.each /= 10
			}
			synctest.Test(t, func(t *testing.T) {
				l, stop := serveLane(t, hello)
				ctx, cancel := context.WithCancel(t.Context())
				var running sync.WaitGroup
				for i := range c.sources * c.each {
					s := stubborn{l, netip.AddrFrom4([4]byte{198, 18, 0, byte(i % c.sources)}), hostile(i / c.sources), time.Duration(60+i%120) * time.Second}
					running.Go(func() { s.run(ctx) })
				}
				answered := 0
				for range 100 {
					if err := probe(l, netip.AddrFrom4([4]byte{192, 0, 2, 1})); err != nil {
						t.Errorf("after %d answers: %v", answered, err)
						break
					}
					answered++
					time.Sleep(time.Second)
				}
				cancel()
				stop()
				running.Wait()
				if answered != 100 {
					t.Errorf("%d of 100 probes were answered", answered)
				}
			})
		})
	}
}

// place is where the connections of a test come from.
func place(source string, port int) net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(source), uint16(port))) // small
}

// crowdOf has connections come from sources, one after the other, and returns them.
func crowdOf(c *crowd, n int, source func(i int) string) []*guest {
	var out []*guest
	for i := range n {
		g := &guest{crowd: c, from: sourceOf(place(source(i), 1000+i))}
		c.admit(g)
		out = append(out, g)
	}
	return out
}

func TestWhoLeavesForANewConnection(t *testing.T) {
	t.Parallel()
	distinct := func(i int) string { return fmt.Sprintf("198.18.0.%d", i) }
	const refused = -1
	for name, c := range map[string]struct {
		n      int
		source func(i int) string
		stages map[int]stage // of some
		others stage
		from   string
		want   int // the number of the one that leaves
	}{
		"the oldest of all": {maxConnections, distinct, nil, silent, "192.0.2.1", 0},
		"the oldest without a request, while others are answered":       {maxConnections, distinct, map[int]stage{7: silent, 9: silent}, asking, "192.0.2.1", 7},
		"one without a request rather than an older one with an answer": {maxConnections, distinct, map[int]stage{9: silent}, answered, "192.0.2.1", 9},
		"the oldest with an answer, where all others are answered":      {maxConnections, distinct, map[int]stage{7: answered, 9: answered}, asking, "192.0.2.1", 7},
		"the new one, where all are answered":                           {maxConnections, distinct, nil, asking, "192.0.2.1", refused},
		"the oldest of the source with the most": {maxConnections, func(i int) string {
			if i == 50 || i == 60 {
				return "203.0.113.1"
			}
			return distinct(i)
		}, nil, silent, "192.0.2.1", 50},
		"the oldest of its own source, where that has as many as one may": {maxPerSource + 8, func(i int) string {
			if i < 8 {
				return distinct(i)
			}
			return "203.0.113.1"
		}, nil, silent, "203.0.113.1", 8},
		"of 64 bits of IPv6, which are one source":  {maxPerSource, func(i int) string { return fmt.Sprintf("2001:db8::%x", i+1) }, nil, silent, "2001:db8::ffff:1", 0},
		"none of another 64 bits, to the new one's": {maxPerSource, func(int) string { return "2001:db8::1" }, map[int]stage{0: silent}, asking, "2001:db8::2", 0},
		"the new one of a source that is being answered, though others are idle": {maxPerSource + 1, func(i int) string {
			if i == 0 {
				return "198.18.0.1"
			}
			return "203.0.113.1"
		}, map[int]stage{0: silent}, asking, "203.0.113.1", refused},
		"an IPv4 address that a socket of both families shows as IPv6": {maxPerSource, func(int) string { return "::ffff:198.18.0.1" }, nil, silent, "198.18.0.1", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			crowd := newCrowd(nil)
			there := crowdOf(crowd, c.n, c.source)
			for i, g := range there {
				g.set(c.others)
				if s, ok := c.stages[i]; ok {
					g.set(s)
				}
			}
			leaves, admitted := crowd.admit(&guest{crowd: crowd, from: sourceOf(place(c.from, 1))})
			if got := slices.Index(there, leaves); got != c.want || admitted != (c.want != refused) || len(crowd.guests) != c.n {
				t.Errorf("number %d left, want %d; admitted %v; %d are there, want %d", got, c.want, admitted, len(crowd.guests), c.n)
			}
		})
	}
}

func TestWhereThereIsRoomNobodyLeaves(t *testing.T) {
	t.Parallel()
	c := newCrowd(nil)
	there := crowdOf(c, maxConnections-1, func(i int) string { return fmt.Sprintf("2001:db8:0:%x::1", i) })
	last := &guest{crowd: c, from: sourceOf(place("192.0.2.1", 1))}
	if leaves, admitted := c.admit(last); leaves != nil || !admitted {
		t.Errorf("%v left, admitted %v", leaves, admitted)
	}
	for _, g := range append(there, last) {
		c.remove(g)
		c.remove(g) // closed twice
	}
	if len(c.guests) != 0 || len(c.count) != 0 {
		t.Errorf("%d connections and %d sources are kept", len(c.guests), len(c.count))
	}
}

// A handler that does not end keeps its connection, whoever comes; a client that says nothing loses its own.
func TestAnAnswerUnderWayIsNotCutOffForOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, stop := serveLane(t, func(w http.ResponseWriter, r *http.Request) { time.Sleep(time.Second); hello(w, r) })
		first := l.dial()
		began, answer := time.Now(), make(chan string, 1)
		go func() {
			_, _ = io.WriteString(first, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
			all, _ := io.ReadAll(first)
			answer <- string(all)
		}()
		synctest.Wait()
		second := l.dial()
		for range maxConnections - 1 {
			l.dial()
		}
		synctest.Wait()
		if _, err := second.Read(make([]byte, 1)); !errors.Is(err, io.EOF) || time.Since(began) > 0 {
			t.Errorf("the oldest connection without a request ended after %v with %v", time.Since(began), err)
		}
		if got := <-answer; !strings.HasPrefix(got, "HTTP/1.1 200 OK") || time.Since(began) != time.Second {
			t.Errorf("answered %q after %v", got, time.Since(began))
		}
		stop()
	})
}
