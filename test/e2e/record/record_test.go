package record

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/lameduck-proxy/lameduck/test/controlplane"
	"github.com/lameduck-proxy/lameduck/test/e2e/component"
	plane "github.com/lameduck-proxy/lameduck/test/e2e/controlplane"
	"github.com/lameduck-proxy/lameduck/test/e2e/network"
	"github.com/lameduck-proxy/lameduck/test/e2e/process"
	"github.com/lameduck-proxy/lameduck/test/lab"
)

var (
	into  = flag.String("into", "", "the directory that recordings are written to; default: one that is removed")
	match = flag.String("plays", "", "a regular expression: the plays to play; default: all")
)

// enabled says whether plays are played: that takes minutes, and rights.
func enabled() bool { return os.Getenv("LAMEDUCK_CONTROLPLANE") != "" }

func TestMain(m *testing.M) {
	component.Main()
	flag.Parse()
	if enabled() {
		if code, ran := lab.InUserNamespace(); ran {
			os.Exit(code)
		}
	}
	os.Exit(m.Run())
}

// atOnce is how many plays are played together: controllers share out 20 requests a second among them.
const atOnce = 3

// Each play is played on a real control plane, and the simulator held to what that did.
func TestPlays(t *testing.T) {
	if !enabled() {
		t.Skip("a control plane takes rights and time: LAMEDUCK_CONTROLPLANE=1, as make controlplane does")
	}
	client, version := start(t)
	whole, end := context.WithCancel(context.Background())
	t.Cleanup(end) // before the control plane ends
	company := &company{
		dir: *into, room: make(chan struct{}, atOnce),
		record: func(p *Play, place string) (*controlplane.Recording, error) {
			return Record(whole, client, p, place, version)
		},
	}
	if company.dir == "" {
		company.dir = t.TempDir()
	}
	chosen := regexp.MustCompile(*match)
	t.Run("play", func(t *testing.T) {
		for _, p := range Plays() {
			if chosen.MatchString(p.Name) {
				t.Run(p.Name, func(t *testing.T) {
					t.Parallel()
					company.play(t, &p)
				})
			}
		}
	})
	played, compared := company.played.Load(), company.compared.Load()
	if compared == 0 {
		t.Error("no scenario was compared")
	}
	t.Logf("%d scenarios played, of which the simulator can do %d: %d scenarios compared", played, compared, compared)
}

// company plays plays.
type company struct {
	record           func(p *Play, place string) (*controlplane.Recording, error)
	dir              string
	room             chan struct{}
	alone            sync.RWMutex
	played, compared atomic.Int32
}

// play plays one and holds the simulator to it. Some of what a control plane does is chance, such as a slice that is written a
// second late because its controller found its own cache behind: a play that differs is played again, and has to differ again.
func (c *company) play(t *testing.T, p *Play) {
	t.Helper()
	result, err := controlplane.Hold(c.once(t, p, p.Name+"-a"))
	if err == nil && len(result.Differences) > 0 {
		t.Logf("played again, because of: %s", strings.Join(result.Differences, "; "))
		result, err = controlplane.Hold(c.once(t, p, p.Name+"-b"))
	}
	c.played.Add(1)
	controlplane.Report(t, result, err)
	c.compared.Add(1)
}

// once plays a play and writes its recording, when there is room.
func (c *company) once(t *testing.T, p *Play, place string) *controlplane.Recording {
	t.Helper()
	c.room <- struct{}{}
	defer func() { <-c.room }()
	if p.Alone {
		c.alone.Lock()
		defer c.alone.Unlock()
	} else {
		c.alone.RLock()
		defer c.alone.RUnlock()
	}
	r, err := c.record(p, place)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Write(filepath.Join(c.dir, p.Name+".json")); err != nil {
		t.Fatal(err)
	}
	return r
}

// start starts a control plane for the test.
func start(t *testing.T) (*kubernetes.Clientset, string) {
	t.Helper()
	n, err := network.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	machine, err := n.Machine("control-plane")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c, err := plane.Start(ctx, machine, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Err(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			for _, f := range c.Logs() {
				t.Logf("==> %s <==\n%s", filepath.Base(f), process.Tail(f, 10))
			}
		}
		c.Close()
	})
	v, err := c.Admin().Discovery().ServerVersion()
	if err != nil {
		t.Fatal(fmt.Errorf("ask for the version: %w", err))
	}
	return c.Admin(), v.GitVersion
}
