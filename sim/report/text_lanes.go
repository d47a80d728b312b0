package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/timeline"
)

// The picture of a lost request: eight lines that say without colour what the pod does, what the API says of it, who still sends to
// it, and what was lost in between.
//
//	                0 s       0.5 s     1 s
//	pod             ===#########
//	API             ==~~...
//	node-1          =================
//	lost               x  xx x x x

const (
	lanesWide   = 100 // columns of the terminal that it needs
	lanesLabel  = 16  // columns of the labels, where none needs more
	lanesFewest = 40  // columns of time
	lanesNodes  = 3   // rows for those who send to the pod
)

// picture is one under work: a scene with a time for each column.
type picture struct {
	*scene
	begin, until engine.Time // that are drawn
	columns      int
	label        int // columns before those of time
	longest      int // runes of the labels so far
}

// lanes draws the lost request of a story, or the first one like it in the run that was made into lanes. Where no pod
// went, and the request met none, there is no picture.
func (t *text) lanes(c *record.Case, x *record.Cause) {
	if !t.opts.Lanes || c.Timeline == nil || t.Width() < lanesWide {
		return
	}
	p := pictureOf(c.Timeline, x, t.Width()-lanesLabel-2)
	if p == nil {
		return
	}
	t.Blank()
	for _, line := range p.lines() {
		t.Verbatim("  " + line)
	}
}

// pictureOf finds the request and the time around it, from a little before the deletion on; nil where there is none.
func pictureOf(tl *timeline.Timeline, x *record.Cause, columns int) *picture {
	s := sceneOf(tl, x)
	if s == nil || columns < lanesFewest {
		return nil
	}
	const margin = 12 // a part of what is drawn
	around := max((s.last-s.zero)/margin, 10*engine.Millisecond)
	return &picture{scene: s, columns: columns, label: lanesLabel, begin: max(s.zero-around, 0), until: min(s.last+around, tl.End)}
}

// columnOf is where a moment is, before the first column or behind the last where it is not drawn.
func (p *picture) columnOf(at engine.Time) int {
	length := max(p.until-p.begin, 1)
	offset := (at - p.begin) * engine.Time(p.columns)
	if offset < 0 {
		return -1
	}
	return int(offset / length)
}

// line is a row, from characters by column. A label that has no room before them has a line of its own.
func (p *picture) line(label string, cells []rune) string {
	n := len([]rune(label))
	p.longest = max(p.longest, n)
	if n >= p.label {
		label += "\n" + strings.Repeat(" ", p.label)
	}
	return fmt.Sprintf("%-*s", p.label, label) + strings.TrimRight(string(cells), " ")
}

func (p *picture) empty() []rune { return []rune(strings.Repeat(" ", p.columns)) }

// fill draws a time.
func (p *picture) fill(cells []rune, from, to engine.Time, mark rune) {
	for i := max(p.columnOf(from), 0); i <= min(p.columnOf(max(to-1, from)), p.columns-1); i++ {
		cells[i] = mark
	}
}

// put draws a moment.
func (p *picture) put(cells []rune, at engine.Time, mark rune) {
	if i := p.columnOf(at); i >= 0 && i < p.columns {
		cells[i] = mark
	}
}

// lines are those of the picture, with as much room for labels as these need, as long as enough is left for the time.
func (p *picture) lines() []string {
	out := p.draw()
	if label := min(p.longest+1, p.label+p.columns-lanesFewest); label > p.label {
		p.label, p.columns = label, p.label+p.columns-label
		out = p.draw()
	}
	return strings.Split(strings.Join(out, "\n"), "\n")
}

func (p *picture) draw() []string {
	lines := append([]string{p.scale()}, p.process(), p.api())
	lines = append(lines, p.senders()...)
	legend := "= serves, or is sent to; ~ so while terminating; # closed; x lost, X 5 or more; ^ this request"
	if p.nobody() {
		legend = "= serves, or is sent to; ~ so while terminating; # closed; ! to nobody; x lost, X 5 or more; ^ it"
	}
	return append(lines, p.lost(), legend)
}

// scale says the seconds since the pod's deletion.
func (p *picture) scale() string {
	cells := p.empty()
	const apart = 12 // columns between figures
	step := niceStep((p.until - p.begin) * apart / engine.Time(p.columns))
	free := 0
	for at := p.zero; at < p.until; at += step {
		text, i := since(at, p.zero), p.columnOf(at)
		if at == p.zero {
			text = p.zeroColumn()
		}
		if i >= free && i+len(text) <= p.columns {
			copy(cells[i:], []rune(text))
			free = i + len(text) + 1
		}
	}
	return p.line("", cells)
}

