package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestWorkThatDoesNotEndIsLeftAlone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	release := make(chan struct{})
	defer close(release)
	_, ended, err := inTime(ctx, time.Millisecond, func() (int, error) {
		cancel()
		<-release // after the test
		return 1, nil
	})
	if ended || err != nil {
		t.Errorf("ended %t, %v", ended, err)
	}
}

func TestWorkThatEndsHasItsResultWhateverTheSignal(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	broken := errors.New("broken")
	if n, ended, err := inTime(ctx, time.Hour, func() (int, error) { return 7, broken }); n != 7 || !ended || !errors.Is(err, broken) {
		t.Errorf("%d, %t, %v", n, ended, err)
	}
}

// A panic is a fault of lameduck (exit code 3), in whichever goroutine it comes up.
func TestWorkThatPanicsPanicsWhereItIsWaitedFor(t *testing.T) {
	t.Parallel()
	defer func() {
		if r := recover(); !strings.HasPrefix(fmt.Sprint(r), "a fault\n") {
			t.Errorf("recovered %v", r)
		}
	}()
	_, _, err := inTime(context.Background(), time.Hour, func() (int, error) { panic("a fault") })
	t.Errorf("no panic: %v", err)
}

// Which signal it was decides what the program ends with.
func TestSignalsHaveExitCodesOfTheirOwn(t *testing.T) {
	t.Parallel()
	if got := interruptedBy(syscall.SIGTERM); !errors.Is(got, errTerminated) {
		t.Errorf("SIGTERM: %v", got)
	}
	if got := interruptedBy(os.Interrupt); !errors.Is(got, errInterrupted) {
		t.Errorf("SIGINT: %v", got)
	}
}
