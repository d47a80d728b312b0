package report

import (
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/record"
)

// Matches says whether --show with a text shows a case: whether it is part of the case's ID, its workload, its action or its
// traffic. It needs nothing that runs find out.
func Matches(c *record.Case, show string) bool {
	return strings.Contains(c.ID, show) || strings.Contains(title(c), show) || strings.Contains(c.Workload+": "+c.Action+", "+c.Traffic, show)
}
