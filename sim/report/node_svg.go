package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/proxier/explain"
)

// A picture of one node: from where new connections come, what its rules make of each kind, and to which endpoints they lead. A way that
// is used is a line, one that is used for want of another is dashed, and a dead one ends in a cross. Endpoints look like the pods of the
// timeline: each state has a colour, a pattern and its words.

// The measures of such a picture, in pixels.
const (
	nodeTop    = 66  // for the title
	nodeTitled = 30  // for the title of a port, where there are several
	nodeFrom   = 16  // where sources begin
	nodeFromW  = 148 // how wide they are
	nodeRules  = 204 // where the node begins
	nodeRulesW = 238
	nodeTo     = 540 // where endpoints begin
	nodeToW    = 164
	nodeHead   = 30 // for the node's name
	nodeRow    = 60 // of a kind of connections
	nodeBox    = 46 // how high what stands in a row is
	nodeOf     = 22 // for the name of the node of endpoints
	nodeEnd    = 54 // of an endpoint
	nodeFoot   = 18
	nodeMost   = 12 // endpoints of a port
	nodePorts  = 4  // ports
	nodeSmall  = 34 // letters in a row of the node
)

// nodeStyle is that of the picture of a lost request, and the ways.
const nodeStyle = raceStyle + `
  .rules { fill: none; stroke: #55595f; stroke-width: 1.5; stroke-dasharray: none } .box { fill: #f3f4f6; stroke: #55595f } .bar .line { font-size: 12px } .plain { font-size: 12px }
  .bar text.first { font-weight: 600 } .unready rect { fill: none; stroke: #1b1b1b; stroke-dasharray: 2 3 } .cut rect { fill: #ffd8c2; stroke: #b23c00; stroke-width: 2 }
  .way { fill: none; stroke: #005a94; stroke-width: 2.4 } .way.falls { stroke: #9a3d73; stroke-dasharray: 8 4 } .tip { fill: #005a94 } .tip.falls { fill: #9a3d73 }
  .dead { fill: none; stroke: #b23c00; stroke-width: 2.4; stroke-dasharray: 2 4 }
  @media (prefers-color-scheme: dark) {
    .rules, .box { stroke: #a9afb8 } .box { fill: #1f2328 } .unready rect { stroke: #ececec } .cut rect { fill: #5a2410; stroke: #ff8a4d }
    .way { stroke: #62b4ee } .way.falls { stroke: #e59ac6 } .tip { fill: #62b4ee } .tip.falls { fill: #e59ac6 } .dead { stroke: #ff8a4d }
  }
`

// nodeDrawing is such a picture under work.
type nodeDrawing struct {
	svg
	top int
}

// nodeRowOf is a row of the node: a kind of connections, or its health port.
type nodeRowOf struct {
	from, by    string // who comes, and by which policy
	does, why   string
	looks       string
	to          []string // the endpoints
	falls, dead bool
	y           float64 // its middle
}

// WriteNodeSVG draws what a node does with new connections, port by port.
func WriteNodeSVG(w io.Writer, x *explain.Explanation) error {
	d := &nodeDrawing{}
	shown := x.Services[:min(len(x.Services), nodePorts)]
	high := nodeTop + nodeFoot
	for i := range shown {
		high += d.portHigh(&shown[i], len(shown) > 1)
	}
	rest := ""
	if n := len(x.Services) - len(shown); n > 0 {
		rest = fmt.Sprintf("and %s, not drawn", count(n, "more port", "more ports"))
		high += raceLine
	} else if len(shown) == 0 {
		rest = "No Service of the input is proxied."
		high += raceLine
	}
	d.open(raceWide, high, nodeTitle(x), nodeInWords(x), nodeStyle)
	d.addf(racePatterns)
	d.addf(`<rect class="paper" width="%d" height="%d"/>`, raceWide, high)
	d.addf(`<text class="title" x="16" y="30">%s</text>`, escaped(shortName(nodeTitle(x), raceTitled+8)))
	subtitle := x.Whose()
	if len(shown) == 1 {
		subtitle = fmt.Sprintf("port %d/%s, %s", shown[0].PortNumber, shown[0].Protocol, subtitle)
	}
	d.addf(`<text class="soft" x="16" y="51">%s</text>`, escaped(shortName(subtitle, raceLetters+12)))
	d.top = nodeTop
	for i := range shown {
		d.port(x, &shown[i], len(shown) > 1)
	}
	if rest != "" {
		d.addf(`<text class="soft" x="16" y="%d">%s</text>`, d.top+14, rest)
	}
	d.addf("</svg>")
	_, err := io.WriteString(w, d.String())
	return err
}

