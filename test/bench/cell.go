package main

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
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/lameduck-proxy/lameduck/test/bench/apiserver"
	"github.com/lameduck-proxy/lameduck/test/bench/network"
	"github.com/lameduck-proxy/lameduck/test/bench/objects"
	"github.com/lameduck-proxy/lameduck/test/bench/process"
	"github.com/lameduck-proxy/lameduck/test/bench/table"
)

// cell is one proxy in one mode at one size, from an empty network to the proxy's end.
type cell struct {
	*settings
	ctx   context.Context // a cell is one run
	proxy *proxy
	mode  string
	size  objects.Size

	dir    string // for the files of this run
	master string // URL of the API server

	net       *network.Network
	server    *apiserver.Server
	prober    *network.Prober
	process   *process.Process
	endpoints map[int][]netip.Addr // of Services that have changed
	later     int                  // how many addresses have been used
	samples   map[string]table.Sample
}

// errNotDone says that something took longer than the limit.
var errNotDone = errors.New("not done in time")

// notDone tells the errors that mean this from those that mean that something is broken.
func notDone(err error) error {
	if errors.Is(err, network.ErrTimeout) || errors.Is(err, process.ErrBusy) {
		return fmt.Errorf("%w: %w", errNotDone, err)
	}
	return err
}

// run measures a cell. With an error there are samples of what was done before.
func (c *cell) run() (map[string]table.Sample, error) {
	c.endpoints, c.samples = map[int][]netip.Addr{}, map[string]table.Sample{}
	var err error
	if c.dir, err = os.MkdirTemp("", "lameduck-bench-"); err != nil {
		return nil, err
	}
	err = c.inside()
	if err != nil && !errors.Is(err, errNotDone) {
		err = fmt.Errorf("%w\n%s", err, tail(c.log()))
	}
	return c.samples, errors.Join(err, os.RemoveAll(c.dir))
}

// log is where the proxy's output goes.
func (c *cell) log() string { return filepath.Join(c.dir, "log") }

// tail returns the end of a proxy's log.
func tail(path string) string {
	const most = 2000
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}

// inside makes what the proxy needs, and takes it away again.
func (c *cell) inside() (err error) {
	if c.net, err = network.New(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.net.Close()) }()
	if c.prober, err = c.net.NewProber(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.prober.Close()) }()
	listener, err := c.net.Node.Listen("127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := c.fill(); err != nil {
		return errors.Join(err, listener.Close())
	}
	served := make(chan error, 1)
	go func() { served <- c.server.Serve(listener) }()
	defer func() { err = errors.Join(err, c.server.Close(), <-served) }()
	c.master = "http://" + listener.Addr().String()
	return c.withProxy()
}

// fill gives the API server its objects, encoded.
func (c *cell) fill() error {
	c.server = apiserver.New()
	all := []apiserver.Object{objects.Node(), objects.ServiceCIDRs()}
	for i := range c.size.Services {
		all = append(all, objects.Service(i), c.size.Slice(i))
	}
	for _, o := range all {
		if err := c.server.Add(o, apiserver.Protobuf); err != nil {
			return err
		}
	}
	return nil
}

// withProxy starts the proxy, measures, and ends it.
func (c *cell) withProxy() error {
	env, err := environment(c.mode, c.dir)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(c.dir, configName), []byte(config), 0o600); err != nil {
		return err
	}
	output, err := os.Create(c.log())
	if err != nil {
		return err
	}
	defer func() { _ = output.Close() }() // what it holds is only read after a failure
	from := time.Now()
	err = c.net.Node.Do(func() (err error) {
		c.process, err = process.Start(c.proxy.argv(c), env, output)
		return err
	})
	if err != nil {
		return err
	}
	defer c.process.Stop()
	c.prober.GiveUp = c.inVain
	if err := c.started(from); err != nil {
		return notDone(err)
	}
	err = c.phases()
	c.samples[rowPeak] = table.Sample{Value: float64(c.process.Peak()), N: 1}
	return notDone(err)
}

