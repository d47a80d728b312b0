package files

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/source/filewatch"
)

// notes is a Sink that writes down what it is told, until somebody reads it.
type notes struct {
	mu    sync.Mutex
	lines []string
	told  chan string // if not nil, hears of each Service
}

func (n *notes) add(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, fmt.Sprintf(format, args...))
}

func (n *notes) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	lines := n.lines
	n.lines = nil
	return lines
}

func (n *notes) SetService(s *corev1.Service) {
	n.add("service %s/%s %d", s.Namespace, s.Name, s.Spec.Ports[0].Port)
	if n.told != nil {
		n.told <- fmt.Sprintf("%s %d", s.Name, s.Spec.Ports[0].Port)
	}
}
func (n *notes) DeleteService(s endpoints.ServiceName) { n.add("no service %s", s) }
func (n *notes) SetSlice(s *discoveryv1.EndpointSlice) { n.add("slice %s/%s", s.Namespace, s.Name) }
func (n *notes) DeleteSlice(namespace, name string)    { n.add("no slice %s/%s", namespace, name) }
func (n *notes) SetNode(node *corev1.Node)             { n.add("node %s %s", node.Name, node.Labels["zone"]) }
func (n *notes) SetServiceCIDRs(ranges []netip.Prefix) { n.add("ranges %v", ranges) }
func (n *notes) Synced()                               { n.add("SYNCED") }

// bell is a Watcher that tells when a test says so.
type bell struct {
	rings  chan struct{}
	dirs   []string
	closed bool
}

func (b *bell) Follow(dirs []string) error {
	b.dirs = slices.Clone(dirs)
	return nil
}
func (b *bell) Changed() <-chan struct{} { return b.rings }
func (b *bell) Close() error {
	b.closed = true
	return nil
}

func (b *bell) ring() { b.rings <- struct{}{} }

// rig is a Source of a directory, in a bubble.
type rig struct {
	t      *testing.T
	dir    string
	sink   *notes
	bells  []*bell
	refuse error // what opening a Watcher says
	mu     sync.Mutex
	log    []string
}

// inBubble tells a story of a Source whose directory has some files at first.
func inBubble(t *testing.T, first map[string]string, story func(r *rig)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, dir: dir, sink: &notes{}}
		r.write(first)
		s := New(Options{
			Paths: []string{dir}, Node: "node-1", Log: funcr.New(r.heed, funcr.Options{}),
			Watch: func() (filewatch.Watcher, error) {
				r.mu.Lock()
				defer r.mu.Unlock()
				if r.refuse != nil {
					return nil, r.refuse
				}
				r.bells = append(r.bells, &bell{rings: make(chan struct{})})
				return r.bells[len(r.bells)-1], nil
			},
		}, r.sink)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); s.Run(ctx) }()
		synctest.Wait()
		story(r)
		cancel()
		<-done
		for _, b := range r.bells {
			if !b.closed {
				t.Error("a watcher was left open")
			}
		}
	})
}

// refuses has no further Watcher opened.
func (r *rig) refuses(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refuse = err
}

func (r *rig) heed(prefix, args string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log = append(r.log, strings.ReplaceAll(prefix+args, r.dir+"/", ""))
}

// logged returns what was logged since the last time.
func (r *rig) logged() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := strings.Join(r.log, "\n")
	r.log = nil
	return all
}

// write changes files; "" removes one.
func (r *rig) write(files map[string]string) {
	r.t.Helper()
	for name, text := range files {
		path := filepath.Join(r.dir, name)
		err := os.Remove(path)
		if text != "" {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
}

// change changes files, tells of it, and returns what is delivered then.
func (r *rig) change(files map[string]string) []string {
	r.t.Helper()
	r.write(files)
	r.bells[len(r.bells)-1].ring()
	time.Sleep(filewatch.Quiet)
	synctest.Wait()
	return r.sink.take()
}

func (r *rig) want(got []string, want ...string) {
	r.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		r.t.Errorf("delivered (-want +got):\n%s", diff)
	}
}

// says fails unless the log holds all parts, and nothing at all if there are none.
func (r *rig) says(parts ...string) {
	r.t.Helper()
	log := r.logged()
	for _, p := range parts {
		if !strings.Contains(log, p) {
			r.t.Errorf("logged without %q:\n%s", p, log)
		}
	}
	if len(parts) == 0 && log != "" {
		r.t.Errorf("logged:\n%s", log)
	}
}

func service(name string, port int, labels ...string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Service\nmetadata: {namespace: shop, name: %s, labels: {%s}}\nspec: {clusterIP: 10.96.0.%d, ports: [{port: %[3]d}]}\n---\n",
		name, strings.Join(labels, ", "), port)
}

