// Package client is who uses Services: single requests that say who answered, and loads of them
// of which every one is accounted for.
package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/lameduck-proxy/lameduck/test/e2e/network"
)

// Dial is how connections are made: from a place, or by way of a node.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Via has a load balancer send connections by way of a node.
func Via(c *network.Client, node *network.Node) Dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		return c.DialVia(ctx, node, network, address)
	}
}

// Answer is who answered a request.
type Answer struct {
	Pod string
	// Seen is whom the pod saw: the client, unless a node stood in for it (masquerade).
	Seen netip.Addr
}

// Get sends a request over a connection of its own, and says who answered.
func Get(ctx context.Context, dial Dial, to netip.AddrPort) (Answer, error) {
	return GetPath(ctx, dial, to, "/")
}

// GetPath is Get with a path (package app).
func GetPath(ctx context.Context, dial Dial, to netip.AddrPort, path string) (Answer, error) {
	c, err := dial(ctx, "tcp", to.String())
	if err != nil {
		return Answer{}, err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(aLongTimeAgo()) })
	defer stop()
	a, err := exchange(c, bufio.NewReader(c), to, path)
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // all was read: a reset leaves nothing behind on either side
	}
	_ = c.Close()
	if err != nil {
		return a, errors.Join(err, ctx.Err())
	}
	return a, nil
}

// aLongTimeAgo is a deadline that ends what is being waited for.
func aLongTimeAgo() time.Time { return time.Unix(1, 0) }

// exchange sends a request and reads the answer, all of it.
func exchange(c io.Writer, r *bufio.Reader, to netip.AddrPort, path string) (Answer, error) {
	if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, to); err != nil {
		return Answer{}, err
	}
	response, err := http.ReadResponse(r, nil)
	if err != nil {
		return Answer{}, err
	}
	body, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return Answer{}, err
	}
	if response.StatusCode != http.StatusOK {
		return Answer{}, fmt.Errorf("status %s: %s", response.Status, body)
	}
	return parse(string(body))
}

// Ask sends a datagram from a port of its own, and says who answered.
func Ask(ctx context.Context, dial Dial, to netip.AddrPort) (Answer, error) {
	c, err := dial(ctx, "udp", to.String())
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = c.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(aLongTimeAgo()) })
	defer stop()
	if _, err := c.Write([]byte("?")); err != nil {
		return Answer{}, err
	}
	var b [512]byte
	n, err := c.Read(b[:])
	if err != nil {
		return Answer{}, errors.Join(err, ctx.Err())
	}
	return parse(string(b[:n]))
}

// parse reads "POD CLIENT".
func parse(text string) (Answer, error) {
	pod, seen, _ := strings.Cut(text, " ")
	from, err := netip.ParseAddrPort(seen)
	if err != nil {
		return Answer{}, fmt.Errorf("not an app's answer: %q: %w", text, err)
	}
	return Answer{Pod: pod, Seen: from.Addr().Unmap()}, nil
}
