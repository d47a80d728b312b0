package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// drains are the cases of nodes as such, entries those of traffic; where there is no other, a drain is one, too.
func drains(cases []*record.Case) (entries, nodes []*record.Case) {
	for _, c := range cases {
		if c.OfNodes() {
			nodes = append(nodes, c)
		} else {
			entries = append(entries, c)
		}
	}
	if len(entries) == 0 {
		return nodes, nodes
	}
	return entries, nodes
}

// drainHead says in a sentence what becomes of each drain of nodes, and of how much of the traffic.
func (t *text) drainHead(entries, nodes []*record.Case) {
	for _, c := range nodes {
		if slices.Contains(entries, c) && c.Verdict == record.NotJudged {
			continue // its own head says it
		}
		end := t.drainEnd(c)
		if c.Verdict == record.NotJudged {
			end = ": " + c.Reason + "."
		}
		t.Hanging(t.drainWord(c), 8, "kubectl drain "+nodesOf(c)+end+noticedWords(entries, c))
		t.Blank()
	}
}

// drainWord is the verdict where the drain does not end, "" elsewhere.
func (t *text) drainWord(c *record.Case) string {
	if !c.Verdict.Endless() {
		return ""
	}
	return t.styled(c, strings.ToUpper(string(c.Verdict))) + "  "
}

// nodesOf are the nodes of a drain as kubectl takes them.
func nodesOf(c *record.Case) string {
	_, nodes, _ := strings.Cut(c.ID, "=")
	return strings.ReplaceAll(nodes, ",", " ")
}

// drainEnd says when a drain is over, or why it never is.
func (t *text) drainEnd(c *record.Case) string {
	what, _ := c.BlockedBy()
	kept, _ := c.Drain.KeptBy()
	if len(what) > 0 && c.Verdict.Endless() {
		var names, left []string
		if kept != nil {
			names = append(names, kept.Name)
		}
		for i := range what {
			if givesUp(&what[i]) {
				left = distinct(left, what[i].Workload)
			} else {
				names = distinct(names, what[i].Workload)
			}
		}
		if took, runs := c.DrainTime(); kept == nil && runs > 0 && runs == len(c.Runs) {
			return fmt.Sprintf(" is through in %s, and not all pods come back: %s.", spread(took), listed(names, 4))
		}
		if len(names) == 0 {
			return " gives up, and leaves pods of " + listed(left, 4) + " where they are."
		}
		return " " + never(c) + ": it waits for " + listed(names, 4) + "."
	}
	pods := 0
	for i := range c.Drain.Nodes {
		for _, on := range slices.Concat(c.Drain.Nodes[i].Leave, c.Drain.Nodes[i].Beyond) {
			pods += on.Pods
		}
	}
	took, runs := c.DrainTime()
	switch {
	case kept != nil && took.Max == 0:
		return " waits for what is not simulated: " + kept.Words() + "."
	case kept != nil:
		return fmt.Sprintf(" waits for what is not simulated: %s. The rest is gone in %s.", kept.Words(), spread(took))
	case runs == 0:
		return " is not through when the runs end."
	}
	words := " is through in " + spread(took)
	if took.Max == 0 {
		words = " is through at once"
	}
	if runs < len(c.Runs) {
		words += fmt.Sprintf(", in %d of %d runs", runs, len(c.Runs))
	}
	if pods > 0 {
		words += fmt.Sprintf(": %s.", count(pods, "pod goes", "pods go"))
		return words
	}
	return words + "."
}

// noticedWords says how many of the Services with pods there lose something.
func noticedWords(entries []*record.Case, c *record.Case) string {
	judged, losing := 0, 0
	for _, e := range entries {
		if e.Action != c.Action || e.OfNodes() || e.Verdict == record.NotJudged {
			continue
		}
		judged++
		if e.WithLoss > 0 {
			losing++
		}
	}
	switch {
	case judged == 0:
		return " Nothing that is judged has pods there."
	case losing == 0:
		return fmt.Sprintf(" Nothing is lost of the traffic of %s.", count(judged, "Service entry", "Service entries"))
	default:
		return fmt.Sprintf(" %d of %s.", losing, count(judged, "Service entry loses traffic", "Service entries lose traffic"))
	}
}

