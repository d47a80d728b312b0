package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// x is where a moment is, in a panel whose times count from zero; not beyond what is drawn.
func (d *raceDrawing) x(at, zero engine.Time) float64 {
	const left, right, pixels = raceLeft, raceWide - raceRight, raceWide - raceLeft - raceBefore - raceAfter - raceRight
	x := left + raceBefore + float64(at-zero)*pixels/float64(d.wide)
	return min(max(x, left), right)
}

// letters is about how wide a text is.
func letters(text string) float64 {
	const wide = 7.8 // of a letter of 14 pixels, in a wide face
	return wide * float64(len([]rune(text)))
}

// bandHigh is how much room the words over the time have in which requests die.
func (p *racePanel) bandHigh() int {
	if from, to := p.dies(); from < to {
		return raceBand
	}
	return 0
}

// dies is the time in which requests die: from the pod's closing to the last one's letting go. There is none where most of them were lost
// at other times: on connections that were open, say.
func (s *scene) dies() (from, to engine.Time) {
	if s.band.From == nil || s.nobody() || s.stays {
		return 0, 0
	}
	from, to = *s.band.From, s.last
	if s.band.To != nil {
		to = *s.band.To
	}
	all, within := 0, 0
	for i := range s.tl.Failures {
		if f := &s.tl.Failures[i]; s.like(f) && !f.Without {
			all++
			if f.At >= from && f.At <= to {
				within++
			}
		}
	}
	if 2*within <= all {
		return 0, 0
	}
	return from, to
}

// shortName is a name that is no longer than there is room for.
func shortName(name string, most int) string {
	if r := []rune(name); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return name
}

// panel draws one run.
func (d *raceDrawing) panel(p *racePanel, rows []raceRow) {
	words, class := "nothing lost", "good"
	if n := p.lost(); n > 0 {
		words, class = count(int(n), "request", "requests")+" lost", "bad"
	}
	if p.atLeast() {
		words = "at least " + words
	}
	d.addf(`<text class="panel" x="16" y="%d">%s: <tspan class=%q>%s</tspan></text>`, d.top+22, escaped(p.title), class, words)
	top := d.top + raceTitle + p.bandHigh()
	bottom := top + raceRowH*len(rows)
	d.scale(p, top, bottom)
	d.between(p, top, bottom)
	for i := range rows {
		d.row(p, &rows[i], top+i*raceRowH)
	}
	d.addf(`<path class="zero" d="M%.1f %dV%d"/>`, d.x(p.zero, p.zero), top-4-p.bandHigh(), bottom)
	d.top = bottom + raceGap
}

// scale draws the seconds since the deletion.
func (d *raceDrawing) scale(p *racePanel, top, bottom int) {
	const apart = 76 // pixels
	pixels := d.x(p.zero+d.wide, p.zero) - d.x(p.zero, p.zero)
	step := niceStep(engine.Time(float64(d.wide) * apart / pixels))
	zero, over := d.x(p.zero, p.zero), top-p.bandHigh()
	d.addf(`<text class="says" text-anchor="middle" font-weight="600" x="%.1f" y="%d">%s</text>`, zero, over-9, p.zeroWord())
	for at := step; ; at += step {
		x := d.x(p.zero+at, p.zero)
		if x > raceWide-raceRight-16 {
			return
		}
		d.addf(`<path class="grid" d="M%.1f %dV%d"/>`, x, over-4, bottom)
		d.addf(`<text class="soft" text-anchor="middle" x="%.1f" y="%d">%s</text>`, x, over-9, tick(at))
	}
}

// tick writes a round time: "0.5 s".
func tick(at engine.Time) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%d.%02d", at/engine.Second, at%engine.Second/(10*engine.Millisecond)), "0"), ".") + " s"
}

// between draws the time in which requests die.
func (d *raceDrawing) between(p *racePanel, top, bottom int) {
	from, to := p.dies()
	if from >= to {
		return
	}
	left, right := d.x(from, p.zero), d.x(to, p.zero)
	d.addf(`<rect class="band" x="%.1f" y="%d" width="%.1f" height="%d"/>`, left, top-raceBand, right-left, bottom-top+raceBand)
	d.addf(`<path class="bracket" d="M%.1f %dV%dH%.1fV%d"/>`, left, top, top-5, right, top)
	words := fmt.Sprintf("requests die here: %s", span(to-from))
	x, anchor := (left+right)/2, "middle"
	switch wide := letters(words); {
	case wide <= right-left:
	case left+wide < raceWide:
		x, anchor = left, "start"
	default:
		x, anchor = right, "end"
	}
	d.addf(`<text class="says bad" text-anchor=%q x="%.1f" y="%d">%s</text>`, anchor, x, top-10, words)
}

