package api

import "testing"

func TestWhatPeopleCallAPod(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"shop/web r0 3":   "pod 3 of shop/web",
		"shop/web r2 0":   "new pod 0 of shop/web",
		"shop/db-0 r0":    "shop/db-0",
		"shop/db-0 r1 #2": "shop/db-0",
		"shop/web":        "shop/web",
		"shop/web-7d4b9":  "shop/web-7d4b9",
	} {
		if got := (&Pod{Name: name}).Called(); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// A pod that is nowhere yet belongs where it may only go: to the node that its DaemonSet has made it for.
func TestThePlaceOfAPod(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ node, only, want int }{{0, 0, 0}, {2, 0, 2}, {0, 3, 0}, {-1, 1, 0}, {-1, 3, 2}, {-1, 0, -1}} {
		if got := (&Pod{Node: tt.node, Only: tt.only}).Place(); got != tt.want {
			t.Errorf("node %d, only %d: %d, want %d", tt.node, tt.only, got, tt.want)
		}
	}
}
