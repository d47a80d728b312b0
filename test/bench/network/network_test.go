package network

import (
	"errors"
	"net/netip"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lameduck-proxy/lameduck/test/bench/objects"
	"github.com/lameduck-proxy/lameduck/test/lab"
)

func TestMain(m *testing.M) {
	if os.Getenv("LAMEDUCK_KERNEL") == "" {
		os.Exit(m.Run())
	}
	if code, ran := lab.InUserNamespace(); ran {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

func build(t *testing.T) *Network {
	t.Helper()
	if os.Getenv("LAMEDUCK_KERNEL") == "" {
		t.Skip("needs network namespaces: LAMEDUCK_KERNEL=1")
	}
	n, err := New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// TestEveryEndpointAnswers needs no proxy: endpoints can be reached by their own addresses.
func TestEveryEndpointAnswers(t *testing.T) {
	t.Parallel()
	n := build(t)
	size := objects.Size{Services: 30000, Endpoints: 50}
	for _, a := range []netip.Addr{size.Endpoint(0, 0), size.Endpoint(29999, 49), objects.Later(0), objects.Later(100000)} {
		err := n.Client.Do(func() error { return Connect(netip.AddrPortFrom(a, objects.TargetPort), time.Minute) })
		if err != nil {
			t.Errorf("%s: %v", a, err)
		}
		err = n.Client.Do(func() error { return Connect(netip.AddrPortFrom(a, objects.TargetPort+1), time.Minute) })
		if !errors.Is(err, unix.ECONNREFUSED) {
			t.Errorf("%s, where nobody listens: %v", a, err)
		}
	}
}

// TestProberHearsItsPackets sends to an endpoint itself, where the node has no rules: port 80
// is not answered, but heard.
func TestProberHearsItsPackets(t *testing.T) {
	t.Parallel()
	n := build(t)
	p, err := n.NewProber()
	if err != nil {
		t.Fatal(err)
	}
	here, there := objects.Later(1), objects.Later(2)
	w, err := p.Listen(here)
	if err != nil {
		t.Fatal(err)
	}
	from := time.Now()
	if at, err := p.First(here, w, from, time.Minute); err != nil || !at.After(from) {
		t.Errorf("arrived at %v, %v", at, err)
	}
	if _, err := p.First(there, w, time.Now(), time.Millisecond); !errors.Is(err, ErrTimeout) {
		t.Errorf("sent elsewhere: %v", err)
	}
	sent := p.next
	if last, err := p.Last(there, w, 5, from, time.Minute); err != nil || !last.After(from) || p.next != sent+100 {
		t.Errorf("%d packets were sent elsewhere, the last arrived %v later, %v", p.next-sent, last.Sub(from), err)
	}
	if last, err := p.Last(here, w, 5, from, time.Millisecond); !errors.Is(err, ErrTimeout) {
		t.Errorf("every packet arrives, but the last one %v later, %v", last.Sub(from), err)
	}
	if err := errors.Join(w.Close(), p.Close()); err != nil {
		t.Error(err)
	}
}

// TestChecksum is the example of RFC 1071, section 3.
func TestChecksum(t *testing.T) {
	t.Parallel()
	b := []byte{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7}
	if got, want := checksum(b, 0), ^uint16(0xddf2); got != want {
		t.Errorf("got %#04x, want %#04x", got, want)
	}
}
