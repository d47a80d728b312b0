package kubelet

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"
)

// probe asks a container whether it is ready, from the node, at once and then each period, and
// counts as the real kubelet does (docs/model/pod-lifecycle.md 3.2).
func (w *worker) probe(ctx context.Context, p *probe, a netip.Addr) {
	url := "http://" + net.JoinHostPort(a.String(), strconv.Itoa(int(p.port))) + p.path
	client := &http.Client{
		Timeout:   p.timeout,
		Transport: &http.Transport{DialContext: w.Node.Dial, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // which counts as success
		},
	}
	started, last, run := time.Now(), error(nil), int32(0)
	tick := time.NewTicker(p.period)
	defer tick.Stop()
	for first := true; ; first = false {
		if time.Since(started).Truncate(time.Second) >= p.delay {
			err := ask(ctx, client, url)
			if ctx.Err() != nil {
				return
			}
			if first || (err == nil) != (last == nil) {
				run = 0
			}
			last = err
			run++
			if err == nil && run >= p.successes || err != nil && run >= p.failure {
				w.status.ready(err == nil)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// ask says why a probe failed, if it did.
func ask(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	_ = response.Body.Close() // nobody reads it
	if response.StatusCode < http.StatusOK || response.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("status %s", response.Status)
	}
	return nil
}
