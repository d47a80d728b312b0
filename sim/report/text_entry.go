package report

import (
	"github.com/lameduck-proxy/lameduck/sim/check"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// entry says before all else that where users enter is not judged: what is reported then is behind
// it, and says nothing of what users see while the way in itself is rolled out. Nothing is said
// where another case is about the users' way in and is judged.
func (t *text) entry(worst []*check.Case) {
	var unjudged *check.Case
	for _, c := range worst {
		switch {
		case c.Kind == "Scenario" || !c.Headline || c.Users != scenario.UsersEntry:
		case c.Verdict != check.NotJudged:
			return
		case unjudged == nil:
			unjudged = c
		}
	}
	if unjudged == nil || t.opts.Show != "" || unjudged == worst[0] {
		return
	}
	t.Text("NOT JUDGED  ", subject(unjudged)+", where users enter ("+unjudged.Traffic+"): "+unjudged.Reason+". What follows is behind it.")
	t.Blank()
}
