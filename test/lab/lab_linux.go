package lab

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Lab is the network. Its methods may be called from anywhere, one at a time.
type Lab struct {
	layout  Layout
	work    chan func()
	sites   []*site // the node first
	current *site   // where the lab's thread is
	servers servers
	beacons map[*site]map[bool]*beacon // by whether it is IPv6
	open    map[*Flow]bool
	broken  error // what a beacon found out: nothing can be said any more
}

// site is a namespace that exists.
type site struct {
	Site
	ns int // file descriptor
}

// New makes a network. It fails where the kernel lacks something or forbids it.
func New(layout Layout) (*Lab, error) {
	layout.Patience = cmp.Or(layout.Patience, time.Minute)
	l := &Lab{
		layout: layout, work: make(chan func()),
		beacons: map[*site]map[bool]*beacon{}, open: map[*Flow]bool{},
	}
	started := make(chan error)
	go l.thread(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	if err := l.run(l.build); err != nil {
		return nil, errors.Join(fmt.Errorf("lab: %w", err), l.Close())
	}
	return l, nil
}

// thread is the goroutine that all system calls of a lab come from. It never unlocks its thread,
// which therefore ends with it, instead of serving other goroutines in a strange namespace.
func (l *Lab) thread(started chan<- error) {
	runtime.LockOSThread()
	err := pin()
	started <- err
	if err != nil {
		return
	}
	for f := range l.work {
		f()
	}
}

// pin keeps the calling thread on one processor. The order of packets is only kept for those
// sent on the same one.
func pin() error {
	var allowed, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return fmt.Errorf("ask for the thread's processors: %w", err)
	}
	skip := unix.Gettid() % allowed.Count() // labs spread over the processors
	for cpu := range len(allowed) * bits.UintSize {
		if !allowed.IsSet(cpu) {
			continue
		}
		if skip == 0 {
			one.Set(cpu)
			break
		}
		skip--
	}
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return fmt.Errorf("keep the thread on one processor: %w", err)
	}
	return nil
}

// run does something on the lab's thread.
func (l *Lab) run(f func() error) error {
	done := make(chan error)
	l.work <- func() { done <- f() }
	return <-done
}

// Do calls f on a thread in a site's namespace. Sockets that f makes stay there.
func (l *Lab) Do(name string, f func() error) error {
	return l.run(func() error {
		s, err := l.site(name)
		if err != nil {
			return err
		}
		if err := l.enter(s); err != nil {
			return err
		}
		return f()
	})
}

func (l *Lab) site(name string) (*site, error) {
	i := slices.IndexFunc(l.sites, func(s *site) bool { return s.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("lab: no site is called %q", name)
	}
	return l.sites[i], nil
}

func (l *Lab) node() *site { return l.sites[0] }

// enter moves the lab's thread to a site.
func (l *Lab) enter(s *site) error {
	if l.current == s {
		return nil
	}
	if err := unix.Setns(s.ns, unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter %s: %w", s.Name, err)
	}
	l.current = s
	return nil
}

// found makes a namespace, and leaves the thread in it.
func (l *Lab) found(description Site) (*site, error) {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return nil, fmt.Errorf("make a network namespace: %w", err)
	}
	ns, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open the network namespace of %s: %w", description.Name, err)
	}
	s := &site{description, ns}
	l.sites = append(l.sites, s)
	l.current = s
	return s, nil
}

// Close ends every flow and lets the namespaces go.
func (l *Lab) Close() error {
	err := l.run(func() error {
		var errs []error
		for f := range l.open { // order: each is closed by itself
			errs = append(errs, f.close())
		}
		errs = append(errs, l.servers.close())
		for _, s := range l.sites {
			errs = append(errs, l.darken(s), unix.Close(s.ns))
		}
		return errors.Join(errs...)
	})
	close(l.work)
	return err
}

// set writes a kernel parameter of the namespace the thread is in.
func set(parameter, value string) error {
	return os.WriteFile("/proc/sys/net/"+parameter, []byte(value), 0)
}
