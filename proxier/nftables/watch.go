package nftables

import (
	"context"
	"fmt"
)

// notices are what a kernel tells of other people's transactions.
type notices interface {
	// next waits for one, and says whether it is about our tables. It fails when closed.
	next() (bool, error)
	close() error
}

// Watch notices at once when another program changes the Backend's tables, be it a single element:
// the channel has something to receive then, and the next Apply replaces the tables, whatever its
// delta is. It never blocks anybody, and is never closed; when ctx ends, nothing more comes.
// Unless a network namespace was named in Options, call it from the one that New was called from.
//
// Without Watch, foreign changes to chains and sets are noticed at the next Apply, and to elements
// when they are next to be changed.
func (b *Backend) Watch(ctx context.Context) (<-chan struct{}, error) {
	n, err := b.kernel.watch(b.opts)
	if err != nil {
		return nil, fmt.Errorf("nftables: watch: %w", err)
	}
	told := make(chan struct{}, 1)
	go func() {
		<-ctx.Done()
		_ = n.close() // it was read from, and is of no use any more
	}()
	go func() {
		for {
			foreign, err := n.next()
			if err != nil {
				return
			}
			if !foreign {
				continue
			}
			b.foreign.Store(true)
			select {
			case told <- struct{}{}:
			default: // nobody has come for the last one yet
			}
		}
	}()
	return told, nil
}