// row draws one row: its name, its bars, the requests that were lost above them, and when it lets go behind them.
func (d *raceDrawing) row(p *racePanel, r *raceRow, top int) {
	y := top + raceRowH - raceBar - 3
	d.name(r, y)
	for _, s := range r.stretches {
		d.stretch(p, &s, y)
	}
	d.crosses(p, r, y-6)
	if r.ends == nil || *r.ends < p.zero || slices.ContainsFunc(r.stretches, func(s stretch) bool { return s.to > *r.ends }) {
		return // or something follows
	}
	x := d.x(*r.ends, p.zero)
	if r.machine {
		d.addf(`<text class="says soft" x="%.1f" y="%d">its machine is gone</text>`, x+8, y+16)
		return
	}
	d.addf(`<path class="end" d="M%.1f %dV%d"/>`, x, y-3, y+raceBar+3)
	d.addf(`<text class="says" x="%.1f" y="%d">lets go: %s</text>`, x+8, y+3, since(*r.ends, p.zero))
	words, class := "in time", "good"
	if r.count > 0 {
		words, class = fmt.Sprintf("%d lost", r.count), "bad"
	} else if p.band.From != nil && *r.ends > *p.band.From {
		words, class = "nobody asked", "soft"
	}
	d.addf(`<text class="says %s" x="%.1f" y="%d">%s</text>`, class, x+8, y+20, words)
}

// name writes a row's name, with its clients below it where another one has the same name.
func (d *raceDrawing) name(r *raceRow, y int) {
	const alone, first, second = 16, 8, 22 // where the lines stand
	if r.whose == "" {
		d.addf(`<text text-anchor="end" x="%d" y="%d">%s</text>`, raceLeft-8, y+alone, escaped(shortName(r.name, raceName)))
		return
	}
	d.addf(`<text text-anchor="end" x="%d" y="%d">%s</text>`, raceLeft-8, y+first, escaped(shortName(r.name, raceName)))
	d.addf(`<text class="whose" text-anchor="end" x="%d" y="%d">%s<title>%s</title></text>`, raceLeft-8, y+second, escaped(shortName(r.whose, raceWhose)), escaped(r.whose))
}

// stretch draws a bar with the longest of its words that has room.
func (d *raceDrawing) stretch(p *racePanel, s *stretch, y int) {
	from, to := d.x(s.from, p.zero), d.x(s.to, p.zero)
	if to-from < 0.5 {
		return
	}
	d.addf(`<g class="bar %s"><rect x="%.1f" y="%d" width="%.1f" height="%d"/>`, s.looks, from, y, to-from, raceBar)
	if slices.Contains(patterned, s.looks) {
		d.addf(`<path fill="url(#%s)" d="M%.1f %dH%.1fV%dH%.1fZ"/>`, s.looks, from, y, to, y+raceBar, from)
	}
	d.write(s, from, to, d.x(p.zero, p.zero), y)
	d.addf("</g>")
	if s.to < p.tl.End && to >= raceWide-raceRight && s.looks == looksReady { // it goes on
		d.addf(`<path class="on" d="M%.1f %dl9 %dl-9 %dz"/>`, to-1, y, raceBar/2, raceBar/2)
	}
}

// write puts the longest words that have room into a bar: behind the deletion rather than across it, and short words above a bar that is
// shorter than they are.
func (d *raceDrawing) write(s *stretch, from, to, zero float64, y int) {
	const beside = 14 // pixels
	begins := []float64{from}
	if from < zero {
		begins = []float64{zero, from}
	}
	for _, begin := range begins {
		if i := slices.IndexFunc(s.words, func(w string) bool { return letters(w)+beside <= to-begin }); i >= 0 {
			d.addf(`<text x="%.1f" y="%d">%s</text>`, begin+7, y+16, escaped(s.words[i]))
			return
		}
	}
	if word := s.words[len(s.words)-1]; s.looks == looksLeaving && from+letters(word) < raceWide {
		d.addf(`<text class="above" x="%.1f" y="%d">%s</text>`, from, y-4, escaped(word))
	}
}

// crosses are the lost requests: one where several are closer to each other than can be seen, and a ring round the one that the
// report tells of.
func (d *raceDrawing) crosses(p *racePanel, r *raceRow, y int) {
	const apart = 5.0
	last := -apart
	for _, at := range slices.Sorted(slices.Values(r.lost)) {
		if x := d.x(at, p.zero); x-last >= apart {
			last = x
			d.cross(x, y)
		}
	}
	if r.own {
		d.addf(`<circle class="own" cx="%.1f" cy="%d" r="6.5"/>`, d.x(p.f.At, p.zero), y)
	}
}

func (d *raceDrawing) cross(x float64, y int) {
	const arm = 3.2
	d.addf(`<path class="cross" d="M%.1f %.1fl%.1f %.1fm0 %.1fl%.1f %.1f"/>`, x-arm, float64(y)-arm, 2*arm, 2*arm, -2*arm, -2*arm, 2*arm)
}

// zeroWord is what times count from.
func (s *scene) zeroWord() string {
	if s.fromDeletion() {
		return "deleted"
	}
	return "0 s"
}

// fromDeletion says that times count from the deletion of the pod.
func (s *scene) fromDeletion() bool {
	return !s.stays && s.band.Deleted != nil && *s.band.Deleted == s.zero
}

// lost is how many requests met the pod and failed, or had none.
func (s *scene) lost() uint64 {
	if !s.nobody() {
		return s.band.Lost
	}
	n := uint64(0)
	for _, x := range s.tl.Lost {
		if x.Cause == s.f.Cause {
			n += x.Count - x.Without
		}
	}
	return n
}
