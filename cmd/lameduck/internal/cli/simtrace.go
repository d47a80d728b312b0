package cli

import (
	"encoding/json"
	"io"

	"github.com/lameduck-proxy/lameduck/proxier/page"
	"github.com/lameduck-proxy/lameduck/sim/perfetto"
	"github.com/lameduck-proxy/lameduck/sim/record"
)

// writeTrace writes the worst run of each case that has lanes, and the same run with what helps, for ui.perfetto.dev. In one line: a
// trace has tens of thousands of events, and nobody reads them as text.
func writeTrace(w io.Writer, s *record.Simulation) error {
	var runs []perfetto.Run
	for _, c := range s.Worst() {
		if c.Timeline == nil {
			continue
		}
		runs = append(runs, perfetto.Run{Title: c.ID, Timeline: c.Timeline})
		for i := range s.Fixes {
			for k := range s.Fixes[i].Cases {
				if x := &s.Fixes[i].Cases[k]; x.ID == c.ID && x.Timeline != nil {
					runs = append(runs, perfetto.Run{Title: c.ID + " with " + s.Fixes[i].Title, Timeline: x.Timeline})
				}
			}
		}
	}
	text, err := json.Marshal(perfetto.New(s.Version, runs))
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, page.JSON(string(text))+"\n")
	return err
}
