package iptables

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// started returns a Backend on fakes with a Plan of a few Services in force.
func started(t *testing.T) (*Backend, []*fakeKernel, *backendtest.World) {
	t.Helper()
	w := backendtest.NewWorld(3, testNode())
	b, kernels := onFakes(w.Node, Options{})
	for range 40 {
		w.Disturb(t, 20)
	}
	if err := b.Apply(w.Step(t)); err != nil {
		t.Fatal(err)
	}
	return b, kernels, w
}

func (b *Backend) writtenWhole() []int {
	var out []int
	for _, f := range b.families {
		out = append(out, f.replaced)
	}
	return out
}

func TestWhatWasLostIsWrittenAgain(t *testing.T) {
	t.Parallel()
	n := names{defaultPrefix}
	anyOf := func(k *fakeKernel, what string) string {
		for name := range k.tables[nat] { // order: any will do
			if strings.HasPrefix(name, n.chain(what)+"-") && len(k.tables[nat][name]) > 0 {
				return name
			}
		}
		panic("no chain " + what)
	}
	for name, c := range map[string]struct {
		do       func(k *fakeKernel)
		repaired bool
	}{
		"nothing": {func(*fakeKernel) {}, false},
		"a flush of nat": {func(k *fakeKernel) {
			fresh := newFakeKernel()
			k.tables[nat] = fresh.tables[nat]
		}, true},
		"a flush of filter":     {func(k *fakeKernel) { k.tables[filter] = newFakeKernel().tables[filter] }, true},
		"the canary in mangle":  {func(k *fakeKernel) { delete(k.tables[mangle], n.chain(ownCanary)) }, true},
		"a jump":                {func(k *fakeKernel) { k.tables[nat]["PREROUTING"] = nil }, true},
		"the last filter jump":  {func(k *fakeKernel) { k.tables[filter]["FORWARD"] = k.tables[filter]["FORWARD"][1:] }, true},
		"the rules of services": {func(k *fakeKernel) { k.tables[nat][n.chain(services)] = nil }, true},
		"a Service's chain":     {func(k *fakeKernel) { delete(k.tables[nat], anyOf(k, clusterChain)) }, true},
		"a rule of a Service": {func(k *fakeKernel) {
			c := anyOf(k, externalChain)
			k.tables[nat][c] = k.tables[nat][c][1:]
		}, true},
		"nothing, but a rule is another": {func(k *fakeKernel) {
			c := anyOf(k, externalChain)
			k.tables[nat][c] = append([]string{"-A " + c + " -j DROP"}, k.tables[nat][c][1:]...)
		}, true},
		"nothing, but a chain is too many": {func(k *fakeKernel) { k.tables[nat]["KUBE-SVC-AAAAAAAAAAAAAAAA"] = nil }, true},
		"a rule of somebody else":          {func(k *fakeKernel) { k.tables[nat]["OTHER"] = []string{"-A OTHER -j RETURN"} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, kernels, w := started(t)
			if err := b.Check(w.Plan); err != nil {
				t.Fatal(err)
			}
			whole := kernels[0].text()
			c.do(kernels[0])
			touched := kernels[0].text()
			if err := b.Apply(w.Plan, plan.Delta{}); err != nil {
				t.Fatal(err)
			}
			want := []int{1, 1}
			if c.repaired {
				want[0]++
				touched = whole
			}
			if got := b.writtenWhole(); !slices.Equal(got, want) {
				t.Errorf("the families were written %v times, want %v", got, want)
			}
			if got := kernels[0].text(); got != touched {
				t.Errorf("got\n%s\nwant\n%s", got, touched)
			}
			if err := b.Check(w.Plan); err != nil || !slices.Equal(b.writtenWhole(), want) {
				t.Errorf("a second look: %v, written %v times", err, b.writtenWhole())
			}
		})
	}
}

// A chain of a Service that nobody has is removed, though it may have been there before the first look after a change: then there is
// no earlier look to compare with.
func TestAChainTooManyIsNoticedAtTheFirstLook(t *testing.T) {
	t.Parallel()
	b, kernels, w := started(t)
	whole := kernels[0].text()
	kernels[0].tables[nat]["KUBE-SVC-AAAAAAAAAAAAAAAA"] = nil
	if err := b.Check(w.Plan); err != nil || b.Repairs() != 1 || kernels[0].text() != whole {
		t.Errorf("%v, %d repairs, and then\n%s\nwant\n%s", err, b.Repairs(), kernels[0].text(), whole)
	}
}

