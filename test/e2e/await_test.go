package e2e

import (
	"context"
	"testing"
	"time"
)

// patience is how long anything may take that is to come about by itself, on a machine with much
// else to do. Nothing that passes waits that long.
const patience = 60 * time.Second

// until asks again and again, until there is nothing wrong any more. The real world says nothing
// when that is so; when it takes too long the test ends with what was wrong last.
func until(t *testing.T, what string, wrong func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var last error
	for {
		err := wrong(ctx)
		if err == nil {
			return
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			t.Fatalf("not in %s: %s: %v", patience, what, last)
		case <-tick.C:
		}
	}
}
