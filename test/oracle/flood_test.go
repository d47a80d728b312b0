package oracle

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	upstream "k8s.io/kubernetes/pkg/proxy/healthcheck"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/healthcheck"
	"github.com/lameduck-proxy/lameduck/healthcheck/server"
)

// A flood is three processes in a network namespace of its own: a server of health, clients that want to blind it, and the test, which
// probes. Processes, since one may not have as many open files as there are connections.

// floodRole is the variable that says what this process is, and its arguments.
const floodRole = "LAMEDUCK_FLOOD"

// floodPort is where health is served.
const floodPort = 10256

// play is what a process of a flood does. It does not return.
func play(role []string) {
	var err error
	switch role[0] {
	case "cell":
		err = cell(role[1], role[2], role[3])
	case "lameduck":
		err = serveLameduck()
	case "kube-proxy":
		err = serveKubeProxy()
	case "clients":
		err = flood(role[1], role[2])
	default:
		err = fmt.Errorf("no role %q", role[0])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, strings.Join(role, " "), err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serveLameduck serves /livez as the agent does.
func serveLameduck() error {
	return server.New(server.Options{
		Address: netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), floodPort).String(), Behaviour: endpoints.CurrentOptions(),
		State: func() server.State { return server.State{Node: healthcheck.NodeState{Known: true}} },
	}).Run(context.Background())
}

// serveKubeProxy serves /livez as kube-proxy does.
func serveKubeProxy() error {
	return upstream.NewProxyHealthServer(fmt.Sprintf("127.0.0.1:%d", floodPort), time.Minute, &nodeObject{}).Run(context.Background())
}

// flood holds so many connections from each of so many addresses, and opens each again some seconds after it was closed. It says when all have
// been tried.
func flood(sources, each string) error {
	n, err := strconv.Atoi(sources)
	m, err2 := strconv.Atoi(each)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	var tried sync.WaitGroup
	for i := range n * m {
		tried.Add(1)
		go hold(net.IPv4(127, 0, 1, byte(1+i%n)), i, sync.OnceFunc(tried.Done))
	}
	tried.Wait()
	if _, err := fmt.Fprintln(os.Stdout, "ready"); err != nil {
		return err
	}
	select {}
}

// hold holds one connection for ever. It comes back after 5 to 15 s: clients take as much of the machine's processors as the server
// does, and 2,000 new connections a second are what two of them do beside everything else.
func hold(from net.IP, i int, tried func()) {
	text := []string{
		"", "GET /livez HTTP/1.1\r\nHost:", "GET /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n", "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n",
	}[i/97%4]
	pause := 5*time.Second + time.Duration(i%97)*100*time.Millisecond
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: from}, Timeout: 10 * time.Second}
	for {
		conn, err := dialer.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", floodPort))
		tried()
		if err == nil {
			_, _ = io.WriteString(conn, text)
			_, _ = io.Copy(io.Discard, conn)
			_ = conn.Close()
		}
		time.Sleep(pause)
	}
}

// cell probes a server in the midst of a flood and prints how many probes were answered.
func cell(kind, sources, each string) error {
	runtime.LockOSThread() // what is started ends with this thread
	if out, err := exec.Command("ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	if _, err := begin(kind); err != nil {
		return err
	}
	for askHealth() != nil { // it is not listening yet
		runtime.Gosched()
	}
	clients, err := begin("clients " + sources + " " + each)
	if err != nil {
		return err
	}
	if _, err := clients.ReadString('\n'); err != nil {
		return err
	}
	answered, asked, slowest := 0, 0, time.Duration(0)
	var failure error
	for asked < floodProbes && asked-answered < floodFailures {
		asked++
		began := time.Now()
		if err := askHealth(); err != nil {
			failure = err
		} else {
			answered++
			slowest = max(slowest, time.Since(began))
		}
		time.Sleep(time.Until(began.Add(probeInterval())))
	}
	_, err = fmt.Fprintf(os.Stdout, "%d of %d answered, the slowest after %v; last failure: %v\n", answered, asked, slowest.Round(time.Millisecond), failure)
	return err
}

// floodProbes is how often is probed, unless floodFailures were not answered before: a node is blind by then.
const (
	floodProbes   = 100
	floodFailures = 10
)

// probeInterval is from one probe to the next: none, if not told, as a flood is the same at all times.
func probeInterval() time.Duration {
	d, _ := time.ParseDuration(os.Getenv("LAMEDUCK_FLOOD_INTERVAL"))
	return d
}

// begin starts this program in another role and returns its output. It ends with the thread that began it.
func begin(role string) (*bufio.Reader, error) {
	cmd := roleOf(role)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return bufio.NewReader(out), cmd.Start()
}

func roleOf(role string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), floodRole+"="+role)
	cmd.Stderr = os.Stderr
	return cmd
}

// askHealth asks once, within a second, over a connection of its own.
func askHealth() error {
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/livez", floodPort))
	if err != nil {
		return err
	}
	if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d, %w", answer.StatusCode, err)
	}
	return nil
}

// TestFloodDoesNotBlindANode has clients hold as many connections as they can while a load balancer probes. kube-proxy is beside it for comparison:
// it bounds nothing.
func TestFloodDoesNotBlindANode(t *testing.T) {
	if os.Getenv("LAMEDUCK_KERNEL") == "" {
		t.Skip("needs network namespaces and 20,000 connections: LAMEDUCK_KERNEL=1")
	}
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ sources, each int }{{1, 10000}, {20, 1000}} {
		for _, kind := range []string{"lameduck", "kube-proxy"} {
			cmd := roleOf(fmt.Sprintf("cell %s %d %d", kind, c.sources, c.each))
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
			out, err := cmd.Output()
			if err != nil { // of rights, too: LAMEDUCK_KERNEL is set
				t.Fatalf("%s: %v", kind, err)
			}
			said := strings.TrimSpace(string(out))
			t.Logf("%s, %d connections from each of %d addresses, %d files at most: %s", kind, c.each, c.sources, files.Max, said)
			if kind == "lameduck" && !strings.HasPrefix(said, fmt.Sprintf("%d of %d ", floodProbes, floodProbes)) {
				t.Errorf("want %d answers", floodProbes)
			}
		}
	}
}
