package agent

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-logr/logr"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/metrics"
	"github.com/lameduck-proxy/lameduck/proxier/nftables"
)

// rivalInterval passes between looks for other service proxies.
const rivalInterval = 30 * time.Second

// What programs a node beside this proxy, as it is logged.
const (
	anotherLameduck   = "another lameduck"
	kubeProxyIPTables = "kube-proxy in mode iptables, or what it left"
	kubeProxyNFTables = "kube-proxy in mode nftables, or what it left"
)

// rivals are other service proxies on the node: packets meet their rules, too, or theirs and ours take turns. Each is logged and counted
// when it is noticed, and again when it had been gone in between.
type rivals struct {
	log   logr.Logger
	count func(what metrics.Interference, n int)
	// look returns those that are there.
	look func() ([]string, error)

	mu      sync.Mutex
	known   map[string]bool // as long as they are there; true for those that do not have to be seen again
	trouble string          // of the last look
}

// run looks for them until the context ends.
func (r *rivals) run(ctx context.Context) {
	for ctx.Err() == nil {
		r.once()
		select {
		case <-ctx.Done():
		case <-time.After(rivalInterval):
		}
	}
}

func (r *rivals) once() {
	there, err := r.look()
	text := ""
	if err != nil {
		text = err.Error()
	}
	r.mu.Lock()
	again := text == r.trouble
	r.trouble = text
	r.mu.Unlock()
	if err != nil {
		if !again {
			r.log.Error(err, "Other service proxies would not be noticed")
		}
		return
	}
	for _, one := range there {
		r.add(one, false)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for one, stays := range r.known { // order: each has a line of its own
		if !stays && !slices.Contains(there, one) {
			delete(r.known, one)
			r.log.Info("No other service proxy programs this node any more", "rival", one)
		}
	}
}

// add takes note of one that is there, and stays so if a look need not see it. It may be called from any goroutine.
func (r *rivals) add(one string, stays bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known = map[string]bool{}
	}
	already, known := r.known[one]
	r.known[one] = already || stays
	if !known {
		r.count(metrics.Rival, 1)
		r.log.Info("Another service proxy programs this node: end it, and have it clean up", "rival", one)
	}
}

// claim is what one lameduck on a node has as long as it runs, and no other: a socket with a name that belongs to the network namespace, and
// that the kernel takes back when its process ends.
type claim struct {
	name   string
	socket net.Listener
}

// newClaim returns the claim of all proxies whose rules would be in each other's way. Chains with another prefix than kube-proxy's stand
// beside others.
func newClaim(o KernelOptions) *claim { return &claim{name: "@lameduck/proxy/" + prefixOf(o)} }

// ours says whether it is ours, and takes it if nobody has it.
func (c *claim) ours() (bool, error) {
	if c.socket != nil {
		return true, nil
	}
	socket, err := (&net.ListenConfig{}).Listen(context.Background(), "unix", c.name)
	if errors.Is(err, syscall.EADDRINUSE) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	c.socket = socket
	return true, nil
}

// release gives it back.
func (c *claim) release() error {
	if c.socket == nil {
		return nil
	}
	return c.socket.Close()
}

// kubeProxys is what chains of kube-proxy begin with.
const kubeProxys = "KUBE"

func prefixOf(o KernelOptions) string {
	if o.ChainPrefix == "" {
		return kubeProxys
	}
	return o.ChainPrefix
}

// look returns the service proxies that there are beside the one with a claim. The chains of iptables-legacy are not looked at: that
// Backend notices a kube-proxy by itself.
func look(o KernelOptions, c *claim) (there []string, err error) {
	ours, err := c.ours()
	if err != nil {
		return nil, err
	}
	if !ours {
		there = append(there, anotherLameduck)
	}
	if prefixOf(o) != kubeProxys {
		return there, nil // it was asked to stand beside a kube-proxy
	}
	for _, f := range endpoints.Families() {
		chains, err := nftables.Chains(o.nftables(), f)
		if err != nil {
			return nil, err
		}
		for _, chain := range chains {
			rival := rivalOf(chain)
			if rival != "" && !slices.Contains(there, rival) {
				there = append(there, rival)
			}
		}
	}
	return there, nil
}

// rivalOf returns whose a chain is, written as "TABLE CHAIN": a kube-proxy's table of nftables, or the empty chain that it keeps in
// mode iptables (1.36 pkg/proxy/nftables/proxier.go, kubeProxyTable, and pkg/proxy/iptables/proxier.go, kubeProxyCanaryChain; verified).
func rivalOf(chain string) string {
	switch table, name, _ := strings.Cut(chain, " "); {
	case table == "kube-proxy":
		return kubeProxyNFTables
	case name == kubeProxys+"-PROXY-CANARY":
		return kubeProxyIPTables
	default:
		return ""
	}
}
