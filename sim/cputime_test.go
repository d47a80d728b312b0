package sim

import (
	"runtime/metrics"
	"time"
)

// processorTime is what the process has spent on its own code so far, garbage collection included.
func processorTime() time.Duration {
	sample := []metrics.Sample{{Name: "/cpu/classes/user:cpu-seconds"}, {Name: "/cpu/classes/gc/total:cpu-seconds"}}
	metrics.Read(sample)
	return time.Duration((sample[0].Value.Float64() + sample[1].Value.Float64()) * float64(time.Second))
}
