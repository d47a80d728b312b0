// Package process runs a program that ends with this one, and keeps what it says in a file.
package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// Process is a program that was started.
type Process struct {
	name   string
	cmd    *exec.Cmd
	ended  chan struct{} // closed when it has ended, before which err is nobody's business
	err    error
	output *os.File
}

// Spec says what to start.
type Spec struct {
	Name string   // for messages
	Argv []string // the first one is the program
	Env  []string // besides this process's own
	Log  string   // a file that its output is added to
}

// Start starts a program. The caller's thread decides which network namespace it is in, and the
// end of that thread is the program's: whatever ends this process ends that, too.
func Start(s Spec) (*Process, error) {
	output, err := os.OpenFile(s.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	cmd := exec.Command(s.Argv[0], s.Argv[1:]...) // which one is the point of it
	cmd.Env = append(os.Environ(), s.Env...)
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", s.Name, err), output.Close())
	}
	p := &Process{name: s.Name, cmd: cmd, ended: make(chan struct{}), output: output}
	go func() {
		p.err = errors.Join(cmd.Wait(), output.Close())
		close(p.ended)
	}()
	return p, nil
}

// Ended is closed when the program has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Err says how the program ended, if it has.
func (p *Process) Err() error {
	select {
	case <-p.ended:
		return fmt.Errorf("%s has ended: %w", p.name, errors.Join(errors.New(p.cmd.ProcessState.String()), p.err))
	default:
		return nil
	}
}

// Kill ends the program without asking, and returns when it has ended.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

// Terminate asks the program to end (SIGTERM). Ended tells when it has.
func (p *Process) Terminate() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("%s: ask it to end: %w", p.name, err)
	}
	return nil
}

// Tail returns the last lines of a file, or why there are none.
func Tail(path string, lines int) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
