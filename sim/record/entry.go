package record

import "github.com/lameduck-proxy/lameduck/sim/scenario"

// UnjudgedEntry is the case of where users enter, if that is not judged and something behind it is;
// nil where another way in is judged, and where nothing is.
func (s *Simulation) UnjudgedEntry() *Case {
	var entry *Case
	judged := false
	for i := range s.Cases {
		c := &s.Cases[i]
		judged = judged || c.Verdict != NotJudged
		switch {
		case c.Kind == "Scenario" || !c.Headline || c.Users != scenario.UsersEntry:
		case c.Verdict != NotJudged:
			return nil
		case entry == nil:
			entry = c
		}
	}
	if !judged {
		return nil
	}
	return entry
}
