package html

import (
	_ "embed" // the frame of a sweep
	"html/template"
	"io"

	"github.com/lameduck-proxy/lameduck/sim/report"
)

//go:embed sweep.html
var sweepFrame string

// WriteSweep writes a sweep as a page: the picture, and each map as a table. There is no script in it. again is the command that makes it.
func WriteSweep(w io.Writer, p *report.SweepPage, version, again string) error {
	return write(w, sweepFrame, struct {
		*report.SweepPage
		Version, Replay, Policy string
		Own                     template.CSS
		Drawing                 template.HTML
	}{
		p, version, again, styled(style, p.Style),
		template.CSS(style), template.HTML(p.Picture), //nolint:gosec // the repository's own, and a picture whose words are escaped where it is drawn
	})
}
