package servers

import "testing"

// The profiles that only a name asks for. Reference: docs/model/propagation.md 5.
func TestGeneralProfiles(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{ // order: each for itself
		"closes-and-finishes": "closes-and-finishes closes finish",
		"exits-at-once":       "exits-at-once closes cut",
		"ignores":             "ignores stays cut ignores",
		"go-http-shutdown":    "go-http-shutdown closes finish",
		"go-default":          "go-default closes cut",
		"spring-old":          "spring-old closes cut",
		"drains":              "drains drains 10s finish",
	} {
		if got := appWords(AppFor(&Evidence{}, id)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
