package nftables

import (
	"errors"
	"fmt"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// Change is what a transaction does to one table, chain or rule.
type Change struct {
	Family endpoints.IPFamily
	Table  string
	Chain  string // "" where the table itself comes or goes
	Gone   bool   // the table, the chain or a rule of it goes
}

// Listener hears of everybody's transactions, those of this process included.
type Listener struct {
	kernel kernel
	news   transactions
}

// transactions are what a kernel tells of them.
type transactions interface {
	next() (generation uint32, concerned bool, err error)
	close() error
}

// Listen begins to listen, in the network namespace of the options. concerns says which changes are of interest.
func Listen(opts Options, concerns func(Change) bool) (*Listener, error) {
	k, err := openKernel(opts)
	if err != nil {
		return nil, fmt.Errorf("nftables: listen: %w", err)
	}
	news, err := listen(opts, concerns)
	if err != nil {
		return nil, fmt.Errorf("nftables: listen: %w", errors.Join(err, k.close()))
	}
	return &Listener{k, news}, nil
}

// Next waits for a transaction. It returns the generation of the ruleset that it made, and whether a change in it is of interest; 0 and true, if
// there was more than the kernel had room for. It fails when the Listener is closed.
func (l *Listener) Next() (generation uint32, concerned bool, err error) { return l.news.next() }

// Generation is that of the ruleset now. It may be called while Next waits.
func (l *Listener) Generation() (uint32, error) { return l.kernel.generation() }

// Close ends Next.
func (l *Listener) Close() error { return errors.Join(l.news.close(), l.kernel.close()) }
