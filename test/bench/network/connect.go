package network

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long a connection may take to be established. The kernel sends a lost SYN again
// after a second, so a client that needs longer has lost at least one packet.
const patience = 900 * time.Millisecond

// Connect establishes a TCP connection from a fresh port of the client and resets it. It has to
// run on the client's thread. It returns nil, or why there was no connection in time.
func Connect(to netip.AddrPort, limit time.Duration) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	err = connect(fd, to, limit)
	// A reset leaves nothing behind on either side.
	linger := unix.Linger{Onoff: 1}
	return errors.Join(err, unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &linger), unix.Close(fd))
}

func connect(fd int, to netip.AddrPort, limit time.Duration) error {
	err := unix.Connect(fd, &unix.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()})
	if !errors.Is(err, unix.EINPROGRESS) {
		return err
	}
	end := time.Now().Add(limit)
	for {
		left := time.Until(end)
		if left <= 0 {
			return unix.ETIMEDOUT
		}
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}} // descriptors are small
		n, err := unix.Poll(fds, int(left/time.Millisecond)+1)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return fmt.Errorf("poll: %w", err)
		case n > 0:
			code, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
			if err == nil && code != 0 {
				err = unix.Errno(code) // an error number
			}
			return err
		}
	}
}

// Load is a client that connects continually.
type Load struct {
	Connections, Lost int
	// Failure is the first reason for a loss.
	Failure error
}

// Press has the client connect to addresses in turn until stop is closed.
func (n *Network) Press(to []netip.AddrPort, stop <-chan struct{}) ([]Load, error) {
	loads := make([]Load, len(to))
	err := n.Client.Do(func() error {
		for i := 0; ; i = (i + 1) % len(to) {
			select {
			case <-stop:
				return nil
			default:
			}
			loads[i].Connections++
			if err := Connect(to[i], patience); err != nil {
				loads[i].Lost++
				if loads[i].Failure == nil {
					loads[i].Failure = err
				}
			}
		}
	})
	return loads, err
}