func endpointSlice(name string, labels ...string) string {
	return fmt.Sprintf("apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {namespace: shop, name: %s, labels: {%s}}\naddressType: IPv4\nports: []\nendpoints: []\n---\n",
		name, strings.Join(append(labels, "kubernetes.io/service-name: web"), ", "))
}

func node(name, zone string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Node\nmetadata: {name: %s, labels: {zone: %s}}\n---\n", name, zone)
}

func cidr(name, ranges string) string {
	return fmt.Sprintf("apiVersion: networking.k8s.io/v1\nkind: ServiceCIDR\nmetadata: {name: %s}\nspec: {cidrs: [%q]}\n---\n", name, ranges)
}

func TestOnlyDifferencesAreDelivered(t *testing.T) {
	t.Parallel()
	inBubble(t, map[string]string{
		"a.yaml": service("web", 80) + endpointSlice("web-1") + node("node-1", "a") + node("node-2", "b") + cidr("one", "10.96.0.0/16"),
		"b.yaml": service("api", 81),
	}, func(r *rig) {
		r.want(r.sink.take(), "service shop/web 80", "service shop/api 81", "slice shop/web-1", "node node-1 a", "ranges [10.96.0.0/16]", "SYNCED")
		if !slices.Equal(r.bells[0].dirs, []string{r.dir}) {
			t.Errorf("watched: %q", r.bells[0].dirs)
		}
		r.want(r.change(nil))
		r.want(r.change(map[string]string{"b.yaml": service("api", 82)}), "service shop/api 82")
		r.want(r.change(map[string]string{"b.yaml": service("api", 82) + "# a comment\n"}))
		r.want(r.change(map[string]string{"c.yaml": service("new", 83) + endpointSlice("new-1")}), "service shop/new 83", "slice shop/new-1")
		r.want(r.change(map[string]string{"c.yaml": ""}), "no service shop/new", "no slice shop/new-1")
		r.want(r.change(map[string]string{"a.yaml": service("web", 80) + endpointSlice("web-1") + node("node-2", "c")}), "ranges []")
		r.want(r.change(map[string]string{"a.yaml": service("web", 80) + endpointSlice("web-1") + node("node-1", "b")}), "node node-1 b")
		r.says()
	})
}

// Which ServiceCIDR comes first, and how many have the same range, says nothing of where ClusterIPs lie.
func TestRangesAreASet(t *testing.T) {
	t.Parallel()
	inBubble(t, map[string]string{"a.yaml": cidr("two", "10.112.0.0/16") + cidr("one", "10.96.0.0/16")}, func(r *rig) {
		r.want(r.sink.take(), "ranges [10.96.0.0/16 10.112.0.0/16]", "SYNCED")
		r.want(r.change(map[string]string{"a.yaml": cidr("one", "10.96.0.0/16") + cidr("two", "10.112.0.0/16") + cidr("three", "10.96.0.0/16")}))
		r.want(r.change(map[string]string{"a.yaml": cidr("two", "10.112.0.0/16")}), "ranges [10.112.0.0/16]")
	})
}

