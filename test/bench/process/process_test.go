package process

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestMain is the program that is run: it does what LAMEDUCK_BENCH_CHILD says.
func TestMain(m *testing.M) {
	switch os.Getenv("LAMEDUCK_BENCH_CHILD") {
	case "":
		os.Exit(m.Run())
	case "work": // until it is told to stop
		block := make([]byte, 64<<20)
		for i := 0; ; i++ {
			block[i*4096%len(block)]++
		}
	case "parent": // of a shell, and of what is still the same program as itself
		block := bytes.Repeat([]byte{1}, 64<<20)
		for {
			if err := exec.Command("sh", "-c", "exit 0").Run(); err != nil {
				os.Exit(1)
			}
			block[0]++
		}
	case "idle":
		time.Sleep(time.Hour)
	case "fail":
		os.Exit(3)
	}
}

func start(t *testing.T, what string) *Process {
	t.Helper()
	p, err := Start([]string{"/proc/self/exe"}, append(os.Environ(), "LAMEDUCK_BENCH_CHILD="+what), &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestWorkIsCounted(t *testing.T) {
	t.Parallel()
	p := start(t, "work")
	defer p.Stop()
	for used := time.Duration(0); used < 50*time.Millisecond; {
		now, err := p.CPU()
		if err != nil {
			t.Fatal(err)
		}
		if now < used {
			t.Fatalf("processor time went from %s to %s", used, now)
		}
		used = now
	}
	for p.Peak() < 60<<20 { // it touches 64 MiB
		if err := p.Err(); err != nil {
			t.Fatal(err)
		}
	}
	if p.ForgetPeak(); p.PeakSince() < 60<<20 || p.Resident() < 60<<20 { // and keeps them
		t.Errorf("%d bytes of late, %d now", p.PeakSince(), p.Resident())
	}
	if err := p.Quiet(50 * time.Millisecond); !errors.Is(err, ErrBusy) {
		t.Errorf("a busy process: %v", err)
	}
}

// TestMemoryIsCountedOnce starts children over and over, each of which is a copy of its parent
// for a moment.
func TestMemoryIsCountedOnce(t *testing.T) {
	t.Parallel()
	p := start(t, "parent")
	defer p.Stop()
	for used := time.Duration(0); used < 300*time.Millisecond; {
		var err error
		if used, err = p.CPU(); err != nil {
			t.Fatal(err)
		}
		if got := p.Resident(); got > 120<<20 {
			t.Fatalf("%d MiB, it has 64 and little else", got>>20)
		}
	}
	if err := p.Err(); err != nil {
		t.Error(err)
	}
}

func TestIdleProcessIsQuiet(t *testing.T) {
	t.Parallel()
	p := start(t, "idle")
	defer p.Stop()
	if err := p.Quiet(time.Minute); err != nil {
		t.Error(err)
	}
}

func TestEndIsNoticed(t *testing.T) {
	t.Parallel()
	p := start(t, "fail")
	<-p.exited
	if err := p.Err(); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("got %v", err)
	}
	p.Stop()
}

func TestStatIsReadBehindTheName(t *testing.T) {
	t.Parallel()
	got, err := parseWaitedFor("7 (a ) b) S 1 7 7 0 -1 4194304 100 0 0 0 11 12 13 14 20 0 1 0 100")
	if want := 270 * time.Millisecond; err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if _, err := parseWaitedFor("7 (a) S 1"); err == nil {
		t.Error("too short, and no error")
	}
}
