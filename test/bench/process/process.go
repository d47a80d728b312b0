// Package process runs a program and knows what it costs: processor time and resident memory,
// children included. It works on Linux only.
package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Process is a running program.
type Process struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed when it has ended, before which err is nobody's business
	err    error

	mu     sync.Mutex
	peak   int64 // bytes
	recent int64 // the same since ForgetPeak

	stop    chan struct{} // ends sampling
	sampled chan struct{} // sampling has ended
}

// Start runs a command. The caller's thread decides which network namespace it is in.
func Start(argv, env []string, output io.Writer) (*Process, error) {
	cmd := exec.Command(argv[0], argv[1:]...) // which one is the point of it
	cmd.Env, cmd.Stdout, cmd.Stderr = env, output, output
	// Whatever ends this program, or the thread that the other was started on, ends that, too.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	p := &Process{cmd: cmd, exited: make(chan struct{}), stop: make(chan struct{}), sampled: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.exited)
	}()
	go p.sample()
	return p, nil
}

// Err says whether the process has ended by itself, which it was not to do.
func (p *Process) Err() error {
	select {
	case <-p.exited:
		return fmt.Errorf("%s ended by itself: %w", filepath.Base(p.cmd.Path), errors.Join(p.err, errors.New(p.cmd.ProcessState.String())))
	default:
		return nil
	}
}

// grace is how long a process has to end when it is asked to.
const grace = 5 * time.Second

// Stop ends the process and its children.
func (p *Process) Stop() {
	children := p.children()
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-p.exited:
	case <-time.After(grace):
		_ = p.cmd.Process.Kill()
		<-p.exited
	}
	for _, pid := range children {
		_ = syscall.Kill(pid, syscall.SIGKILL) // those of a moment ago: most have ended
	}
	close(p.stop)
	<-p.sampled
}

// clockTicks is USER_HZ, 100 on every architecture Go knows (man 7 time).
const clockTicks = 100

// CPU returns the processor time the process has used, and its children that it has waited for.
// The children's share counts in hundredths of a second.
func (p *Process) CPU() (time.Duration, error) {
	pid := p.cmd.Process.Pid
	var own unix.Timespec
	// The clock of another process (man 2 clock_getres; linux/posix-timers.h, CPUCLOCK_SCHED).
	if err := unix.ClockGettime(int32(^pid<<3|2), &own); err != nil { // the kernel's encoding
		return 0, fmt.Errorf("processor time of %d: %w", pid, err)
	}
	children, err := waitedFor(pid)
	return time.Duration(own.Nano()) + children, err
}

// waitedFor returns the processor time of the children that a process has waited for.
func waitedFor(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	return parseWaitedFor(string(text))
}

// parseWaitedFor reads fields 16 and 17 of /proc/PID/stat (man 5 proc_pid_stat). The second one
// is a name in brackets, which may hold anything.
func parseWaitedFor(stat string) (time.Duration, error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 15 {
		return 0, fmt.Errorf("/proc/PID/stat has %d fields: %q", len(fields)+2, stat)
	}
	var ticks int64
	for _, f := range fields[13:15] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc/PID/stat: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / clockTicks, nil
}

// ErrBusy says that a process did not stop working.
var ErrBusy = errors.New("it is still busy")

// Quiet waits until the process has stopped working: no child, no thread that wants a processor,
// and next to no processor time in three looks. When the limit is over it gives up with ErrBusy.
func (p *Process) Quiet(limit time.Duration) error {
	const look = 10 * time.Millisecond
	const idle = 500 * time.Microsecond // a Go program's background threads
	end := time.Now().Add(limit)
	before, err := p.CPU()
	for quiet := 0; quiet < 3 && err == nil; {
		time.Sleep(look)
		var now time.Duration
		if now, err = p.CPU(); err != nil {
			break
		}
		quiet++
		if now-before > idle || len(p.children()) > 0 || running(p.cmd.Process.Pid) {
			quiet = 0
		}
		before = now
		if time.Now().After(end) {
			return ErrBusy
		}
	}
	return errors.Join(err, p.Err())
}

// Peak returns the most resident memory, in bytes, that the process and its children had at once.
// The process's own peak is the kernel's; with children it is that of a look every 10 ms.
func (p *Process) Peak() int64 {
	own, err := memory(p.cmd.Process.Pid, "VmHWM:")
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil && own > p.peak {
		p.peak = own
	}
	return p.peak
}

// ForgetPeak begins what PeakSince reports.
func (p *Process) ForgetPeak() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.recent = 0
}

// PeakSince returns the most resident memory, in bytes, that the process and its children had at once in a look every 10 ms since
// ForgetPeak, and now.
func (p *Process) PeakSince() int64 {
	now := p.Resident()
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(p.recent, now)
}

// running says whether a thread of a process runs, or would if a processor were free: on a busy
// machine the clock of a process that has work to do may well stand still.
func running(pid int) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		return false
	}
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(fields) > 0 && (fields[0] == "R" || fields[0] == "D") {
			return true
		}
	}
	return false
}

func (p *Process) sample() {
	defer close(p.sampled)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-tick.C:
		}
		sum := p.Resident()
		p.mu.Lock()
		p.peak, p.recent = max(p.peak, sum), max(p.recent, sum)
		p.mu.Unlock()
	}
}

// Resident returns how much memory the process and its children have now, in bytes. A child that has yet
// to become another program has no memory of its own: it is its parent's (CLONE_VM).
func (p *Process) Resident() int64 {
	program := func(pid int) string {
		name, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		if err != nil {
			return ""
		}
		return name
	}
	own := p.cmd.Process.Pid
	sum, name := int64(0), program(own)
	for _, pid := range append(p.children(), own) {
		if pid != own && program(pid) == name {
			continue
		}
		if m, err := memory(pid, "VmRSS:"); err == nil { // else it has just ended
			sum += m
		}
	}
	return sum
}

// children returns the process's children and theirs.
func (p *Process) children() []int { return descendants(p.cmd.Process.Pid) }

func descendants(pid int) []int {
	var out []int
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return nil
	}
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for child := range strings.FieldsSeq(string(text)) {
			if n, err := strconv.Atoi(child); err == nil {
				out = append(append(out, n), descendants(n)...)
			}
		}
	}
	return out
}

// memory reads a line of /proc/PID/status, in bytes.
func memory(pid int, line string) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for l := range strings.Lines(string(text)) {
		rest, ok := strings.CutPrefix(l, line)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		return n << 10, err
	}
	return 0, fmt.Errorf("/proc/%d/status has no %s", pid, line)
}
