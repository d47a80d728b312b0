package scenario

import "testing"

func TestNoNameIsSuggestedForItself(t *testing.T) {
	t.Parallel()
	for want, candidates := range map[string][]string{"": {"web"}, "webs": {"web", "webs"}, "Web": {"web", "Web"}} {
		if got := nearest("web", candidates); got != want {
			t.Errorf("among %v: %q, want %q", candidates, got, want)
		}
	}
}
