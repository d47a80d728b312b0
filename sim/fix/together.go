package fix

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/edit"
)

const gracePath = "spec.template.spec.terminationGracePeriodSeconds"

// graceWords are how a grace period stands in the Title of a Change.
func graceWords(seconds int64) string {
	return fmt.Sprintf("terminationGracePeriodSeconds: %d", seconds)
}

// Together are changes as they are made at once: where several set the grace period, the longest that one of them needs is set, and once. A
// Change that was nothing else has no Title and no Edits then.
func Together(changes []Change) []Change {
	longest, at, several := int64(-1), -1, 0
	for i := range changes {
		if seconds := changes[i].grace(); seconds >= 0 {
			several++
			if seconds > longest {
				longest, at = seconds, i
			}
		}
	}
	if several < 2 {
		return changes
	}
	out := slices.Clone(changes)
	for i := range out {
		if i != at {
			out[i].withoutGrace()
		}
	}
	return out
}

// grace is the grace period that a change sets, -1 for none.
func (c *Change) grace() int64 {
	for i := range c.Edits {
		if c.Edits[i].Path == gracePath {
			if seconds, err := strconv.ParseInt(c.Edits[i].To.YAML, 10, 64); err == nil {
				return seconds
			}
		}
	}
	return -1
}

func (c *Change) withoutGrace() {
	seconds := c.grace()
	if seconds < 0 {
		return
	}
	c.Title = strings.TrimSuffix(strings.TrimSuffix(c.Title, graceWords(seconds)), ", ")
	c.Edits = slices.DeleteFunc(slices.Clone(c.Edits), func(e edit.Edit) bool { return e.Path == gracePath })
}