// Reference: Kubernetes 1.36 cmd/kube-proxy/app/server.go, the label selector of its informers.
func TestWhatKubeProxysSelectorsLeaveOutIsLeftOut(t *testing.T) {
	t.Parallel()
	const headless, other = `service.kubernetes.io/headless: ""`, `service.kubernetes.io/service-proxy-name: ""`
	inBubble(t, map[string]string{
		"a.yaml": service("other", 80, other) + service("headless", 81, headless) + endpointSlice("a", headless) + endpointSlice("b", other) + service("web", 82),
	}, func(r *rig) {
		r.want(r.sink.take(), "service shop/web 82", "ranges []", "SYNCED")
		r.want(r.change(map[string]string{"a.yaml": service("web", 82, other)}), "no service shop/web")
	})
}

func TestAnInputThatIsWrongStaysAsItWasAsAWhole(t *testing.T) {
	t.Parallel()
	inBubble(t, map[string]string{"a.yaml": service("web", 80), "b.yaml": service("api", 81)}, func(r *rig) {
		r.sink.take()
		r.want(r.change(map[string]string{"a.yaml": "apiVersion: v1\nkind: Service\n  metadata: {", "b.yaml": service("api", 82)}))
		r.says("a.yaml:3", "all of their last good state stays in use")
		r.want(r.change(map[string]string{"b.yaml": "{"}))
		r.says("b.yaml:1") // what was said of a.yaml is not said again
		r.want(r.change(nil))
		r.says()
		r.want(r.change(map[string]string{"a.yaml": service("web", 83), "b.yaml": service("api", 82)}), "service shop/web 83", "service shop/api 82")
		r.says("can be used again")

		if err := os.WriteFile(filepath.Join(r.dir, "a.yaml"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		r.want(r.change(nil))
		r.says("a.yaml:1:1: the file is empty")
		r.want(r.change(map[string]string{"a.yaml": "", "b.yaml": ""}))
		r.says("no manifests")
		r.want(r.change(map[string]string{"a.yaml": "apiVersion: v1\nkind: List\nitems: []\n"}), "no service shop/api", "no service shop/web")
	})
}

func TestABadObjectIsLeftOutAlone(t *testing.T) {
	t.Parallel()
	inBubble(t, map[string]string{"a.yaml": service("web", 80)}, func(r *rig) {
		r.sink.take()
		bad := strings.Replace(service("bad", 81), "port: 81", "port: 99999", 1)
		r.want(r.change(map[string]string{"a.yaml": service("web", 82) + bad}), "service shop/web 82")
		r.says("left out", "a.yaml:", "99999")
		r.want(r.change(map[string]string{"b.yaml": service("api", 83)}), "service shop/api 83")
		r.says() // it has been said
		r.want(r.change(map[string]string{"b.yaml": "apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n"}), "no service shop/api")
		r.says("give it as --config")
	})
}

// A file that cannot be read is said, though all others are as they were, and so is that it can be read again, or is gone.
func TestAFileThatCannotBeReadIsSaid(t *testing.T) {
	t.Parallel()
	inBubble(t, map[string]string{"a.yaml": service("web", 80)}, func(r *rig) {
		r.sink.take()
		for range 2 {
			if err := os.Symlink("nowhere", filepath.Join(r.dir, "b.yaml")); err != nil {
				t.Fatal(err)
			}
			r.want(r.change(nil))
			r.says("b.yaml", "all of their last good state stays in use")
			r.want(r.change(map[string]string{"b.yaml": ""}))
			r.says("can be used again")
		}
	})
}

func TestObjectsWithoutANamespaceGetTheSources(t *testing.T) {
	t.Parallel()
	for namespace, want := range map[string]string{"": "default", "shop": "shop"} {
		dir := t.TempDir()
		text := strings.Replace(service("web", 80), "namespace: shop, ", "", 1)
		if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		sink := &notes{}
		New(Options{Paths: []string{dir}, Namespace: namespace, Node: "node-1", Log: logr.Discard()}, sink).load()
		if got := sink.take(); len(got) == 0 || got[0] != "service "+want+"/web 80" {
			t.Errorf("namespace %q: delivered %q", namespace, got)
		}
	}
}

func TestAnInputThatIsWrongAtFirstIsWaitedFor(t *testing.T) {
	t.Parallel()
	inBubble(t, map[string]string{"a.yaml": "{"}, func(r *rig) {
		r.want(r.sink.take())
		r.says("a.yaml:1")
		r.want(r.change(map[string]string{"a.yaml": service("web", 80)}), "service shop/web 80", "ranges []", "SYNCED")
	})
}

func TestTheInputIsReadWhenNothingHasChangedForAWhile(t *testing.T) {
	t.Parallel()
	inBubble(t, map[string]string{"a.yaml": service("web", 80)}, func(r *rig) {
		r.sink.take()
		began := time.Now()
		var at []time.Duration // when something was delivered
		for i := 1; time.Since(began) < 3*filewatch.Patience; i++ {
			r.write(map[string]string{"a.yaml": service("web", i)})
			r.bells[0].ring()
			time.Sleep(filewatch.Quiet / 2)
			synctest.Wait()
			if got := r.sink.take(); len(got) > 0 {
				at = append(at, time.Since(began).Round(filewatch.Quiet/2))
			}
		}
		if want := []time.Duration{filewatch.Patience, 2 * filewatch.Patience, 3 * filewatch.Patience}; !slices.Equal(at, want) {
			t.Errorf("while files changed all the time for %v: delivered after %v, want %v", 3*filewatch.Patience, at, want)
		}
	})
}

func TestWithoutAWordTheInputIsLookedAtAllTheSame(t *testing.T) {
	t.Parallel()
	inBubble(t, map[string]string{"a.yaml": service("web", 80)}, func(r *rig) {
		r.sink.take()
		r.write(map[string]string{"a.yaml": service("web", 81)})
		time.Sleep(filewatch.Interval - time.Second)
		synctest.Wait()
		r.want(r.sink.take())
		time.Sleep(time.Second)
		synctest.Wait()
		r.want(r.sink.take(), "service shop/web 81")
		r.says()

		r.refuses(errors.New("no more watches"))
		close(r.bells[0].rings)
		time.Sleep(filewatch.Quiet)
		synctest.Wait()
		r.says("no more watches", "not noticed at once")
		r.write(map[string]string{"a.yaml": service("web", 82)})
		time.Sleep(filewatch.Interval)
		synctest.Wait()
		r.want(r.sink.take(), "service shop/web 82")
		r.says() // it has been said
		r.refuses(nil)
		time.Sleep(filewatch.Interval)
		synctest.Wait()
		if len(r.bells) != 2 || len(r.bells[1].dirs) != 1 {
			t.Errorf("%d watchers opened, want another one", len(r.bells))
		}
	})
}

// The operating system's own notifications: what is waited for is the delivery, which comes.
func TestFilesThatAreReplacedAreNoticed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := func(target, name string) {
		t.Helper()
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	mkdir := func(name string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	mkdir("plain")
	mkdir("volume/..1")
	put("volume/..1/f.yaml", service("web", 80))
	link("..1", "volume/..data")
	link("..data/f.yaml", "volume/f.yaml")
	put("plain/g.yaml", service("plain", 80))
	sink := &notes{told: make(chan string)}
	s := New(Options{Paths: []string{filepath.Join(dir, "volume"), filepath.Join(dir, "plain/g.yaml")}, Log: logr.Discard()}, sink)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); s.Run(ctx) }()
	defer func() { cancel(); <-done }()
	heard := func(want string) {
		t.Helper()
		if got := <-sink.told; got != want {
			t.Errorf("delivered %s, want %s", got, want)
		}
	}
	heard("web 80")
	heard("plain 80")

	put("plain/g.yaml", service("plain", 81)) // written in place
	heard("plain 81")
	put("plain/.g.yaml.swp", service("plain", 82)) // as editors do
	move("plain/.g.yaml.swp", "plain/g.yaml")
	heard("plain 82")
	for i, version := range []string{"..2", "..3"} { // as kubelet does with a ConfigMap
		mkdir("volume/" + version)
		link(version, "volume/..tmp")
		put("volume/"+version+"/f.yaml", service("web", 83+i))
		move("volume/..tmp", "volume/..data")
		heard([]string{"web 83", "web 84"}[i])
	}
	mkdir("volume/more")
	put("volume/more/h.yaml", service("more", 85))
	heard("more 85")
}
