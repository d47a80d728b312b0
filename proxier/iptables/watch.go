package iptables

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// Listener hears of everybody's transactions of the kernel's nftables, which iptables-nft writes to, those of the Backend's own tools included.
type Listener interface {
	// Next waits for a transaction and returns the generation of the ruleset that it made, and whether a change in it is of interest; 0 and
	// true if some were missed.
	Next() (generation uint32, concerned bool, err error)
	// Generation is that of the ruleset now.
	Generation() (uint32, error)
	Close() error
}

// Listen opens a Listener. concerns says which changes are of interest: of a chain, or of a table where chain is "", which may be gone,
// or a rule of it.
type Listen func(concerns func(f endpoints.IPFamily, table, chain string, gone bool) bool) (Listener, error)

// listening tells the transactions of others from the Backend's own: those that come while one of its calls is under way count as its own. Of
// another program's among them the next Check knows.
type listening struct {
	mu       sync.Mutex // held during each call
	listener Listener   // nil until Watch
	at       uint32     // the generation after the last call
}

// errLegacy says why nothing can be heard.
var errLegacy = fmt.Errorf("iptables-legacy does not report changes: %w", errors.ErrUnsupported)

// Watch notices within moments when another program changes the Backend's chains, or the rules that lead to them, if they are iptables-nft's: the
// channel has something to receive then, and the next Check looks at all chains. It never blocks anybody, and is never closed; when ctx ends,
// nothing more comes. iptables-legacy is an error: there, only Check notices.
func (b *Backend) Watch(ctx context.Context) (<-chan struct{}, error) {
	if b.Variant() == Legacy {
		return nil, errLegacy
	}
	if b.opts.Listen == nil {
		return nil, errors.New("iptables: the watch on the kernel is not open")
	}
	l, err := b.opts.Listen(b.concerns)
	if err != nil {
		return nil, err
	}
	b.listening.mu.Lock()
	b.listening.listener = l
	b.listening.at, err = l.Generation()
	b.listening.mu.Unlock()
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	told := make(chan struct{}, 1)
	go func() {
		<-ctx.Done()
		b.listening.end()
	}()
	go b.listening.listen(l, told)
	return told, nil
}

// listen passes on what others do until the listener is closed.
func (x *listening) listen(l Listener, told chan<- struct{}) {
	for {
		generation, concerned, err := l.Next()
		if err != nil {
			return
		}
		if !concerned || x.own(generation) {
			continue
		}
		select {
		case told <- struct{}{}:
		default: // nobody has come for the last one yet
		}
	}
}

// own says whether the ruleset was of a generation when the last call was over, or of a later one. It waits for a call that is under way.
func (x *listening) own(generation uint32) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.listener == nil {
		return true // nobody wants to know any more
	}
	if generation == 0 { // some were missed
		now, err := x.listener.Generation()
		return err == nil && now == x.at
	}
	return int32(generation-x.at) <= 0 // numbers wrap around
}

// call is called at the begin of a call, and what it returns at its end.
func (x *listening) call() (end func()) {
	x.mu.Lock()
	return func() {
		if x.listener != nil {
			if now, err := x.listener.Generation(); err == nil {
				x.at = now
			}
		}
		x.mu.Unlock()
	}
}

func (x *listening) end() {
	x.mu.Lock()
	defer x.mu.Unlock()
	_ = x.listener.Close() // it was read from, and is of no use any more
	x.listener = nil
}

// concerns says whether a change may be one of the Backend's chains, or of what leads there. Others write to the same tables all the time.
func (b *Backend) concerns(f endpoints.IPFamily, inTable, chain string, gone bool) bool {
	known := slices.ContainsFunc(tables(), func(t table) bool { return t.String() == inTable })
	if !known || !slices.Contains(b.opts.Families, f) {
		return false
	}
	n := names{b.opts.ChainPrefix}
	switch rest, ours := strings.CutPrefix(chain, n.chain("")); {
	case chain == "":
		return gone
	case ours:
		return rest != kubeletCanary && rest != localnet // which are kubelet's
	default:
		return gone && builtin(chain) // a rule that led to us may be gone
	}
}

// builtin says whether a chain is one of iptables' own.
func builtin(chain string) bool {
	switch chain {
	case "PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING":
		return true
	default:
		return false
	}
}
