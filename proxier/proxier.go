package proxier

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/healthcheck"
	"github.com/lameduck-proxy/lameduck/proxier/pace"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// Backend puts rules in force. The Proxier makes one call at a time. A call that fails leaves the
// rules as they were.
type Backend interface {
	// Apply puts a Plan in force whose difference to the last one is known. Without any
	// difference it is a look at whether the rules are still what the Backend left, and repairs
	// them if not.
	Apply(p *plan.Plan, d plan.Delta) error
	// Resync puts a Plan in force whatever the rules are.
	Resync(p *plan.Plan) error
	// Close lets go of the dataplane and leaves the rules in force. The Proxier does not call it.
	Close() error
}

// Watcher is a Backend that notices by itself when another program has changed its rules.
type Watcher interface {
	// Watch returns a channel on which it says so, until the context ends. The Proxier calls it once,
	// when rules are in force and no other call is under way. It does not speak of
	// what Apply and Resync do. It may close the channel when it can no longer tell.
	// An error that is errors.ErrUnsupported says that this dataplane tells nobody.
	Watch(ctx context.Context) (<-chan struct{}, error)
}

// Conntrack has the kernel forget flows that go where the rules would no longer let them go. The
// Proxier makes one call at a time.
type Conntrack interface {
	// Follow is told of each Plan that has come in force, with the Services that differ from the
	// one before, and says whether there may be flows to forget. It costs no more than those
	// Services, the first time all.
	Follow(p *plan.Plan, changed []endpoints.ServiceName) (due bool)
	// Clean looks through the flows and returns how many were forgotten, by endpoints.IPFamily.
	// What an error has left to do is due after the next Follow.
	Clean() (forgotten [2]int, err error)
}

// Options of a Proxier.
type Options struct {
	Backend Backend
	// Node is what is particular to the node, nil if it is not known yet (SetNode).
	Node *plan.Node
	// Behaviour is that of the Kubernetes version; the zero value is the Node's if there is one,
	// endpoints.CurrentOptions() if not.
	Behaviour endpoints.Options
	// Pace is when to sync; the zero value is pace.Lameduck(), and no RetryInterval is that of
	// pace.Default().
	Pace pace.Policy
	// Families are those the Backend programs, and for which there is health to report; none are
	// all.
	Families []endpoints.IPFamily
	// Conntrack may be nil: then flows stay where they are.
	Conntrack Conntrack

	// Observer hears of each sync when it is over and its outcome published, Cleaned of each
	// time that flows were looked through. They are called by the owner, one call at a time, and
	// hold it up. Either may be nil.
	Observer func(Sync)
	Cleaned  func(Cleaning)
	// Problems hears of what in an object cannot be used: once, and again when the object had been
	// without in between. The owner calls it; it may be nil.
	Problems func(endpoints.Problem)
	// Log gets Problems, failures and what follows them; the zero value keeps them to itself.
	Log logr.Logger
}

// Sync is one sync that is over.
type Sync struct {
	// Start is when what had been delivered was taken up, End when the rules were in force or the
	// Backend had failed.
	Start, End time.Time
	Full       bool  // all rules were written, not the difference
	Err        error // nil if the rules are in force
	// Plan is what was to be put in force, Delta how it differs from the one before: empty if Full.
	Plan  *plan.Plan
	Delta plan.Delta
	// Services names the Services that were changed since the start of the sync before.
	Services []endpoints.ServiceName
	// ServiceWrites and SliceWrites count the deliveries since the start of the sync before, those
	// that changed nothing included.
	ServiceWrites, SliceWrites int
	// Triggers are the moments at which something in the cluster changed that is in force now, as
	// EndpointSlices tell (annotation endpoints.kubernetes.io/last-change-trigger-time), in order.
	// There are none before the Proxier started, and none if Err.
	Triggers []Trigger
	// Status is what was published.
	Status Status
}

// Trigger is when something changed in the cluster that a node's rules followed.
type Trigger struct {
	At     time.Time
	Family endpoints.IPFamily // of the EndpointSlice that told of it
}

// Check says whether the sync was a look at the rules and no more.
func (s *Sync) Check() bool { return !s.Full && s.Delta.Empty() && len(s.Services) == 0 }

// Cleaning is one time that flows were looked through.
type Cleaning struct {
	Start, End time.Time
	Forgotten  [2]int // how many flows the kernel was told to forget, by endpoints.IPFamily
	Err        error
}

// Status is what health servers answer from, and how much there is to do. Table is immutable and
// nil before the first sync.
type Status struct {
	Table *healthcheck.Table
	Proxy healthcheck.ProxyState
	Node  healthcheck.NodeState
	// Services and Slices are what has been delivered of each.
	Services, Slices Deliveries
	// QueuedAt is when the rules were last found to have to follow something, by
	// endpoints.IPFamily; zero for never.
	QueuedAt [2]time.Time
}

// Deliveries counts deliveries of one kind of objects.
type Deliveries struct {
	// Total counts all, those that changed nothing included.
	Total int
	// Pending counts those that the next sync takes up: 0 as long as none changed anything.
	Pending int
}

// Proxier is a node's service proxy without its dataplane and without its source of objects. All
// methods but Run and Once are safe for concurrent use.
type Proxier struct {
	inbox   *inbox
	owner   *owner
	status  atomic.Pointer[Status]
	running atomic.Bool
}

// New returns a Proxier that does nothing until Run or Once.
func New(o Options) (*Proxier, error) {
	if o.Backend == nil {
		return nil, errors.New("proxier: no Backend")
	}
	o.Pace = paceOf(o.Pace)
	if o.Behaviour == (endpoints.Options{}) {
		o.Behaviour = endpoints.CurrentOptions()
		if o.Node != nil {
			o.Behaviour = o.Node.Options
		}
	}
	if len(o.Families) == 0 {
		all := endpoints.Families()
		o.Families = all[:]
	}
	o.Families = slices.Clone(o.Families)
	p := &Proxier{inbox: newInbox()}
	p.status.Store(&Status{})
	p.owner = newOwner(o, func(s Status) { p.status.Store(&s) })
	p.SetNode(o.Node)
	return p, nil
}

// paceOf fills in what a Policy leaves out.
func paceOf(p pace.Policy) pace.Policy {
	if p == (pace.Policy{}) {
		p = pace.Lameduck()
	}
	if p.RetryInterval <= 0 {
		p.RetryInterval = pace.Default().RetryInterval
	}
	return p
}

// Status returns what the last sync, and the deliveries since, have made of it.
func (p *Proxier) Status() Status { return *p.status.Load() }
