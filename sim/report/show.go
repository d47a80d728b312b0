package report

import (
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/record"
)

// Matches says whether --show with a text shows a case: whether it is part of the case's ID, its workload, its action or its
// traffic, in capitals or not. It needs nothing that runs find out.
func Matches(c *record.Case, show string) bool {
	show = strings.ToLower(show)
	for _, words := range []string{c.ID, title(c), c.Workload + ": " + c.Action + ", " + c.Traffic} {
		if strings.Contains(strings.ToLower(words), show) {
			return true
		}
	}
	return false
}