// drained says what a drain has found on each node, what waits, what stays, and what kubectl would refuse.
func (t *text) drained(nodes []*record.Case) {
	for _, c := range nodes {
		t.Blank()
		t.Text("THE DRAIN   ", "kubectl drain "+nodesOf(c))
		for i := range c.Drain.Nodes {
			t.node(c, &c.Drain.Nodes[i])
		}
		what, runs := c.BlockedBy()
		for i := range what {
			t.waits(c, &what[i], runs[i])
		}
		if names := c.Drain.Unwell; len(names) > 0 {
			t.Hanging("  ", 4, "Before it began: "+listed(names, 5)+".")
		}
		if names := c.Drain.Back; len(names) > 0 {
			t.Hanging("  ", 4, "May come back: the next pods of "+listed(names, 5)+", which tolerate the cordon. kubectl ends nevertheless: look before the machine is turned off.")
		}
		if names := c.Drain.Guessed; len(names) > 0 {
			t.Hanging("  ", 4, "Where the pods of "+listed(names, 5)+" are is a guess: the input does not say.")
		}
	}
}

// node is one node: how long it takes, and whose pods are there.
func (t *text) node(c *record.Case, n *scenario.NodePlan) {
	words := n.Name + ": "
	if n.Cordoned {
		words += "cordoned already, "
	}
	took, runs := c.NodeTime(n.Name)
	switch kept := n.KeptBy(); {
	case kept != nil && took.Max > 0:
		words += "not empty: " + kept.Name + " stays; the rest is gone after " + spread(took)
	case kept != nil:
		words += "not empty: " + kept.Name + " stays"
	case runs > 0 && took.Max == 0:
		words += "empty from the beginning"
	case runs > 0:
		words += "empty after " + spread(took)
	case len(c.Runs) > 0:
		words += "never empty"
	default:
		words += "no pod there is simulated"
	}
	t.Hanging("  ", 4, words+".")
	if n.NotReady {
		t.Hanging("    ", 6, "It is not ready, by its Node object. Its kubelet says so, and is taken to stop pods as any other.")
	}
	if n.Silent {
		t.Hanging("    ", 6, "Its kubelet is silent, by its Node object: nobody stops the pods, and kubectl waits for them until that is back, or the Node is deleted.")
	}
	if len(n.Leave) > 0 {
		t.Hanging("    ", 6, "Leave: "+listed(onNode(n.Leave, false), 8)+".")
	}
	kept := func(on scenario.OnNode) bool { return on.Kept }
	if gone := slices.DeleteFunc(slices.Clone(n.Beyond), kept); len(gone) > 0 {
		t.Hanging("    ", 6, "Leave, too, and are not simulated: "+listed(onNode(gone, true), 6)+".")
	}
	if stays := slices.DeleteFunc(slices.Clone(n.Beyond), func(on scenario.OnNode) bool { return !on.Kept }); len(stays) > 0 {
		t.Hanging("    ", 6, "Are to leave, do not, and are not simulated: "+listed(onNode(stays, true), 6)+".")
	}
	if len(n.Stay) > 0 {
		t.Hanging("    ", 6, "Stay: "+listed(onNode(n.Stay, true), 6)+".")
	}
	var flags []string
	for _, r := range n.Refused {
		flags = append(flags, r.Flag+" ("+listed(r.Pods, 3)+")")
	}
	if len(flags) > 0 {
		words := "kubectl refuses without " + listed(flags, len(flags))
		if len(c.Runs) > 0 {
			words += ": it is simulated with " + itOrThem(flags)
		}
		t.Hanging("    ", 6, words+".")
	}
}

func itOrThem(list []string) string {
	if len(list) == 1 {
		return "it"
	}
	return "them"
}

// onNode names owners with the number of their pods.
func onNode(list []scenario.OnNode, kinds bool) []string {
	var out []string
	for _, on := range list {
		words := on.Name
		if kinds {
			words = on.Kind + " " + words
		}
		if on.Pods > 1 {
			words = fmt.Sprintf("%d of %s", on.Pods, words)
		}
		if on.Why != "" {
			words += " (" + on.Why + ")"
		}
		out = append(out, words)
	}
	return out
}

// waits says what a drain waits for that never comes.
func (t *text) waits(c *record.Case, s *record.Stuck, runs int) {
	words := s.Workload + ": " + s.Why
	if where := t.place(s.File, s.Line); where != "" {
		words += " (" + where + ")"
	}
	if runs < len(c.Runs) {
		words += fmt.Sprintf(", in %d of %d runs", runs, len(c.Runs))
	}
	if s.What != "" {
		words += ". What lets it: " + s.What
	}
	t.Hanging("  ", 4, words+".")
}

// plural is what several of an action are called: "node drains", "drains of node-7".
func plural(action string) string {
	if first, rest, ok := strings.Cut(action, " of "); ok {
		return plural(first) + " of " + rest
	}
	if strings.HasSuffix(action, "sh") {
		return action + "es"
	}
	return action + "s"
}
