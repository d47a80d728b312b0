package sweep

import (
	"context"
	"testing"
	"time"

	"github.com/lameduck-proxy/lameduck/sim/record"
)

// A run that takes long when everything is to end is left alone; what was done counts.
func TestALongRunDoesNotHoldUpTheEnd(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	p := &pool{ctx: ctx, opts: &Options{Workers: 1}}
	release := make(chan struct{})
	defer close(release)
	results := collect(p, "testing", 3, time.Millisecond, func(i int) outcome {
		if i == 1 {
			cancel()
			<-release // after the test
		}
		return outcome{run: &record.Run{Seed: uint64(i)}}
	})
	if results[0].run == nil {
		t.Error("what was done is lost")
	}
	if results[1] != (outcome{}) {
		t.Errorf("%+v of a run that has not ended", results[1])
	}
}
