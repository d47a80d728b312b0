package script

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Ctrl-C ends the runs, and so does SIGTERM: what there is of them is printed, as that, and the exit code is that of a program
// that the signal has ended.
func TestASignalPrintsWhatThereIs(t *testing.T) {
	t.Parallel()
	lookAtSources(t)
	for name, c := range map[string]struct {
		signal os.Signal
		code   int
	}{"SIGINT": {os.Interrupt, 130}, "SIGTERM": {unix.SIGTERM, 143}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			interrupted(t, c.signal, c.code)
		})
	}
}

func interrupted(t *testing.T, signal os.Signal, code int) {
	t.Helper()
	terminal, screen := openTerminal(t)
	cmd := exec.Command(filepath.Join(binaries, "lameduck"), "sim", "-f", "../../examples/web-app.yaml", "--runs", "100000", "--sensitivity=false", "--fixes", "0")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, screen // progress is for terminals
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := screen.Close(); err != nil {
		t.Error(err)
	}
	said, chunk := "", make([]byte, 256)
	for done(said) < 100 { // so many that each load balancer has lost something
		n, err := terminal.Read(chunk)
		if err != nil {
			t.Fatalf("it never began: %v; it said %q, and on stdout %q", err, said, out.String())
		}
		said += string(chunk[:n])
	}
	if err := cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	rest := make(chan string, 1)
	go func() { // a terminal that nobody reads is full some time
		last, _ := io.ReadAll(terminal) // it ends with an error when nobody has it open any more
		rest <- string(last)
	}()
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != code {
		t.Errorf("%v, want exit code %d", err, code)
	}
	if out.Len() == 0 && strings.Contains(<-rest, "interrupted in the middle of something that takes long") {
		t.Skip("needs a machine on which a run is over 0.8 s after the signal: this one is too loaded")
	}
	for _, want := range []string{"DROPS   default/web loses ", "INTERRUPTED after "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("nothing of %q in\n%s", want, out.String())
		}
	}
}

var progress = regexp.MustCompile(`simulating: (\d+) of`)

// done is how many runs the last line of progress says were done, 0 before the first.
func done(said string) int {
	all := progress.FindAllStringSubmatch(said, -1)
	if len(all) == 0 {
		return 0
	}
	n, err := strconv.Atoi(all[len(all)-1][1])
	if err != nil {
		return 0
	}
	return n
}

// openTerminal opens a terminal and what a program sees of it (pty(7)).
func openTerminal(t *testing.T) (terminal, screen *os.File) {
	t.Helper()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminal here: %v", err)
	}
	t.Cleanup(func() { _ = terminal.Close() }) // nobody reads it any more
	if err := unix.IoctlSetPointerInt(int(terminal.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	return terminal, screen
}
