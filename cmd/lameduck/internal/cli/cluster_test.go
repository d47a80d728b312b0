package cli

import (
	"testing"
	"time"
)

// kubectl takes a number for seconds (client-go, tools/clientcmd/helpers.go).
func TestRequestTimeoutIsReadAsKubectlDoes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text string
		want time.Duration
		ok   bool
	}{
		{"0", 0, true}, {"5", 5 * time.Second, true}, {"2m", 2 * time.Minute, true}, {"100ms", 100 * time.Millisecond, true},
		{"", 0, false}, {"-1s", 0, false}, {"-1", 0, false}, {"soon", 0, false},
	} {
		got, err := parseTimeout(tc.text)
		if got != tc.want || (err == nil) != tc.ok {
			t.Errorf("%q: %s, %v", tc.text, got, err)
		}
	}
}
