package report

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/lameduck-proxy/lameduck/proxier/page"
)

// svg is a picture under work.
type svg struct{ strings.Builder }

func (s *svg) addf(format string, args ...any) { fmt.Fprintf(&s.Builder, format+"\n", args...) }

// open begins a picture, with its name and what it shows for who does not see it.
func (s *svg) open(wide, high int, title, desc, style string) {
	s.addf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-labelledby="title desc">`, wide, high, wide, high)
	s.addf(`<title id="title">%s</title>`, escaped(title))
	s.addf(`<desc id="desc">%s</desc>`, escaped(desc))
	s.addf("<style>%s</style>", style)
}

// escaped is a text inside of XML, with what a terminal or a reader's direction of writing would obey as escapes.
func escaped(text string) string {
	var b strings.Builder
	if xml.EscapeText(&b, []byte(page.Shown(text))) != nil {
		return "" // a strings.Builder refuses nothing
	}
	return b.String()
}
