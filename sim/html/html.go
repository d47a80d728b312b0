package html

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page's parts
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/report"
	"github.com/lameduck-proxy/lameduck/sim/timeline"
)

var (
	//go:embed dist/report.js
	script string
	//go:embed dist/report.css
	style string
	//go:embed dist/LICENSES.txt
	licences string
	//go:embed head.html
	head string // with which every page begins
	//go:embed page.html
	frame string
)

// mostBytes is about how large the data of a page may be: what is beyond goes without a timeline.
const mostBytes = 4_500_000

// page is what the frame is filled with.
type page struct {
	Title, Verdict, Word, Sentence string
	Answers                        []report.Answer
	Cases                          []row
	Text, Replay, Version          string
	Notes                          []string

	parts
}

// row is a case for who has no script.
type row struct{ Verdict, Title, Lost string }

// data is what the script reads.
type data struct {
	Result *report.Result `json:"result"`
	Order  []int          `json:"order"`  // of the cases, the worst first
	Titles []string       `json:"titles"` // of the cases
	Replay string         `json:"replay"`
	Notes  []string       `json:"notes"`
}

// Write writes a simulation as a page.
func Write(w io.Writer, s *record.Simulation, opts report.TextOptions) error {
	return write(w, frame, fill(s, opts))
}

func fill(s *record.Simulation, opts report.TextOptions) *page {
	d := dataOf(s)
	raw := within(d, mostBytes)
	p := &page{
		Title: "lameduck: nothing to judge", Verdict: string(record.NotJudged), Text: asText(s, opts), Replay: s.Replay, Version: s.Version, Notes: d.Notes,
		parts: embedded(raw),
	}
	worst, sentence, answers := report.Head(s, opts)
	if worst != nil {
		p.Verdict, p.Sentence, p.Answers = string(worst.Verdict), sentence, answers
		p.Title = fmt.Sprintf("lameduck: %s %s", worst.Verdict, report.Title(s, worst))
	}
	p.Word = word(p.Verdict)
	for _, i := range d.Order {
		c := &d.Result.Cases[i]
		p.Cases = append(p.Cases, row{word(c.Verdict), d.Titles[i], report.Lost(&s.Cases[i])})
	}
	return p
}

// word is a verdict as it is shown.
func word(verdict string) string {
	return string(bytes.ToUpper(bytes.ReplaceAll([]byte(verdict), []byte("-"), []byte(" "))))
}

// asText is the whole report as text, without colours.
func asText(s *record.Simulation, opts report.TextOptions) string {
	opts.Style, opts.Width = nil, 0
	var out strings.Builder
	_ = report.WriteText(&out, s, opts) // a builder takes all
	return out.String()
}

// dataOf is what the script reads. The runs are left out: there may be thousands, and what they say is in the cases.
func dataOf(s *record.Simulation) *data {
	d := &data{Result: report.Build(s), Order: []int{}, Titles: []string{}, Replay: s.Replay, Notes: []string{}}
	d.Result.Runs = []report.Run{}
	for i := range s.Cases {
		d.Titles = append(d.Titles, report.Title(s, &s.Cases[i]))
	}
	for _, c := range s.Worst() {
		d.Order = append(d.Order, slices.IndexFunc(s.Cases, func(x record.Case) bool { return x.ID == c.ID }))
	}
	return d
}

// within encodes data with as many timelines as there is room for: those of the worst cases.
func within(d *data, most int) []byte {
	raw := encoded(d)
	size, dropped := len(raw), 0
	for k := len(d.Order) - 1; size > most && k >= 0; k-- {
		c := &d.Result.Cases[d.Order[k]]
		if c.Timeline == nil {
			continue
		}
		for _, x := range timelinesOf(d.Result, c) {
			size -= len(encoded(*x))
			*x = nil
		}
		dropped++
	}
	if dropped == 0 {
		return raw
	}
	d.Notes = append(d.Notes, fmt.Sprintf("The timelines of %d more cases are left out for want of room: simulate these alone to see them.", dropped))
	return encoded(d)
}

// encoded is what a page has as JSON, which can say all of it.
func encoded(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Errorf("the data of the page: %w", err))
	}
	return raw
}

// timelinesOf are where the timeline of a case is, and that with what helps.
func timelinesOf(r *report.Result, c *report.Case) []**timeline.Timeline {
	out := []**timeline.Timeline{&c.Timeline}
	for i := range r.Fixes {
		for k := range r.Fixes[i].Cases {
			if x := &r.Fixes[i].Cases[k]; x.ID == c.ID {
				out = append(out, &x.Timeline)
			}
		}
	}
	return out
}

// policy is the page's content security policy: its own script and style by their hashes, and nothing else, from nowhere.
func policy() string {
	return fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; base-uri 'none'; form-action 'none'", hash(script), hash(style))
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// asComment is text for a block of data in the page, as a JSON string.
func asComment(text string) template.JS {
	return template.JS(encoded(text)) //nolint:gosec // JSON with <, > and & escaped
}
