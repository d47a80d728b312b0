package server

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// serve runs a Socket until the returned function is called, or the test is over. Where it listens comes out of the channel.
func serve(t *testing.T, s Socket) (open <-chan net.Addr, stop func()) {
	t.Helper()
	listening := make(chan net.Addr, 8)
	s.Listening = func(a net.Addr) { listening <- a }
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.Serve(ctx); err != nil {
			t.Error(err)
		}
	}()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return listening, stop
}

func hello(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }

// get asks a real server.
func get(t *testing.T, url string) (status int, header http.Header, text string) {
	t.Helper()
	// No connection is kept: the test's end would wait for it.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(r.Body)
	if err := errors.Join(err, r.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, r.Header, string(body)
}

func TestASocketServesUntilTheEnd(t *testing.T) {
	t.Parallel()
	open, stop := serve(t, Socket{Network: "tcp", Address: "127.0.0.1:0", Handler: http.HandlerFunc(hello), Trouble: func(err error) { t.Error(err) }})
	at := (<-open).String()
	if _, _, body := get(t, "http://"+at+"/any"); body != "hello" {
		t.Errorf("answered %q", body)
	}
	stop()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", at)
	if err != nil {
		t.Fatalf("the address is still taken: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// lane is a net.Listener without a network, for use in a bubble.
type lane struct {
	conns chan net.Conn
	once  sync.Once
	gone  chan struct{}
	next  atomic.Uint32 // whose connection the next one is
}

func newLane() *lane { return &lane{conns: make(chan net.Conn), gone: make(chan struct{})} }

func (l *lane) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.gone:
		return nil, net.ErrClosed
	}
}

func (l *lane) Close() error {
	l.once.Do(func() { close(l.gone) })
	return nil
}

func (l *lane) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80} }

// dial returns a connection to whoever accepts, from an address that has no other.
func (l *lane) dial() net.Conn {
	n := l.next.Add(1)
	return l.dialFrom(netip.AddrFrom4([4]byte{198, 18, byte(n >> 8), byte(n)}))
}

// dialFrom is dial from an address.
func (l *lane) dialFrom(from netip.Addr) net.Conn {
	here, there := net.Pipe()
	select {
	case l.conns <- visitor{there, net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, 40000))}:
	case <-l.gone:
		_ = there.Close() // as refused
	}
	return here
}

// visitor is a connection from somewhere.
type visitor struct {
	net.Conn
	from net.Addr
}

func (v visitor) RemoteAddr() net.Addr { return v.from }

// Reference: Kubernetes 1.36 cmd/kube-proxy/app/server.go, "go wait.UntilWithContext(ctx, fn, 5*time.Second)".
func TestAPortThatIsTakenIsTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var tries, troubles []string
		lanes := make(chan *lane, 8)
		results := []error{errors.New("taken"), errors.New("taken"), errors.New("forbidden"), nil, errors.New("forbidden"), nil}
		ctx, cancel := context.WithCancel(t.Context())
		opened := 0
		socket := Socket{
			Network: "tcp4", Address: "192.0.2.1:80", Handler: http.HandlerFunc(hello),
			Listen: func(_ context.Context, network, address string) (net.Listener, error) {
				tries = append(tries, time.Since(began).String()+" "+network+" "+address)
				err := results[0]
				results = results[1:]
				if err != nil {
					return nil, err
				}
				l := newLane()
				lanes <- l
				return l, nil
			},
			Listening: func(net.Addr) { opened++ },
			Trouble:   func(err error) { troubles = append(troubles, time.Since(began).String()+" "+err.Error()) },
		}
		go func() { _ = socket.Serve(ctx) }()
		time.Sleep(time.Minute)
		first := <-lanes
		_ = first.Close() // as if the kernel took it away
		time.Sleep(time.Minute)
		second := <-lanes
		cancel()
		<-second.gone
		synctest.Wait()
		const what = " tcp4 192.0.2.1:80"
		if diff := cmp.Diff([]string{"0s" + what, "5s" + what, "10s" + what, "15s" + what, "1m5s" + what, "1m10s" + what}, tries); diff != "" {
			t.Errorf("tries (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{
			"0s listen on 192.0.2.1:80: taken", "10s listen on 192.0.2.1:80: forbidden",
			"1m0s serve 192.0.2.1:80: use of closed network connection", "1m5s listen on 192.0.2.1:80: forbidden",
		}, troubles); diff != "" {
			t.Errorf("reported (-want +got):\n%s", diff)
		}
		if opened != 2 {
			t.Errorf("open %d times, want 2", opened)
		}
	})
}

// in serves a handler on a lane in the bubble it is called in, and returns a connection to it.
func in(t *testing.T, handler http.HandlerFunc) (conn net.Conn, stop func(), troubles *[]string) {
	t.Helper()
	l := newLane()
	troubles = &[]string{}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = Socket{
			Handler: handler,
			Listen:  func(context.Context, string, string) (net.Listener, error) { return l, nil },
			Trouble: func(err error) { *troubles = append(*troubles, err.Error()) },
		}.Serve(ctx)
	}()
	return l.dial(), func() { cancel(); <-done }, troubles
}

