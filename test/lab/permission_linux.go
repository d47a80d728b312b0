package lab

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// inside tells a process that it is the one which InUserNamespace started.
const inside = "LAMEDUCK_LAB_INSIDE"

// InUserNamespace runs this program again, with the same arguments and as root of a user
// namespace of its own, if that is what it takes to make network namespaces. It returns the
// other's exit code, and whether there was one; if not, go on: either nothing stands in the
// way, or New says what does.
func InUserNamespace() (code int, ran bool) {
	if os.Getenv(inside) != "" || mayMakeNamespaces() {
		return 0, false
	}
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...) // it is this program
	cmd.Args[0] = os.Args[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	if err := cmd.Start(); err != nil {
		return 0, false
	}
	if err := cmd.Wait(); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return exit.ExitCode(), true
		}
		return 1, true
	}
	return 0, true
}

// mayMakeNamespaces tries it, on a thread that ends with it.
func mayMakeNamespaces() bool {
	may := make(chan bool)
	go func() {
		runtime.LockOSThread()
		may <- unix.Unshare(unix.CLONE_NEWNET) == nil
	}()
	return <-may
}
