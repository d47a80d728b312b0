package client

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/netip"
)

// Conn is a connection that is kept, as those of a pool are.
type Conn struct {
	to     netip.AddrPort
	conn   net.Conn
	reader *bufio.Reader
}

// Open makes a connection.
func Open(ctx context.Context, dial Dial, to netip.AddrPort) (*Conn, error) {
	c, err := dial(ctx, "tcp", to.String())
	if err != nil {
		return nil, err
	}
	return &Conn{to, c, bufio.NewReader(c)}, nil
}

// Ask sends another request on it, and says who answered.
func (c *Conn) Ask(ctx context.Context) (Answer, error) {
	stop := context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(aLongTimeAgo()) })
	defer stop()
	a, err := exchange(c.conn, c.reader, c.to, "/")
	if err != nil {
		return a, fmt.Errorf("on the connection of %s to %s: %w", c.conn.LocalAddr(), c.to, err)
	}
	return a, nil
}

// Close ends the connection.
func (c *Conn) Close() error { return c.conn.Close() }
