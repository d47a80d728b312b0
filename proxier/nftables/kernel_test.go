//go:build linux

package nftables

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// reexec marks a test binary that started itself again in a user namespace.
const reexec = "LAMEDUCK_NFTABLES_REEXEC"

// TestMain gives an ordinary user the root of a namespace of its own, where there are any.
func TestMain(m *testing.M) {
	if os.Geteuid() == 0 || os.Getenv(reexec) != "" {
		os.Exit(m.Run())
	}
	self := exec.Command("/proc/self/exe", os.Args[1:]...)
	self.Env = append(os.Environ(), reexec+"=1")
	self.Stdout, self.Stderr = os.Stdout, os.Stderr
	self.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	if err := self.Start(); err != nil {
		os.Exit(m.Run()) // no user namespaces here: the kernel's tests skip
	}
	if err := self.Wait(); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// alone puts the test's thread into a network namespace of its own. The thread ends with the
// test, and the namespace with it.
func alone(t testing.TB) {
	t.Helper()
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skipf("no network namespace of its own: %v", err)
	}
	run(t, "ip", "link", "set", "lo", "up")
}

// run runs a tool in the test's namespace and returns what it prints.
func run(t testing.TB, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("no %s here: %v", name, err)
	}
	var stderr bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

// backend returns a Backend in the test's namespace.
func backend(t testing.TB, node *plan.Node) *Backend {
	t.Helper()
	b, err := New(node, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func TestTheKernelTakesTheRulesAndTheToolListsThem(t *testing.T) {
	alone(t)
	b := backend(t, testNode())
	w := newWorld(1, testNode())
	for range 60 {
		w.disturb(t, 30)
	}
	p, d := w.step(t)
	if err := b.Apply(p, d); err != nil {
		t.Fatal(err)
	}
	text := run(t, "nft", "list", "ruleset")
	t.Log(text)
	run(t, "nft", "-j", "list", "ruleset")
}
