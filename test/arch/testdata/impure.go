// Package impure breaks the purity rules; the tests of package arch expect it to be caught on every marked line.
package impure

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2" // want "math/rand"
	"net"          // want "pure package imports net: sockets"
	"net/netip"
	"os"          // want "pure package imports os: files"
	"sync"        // want "pure package imports sync: one owner"
	"sync/atomic" // want "pure package imports sync/atomic: one owner"
	"time"
)

type guarded struct {
	mu   sync.Mutex
	n    atomic.Int64
	addr netip.Addr
	conn net.Conn
	at   time.Time
	wait time.Duration
	wake chan struct{} // want "channel type"
}

func init() { // want "init function"
}

type job struct{}

func (job) init() {}

func (g *guarded) clocks(ctx context.Context, later time.Time) bool {
	g.at = time.Now()                                  // want "time.Now: time arrives as an argument"
	time.Sleep(g.wait)                                 // want "time.Sleep"
	_ = time.Since(g.at) + time.Until(g.at)            // want "time.Since" "time.Until"
	_, _ = time.NewTimer(1), time.NewTicker(1)         // want "time.NewTimer" "time.NewTicker"
	_, _ = time.After(1), time.Tick(1)                 // want "time.After" "time.Tick"
	time.AfterFunc(1, nil)                             // want "time.AfterFunc"
	now := time.Now                                    // want "time.Now"
	_, cancel := context.WithTimeout(ctx, time.Second) // want "context.WithTimeout"
	cancel()
	_ = later.In(time.Local) // want "time.Local: the machine's time zone"
	return now().After(later) || later.Sub(g.at) > 0 || time.Unix(1, 0).IsZero()
}

func (g *guarded) talk(m map[string]int, seq iter.Seq[int]) {
	go g.talk(m, seq)    // want "go statement"
	g.wake <- struct{}{} // want "send"
	<-g.wake             // want "receive"
	for range g.wake {   // want "range over a channel"
	}
	select {} // want "select"
}

func (g *guarded) print(seq iter.Seq[int]) string {
	close(g.wake)             // want "close: no channels"
	fmt.Println(rand.Int())   // want "fmt.Println: results leave as values"
	fmt.Printf("%v", os.Args) // want "fmt.Printf"
	println("x")              // want "println: results leave as values"
	fmt.Fprintln(nil)
	return fmt.Sprint(g.addr)
}
