package agent

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"

	"github.com/lameduck-proxy/lameduck/proxier/pace"
)

// What can be used of a file is handed on, what cannot is not, and a file that cannot be read is said to be so once.
func TestFollowingAFile(t *testing.T) {
	t.Parallel()
	content, unreadable := "good 1", false
	var taken, handed, logged []string
	f := &follower{
		log: funcr.New(func(_, line string) { logged = append(logged, line) }, funcr.Options{}),
		read: func() ([]byte, error) {
			if unreadable {
				return nil, fs.ErrNotExist
			}
			return []byte(content), nil
		},
		reload: &Reload{Take: func(data []byte) (Settings, bool) {
			taken = append(taken, string(data))
			return Settings{Pace: pace.Policy{MinInterval: time.Duration(len(taken))}}, strings.HasPrefix(string(data), "good")
		}},
		take: func(s Settings) { handed = append(handed, s.Pace.MinInterval.String()) },
	}
	for _, step := range []struct {
		name, content string
		unreadable    bool
		want          string
	}{
		{"at first", "good 1", false, "taken [good 1] handed [1ns] logged 0"},
		{"the same", "good 1", false, "taken [good 1] handed [1ns] logged 0"},
		{"another", "good 2", false, "taken [good 1 good 2] handed [1ns 2ns] logged 0"},
		{"what cannot be used", "bad", false, "taken [good 1 good 2 bad] handed [1ns 2ns] logged 0"},
		{"the same again", "bad", false, "taken [good 1 good 2 bad] handed [1ns 2ns] logged 0"},
		{"gone", "", true, "taken [good 1 good 2 bad] handed [1ns 2ns] logged 1"},
		{"still gone", "", true, "taken [good 1 good 2 bad] handed [1ns 2ns] logged 1"},
		{"back", "good 3", false, "taken [good 1 good 2 bad good 3] handed [1ns 2ns 4ns] logged 1"},
		{"gone once more", "", true, "taken [good 1 good 2 bad good 3] handed [1ns 2ns 4ns] logged 2"},
	} {
		content, unreadable = step.content, step.unreadable
		f.look()
		if got := fmt.Sprintf("taken %v handed %v logged %d", taken, handed, len(logged)); got != step.want {
			t.Errorf("%s: %s, want %s", step.name, got, step.want)
		}
	}
	if !strings.Contains(logged[0], "cannot be read") {
		t.Errorf("logged %q", logged)
	}
}
