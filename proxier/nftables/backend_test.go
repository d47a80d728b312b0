package nftables

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// fakeKernel takes transactions and remembers them, and is told what goes wrong.
type fakeKernel struct {
	at        uint32
	structure structure
	committed [][]*tableChange
	errs      []error // of the next commits; nil is none
	had       *stock  // what it says a table is made of
	told      rumours // what Watch hears
	foreign   int     // so many next commits find that somebody else came first
	intrude   bool    // somebody changes our table before the next look at it
}

func (k *fakeKernel) generation() (uint32, error) { return k.at, nil }

func (k *fakeKernel) commit(_ string, changes []*tableChange, generation uint32, check bool) error {
	if k.foreign > 0 {
		k.foreign--
		k.at = nextGeneration(k.at)
	}
	if check && generation != k.at {
		return errGeneration
	}
	if len(k.errs) > 0 {
		err := k.errs[0]
		k.errs = k.errs[1:]
		if err != nil {
			return err
		}
	}
	for _, c := range changes {
		k.structure.uses += uint32(len(c.sets) + len(c.chains)) // a few
	}
	k.committed = append(k.committed, changes)
	k.at = nextGeneration(k.at)
	return nil
}

func (k *fakeKernel) inspect(string, endpoints.IPFamily) (structure, bool, error) {
	if k.intrude {
		k.intrude = false
		k.at = nextGeneration(k.at)
		k.structure.chains++
	}
	return k.structure, true, nil
}

func (k *fakeKernel) stock(string, endpoints.IPFamily) (*stock, bool, error) {
	return k.had, k.had != nil, nil
}

func (k *fakeKernel) watch(Options) (notices, error) { return k.told, nil }

func (k *fakeKernel) remove(string, []endpoints.IPFamily) error { return nil }

func (k *fakeKernel) chains(endpoints.IPFamily) ([]string, error) { return nil, nil }

func (k *fakeKernel) close() error { return nil }

// rumours are what is said of others: true for our tables.
type rumours chan bool

func (r rumours) next() (bool, error) {
	foreign, ok := <-r
	if !ok {
		return false, errors.New("closed")
	}
	return foreign, nil
}

func (r rumours) close() error {
	close(r)
	return nil
}

// onFake returns a Backend with a Plan of one Service in force, and how to get to the next Plan.
func onFake(t *testing.T) (*Backend, *fakeKernel, func() error) {
	t.Helper()
	k := &fakeKernel{at: 41}
	opts, err := Options{}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	w := backendtest.NewWorld(1, testNode())
	b := &Backend{opts: opts, node: w.Node, kernel: k}
	i := 0
	next := func() error {
		i++
		backendtest.SetService(t, w.Cache, backendtest.PacketService(), backendtest.PacketSlice(backendtest.PodAddr(endpoints.IPv4, i)))
		return b.Apply(w.Step(t))
	}
	if err := next(); err != nil {
		t.Fatal(err)
	}
	return b, k, next
}

// replaced says whether the last transaction replaced the tables.
func (k *fakeKernel) replaced() bool { return k.committed[len(k.committed)-1][0].replace }

func TestAChangeIsOneSmallTransaction(t *testing.T) {
	t.Parallel()
	_, k, next := onFake(t)
	if !k.replaced() || len(k.committed) != 1 {
		t.Fatalf("the first Apply: %d transactions, replaced %v", len(k.committed), k.replaced())
	}
	if err := next(); err != nil {
		t.Fatal(err)
	}
	if len(k.committed) != 2 || k.replaced() || len(k.committed[1]) != 1 {
		t.Fatalf("the second Apply: %d transactions, replaced %v, %d tables", len(k.committed), k.replaced(), len(k.committed[1]))
	}
	rows := k.committed[1][0].rows
	// A ClusterIP and a node port that lists its endpoint as one for all and as a local one.
	if got, want := len(rows.sets[endpointMap].add), 3*(16+8); got != want {
		t.Errorf("%d bytes of endpoints, want %d", got, want)
	}
	if len(rows.sets[frontends].add) > 0 {
		t.Error("the class of a frontend was written again")
	}
}

func TestSomebodyElsesTableIsNoReasonToReplaceOurs(t *testing.T) {
	t.Parallel()
	_, k, next := onFake(t)
	k.foreign = 3
	if err := next(); err != nil {
		t.Fatal(err)
	}
	if k.replaced() {
		t.Error("the tables were replaced")
	}
}

func TestSomebodyElseAtOurTableIs(t *testing.T) {
	t.Parallel()
	_, k, next := onFake(t)
	k.foreign, k.structure.uses = 1, 7
	if err := next(); err != nil {
		t.Fatal(err)
	}
	if !k.replaced() {
		t.Error("the tables were not replaced")
	}
	if err := next(); err != nil {
		t.Fatal(err)
	}
	if k.replaced() {
		t.Error("they were replaced a second time, and were ours by then")
	}
}