// A jump that iptables-save prints in a way of its own is not put in twice.
func TestAJumpInOtherWordsIsAJump(t *testing.T) {
	t.Parallel()
	b, kernels, w := started(t)
	k := &worded{kernels[0]}
	b.families[0].kernel = k
	before := kernels[0].text()
	for range 2 {
		if err := b.Check(w.Plan); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Resync(w.Plan); err != nil {
		t.Fatal(err)
	}
	if b.families[0].replaced != 2 || kernels[0].text() != before {
		t.Errorf("written %d times, and it is now\n%s", b.families[0].replaced, kernels[0].text())
	}
}

// worded prints jumps in another order of words.
type worded struct{ *fakeKernel }

func (k *worded) save(some ...table) (string, error) {
	text, err := k.fakeKernel.save(some...)
	return strings.ReplaceAll(text, `-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES`,
		`-A PREROUTING -j KUBE-SERVICES -m comment --comment "kubernetes service portals"`), err
}

func TestOneFamilyFailsAlone(t *testing.T) {
	t.Parallel()
	b, kernels, w := started(t)
	broken := errors.New("no memory")
	kernels[0].errs = []error{broken, broken, broken}
	backendtest.SetService(t, w.Cache, w.Service(3, "svc-3"), w.Slices("svc-3")...)
	for range 20 {
		w.Disturb(t, 20)
	}
	before, other := kernels[0].text(), kernels[1].text()
	p, d := w.Step(t)
	err := b.Apply(p, d)
	if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "iptables: IPv4: ") || strings.Contains(err.Error(), "IPv6") {
		t.Errorf("got %v, want %v of IPv4", err, broken)
	}
	if kernels[0].text() != before || kernels[1].text() == other {
		t.Error("want IPv6 to be written, and IPv4 to be as it was")
	}
	kernels[0].errs = nil
	if err := b.Apply(p, d); err != nil {
		t.Fatal(err)
	}
	if got := b.writtenWhole(); !slices.Equal(got, []int{2, 1}) {
		t.Errorf("written %v times, want IPv4 as a whole after its failure", got)
	}
	again, fresh := onFakes(w.Node, Options{})
	if err := again.Apply(p, plan.Delta{}); err != nil {
		t.Fatal(err)
	}
	for i, k := range fresh {
		if k.text() != kernels[i].text() {
			t.Errorf("family %d differs from one without a failure", i)
		}
	}
}

func TestARefusedChangeIsFollowedByTheWhole(t *testing.T) {
	t.Parallel()
	b, kernels, w := started(t)
	delete(kernels[0].tables[nat], "KUBE-MARK-MASQ")
	for range 40 {
		w.Disturb(t, 20)
	}
	if err := b.Apply(w.Step(t)); err != nil {
		t.Fatal(err)
	}
	if got := b.writtenWhole(); !slices.Equal(got, []int{2, 1}) {
		t.Errorf("written %v times, want IPv4 as a whole", got)
	}
}

