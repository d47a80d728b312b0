package report

import (
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// Drain is kubectl drain of nodes that were named.
type Drain struct {
	Case  string      `json:"case"` // its id
	Nodes []DrainNode `json:"nodes"`
	// Ended is in how many of the runs of the case every node becomes empty; Seconds is how long that takes from the first pod to
	// the last, null where it is none.
	Ended   int      `json:"ended"`
	Seconds *Seconds `json:"seconds"`
	Blocked []Block  `json:"blocked"` // what it waits for in any run, and never comes; pods that are not simulated, too
	// Unwell says which pods of the workloads there are not ready or Pending before it begins. Guessed are the workloads of whose
	// pods the input has none.
	Unwell  []string `json:"unwell"`
	Guessed []string `json:"guessed"`
	Back    []string `json:"back"` // workloads that tolerate the cordon: their next pods may be on the nodes again
}

// DrainNode is what kubectl drain finds on a node.
type DrainNode struct {
	Node         string    `json:"node"`
	Cordoned     bool      `json:"cordoned"`
	Silent       bool      `json:"silent"`  // by its Node object there is no kubelet to stop its pods
	Ended        int       `json:"ended"`   // in how many runs it becomes empty
	Seconds      *Seconds  `json:"seconds"` // until it is empty, null where it never is
	Leave        []OnNode  `json:"leave"`   // and are simulated
	NotSimulated []OnNode  `json:"notSimulated"`
	Stay         []OnNode  `json:"stay"`
	Refused      []Refused `json:"refused"` // without a flag; this drain has all of them
}

// OnNode is pods of one owner on a node.
type OnNode struct {
	Kind string `json:"kind"`
	Name string `json:"name"` // "ns/name"
	Pods int    `json:"pods"`
	Why  string `json:"why"` // more to say of them
}

// Refused is a flag without which kubectl drain does nothing, and the pods for which it is needed.
type Refused struct {
	Flag string   `json:"flag"`
	Pods []string `json:"pods"`
}

// Block is something that a drain waits for, in some runs, and that never comes.
type Block struct {
	Workload string  `json:"workload"`
	Why      string  `json:"why"`
	What     string  `json:"what"` // would let it go on
	Source   *Source `json:"source"`
	Runs     int     `json:"runs"`
}

func drainsOf(s *record.Simulation) []Drain {
	out := []Drain{}
	for i := range s.Cases {
		if c := &s.Cases[i]; c.Drain != nil {
			out = append(out, drainOf(c))
		}
	}
	return out
}

func drainOf(c *record.Case) Drain {
	d := Drain{Case: c.ID, Nodes: []DrainNode{}, Blocked: []Block{}, Unwell: append([]string{}, c.Drain.Unwell...), Guessed: append([]string{}, c.Drain.Guessed...), Back: append([]string{}, c.Drain.Back...)}
	d.Seconds, d.Ended = secondsIn(c.DrainTime())
	for i := range c.Drain.Nodes {
		n := &c.Drain.Nodes[i]
		x := DrainNode{Node: n.Name, Cordoned: n.Cordoned, Silent: n.Silent, Leave: ownersOf(n.Leave), NotSimulated: ownersOf(n.Beyond), Stay: ownersOf(n.Stay), Refused: []Refused{}}
		x.Seconds, x.Ended = secondsIn(c.NodeTime(n.Name))
		for _, r := range n.Refused {
			x.Refused = append(x.Refused, Refused(r))
		}
		if n.KeptBy() != nil {
			x.Seconds, x.Ended = nil, 0
		}
		d.Nodes = append(d.Nodes, x)
	}
	what, runs := c.BlockedBy()
	for i := range what {
		s := &what[i]
		d.Blocked = append(d.Blocked, Block{s.Workload, s.Why, s.What, sourceOf(s.File, s.Line), runs[i]})
	}
	if kept, node := c.Drain.KeptBy(); kept != nil {
		d.Seconds, d.Ended = nil, 0
		d.Blocked = append(d.Blocked, Block{kept.Name, "kubectl drain of " + node.Name + " waits for ever: " + kept.Words(), node.LetsGo(), nil, len(c.Runs)})
	}
	return d
}

// secondsIn are the seconds of some runs, null for none of them.
func secondsIn(took record.Range, runs int) (*Seconds, int) {
	if runs == 0 {
		return nil, 0
	}
	out := secondsOf(took)
	return &out, runs
}

func ownersOf(list []scenario.OnNode) []OnNode {
	out := []OnNode{}
	for _, on := range list {
		out = append(out, OnNode{Kind: on.Kind, Name: on.Name, Pods: on.Pods, Why: on.Why})
	}
	return out
}