// inVain says why there is no use in waiting.
func (c *cell) inVain() error { return errors.Join(c.process.Err(), c.ctx.Err()) }

// started waits until every rule answers.
func (c *cell) started(from time.Time) error {
	ears, err := c.prober.Listen(netip.IPv4Unspecified())
	if err != nil {
		return err
	}
	defer func() { _ = ears.Close() }()
	at, err := c.answering(ears, from)
	if err != nil {
		return err
	}
	c.samples[rowStart] = table.Sample{Value: at.Sub(from).Seconds(), N: 1}
	sync, err := c.firstSync(from)
	if err != nil {
		return err
	}
	c.samples[rowFirstSync] = table.Sample{Value: sync, N: 1}
	if err := c.process.Quiet(c.limit); err != nil {
		return err
	}
	cpu, err := c.process.CPU()
	c.samples[rowStartCPU] = table.Sample{Value: cpu.Seconds(), N: 1}
	return err
}

// answering returns when the last Service and a sample of the others have answered.
func (c *cell) answering(ears *network.Watch, from time.Time) (at time.Time, err error) {
	const sample = 50
	for i := range sample {
		// The last one first: there is nothing to be seen before it.
		n := c.size.Services - 1 - i*(c.size.Services-1)/sample
		at, err = c.prober.First(objects.ClusterIP(n), ears, from, c.limit)
		if err != nil {
			return at, err
		}
	}
	return at, nil
}

// firstSync asks the proxy how long its first sync took. It may say so after the rules answer.
func (c *cell) firstSync(from time.Time) (float64, error) {
	for {
		seconds, ok, err := c.proxy.firstSync(c)
		if ok {
			return seconds, err
		}
		if err := c.inVain(); err != nil {
			return 0, err
		}
		if time.Since(from) > c.limit {
			return 0, errors.Join(errors.New("it does not say how long its first sync took"), err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func firstSyncInMetrics(c *cell) (float64, bool, error) {
	return readMetrics(c.ctx, &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return c.net.Node.Dial(metricsAddress) },
	}})
}

func firstSyncInLog(c *cell) (float64, bool, error) {
	text, err := os.ReadFile(c.log())
	if err != nil {
		return 0, false, err
	}
	return parseLog(string(text))
}

// parseLog looks for the first line that says how long lameduck took to put rules in force.
func parseLog(text string) (seconds float64, ok bool, err error) {
	m := regexp.MustCompile(`"Rules are in force".* elapsed="([^"]+)"`).FindStringSubmatch(text)
	if m == nil {
		return 0, false, nil
	}
	d, err := time.ParseDuration(m[1])
	return d.Seconds(), err == nil, err
}

func readMetrics(ctx context.Context, client *http.Client) (float64, bool, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+metricsAddress+"/metrics", http.NoBody)
	if err != nil {
		return 0, false, err
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, false, err
	}
	defer func() { _ = response.Body.Close() }() // all of it was read
	return parseFirstSync(response.Body)
}

// parseFirstSync returns how long the full syncs of IPv4 took on average: the first one, unless
// it had to be repeated.
func parseFirstSync(metrics io.Reader) (seconds float64, ok bool, err error) {
	var sum, count float64
	lines := bufio.NewScanner(metrics)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if strings.Contains(name, "{") && !strings.Contains(name, `ip_family="IPv4"`) {
			continue
		}
		for suffix, into := range map[string]*float64{"_sum": &sum, "_count": &count} {
			bare, _, _ := strings.Cut(name, "{")
			if bare != firstSyncMetric+suffix {
				continue
			}
			if *into, err = strconv.ParseFloat(value, 64); err != nil {
				return 0, false, fmt.Errorf("metric %s: %w", name, err)
			}
		}
	}
	if count == 0 {
		return 0, false, lines.Err()
	}
	return sum / count, true, lines.Err()
}
