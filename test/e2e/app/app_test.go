package app

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestParseReadsWhatItKnowsAndRefusesTheRest(t *testing.T) {
	t.Parallel()
	got, err := Parse(map[string]string{"PORT": "81", "START_DELAY": "2s", "ON_SIGTERM": "10s", "READY_AFTER_SIGTERM": "false"})
	want := Config{Port: 81, UDPPort: 8080, StartDelay: 2 * time.Second, Serve: 10 * time.Second, Unready: true}
	if err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	for name, value := range map[string]string{"PORT": "65536", "UDP_PORT": "-1", "ON_SIGTERM": "wait", "START_DELAY": "2", "DELAY": "1s"} {
		if _, err := Parse(map[string]string{name: value}); err == nil || !strings.Contains(err.Error(), name+"="+value) {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
}

// loopback is a Host whose app listens on a port of its own.
type loopback struct {
	tcp chan net.Addr
}

func (l loopback) Listen(ctx context.Context, _ string) (net.Listener, error) {
	s, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err == nil {
		l.tcp <- s.Addr()
	}
	return s, err
}

func (loopback) ListenPacket(ctx context.Context, _ string) (net.PacketConn, error) {
	return (&net.ListenConfig{}).ListenPacket(ctx, "udp", "127.0.0.1:0")
}

func get(t *testing.T, url string) (code int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func TestAnAppSaysWhoItIsUntilItIsKilled(t *testing.T) {
	t.Parallel()
	h := loopback{make(chan net.Addr, 1)}
	a := Start("web-1", Config{Ignore: true, Unready: true}, h)
	url := "http://" + (<-h.tcp).String()
	if code, body := get(t, url); code != http.StatusOK || !strings.HasPrefix(body, "web-1 127.0.0.1:") {
		t.Errorf("status %d, %q", code, body)
	}
	if code, _ := get(t, url+"/ready"); code != http.StatusOK {
		t.Errorf("before SIGTERM /ready is %d", code)
	}
	a.Terminate()
	for code := http.StatusOK; code != http.StatusServiceUnavailable; { // a signal is heard by the side
		code, _ = get(t, url+"/ready")
	}
	if code, _ := get(t, url); code != http.StatusOK {
		t.Errorf("after SIGTERM, which it ignores: %d", code)
	}
	a.Kill()
	<-a.Ended()
	if code, err := a.Exit(); code != ExitKilled || err != nil {
		t.Errorf("exit code %d, %v", code, err)
	}
}

// deaf is a Host without a network.
type deaf struct{}

func (deaf) Listen(context.Context, string) (net.Listener, error) {
	return &silence{make(chan struct{})}, nil
}

func (deaf) ListenPacket(context.Context, string) (net.PacketConn, error) {
	a, _ := net.Pipe()
	return packets{a}, nil
}

type silence struct{ closed chan struct{} }

func (s *silence) Accept() (net.Conn, error) {
	<-s.closed
	return nil, net.ErrClosed
}
func (s *silence) Close() error { close(s.closed); return nil }
func (*silence) Addr() net.Addr { return &net.TCPAddr{} }

type packets struct{ net.Conn }

func (p packets) ReadFrom(b []byte) (int, net.Addr, error) {
	if _, err := p.Read(b); err != nil {
		return 0, nil, net.ErrClosed
	}
	return 0, &net.UDPAddr{}, nil
}
func (packets) WriteTo(b []byte, _ net.Addr) (int, error) { return len(b), nil }

func TestHowAnAppEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config Config
		signal time.Duration // SIGTERM, from the start
		kill   time.Duration // SIGKILL, from SIGTERM
		code   int
		took   time.Duration // from SIGTERM
	}{
		"at once":                          {Config{}, time.Second, time.Minute, ExitTerminated, 0},
		"before it listens":                {Config{StartDelay: time.Minute, Ignore: true}, time.Second, time.Minute, ExitTerminated, 0},
		"by itself after serving":          {Config{Serve: 10 * time.Second}, time.Second, time.Minute, ExitDone, 10 * time.Second},
		"killed while it still serves":     {Config{Serve: 10 * time.Second}, time.Second, 3 * time.Second, ExitKilled, 3 * time.Second},
		"killed because it ignores all":    {Config{Ignore: true}, time.Second, 30 * time.Second, ExitKilled, 30 * time.Second},
		"right after it started listening": {Config{StartDelay: time.Second}, 2 * time.Second, time.Minute, ExitTerminated, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := Start("web-1", c.config, deaf{})
				time.Sleep(c.signal)
				synctest.Wait()
				from := time.Now()
				a.Terminate()
				select {
				case <-a.Ended():
				case <-time.After(c.kill):
					a.Kill()
				}
				<-a.Ended()
				if code, err := a.Exit(); code != c.code || err != nil || time.Since(from) != c.took {
					t.Errorf("exit code %d after %s, %v; want %d after %s", code, time.Since(from), err, c.code, c.took)
				}
			})
		})
	}
}