func TestAnotherNodeAsksForTheWhole(t *testing.T) {
	t.Parallel()
	b, kernels, _ := started(t)
	node := testNode()
	node.LocalhostNodePorts = true
	if err := b.Apply(plan.Empty(node), plan.Delta{}); err != nil {
		t.Fatal(err)
	}
	text := kernels[0].text()
	for _, want := range []string{
		"-A INPUT -j KUBE-FIREWALL", "-A OUTPUT -j KUBE-FIREWALL", "-m addrtype --dst-type LOCAL -j KUBE-NODEPORTS",
		`-A KUBE-FIREWALL ! -s 127.0.0.0/8 -d 127.0.0.0/8 -m comment --comment "block incoming localnet connections" -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "KUBE-SVC-") || !kernels[0].opened || kernels[1].opened {
		t.Error("want no Service, and 127.0.0.0/8 open, of IPv4 only")
	}
	if err := b.Cleanup(); err != nil {
		t.Fatal(err)
	}
	if kernels[0].opened {
		t.Error("127.0.0.0/8 is still open")
	}
}

// TestAKubeProxyShows walks through the lives of a machine.
func TestAKubeProxyShows(t *testing.T) {
	t.Parallel()
	canary := func(k *fakeKernel) {
		for _, t := range tables() {
			k.tables[t]["KUBE-PROXY-CANARY"] = nil
		}
	}
	has := func(k *fakeKernel) bool { _, ok := k.tables[nat]["KUBE-PROXY-CANARY"]; return ok }

	w := backendtest.NewWorld(3, testNode())
	b, kernels := onFakes(w.Node, Options{})
	canary(kernels[0]) // left behind, or not
	if err := b.lookForRival(); err != nil {
		t.Fatalf("at the start nothing is known: %v", err)
	}
	apply := func() error { return b.Apply(w.Plan, plan.Delta{}) }
	if err := errors.Join(apply(), apply(), b.Resync(w.Plan)); err != nil || has(kernels[0]) {
		t.Fatalf("a canary left behind: %v, is there: %v", err, has(kernels[0]))
	}
	canary(kernels[0]) // a kube-proxy is here
	before := kernels[0].text()
	for _, f := range []func() error{apply, apply, func() error { return b.Resync(w.Plan) }, func() error { return b.Check(w.Plan) }} {
		if err := f(); !errors.Is(err, ErrKubeProxy) || !strings.Contains(err.Error(), "KUBE-PROXY-CANARY") {
			t.Fatalf("got %v, want %v", err, ErrKubeProxy)
		}
	}
	delete(kernels[0].tables[mangle], "KUBE-PROXY-CANARY")
	if err := apply(); !errors.Is(err, ErrKubeProxy) {
		t.Errorf("two programs take turns: %v", err)
	}
	canary(kernels[0])
	if got := kernels[0].text(); got != before {
		t.Error("the chains were touched, though a kube-proxy is at them")
	}

	next, _ := onFakes(w.Node, Options{}) // another process
	next.families[0].kernel = kernels[0]
	if err := next.lookForRival(); !errors.Is(err, ErrKubeProxy) {
		t.Errorf("a new process: %v, want %v", err, ErrKubeProxy)
	}
	forced, _ := onFakes(w.Node, Options{TakeOver: true})
	forced.families[0].kernel = kernels[0]
	if err := errors.Join(forced.lookForRival(), forced.Resync(w.Plan), forced.Check(w.Plan)); err != nil || !has(kernels[0]) {
		t.Errorf("by force: %v, and the other's canary is there: %v", err, has(kernels[0]))
	}

	if err := next.Cleanup(); err != nil {
		t.Fatal(err)
	}
	left := kernels[0].text()
	if strings.Contains(left, "LAMEDUCK") || !strings.Contains(left, "KUBE-SERVICES") {
		t.Errorf("what a kube-proxy has by now is left to it:\n%s", left)
	}

	aside, others := onFakes(w.Node, Options{ChainPrefix: "ASIDE"})
	if err := aside.Apply(w.Plan, plan.Delta{}); err != nil {
		t.Fatal(err)
	}
	canary(others[0])
	if err := aside.Check(w.Plan); err != nil {
		t.Errorf("under another prefix a kube-proxy is nobody's rival: %v", err)
	}
}

// TestCleanupLeavesWhatIsNotOurs whoever runs it, and after a crash.
func TestCleanupLeavesWhatIsNotOurs(t *testing.T) {
	t.Parallel()
	for _, kubelet := range []bool{false, true} {
		node := testNode()
		node.LocalhostNodePorts = true
		w := backendtest.NewWorld(3, node)
		b, kernels := onFakes(node, Options{EndpointChains: true})
		for _, k := range kernels {
			k.tables[nat]["CNI-HOSTPORT"] = []string{"-A CNI-HOSTPORT -j RETURN"}
			k.tables[filter]["FORWARD"] = []string{"-A FORWARD -j ACCEPT"}
			if kubelet {
				k.tables[mangle]["KUBE-KUBELET-CANARY"] = nil
				k.tables[filter]["KUBE-FIREWALL"] = []string{"-A KUBE-FIREWALL -s 1.2.3.4/32 -j DROP"}
				k.tables[filter]["INPUT"] = []string{"-A INPUT -j KUBE-FIREWALL"}
				k.tables[filter]["OUTPUT"] = []string{"-A OUTPUT -j KUBE-FIREWALL"}
			}
		}
		untouched := kernels[0].text()
		for range 40 {
			w.Disturb(t, 20)
		}
		if err := b.Apply(w.Step(t)); err != nil {
			t.Fatal(err)
		}
		kernels[0].tables[filter]["CUSTOM"] = []string{"-A CUSTOM -s 10.0.0.0/8 -j KUBE-FORWARD", "-A CUSTOM -j RETURN"}
		if !kernels[0].opened || kernels[1].opened {
			t.Error("want 127.0.0.0/8 to be routed, in IPv4")
		}
		after, _ := onFakes(node, Options{}) // a process that knows nothing
		after.families[0].kernel = kernels[0]
		for range 2 {
			if err := after.families[0].cleanup(); err != nil {
				t.Fatal(err)
			}
		}
		if got := kernels[0].tables[filter]["CUSTOM"]; !slices.Equal(got, []string{"-A CUSTOM -j RETURN"}) {
			t.Errorf("another's chain has %q", got)
		}
		if kernels[0].opened {
			t.Error("127.0.0.0/8 is routed, and nothing makes that harmless any more")
		}
		delete(kernels[0].tables[filter], "CUSTOM")
		if kubelet { // which the rule is, too
			c := kernels[0].tables[filter]["KUBE-FIREWALL"]
			kernels[0].tables[filter]["KUBE-FIREWALL"] = c[:1]
		}
		if got := kernels[0].text(); got != untouched {
			t.Errorf("kubelet %v: got\n%s\nwant\n%s", kubelet, got, untouched)
		}
	}
}

func TestMoreThanIPTablesNFTCanTakeIsRefusedBeforeAnythingIsTouched(t *testing.T) {
	t.Parallel()
	w := backendtest.NewWorld(3, testNode())
	b, kernels := onFakes(w.Node, Options{Families: []endpoints.IPFamily{endpoints.IPv4}})
	backendtest.SetService(t, w.Cache, backendtest.PacketService(), backendtest.PacketSlice("10.244.0.5")) // three chains: for all endpoints, local ones, from outside
	b.families[0].limit = 2
	p, d := w.Step(t)
	const want = "1 Services need 3 chains, and iptables-nft, whose time grows with their square, is not given more than 2: use nftables mode, or iptables-legacy"
	for range 2 {
		if err := b.Apply(p, d); err == nil || !strings.Contains(err.Error(), want) || len(kernels[0].texts) > 0 {
			t.Errorf("%v after %d restores, want %s", err, len(kernels[0].texts), want)
		}
	}
	b.families[0].limit = 3
	if err := b.Apply(p, d); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		w.Disturb(t, 10)
	}
	before := kernels[0].text()
	if err := b.Apply(w.Step(t)); err == nil || kernels[0].text() != before {
		t.Errorf("%v, want a refusal of more, and what is there left as it is", err)
	}
}

func TestWhatNoRuleCouldExpressIsRefused(t *testing.T) {
	t.Parallel()
	for want, edit := range map[string]func(*plan.Node, *Options){
		"dialect nftables":              func(n *plan.Node, _ *Options) { n.Dialect = plan.NFTables },
		`BridgeInterface "": want 1 to`: func(n *plan.Node, _ *Options) { n.Detector = plan.LocalDetector{Mode: plan.DetectBridgeInterface} },
		`"cbr0 -j DROP": want the name of an interface`: func(n *plan.Node, _ *Options) {
			n.Detector = plan.LocalDetector{Mode: plan.DetectBridgeInterface, Interface: "cbr0 -j DROP"}
		},
		"mark 0x6000: want a single bit": func(_ *plan.Node, o *Options) { o.MasqueradeMark = 0x6000 },
		`"kube": want capital letters`:   func(_ *plan.Node, o *Options) { o.ChainPrefix = "kube" },
		`"LAMEDUCK": want 1 to 7`:        func(_ *plan.Node, o *Options) { o.ChainPrefix = "LAMEDUCK" },
		"variant 3":                      func(_ *plan.Node, o *Options) { o.Variant = 3 },
		`"interface-names-end-at-15"`: func(n *plan.Node, _ *Options) {
			n.Detector = plan.LocalDetector{Mode: plan.DetectInterfaceNamePrefix, Interface: "interface-names-end-at-15"}
		},
	} {
		node, opts := testNode(), Options{}
		edit(node, &opts)
		if _, err := New(node, opts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New: %v, want %q", err, want)
		}
		if err := Dump(&strings.Builder{}, plan.Empty(node), opts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Dump: %v, want %q", err, want)
		}
	}
}

// A repair is rules that somebody else had been at, not rules that were asked for.
func TestRepairsAreCounted(t *testing.T) {
	t.Parallel()
	w := backendtest.NewWorld(3, testNode())
	for range 40 {
		w.Disturb(t, 20)
	}
	b, kernels := onFakes(w.Node, Options{})
	p, d := w.Step(t)
	want := func(when string, err error, want int) {
		t.Helper()
		if err != nil || b.Repairs() != want {
			t.Errorf("%s: %d repairs, %v, want %d", when, b.Repairs(), err, want)
		}
	}
	want("at first", b.Apply(p, d), 0)
	want("a look", b.Check(p), 0)
	delete(kernels[0].tables[mangle], "KUBE-LAMEDUCK-CANARY")
	want("a canary that is gone", b.Check(p), 1)
	want("a look afterwards", b.Check(p), 1)
	want("a resync that was asked for", b.Resync(p), 1)
	delete(kernels[0].tables[filter], "KUBE-FORWARD")
	delete(kernels[1].tables[filter], "KUBE-FORWARD")
	want("chains of both families that are gone", b.Check(p), 3)
	delete(kernels[0].tables[mangle], "KUBE-LAMEDUCK-CANARY")
	kernels[0].errs = []error{errInjected}
	if err := b.Check(p); !errors.Is(err, errInjected) || b.Repairs() != 3 {
		t.Errorf("a repair that failed: %v, and %d repairs are counted", err, b.Repairs())
	}
}