// patience sends a text and returns how long the server keeps the connection after it, and what it answers.
func patience(t *testing.T, text string) (time.Duration, string) {
	t.Helper()
	conn, stop, _ := in(t, hello)
	defer stop()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	answer, _ := io.ReadAll(conn) // a deadline that passed is an error of the other side
	return time.Since(began), string(answer)
}

func TestWhoAsksSlowlyIsCutOff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       time.Duration
		answer     string
	}{
		{"nothing", "", headerTimeout, ""},
		{"half a header", "GET / HTTP/1.1\r\nHost:", headerTimeout, ""},
		{"a request, and no other", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 0, "HTTP/1.1 200 OK"},
		{"a request without its body", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n", readTimeout, "HTTP/1.1 200 OK"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				took, answer := patience(t, c.text)
				if took != c.want || !strings.HasPrefix(answer, c.answer) || (c.answer == "") != (answer == "") {
					t.Errorf("cut off after %v, want %v; answered %q", took, c.want, answer)
				}
			})
		})
	}
}

func TestAHeaderWithoutEndIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn, stop, _ := in(t, hello)
		defer stop()
		go func() { _, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a\r\nX: "+strings.Repeat("x", 1<<20)) }()
		r, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Body.Close(); err != nil || r.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("status %d, error %v", r.StatusCode, err)
		}
		_ = conn.Close()
	})
}

func TestAnAnswerOnItsWayIsNotCutOff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		takes  time.Duration
		answer string
	}{
		{"one that is there soon", closeGrace / 2, "HTTP/1.1 200 OK"},
		{"one that is not", 2 * closeGrace, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				conn, stop, _ := in(t, func(w http.ResponseWriter, r *http.Request) { time.Sleep(c.takes); hello(w, r) })
				if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				answer := make(chan string)
				go func() {
					all, _ := io.ReadAll(conn)
					answer <- string(all)
				}()
				stop()
				if got := <-answer; !strings.HasPrefix(got, c.answer) || (c.answer == "") != (got == "") {
					t.Errorf("answered %q", got)
				}
				time.Sleep(2 * closeGrace)
			})
		})
	}
}

func TestWhatTheServerHasToSayIsReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn, stop, troubles := in(t, func(http.ResponseWriter, *http.Request) { panic("no") })
		if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(*troubles) != 1 || !strings.Contains((*troubles)[0], "panic serving") {
			t.Errorf("reported: %q", *troubles)
		}
		stop()
	})
}

// Reference: KubeProxyConfiguration, bindAddressHardFail; Kubernetes 1.36 cmd/kube-proxy/app/server.go, serveHealthz.
func TestASocketThatFailsHardDoesNotTryAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		troubles := 0
		s := Socket{
			Network: "tcp", Address: "192.0.2.1:80", FailHard: true, Trouble: func(error) { troubles++ },
			Listen: func(context.Context, string, string) (net.Listener, error) { return nil, errors.New("taken") },
		}
		began := time.Now()
		err := s.Serve(t.Context())
		var listen *ListenError
		if !errors.As(err, &listen) || listen.Address != "192.0.2.1:80" || err.Error() != "listen on 192.0.2.1:80: taken" || time.Since(began) != 0 || troubles != 1 {
			t.Errorf("%v after %v, %d troubles", err, time.Since(began), troubles)
		}
		ctx, end := context.WithCancelCause(t.Context())
		end(errors.New("a signal"))
		if err := s.Serve(ctx); err != nil {
			t.Errorf("at the end: %v", err)
		}
	})
}

func TestAPortThatIsFullCanBeClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLane()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			done <- Socket{Handler: http.HandlerFunc(hello), Listen: func(context.Context, string, string) (net.Listener, error) { return l, nil }}.Serve(ctx)
		}()
		for range maxConnections {
			l.dial()
		}
		synctest.Wait()
		began := time.Now()
		cancel()
		if err := <-done; err != nil || time.Since(began) > closeGrace {
			t.Errorf("closed after %v: %v", time.Since(began), err)
		}
	})
}

func TestABodyIsNotReadBeyondALimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		read := 0
		conn, stop, _ := in(t, func(w http.ResponseWriter, r *http.Request) {
			all, err := io.ReadAll(r.Body)
			if read = len(all); err == nil {
				t.Error("all of it was read")
			}
			hello(w, r)
		})
		go func() {
			_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n"+strings.Repeat("x", 1000000))
		}()
		r, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Body.Close(); err != nil || read != maxBodyBytes {
			t.Errorf("%d bytes were read, want %d (%v)", read, maxBodyBytes, err)
		}
		_ = conn.Close()
		stop()
	})
}
