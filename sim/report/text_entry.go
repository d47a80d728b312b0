package report

import (
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// entry says before all else that where users enter is not judged: what is reported then is behind
// it, and says nothing of what users see while the way in itself is rolled out.
func (t *text) entry() {
	c := t.sim.UnjudgedEntry()
	if c == nil && t.opts.Show == "" {
		t.notUsers()
	}
	if c == nil || t.opts.Show != "" {
		return
	}
	t.Text("NOT JUDGED  ", subject(c)+", where users enter ("+c.Traffic+"): "+c.Reason+". What follows is behind it.")
	t.Blank()
}

// notUsers says before all else that no case is about users: the input has no other port, and a headline would be read as theirs.
func (t *text) notUsers() {
	var whose []string
	for i := range t.sim.Cases {
		switch c := &t.sim.Cases[i]; {
		case c.Users < scenario.UsersWebhook, c.Kind == "Scenario", c.Kind == scenario.KindNode:
			return
		case c.Verdict == record.NotJudged:
		case c.Class == scenario.ClassWebhook:
			whose = distinct(whose, "the API server, which asks a webhook")
		case c.Class == scenario.ClassPeer:
			whose = distinct(whose, "pods that talk to each other")
		default:
			whose = distinct(whose, "machines: configuration of proxies, admission or the like, by the ports' names")
		}
	}
	if len(whose) > 0 {
		t.Text("NOT USERS' TRAFFIC  ", "no port of the input is one for users. What follows is about "+strings.Join(whose, "; and ")+".")
		t.Blank()
	}
}
