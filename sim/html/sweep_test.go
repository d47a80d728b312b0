package html

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/report"
)

// The picture's own style is allowed by its hash, a script is not, and words are text.
func TestThePageOfASweep(t *testing.T) {
	t.Parallel()
	const evil = "<img src=x>"
	p := &report.SweepPage{
		Title: "Traffic lost over prestop", Picture: "<svg><style>.a{}</style></svg>", Style: ".a{}", Seen: evil, Partial: true,
		Maps: []report.SweepTable{{
			Title: evil, AsItIs: "As it is.", Cliffs: []string{"Nothing from 2s on."}, Refused: []string{"--sweep prestop=40s: " + evil}, X: "prestop",
			Columns: []string{"0s", "2s"}, Rows: []report.SweepRow{{Cells: []report.SweepPoint{{Lost: "1 s", Runs: "2 of 2", Here: true}, {Lost: "nothing"}}}},
		}},
	}
	var out bytes.Buffer
	if err := WriteSweep(&out, p, "v1", "lameduck sim"); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	policy := strings.ReplaceAll(strings.ReplaceAll(between(t, page, `Content-Security-Policy" content="`, `"`), "&#39;", "'"), "&#43;", "+")
	if want := "style-src '" + hash(style) + "' '" + hash(".a{}") + "'"; !strings.Contains(policy, want) || strings.Contains(policy, "script") {
		t.Errorf("the policy is %q, want %q in it", policy, want)
	}
	for _, want := range []string{
		"<svg><style>.a{}</style></svg>", "Interrupted", "<li>Nothing from 2s on.</li>", `<td class="here">1 s<br><small>2 of 2 runs</small><br><small>the input as it is</small></td><td>nothing</td>`,
		`<details open><summary>Points that cannot be (1)</summary>`, `<th scope="row">lost</th>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, between(t, page, "<body", "</body>"))
		}
	}
	if strings.Contains(page, "<img") || strings.Contains(page, "<script") {
		t.Error("there is an element of the input, or a script")
	}
}