// zeroColumn is what times count from: a deletion, or what the story counts from.
func (p *picture) zeroColumn() string {
	if p.fromDeletion() {
		return "0 = deleted"
	}
	return "0 s"
}

// niceStep is a time that people count in, no less than another one.
func niceStep(least engine.Time) engine.Time {
	for unit := 10 * engine.Millisecond; ; unit *= 10 {
		for _, n := range []engine.Time{1, 2, 5} {
			if n*unit >= least {
				return n * unit
			}
		}
	}
}

// process is what the pod itself does.
func (p *picture) process() string {
	cells := p.empty()
	begins := p.zero
	if b, late := p.beginning(); p.stays && late {
		begins = max(begins, b.from)
	}
	p.fill(cells, begins, min(p.gone(), p.until), '#')
	for _, s := range p.pod.Listens {
		p.fill(cells, s.From, s.To, '=')
	}
	return p.line(calledOr(p.pod), cells)
}

// api is what the EndpointSlices say of it.
func (p *picture) api() string {
	cells := p.empty()
	for _, span := range p.saysOfIt() {
		switch span.Is {
		case timeline.Ready:
			p.fill(cells, span.From, span.To, '=')
		case timeline.TerminatingServing:
			p.fill(cells, span.From, span.To, '~')
		default:
			p.fill(cells, span.From, span.To, '.')
		}
	}
	return p.line("API says of it", cells)
}

// senders are those who send to the pod: the request's node first, then its load balancer, then the node that lets go last.
func (p *picture) senders() []string {
	var out []string
	var drawn []int
	add := func(node int) {
		if i := slices.IndexFunc(p.tl.Nodes, func(n timeline.NodeLane) bool { return n.Index == node }); i >= 0 && !slices.Contains(drawn, node) && len(out) < lanesNodes {
			drawn, out = append(drawn, node), append(out, p.node(&p.tl.Nodes[i]))
		}
	}
	add(p.f.Node)
	for _, x := range p.targets() {
		if x.Proxy >= 0 && len(out) >= lanesNodes {
			break // a controller may have many pods
		}
		cells := p.empty()
		for _, s := range x.Gets {
			p.fill(cells, s.From, s.To, '=')
		}
		for _, s := range p.dry(x) {
			p.fill(cells, s.From, s.To, '!')
		}
		name := sender(x)
		if whose := p.whose(x); whose != "" && x.Proxy < 0 {
			name = "LB: " + whose
		} else if whose != "" {
			name += ": " + whose
		}
		out = append(out, p.line(name, cells))
	}
	for _, n := range p.band.Nodes {
		add(n.Node)
	}
	if p.stays && !p.going() {
		for _, node := range p.users() {
			add(node)
		}
	}
	return out
}

// node is when the rules of a node send the request's client to the pod.
func (p *picture) node(n *timeline.NodeLane) string {
	cells := p.empty()
	for _, way := range n.Ways {
		if !slices.Contains(way.Clients, p.client) {
			continue
		}
		for _, u := range way.Uses {
			switch {
			case p.nobody() && (u.Is == timeline.UsesReject || u.Is == timeline.UsesDrop):
				p.fill(cells, u.From, u.To, '!')
			case u.Is == timeline.UsesFallback && slices.Contains(u.Pods, p.pod.ID):
				p.fill(cells, u.From, u.To, '~')
			case slices.Contains(u.Pods, p.pod.ID):
				p.fill(cells, u.From, u.To, '=')
			}
		}
	}
	return p.line(n.Name+" uses it", cells)
}

// lost are the requests that met the pod and failed, with the one that is told of.
func (p *picture) lost() string {
	const many = 5
	cells := p.empty()
	counts := make([]int, p.columns)
	for i := range p.tl.Failures {
		f := &p.tl.Failures[i]
		if k := p.columnOf(f.At); p.like(f) && k >= 0 && k < p.columns {
			if counts[k]++; counts[k] >= many {
				cells[k] = 'X'
			} else {
				cells[k] = 'x'
			}
		}
	}
	p.put(cells, p.f.At, '^')
	return p.line("requests lost", cells)
}

func calledOr(p *timeline.PodLane) string {
	if p.Called != "" {
		return p.Called
	}
	return p.Name
}
