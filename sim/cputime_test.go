package sim

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// processorTime is what the process has spent on its own code so far, in steps of 10 ms: fields 14
// and 15 of /proc/self/stat, user and system time in hundredths of a second.
func processorTime(tb testing.TB) time.Duration {
	tb.Helper()
	data, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0 // no Linux
	}
	_, rest, _ := strings.Cut(string(data), ") ") // the name may hold blanks
	var sum time.Duration
	for _, field := range strings.Fields(rest)[11:13] {
		ticks, err := strconv.Atoi(field)
		if err != nil {
			tb.Fatal(err)
		}
		sum += time.Duration(ticks) * 10 * time.Millisecond
	}
	return sum
}