// nodeInWords is the picture for who does not see it.
func nodeInWords(x *explain.Explanation) string {
	var out []string
	for i := range x.Services {
		for _, r := range nodePort(&x.Services[i]).Ways {
			out = append(out, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s: %s, %s.", x.Services[i].Service, r[0], r[1], r[2], r[3])), " "))
		}
	}
	return strings.Join(out, " ")
}

// rowsOf are the rows of the node for a port.
func rowsOf(s *explain.Service) []nodeRowOf {
	var out []nodeRowOf
	for _, f := range s.Flows() {
		r := nodeRowOf{from: "from " + f.From, by: "policy " + f.Policy, to: f.Endpoints, falls: f.Fallback, looks: looksUses}
		here, ready := "anywhere", "ready, on any node"
		if f.Policy == "Local" {
			here, ready = "here", "ready on this node"
		} else if s.TopologyMode != "" {
			ready = "ready, by topology hints"
		}
		to := "1 endpoint"
		if n := len(f.Endpoints); n > 1 {
			to = fmt.Sprintf("%d, each 1 in %d", n, n)
		}
		switch {
		case f.Action == "reject":
			r.does, r.why, r.looks, r.dead = "REJECTS", "refused at once; none usable anywhere", "cut", true
		case f.Action == "drop":
			r.does, r.why, r.looks, r.dead = "DROPS", "the client waits; none usable "+here, "cut", true
		case f.Fallback:
			r.does, r.why, r.looks = "falls back to "+to, "still serves; nothing ready "+here, looksFallback
		default:
			r.does, r.why = "uses "+to, ready
		}
		out = append(out, r)
	}
	if h := s.HealthCheckNodePort; h != nil {
		r := nodeRowOf{
			from: "the load balancer", by: fmt.Sprintf("asks port %d", h.Port),
			does: fmt.Sprintf("answers %d: send", h.Status), why: fmt.Sprintf("%d ready on this node", h.LocalEndpoints), looks: looksReady,
		}
		if h.LocalEndpoints == 0 {
			r.does, r.looks = fmt.Sprintf("answers %d: send no more", h.Status), looksLeaving
		}
		out = append(out, r)
	}
	return out
}

// drawnOf are the endpoints that are drawn: those on the node itself first, the others node by node. Where there are too many, what is used
// goes before what is not.
func drawnOf(s *explain.Service) (drawn []*explain.Decision, left int) {
	for i := range s.Decisions {
		drawn = append(drawn, &s.Decisions[i])
	}
	if len(drawn) > nodeMost {
		slices.SortStableFunc(drawn, func(a, b *explain.Decision) int { return rank(isUsed(s, b)) - rank(isUsed(s, a)) })
		left, drawn = len(drawn)-nodeMost, drawn[:nodeMost]
	}
	slices.SortStableFunc(drawn, func(a, b *explain.Decision) int {
		if a.IsLocal != b.IsLocal {
			return rank(b.IsLocal) - rank(a.IsLocal)
		}
		return strings.Compare(a.Node, b.Node)
	})
	return drawn, left
}

func rank(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func isUsed(s *explain.Service, d *explain.Decision) bool {
	return slices.ContainsFunc(s.Flows(), func(f explain.Flow) bool { return slices.Contains(f.Endpoints, d.Endpoint) })
}

// endsHigh is how high the column of the endpoints is.
func endsHigh(s *explain.Service) int {
	drawn, left := drawnOf(s)
	high, last := 0, ""
	for i, e := range drawn {
		if i == 0 || e.Node != last {
			high += nodeOf
		}
		high, last = high+nodeEnd, e.Node
	}
	if left > 0 || len(drawn) == 0 {
		high += nodeOf
	}
	return high
}

func (d *nodeDrawing) portHigh(s *explain.Service, titled bool) int {
	high := max(nodeHead+nodeRow*len(rowsOf(s)), endsHigh(s))
	if titled {
		high += nodeTitled
	}
	return high
}

// port draws one port: sources at the left, the node's rules, and the endpoints at the right.
func (d *nodeDrawing) port(x *explain.Explanation, s *explain.Service, titled bool) {
	bottom := d.top + d.portHigh(s, titled)
	if titled {
		d.addf(`<text class="panel" x="16" y="%d">%s</text>`, d.top+20, escaped(shortName(portTitle(s), raceTitled)))
		d.top += nodeTitled
	}
	rows := rowsOf(s)
	rulesHigh := nodeHead + nodeRow*len(rows)
	top := d.top + (bottom-d.top-rulesHigh)/2
	d.addf(`<rect class="rules" x="%d" y="%d" width="%d" height="%d" rx="6"/>`, nodeRules-8, top, nodeRulesW+16, rulesHigh)
	d.addf(`<text x="%d" y="%d"><tspan font-weight="600">%s</tspan>: its rules</text>`, nodeRules, top+20, escaped(shortName(x.NodeWords(), raceName+8)))
	for i := range rows {
		d.source(&rows[i], top+nodeHead+i*nodeRow)
	}
	d.endpoints(s, rows, d.top+(bottom-d.top-endsHigh(s))/2)
	d.top = bottom
}

// source draws a kind of connections with what the rules make of it.
func (d *nodeDrawing) source(r *nodeRowOf, top int) {
	y := top + (nodeRow-nodeBox)/2 - 3
	r.y = float64(y) + nodeBox/2
	d.addf(`<rect class="box" x="%d" y="%d" width="%d" height="%d" rx="4"/>`, nodeFrom, y, nodeFromW, nodeBox)
	d.addf(`<text x="%d" y="%d">%s</text><text class="soft plain" x="%d" y="%d">%s</text>`, nodeFrom+9, y+19, r.from, nodeFrom+9, y+37, escaped(r.by))
	if r.dead {
		d.addf(`<path class="dead" d="M%d %.1fH%d"/>`, nodeFrom+nodeFromW, r.y, nodeRules-14)
		d.addf(`<path class="cross" d="M%d %.1fl10 10m0 -10l-10 10"/>`, nodeRules-19, r.y-5)
	} else {
		d.addf(`<path class="way" d="M%d %.1fH%d"/><path class="tip" d="M%d %.1fl-8 -5v10z"/>`, nodeFrom+nodeFromW, r.y, nodeRules-7, nodeRules-1, r.y)
	}
	d.bar(r.looks, nodeRules, y, nodeRulesW, [2]string{shortName(r.does, nodeSmall), shortName(r.why, nodeSmall+4)}, "")
}

// bar draws a box with two lines in it.
func (d *nodeDrawing) bar(looks string, x, y, wide int, lines [2]string, hover string) {
	d.addf(`<g class="bar %s"><rect x="%d" y="%d" width="%d" height="%d" rx="4"/>`, looks, x, y, wide, nodeBox)
	if hover != "" {
		d.addf("<title>%s</title>", escaped(hover))
	}
	if slices.Contains(patterned, looks) {
		d.addf(`<path fill="url(#%s)" d="M%d %dh%dv%dh-%dZ"/>`, looks, x, y, wide, nodeBox, wide)
	}
	d.addf(`<text class="first" x="%d" y="%d">%s</text><text class="line" x="%d" y="%d">%s</text></g>`, x+9, y+19, escaped(lines[0]), x+9, y+37, escaped(lines[1]))
}

// endpoints draws them below each other, with the ways that lead there.
func (d *nodeDrawing) endpoints(s *explain.Service, rows []nodeRowOf, top int) {
	drawn, left := drawnOf(s)
	if len(drawn) == 0 {
		d.addf(`<text class="soft" x="%d" y="%d">no endpoints</text>`, nodeTo, top+15)
		return
	}
	var unused []int
	for i, e := range drawn {
		if i == 0 || e.Node != drawn[i-1].Node {
			d.addf(`<text class="soft plain" x="%d" y="%d">%s</text>`, nodeTo, top+15, escaped(ofNode(e)))
			top += nodeOf
		}
		d.bar(stateLooks(e.Conditions), nodeTo, top, nodeToW, [2]string{shortName(e.Endpoint, raceName+9), e.Conditions.State()}, e.Why)
		if !d.waysTo(e, rows, float64(top)+nodeBox/2) {
			unused = append(unused, top+nodeBox/2+4)
		}
		top += nodeEnd
	}
	for _, y := range unused { // over the ways that pass there
		d.addf(`<text class="says soft plain" text-anchor="end" x="%d" y="%d">not used</text>`, nodeTo-8, y)
	}
	if left > 0 {
		d.addf(`<text class="soft" x="%d" y="%d">and %d more, in the table</text>`, nodeTo, top+15, left)
	}
}

func ofNode(e *explain.Decision) string {
	switch {
	case e.Node == "":
		return "on no node that is named"
	case e.IsLocal:
		return "on " + shortName(e.Node, raceName+2) + ", this node"
	default:
		return "on " + shortName(e.Node, raceName+12)
	}
}

// stateLooks is how an endpoint looks: like its pod in the timeline.
func stateLooks(c explain.Conditions) string {
	switch {
	case c.Ready:
		return looksReady
	case c.Terminating && c.Serving:
		return looksLeaving
	case c.Terminating:
		return looksClosed
	default:
		return "unready"
	}
}

// waysTo draws the ways to an endpoint, and says whether there are any.
func (d *nodeDrawing) waysTo(e *explain.Decision, rows []nodeRowOf, y float64) bool {
	var to []nodeRowOf
	for _, r := range rows {
		if slices.Contains(r.to, e.Endpoint) {
			to = append(to, r)
		}
	}
	const apart = 16.0
	for i, r := range to {
		at := y + apart*(float64(i)-float64(len(to)-1)/2)
		class := ""
		if r.falls {
			class = " falls"
		}
		const from, near, far = nodeRules + nodeRulesW, 40, 20
		d.addf(`<path class="way%s" d="M%d %.1fC%d %.1f %d %.1f %d %.1f"/><path class="tip%s" d="M%d %.1fl-8 -5v10z"/>`,
			class, from, r.y, from+near, r.y, from+far, at, nodeTo-7, at, class, nodeTo-1, at)
	}
	return len(to) > 0
}
