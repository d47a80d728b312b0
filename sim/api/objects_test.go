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
