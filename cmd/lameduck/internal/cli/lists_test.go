package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// Of a long list the first ten are shown, and how many there are beside them; whose list it is keeps it as it is.
func TestFewOfManyWords(t *testing.T) {
	t.Parallel()
	words := func(n int) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprint("w", i))
		}
		return list
	}
	for _, n := range []int{0, 1, 10} {
		if got := few(words(n)); !slices.Equal(got, words(n)) {
			t.Errorf("of %d: %v", n, got)
		}
	}
	for n, more := range map[int]string{11: "1 more", 25: "15 more"} {
		list := words(n)
		if got := few(list); !slices.Equal(got, append(words(10), more)) || !slices.Equal(list, words(n)) {
			t.Errorf("of %d: %v, and the list is %v", n, got, list)
		}
	}
}

// A shell completes each word once, in order, and none with characters that a terminal would not show.
func TestWhatAShellCompletes(t *testing.T) {
	t.Parallel()
	if got, want := sortedSet([]string{"web", "api", "web", "a\x1b[1m", "db"}), []string{"api", "db", "web"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// kube-proxy's -v takes a number, lameduck's takes none: a number behind it is an argument that says which flag was meant.
func TestANumberBehindVIsExplained(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		verbose bool
		args    []string
		want    string // of the error, "" for none
	}{
		{true, []string{"4"}, "-v 4: write -v=4 or --v 4"},
		{true, []string{"4", "5"}, `unknown command "4"`},
		{true, []string{"x"}, `unknown command "x"`},
		{false, []string{"4"}, `unknown command "4"`},
		{true, nil, ""},
		{false, nil, ""},
	} {
		cmd := &cobra.Command{Use: "proxy"}
		cmd.Flags().Bool("verbose", false, "")
		if c.verbose {
			if err := cmd.Flags().Set("verbose", "true"); err != nil {
				t.Fatal(err)
			}
		}
		err := noNumber(cmd, c.args)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("verbose %t, %q: %v, want %q", c.verbose, c.args, err, c.want)
		}
	}
}

// --show names a case; if there is none of that name, the first twenty are listed, and how many more there are.
func TestACaseThatIsNotThere(t *testing.T) {
	t.Parallel()
	cases := func(n int) (all []scenario.Case) {
		for i := range n {
			all = append(all, scenario.Case{ID: fmt.Sprintf("case-%02d", i)})
		}
		return all
	}
	show := func(name string, n int) string {
		c := &simCommand{}
		c.show = name
		if err := c.checkShow(cases(n)); err != nil {
			return err.Error()
		}
		return ""
	}
	for n, want := range map[int]string{1: "case-00", 20: "case-19", 21: "case-19 and 1 more", 25: "case-19 and 5 more"} {
		if got := show("nobody", n); !strings.HasPrefix(got, `--show nobody: no case matches "nobody"; there are: case-00`) || !strings.HasSuffix(got, want) {
			t.Errorf("of %d: %q", n, got)
		}
	}
	if got := show("case-03", 25) + show("", 25) + show("nobody", 0); got != "" {
		t.Errorf("%q", got)
	}
}

// --show takes a part of what a page calls a case: of its name, or of its title.
func TestACaseIsShownByAPartOfItsName(t *testing.T) {
	t.Parallel()
	one := scenario.Case{ID: "shop/web/rollout/peer:80", Action: "rolling restart", Kind: "StatefulSet", Workload: "shop/web", Traffic: "peers :80", Class: "peer"}
	drain := scenario.Case{ID: "drain=node-1,node-2", Action: "drain", Kind: scenario.KindNode, Traffic: "inside :80"}
	written := scenario.Case{ID: "an example", Action: "what happens", Kind: "Scenario", Workload: "shop/api", Traffic: "inside :80"}
	for show, want := range map[string]bool{
		"web/rollout": true, "rolling restart": true, "node-1 node-2: drain": true, "an example: what happens": true, "shop/web: rolling restart, peers :80": true, "between its pods": true, "delete": false, "shop/other": false,
	} {
		c := &simCommand{show: show}
		if err := c.checkShow([]scenario.Case{{ID: "another"}, one, drain, written}); (err == nil) != want {
			t.Errorf("--show %q: %v, want it shown: %v", show, err, want)
		}
	}
}

// A flag is in the group that has its name, or else in the first that has what it begins with, or in the last.
func TestWhichGroupAFlagIsIn(t *testing.T) {
	t.Parallel()
	groups := []flagGroup{{"first", []string{"pod-*", "all"}}, {"second", []string{"pod-name", "node-*"}}, {"last", []string{"v"}}}
	for name, want := range map[string]int{"all": 0, "pod-cidr": 0, "pod-name": 1, "node-ip": 1, "v": 2, "other": 2, "al": 2} {
		if got := groupOf(groups, name); got != want {
			t.Errorf("--%s is in group %d, want %d", name, got, want)
		}
	}
}