// Chains that the Backend itself added later are its own when it next looks.
func TestChainsOfOnesOwnAreNoReasonToReplace(t *testing.T) {
	t.Parallel()
	opts, err := Options{}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	w, k := backendtest.NewWorld(1, testNode()), &fakeKernel{at: 41}
	b := &Backend{opts: opts, node: w.Node, kernel: k}
	svc := backendtest.PacketService()
	svc.Spec.Type = corev1.ServiceTypeLoadBalancer
	svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "203.0.113.1"}}
	apply := func() {
		t.Helper()
		backendtest.SetService(t, w.Cache, svc, backendtest.PacketSlice(backendtest.PodAddr(endpoints.IPv4, 1)))
		if err := b.Apply(w.Step(t)); err != nil {
			t.Fatal(err)
		}
	}
	apply()
	before := k.structure
	svc.Spec.LoadBalancerSourceRanges = []string{"198.51.100.0/24"}
	apply()
	if k.structure == before {
		t.Fatal("source ranges made no chain")
	}
	k.at = nextGeneration(k.at) // somebody else, at another table
	if err := b.Apply(w.Plan, plan.Delta{}); err != nil || k.replaced() || b.Repairs() != 0 {
		t.Errorf("%v, replaced %v, %d repairs", err, k.replaced(), b.Repairs())
	}
}

// TestSomebodyBetweenOurTransactionAndOurLook: what is seen then may be theirs.
func TestSomebodyBetweenOurTransactionAndOurLook(t *testing.T) {
	t.Parallel()
	b, k, next := onFake(t)
	k.intrude = true
	if err := b.Resync(plan.Empty(b.node)); err != nil {
		t.Fatal(err)
	}
	k.committed = nil
	if err := next(); err != nil {
		t.Fatal(err)
	}
	if !k.replaced() {
		t.Error("the tables were taken for ours")
	}
}

func TestWhatWatchHearsOfIsReplaced(t *testing.T) {
	t.Parallel()
	b, k, next := onFake(t)
	k.told = make(rumours)
	ctx, stop := context.WithCancel(context.Background())
	told, err := b.Watch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	k.told <- false
	k.told <- true
	<-told
	k.told <- false // by now the one before has been heard of
	if err := next(); err != nil {
		t.Fatal(err)
	}
	if !k.replaced() {
		t.Error("the tables were not replaced")
	}
	if err := next(); err != nil {
		t.Fatal(err)
	}
	if k.replaced() {
		t.Error("they were replaced a second time, and nobody had been there")
	}
	select {
	case <-told:
		t.Error("told twice of one thing")
	default:
	}
	stop()
	<-k.told // closed
}

func TestWhatIsThereIsFilledAnew(t *testing.T) {
	t.Parallel()
	b, k, _ := onFake(t)
	k.had = &stock{chains: []string{"services"}, sets: []string{"frontends"}}
	p := plan.Empty(b.node)
	if err := b.Resync(p); err != nil {
		t.Fatal(err)
	}
	if c := k.committed[len(k.committed)-1][0]; c.had != k.had {
		t.Errorf("made from nothing, though there were %+v", k.had)
	}
	k.errs = []error{errors.New("no such thing")}
	if err := b.Resync(p); err != nil {
		t.Fatal(err)
	}
	if c := k.committed[len(k.committed)-1][0]; c.had != nil || !c.replace {
		t.Errorf("filled again, though that was refused: %+v", c.had)
	}
}

func TestABusyRulesetIsOverwrittenInTheEnd(t *testing.T) {
	t.Parallel()
	_, k, next := onFake(t)
	k.foreign, k.structure.uses = attemptsAtCommit+1, 7
	if err := next(); err != nil {
		t.Fatal(err)
	}
	if !k.replaced() {
		t.Error("the tables were not replaced")
	}
}

func TestAfterAFailureTheNextApplyReplaces(t *testing.T) {
	t.Parallel()
	_, k, next := onFake(t)
	broken := errors.New("no memory")
	k.errs = []error{broken, broken}
	if err := next(); !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "nftables: ") {
		t.Errorf("got %v, want %v", err, broken)
	}
	if err := next(); err != nil {
		t.Fatal(err)
	}
	if !k.replaced() {
		t.Error("the tables were not replaced")
	}
}

func TestARefusedChangeIsFollowedByTheWhole(t *testing.T) {
	t.Parallel()
	_, k, next := onFake(t)
	k.errs = []error{errors.New("file exists")}
	if err := next(); err != nil {
		t.Fatal(err)
	}
	if !k.replaced() {
		t.Error("the tables were not replaced")
	}
}

func TestAnotherNodeAsksForTheWhole(t *testing.T) {
	t.Parallel()
	b, k, _ := onFake(t)
	if err := b.Apply(plan.Empty(testNode()), plan.Delta{}); err != nil {
		t.Fatal(err)
	}
	if !k.replaced() {
		t.Error("the tables were not replaced")
	}
}

func TestWhatNoRuleCouldExpressIsRefused(t *testing.T) {
	t.Parallel()
	for want, edit := range map[string]func(*plan.Node, *Options){
		"dialect iptables":               func(n *plan.Node, _ *Options) { n.Dialect = plan.IPTables },
		`BridgeInterface "": want 1 to`:  func(n *plan.Node, _ *Options) { n.Detector = plan.LocalDetector{Mode: plan.DetectBridgeInterface} },
		"mark 0x6000: want a single bit": func(_ *plan.Node, o *Options) { o.MasqueradeMark = 0x6000 },
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

// full is a disk that takes nothing more.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// A dump that could not be written in whole is an error: half a table is no table.
func TestADumpThatIsCutOffIsAnError(t *testing.T) {
	t.Parallel()
	if err := Dump(full{}, plan.Empty(testNode()), Options{}); err == nil || !strings.Contains(err.Error(), "no space left on device") {
		t.Errorf("%v", err)
	}
}
