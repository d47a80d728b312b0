package agent

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// Everybody hears that rules are in force for the first time, and what waits for that begins then, once. Later syncs are told of to
// those who ask, looks at the rules to those who ask for more, and a failure was told of by others.
func TestWhoHearsOfASync(t *testing.T) {
	t.Parallel()
	node := &plan.Node{Name: "node-1", Options: endpoints.CurrentOptions()}
	sync := proxier.Sync{Plan: plan.Empty(node), Full: true, Start: time.Unix(1, 0), End: time.Unix(3, 0)}
	failed, look := sync, sync
	failed.Err = errors.New("busy")
	look.Full = false
	begins := 0
	var said strings.Builder
	o := &observer{
		log:   funcr.New(func(_, args string) { said.WriteString(args) }, funcr.Options{Verbosity: 9}),
		first: func() { begins++ },
	}
	const line = ` "msg"="Rules are in force" "services"=0 "changed"=0 "full"=`
	for _, step := range []struct {
		what   string
		sync   proxier.Sync
		says   string
		begins int
	}{
		{"a failure", failed, "", 0},
		{"a look before all", look, `"level"=4` + line + `false "elapsed"="2s"`, 0},
		{"the first", sync, `"level"=0` + line + `true "elapsed"="2s"`, 1},
		{"the second", sync, `"level"=2` + line + `true "elapsed"="2s"`, 1},
		{"a look", look, `"level"=4` + line + `false "elapsed"="2s"`, 1},
		{"another failure", failed, "", 1},
	} {
		said.Reset()
		if o.observe(step.sync); said.String() != step.says || begins != step.begins {
			t.Errorf("%s: %s, begun %d times; want %s, %d", step.what, said.String(), begins, step.says, step.begins)
		}
	}
	nobody := &observer{log: o.log}
	said.Reset()
	if nobody.observe(sync); !strings.HasPrefix(said.String(), `"level"=0`) {
		t.Errorf("where nobody waits: %s", said.String())
	}
}

// That there is no Node of the name is said once all is known, and only then.
func TestANodeThatIsNotThereIsSaid(t *testing.T) {
	t.Parallel()
	for object, want := range map[*corev1.Node]int{nil: 1, {}: 0} { // order: each for itself
		p, err := proxier.New(proxier.Options{Backend: &rules{}})
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		f := &feed{Proxier: p, build: build, log: funcr.New(func(_, args string) { said.WriteString(args) }, funcr.Options{})}
		if object != nil {
			f.SetNode(object)
		}
		before := said.String()
		f.Synced()
		if got := strings.Count(said.String(), "There is no Node of this name"); got != want || before != "" {
			t.Errorf("an object %v: said %q, and before %q", object != nil, said.String(), before)
		}
	}
}
