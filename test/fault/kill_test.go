//go:build linux

package fault

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// victim tells a process that it is one that will be killed, and the kind of its dataplane.
const victim = "LAMEDUCK_FAULT_VICTIM"

// victimSeed is that of the cluster which victims and their killer know.
const victimSeed = 5

// advance is a step in the life of the victims' cluster. The first four Services stay as they are.
func (c *cluster) advance(i int) error {
	if i == 0 {
		for _, s := range shapes() {
			if err := c.set(s, c.somePods(5)); err != nil {
				return err
			}
		}
	}
	s := service{number: 10 + c.rng.IntN(12), local: c.rng.IntN(2) == 0, affinity: c.rng.IntN(2) == 0}
	if c.rng.IntN(5) == 0 {
		c.remove(s)
		return nil
	}
	return c.set(s, c.somePods(c.rng.IntN(podsPerSite+1)))
}

// advanceTo returns the Plan of a step.
func (c *cluster) advanceTo(have, want int) (*plan.Plan, error) {
	for i := have + 1; i <= want; i++ {
		if err := c.advance(i); err != nil {
			return nil, err
		}
	}
	p, _ := c.step()
	return p, nil
}

// beVictim is the life of a victim: it is told a step, says that it is about to put it in force as
// a whole, and that it has, and after another line goes on, step by step, for as long as it lives.
func beVictim() int {
	err := dieTrying(os.Getenv(victim), bufio.NewScanner(os.Stdin), os.Stdout)
	fmt.Fprintln(os.Stderr, err)
	return 1
}

func dieTrying(name string, in *bufio.Scanner, out io.Writer) error {
	all := planes()
	i := slices.IndexFunc(all, func(p plane) bool { return p.name == name })
	if i < 0 || !in.Scan() {
		return fmt.Errorf("no dataplane %q, or no step: %w", name, in.Err())
	}
	step, err := strconv.Atoi(in.Text())
	if err != nil {
		return err
	}
	c := newCluster(all[i].dialect, victimSeed)
	p, err := c.advanceTo(-1, step)
	if err != nil {
		return err
	}
	d, err := all[i].start(c.node)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, step); err != nil {
		return err
	}
	for delta := (plan.Delta{}); ; step++ {
		if err := d.Apply(p, delta); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, step); err != nil {
			return err
		}
		if delta.Empty() && !in.Scan() {
			return errors.New("left alone")
		}
		if err := c.advance(step + 1); err != nil {
			return err
		}
		p, delta = c.step()
		for delta.Empty() { // a Service removed that did not exist
			step++
			if err := c.advance(step + 1); err != nil {
				return err
			}
			p, delta = c.step()
		}
	}
}

// prey is a victim as its killer sees it.
type prey struct {
	*exec.Cmd
	in   io.WriteCloser
	said *bufio.Scanner
}

// birth starts a victim in the namespace of the calling thread.
func birth(p plane, step int) (*prey, error) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), victim+"="+p.name)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	v := &prey{cmd, in, bufio.NewScanner(out)}
	_, err = fmt.Fprintln(in, step)
	return v, err
}

// hear returns the next step of which it speaks.
func (v *prey) hear() (int, error) {
	if !v.said.Scan() {
		return 0, fmt.Errorf("it died by itself: %w", errors.Join(v.said.Err(), v.Wait()))
	}
	return strconv.Atoi(v.said.Text())
}

// kill ends it with signal 9, and waits until it is gone.
func (v *prey) kill() error {
	if err := v.Process.Kill(); err != nil {
		return err
	}
	_ = v.Wait() // says that it was killed
	return nil
}

// listing is what rules there are, once it is known.
type listing struct {
	text string
	err  error
}

// expect has the rules of a step made where there was nothing before, and listed: by the side,
// since it takes a while.
func expect(kind plane, step int) (<-chan listing, error) {
	c := newCluster(kind.dialect, victimSeed)
	var err error
	if c.plan, err = c.advanceTo(-1, step); err != nil {
		return nil, err
	}
	out := make(chan listing, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends here, and the namespace with it
		var l listing
		if l.err = unix.Unshare(unix.CLONE_NEWNET); l.err == nil {
			l.err = restart(kind, c)
		}
		if l.err == nil {
			l.text, l.err = kind.rules()
		}
		out <- l
	}()
	return out, nil
}

// hunt kills one victim after the other.
type hunt struct{ *rig }

// once has a victim born at a step and kills it in the sync with which it starts; or else holds its
// rules against those made from nothing, lets it run and kills it somewhere in its next syncs. It
// returns the last step of which the victim spoke.
func (h *hunt) once(step int) (int, error) {
	want, err := expect(h.kind, step)
	if err != nil {
		return 0, err
	}
	var v *prey
	err = h.worker.Do(func() (err error) { v, err = birth(h.kind, step); return err })
	if err != nil {
		return 0, err
	}
	defer v.Process.Kill() //nolint:errcheck // after an error; otherwise it is dead
	if _, err := v.hear(); err != nil {
		return 0, err
	}
	if h.rng.IntN(3) == 0 {
		return step, h.strike(v)
	}
	if _, err := v.hear(); err != nil {
		return 0, err
	}
	if err := h.compare(want); err != nil {
		return 0, fmt.Errorf("step %d: %w", step, err)
	}
	if _, err := fmt.Fprintln(v.in); err != nil {
		return 0, err
	}
	for range h.rng.IntN(4) {
		if step, err = v.hear(); err != nil {
			return 0, err
		}
	}
	return step, h.strike(v)
}

// strike kills a victim that is at work, after anything between no time and more than a sync takes.
func (h *hunt) strike(v *prey) error {
	for range h.rng.IntN(1 << h.rng.IntN(18)) {
		runtime.Gosched()
	}
	return v.kill()
}

// compare holds the rules of a victim that has just started against those made from nothing.
func (h *hunt) compare(expected <-chan listing) error {
	var got string
	err := h.worker.Do(func() (err error) { got, err = h.kind.rules(); return err })
	want := <-expected
	if err := errors.Join(err, want.err); err != nil {
		return err
	}
	if diff := cmp.Diff(want.text, got); diff != "" {
		return fmt.Errorf("rules after a restart (- made from nothing, + found):\n%s", diff)
	}
	return nil
}

// A process killed in the midst of a sync leaves rules that serve, and the next one makes of them
// what it would make of nothing; nobody who calls an untouched Service notices any of it.
func TestKilledInTheMidstOfASync(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p plane) {
		p.listable(t)
		h := &hunt{bareRig(t, p, victimSeed+1)}
		first := newCluster(p.dialect, victimSeed)
		var err error
		if first.plan, err = first.advanceTo(-1, 0); err != nil {
			t.Fatal(err)
		}
		if err := h.worker.Do(func() error { return restart(p, first) }); err != nil {
			t.Fatal(err)
		}
		var calls []call
		for _, s := range shapes() {
			calls = append(calls, h.calls(s)...)
		}
		var over atomic.Bool
		called := make(chan error, 1)
		n := 0
		go func() {
			var err error
			n, err = flood{h.rig, calls, time.Millisecond}.run(func(int) bool { return over.Load() })
			called <- err
		}()
		step := 0
		kills := p.often(200, 3)
		for i := range kills {
			if step, err = h.once(step + 1); err != nil {
				t.Errorf("kill %d: %v", i, err)
				break
			}
		}
		over.Store(true)
		if err := <-called; err != nil {
			t.Error(err)
		}
		t.Logf("%d killed, %d steps, %d calls", kills, step, n)
		h.unscathed(t)
	})
}
