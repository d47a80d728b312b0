package network

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Place is a network namespace, with a thread that is in it for as long as it lasts.
type Place struct {
	Name string
	ns   int // file descriptor
	work chan func()
}

// found makes a namespace with nothing in it.
func found(name string) (*Place, error) {
	p := &Place{Name: name, ns: -1, work: make(chan func())}
	started := make(chan error)
	go func() {
		// Never unlocked: the thread ends with the goroutine, instead of serving others in a strange namespace.
		runtime.LockOSThread()
		err := p.unshare()
		started <- err
		if err != nil {
			return
		}
		for f := range p.work {
			f()
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Place) unshare() error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("make a network namespace for %s (this takes root): %w", p.Name, err)
	}
	ns, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open the network namespace of %s: %w", p.Name, err)
	}
	p.ns = ns
	return nil
}

// Close lets the namespace go. What still uses it, a socket or a process, keeps it.
func (p *Place) Close() error {
	close(p.work)
	return unix.Close(p.ns)
}

// Do calls f on the thread that is always in the namespace, one call at a time. Programs that f
// starts are in it, too, and may be told to end with that thread.
func (p *Place) Do(f func() error) error {
	done := make(chan error)
	p.work <- func() { done <- f() }
	return <-done
}

// Enter calls f on a thread of its own in the namespace: for what takes long.
func (p *Place) Enter(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked
		if err := unix.Setns(p.ns, unix.CLONE_NEWNET); err != nil {
			done <- fmt.Errorf("enter %s: %w", p.Name, err)
			return
		}
		done <- f()
	}()
	return <-done
}

// Dial connects from the place, as net.Dialer.DialContext does.
func (p *Place) Dial(ctx context.Context, network, address string) (c net.Conn, err error) {
	err = p.Enter(func() error {
		c, err = (&net.Dialer{}).DialContext(ctx, network, address)
		return err
	})
	return c, err
}

// Listen listens for connections in the place. Any thread may serve them.
func (p *Place) Listen(ctx context.Context, address string) (l net.Listener, err error) {
	err = p.Do(func() error {
		l, err = (&net.ListenConfig{}).Listen(ctx, "tcp", address)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	return l, nil
}

// ListenPacket listens for datagrams in the place.
func (p *Place) ListenPacket(ctx context.Context, address string) (c net.PacketConn, err error) {
	err = p.Do(func() error {
		c, err = (&net.ListenConfig{}).ListenPacket(ctx, "udp", address)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	return c, nil
}

// Repetitions is how often a first packet of a connection was sent again from the place, because
// there was no answer to it in a second.
func (p *Place) Repetitions() (n int, err error) {
	err = p.Do(func() error {
		text, err := os.ReadFile("/proc/thread-self/net/netstat")
		if err != nil {
			return err
		}
		n, err = counter(string(text), "TcpExt:", "TCPSynRetrans")
		return err
	})
	return n, err
}

// counter reads a file of pairs of lines, names and values.
func counter(text, group, name string) (int, error) {
	lines := strings.Split(text, "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		names, values := strings.Fields(lines[i]), strings.Fields(lines[i+1])
		if at := slices.Index(names, name); len(names) > 0 && names[0] == group && at > 0 && at < len(values) {
			return strconv.Atoi(values[at])
		}
	}
	return 0, fmt.Errorf("the kernel has no counter %s %s", group, name)
}

// set writes a kernel parameter of the namespace the thread is in.
func set(parameter, value string) error {
	if err := os.WriteFile("/proc/sys/net/"+parameter, []byte(value), 0); err != nil {
		return fmt.Errorf("set net/%s to %s: %w", parameter, value, err)
	}
	return nil
}
