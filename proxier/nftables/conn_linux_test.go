package nftables

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// A change is in force only if the kernel says so: what cannot be sent, or whose answer cannot be read, is an error.
func TestWithoutTheKernelsAnswerNothingIsInForce(t *testing.T) {
	t.Parallel()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = unix.Close(pair[0]), unix.Close(pair[1]) }() // nothing was written
	e := &encoder{labels: make([]label, 3)}
	if err := (&conn{fd: pair[0], room: 1 << 20}).answers(e); err == nil {
		t.Error("a kernel that says nothing has taken a change")
	}
	nobody := &conn{fd: -1, room: 1 << 20}
	if err := nobody.answers(e); !errors.Is(err, unix.EBADF) {
		t.Errorf("an answer that cannot be read: %v", err)
	}
	if err := nobody.send(e); !errors.Is(err, unix.EBADF) {
		t.Errorf("a change that cannot be sent: %v", err)
	}
}
