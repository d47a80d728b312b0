package api

import (
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Object is anything the store keeps: *Pod, *ReplicaSet, *Workload, *Node, *Budget, *sliceWrite.
type Object any

// Key finds an object in the store.
type Key struct {
	Kind Kind
	A, B int
}

// Kind is what a watch asks for.
type Kind uint8

// The kinds.
const (
	KindPod Kind = iota
	KindReplicaSet
	KindDeployment
	KindSlices
	KindNode
	KindBudget
	KindStatefulSet
	KindDaemonSet
	KindService
	numKinds
)

// PodKey is the key of a pod.
func PodKey(id PodID) Key { return Key{Kind: KindPod, A: int(id)} }

// ReplicaSetKey is the key of a ReplicaSet.
func ReplicaSetKey(id ReplicaSetID) Key {
	return Key{Kind: KindReplicaSet, A: id.Workload, B: id.Revision}
}

// DeploymentKey is the key of a workload's Deployment.
func DeploymentKey(workload int) Key { return Key{Kind: KindDeployment, A: workload} }

// StatefulSetKey is the key of a workload's StatefulSet.
func StatefulSetKey(workload int) Key { return Key{Kind: KindStatefulSet, A: workload} }

// NodeKey is the key of a node.
func NodeKey(number int) Key { return Key{Kind: KindNode, A: number} }

// ServiceKey is the key of a Service.
func ServiceKey(number int) Key { return Key{Kind: KindService, A: number} }

// BudgetKey is the key of a PodDisruptionBudget.
func BudgetKey(number int) Key { return Key{Kind: KindBudget, A: number} }

// SliceKey is the key of a Service's n-th EndpointSlice.
func SliceKey(service, n int) Key { return Key{Kind: KindSlices, A: service, B: n} }

// record is an object in the store, with what the delays of its writes and news are drawn from. It stays
// when the object goes.
type record struct {
	current Object // nil when there is none
	asked   uint64 // writes asked for
	changed uint64 // versions
	named   bool   // writes and watches are there
	writes  engine.Stream
	watches engine.Purpose
}

// Store is the API server with its storage: the current version of each object, and watches
// that hear of every write, each in its own time and in order.
//
// Every delay is drawn for the object, by a name that no other object's existence changes, and
// by how often that object was written: one more pod shifts nobody else's draws.
type Store struct {
	eng     *engine.Engine
	owner   engine.Owner
	latency engine.Dist
	name    func(Key) string
	pods    []*record // by PodID
	others  map[Key]*record
	watches [numKinds][]*Watch
	all     []*Watch // each once, in order of subscription

	requests pool[request] // on their way

	execute, arrive, hand func(uint64) // executed, arrived, take: for events

	ChangedPod func(old, p *Pod) // hears of every version of a pod, before the watches
	// Committed hears of every version after the watches, with what delays of other news of it are drawn from.
	Committed func(o Object, purpose engine.Purpose, version uint64)

	down    bool                      // the API server answers nobody
	waiting []request                 // that are repeated when it is back
	frozen  map[engine.Owner][]func() // components that are paused, with what they have to do since

	// A judge of the run hears of every version, and of what each watch brings; nil without one.
	Wrote     func(Object)
	Delivered func(watch string, o Object)
}

// New makes an API server without objects: its writes take the latency, and name names objects for their draws.
func New(eng *engine.Engine, latency engine.Dist, name func(Key) string) *Store {
	s := &Store{
		eng: eng, owner: eng.Register("apiserver"), latency: latency, name: name,
		others: map[Key]*record{}, frozen: map[engine.Owner][]func(){},
	}
	s.execute, s.arrive, s.hand = s.executed, s.arrived, s.take
	return s
}

// Watch is one component's stream of news. Deliveries keep the order of the writes: one that
// is drawn to be faster than the one before waits for it.
type Watch struct {
	label   string // of its events
	draws   engine.Component
	Owner   engine.Owner
	latency engine.Dist
	deliver func(Object)
	Wants   func(Object) bool // nil: everything of the kinds
	last    engine.Time       // when the last news on its way will be delivered
	held    []news            // while the API server is down
	coming  queue[Object]     // on its way; it arrives in order
	number  uint64            // in store.all
	skip    int               // so many of those coming first are for a process that has ended
}

// Forget has nobody hear of the news that is on its way: the component has begun again, and reads what there is.
func (w *Watch) Forget() { w.skip, w.held = w.coming.len(), nil }

// news is one version of an object, with the draw of its delay.
type news struct {
	object Object
	draw   uint64
}

// Subscribe starts a watch of some kinds.
func (s *Store) Subscribe(name string, owner engine.Owner, latency engine.Dist, deliver func(Object), kinds ...Kind) *Watch {
	w := &Watch{
		label: "watch " + name, draws: s.eng.Component(name), Owner: owner, latency: latency, deliver: deliver,
		number: uint64(len(s.all)),
	}
	for _, k := range kinds {
		s.watches[k] = append(s.watches[k], w)
	}
	s.all = append(s.all, w)
	return w
}

// Get returns the current version of an object, nil when there is none.
func (s *Store) Get(k Key) Object {
	if k.Kind == KindPod {
		if k.A >= 0 && k.A < len(s.pods) && s.pods[k.A] != nil {
			return s.pods[k.A].current
		}
		return nil
	}
	if r := s.others[k]; r != nil {
		return r.current
	}
	return nil
}

// Put puts an object in without a write, as at the beginning.
func (s *Store) Put(k Key, o Object) { s.recordOf(k).current = o }

// recordOf returns that of an object, whether there is one or not.
func (s *Store) recordOf(k Key) *record {
	if k.Kind != KindPod {
		r := s.others[k]
		if r == nil {
			r = new(record)
			s.others[k] = r
		}
		return r
	}
	for k.A >= len(s.pods) {
		s.pods = append(s.pods, nil)
	}
	if s.pods[k.A] == nil {
		s.pods[k.A] = new(record)
	}
	return s.pods[k.A]
}

// written is recordOf for who draws a delay. The object's name is made once.
func (s *Store) written(k Key) *record {
	r := s.recordOf(k)
	if !r.named {
		name := s.name(k)
		r.named, r.writes, r.watches = true, s.eng.Stream(name, "write"), engine.PurposeOf("watch "+name)
	}
	return r
}

// Write changes an object after the latency of a write: mutate gets the version current by
// then, nil when there is none, and returns the next, or nil to leave it. done, if not nil,
// hears when the answer is there. While the API server is down nothing is written; the client
// tries again when it is back.
func (s *Store) Write(owner engine.Owner, name string, k Key, mutate func(Object) Object, done func()) {
	o := s.written(k)
	delay := s.latency.Sample(o.writes.Draw(o.asked))
	o.asked++
	s.WriteAfter(delay, owner, name, k, mutate, done)
}

// Limited is write through a client's rate limit.
func (s *Store) Limited(l *Limiter, owner engine.Owner, name string, k Key, mutate func(Object) Object, done func()) {
	at := l.Take(s.eng.Now())
	if at <= s.eng.Now() {
		s.Write(owner, name, k, mutate, done)
		return
	}
	s.eng.At(at, engine.ClassTimer, owner, name+" (rate limit)", func() {
		s.Awake(owner, func() { s.Write(owner, name, k, mutate, done) })
	})
}

// request is a write on its way.
type request struct {
	delay  engine.Time
	owner  engine.Owner
	name   string
	key    Key
	mutate func(Object) Object
	done   func()
}

// WriteAfter is write with a latency of the caller's.
func (s *Store) WriteAfter(delay engine.Time, owner engine.Owner, name string, k Key, mutate func(Object) Object, done func()) {
	s.request(request{delay, owner, name, k, mutate, done})
}

// request sends a write, or has it wait for the API server.
func (s *Store) request(r request) {
	if s.down {
		s.waiting = append(s.waiting, r)
		return
	}
	s.eng.AfterWith(r.delay, engine.ClassDelivery, s.owner, r.name, s.execute, s.requests.put(r))
}

// executed carries out a write that has come to the API server.
func (s *Store) executed(number uint64) {
	r := s.requests.take(number)
	if s.down {
		s.waiting = append(s.waiting, r)
		return
	}
	s.commit(r.key, r.mutate)
	if r.done != nil {
		s.Awake(r.owner, r.done)
	}
}

// commit changes an object now. The last version of a pod or a ReplicaSet is sent and not kept.
func (s *Store) commit(k Key, mutate func(Object) Object) {
	o := s.recordOf(k)
	next := mutate(o.current)
	if next == nil {
		return
	}
	if p, ok := next.(*Pod); ok {
		old, _ := o.current.(*Pod)
		s.ChangedPod(old, p)
	}
	s.written(k)
	o.current = next
	if last(next) {
		o.current = nil
	}
	if s.Wrote != nil {
		s.Wrote(next)
	}
	version, purpose := o.changed, o.watches
	o.changed++
	for _, w := range s.watches[k.Kind] {
		if w.Wants == nil || w.Wants(next) {
			s.send(w, news{next, w.draws.Stream(purpose).Draw(version)})
		}
	}
	s.Committed(next, purpose, version)
}

// CommitAfter changes an object after a while, whether the API server answers or not: it does so itself.
func (s *Store) CommitAfter(delay engine.Time, name string, k Key, mutate func(Object) Object) {
	s.eng.After(delay, engine.ClassDelivery, s.owner, name, func() { s.commit(k, mutate) })
}

// last says whether a version of an object is its last one.
func last(o Object) bool {
	switch o := o.(type) {
	case *Pod:
		return o.Gone
	case *ReplicaSet:
		return o.Gone
	default:
		return false
	}
}

func (s *Store) send(w *Watch, n news) {
	if s.down {
		w.held = append(w.held, n)
		return
	}
	at := max(w.last, s.eng.Now().Add(w.latency.Sample(n.draw)))
	w.last = at
	w.coming.push(n.object)
	s.eng.AtWith(at, engine.ClassDelivery, w.Owner, w.label, s.arrive, w.number)
}

// arrived has the component of a watch hear of what has arrived, unless it is paused.
func (s *Store) arrived(number uint64) { s.AwakeWith(s.all[number].Owner, s.hand, number) }

// take has a watch's component hear of what has arrived first.
func (s *Store) take(number uint64) {
	w := s.all[number]
	o := w.coming.pop()
	if w.skip > 0 {
		w.skip--
		return
	}
	if s.Delivered != nil {
		s.Delivered(strings.TrimPrefix(w.label, "watch "), o)
	}
	w.deliver(o)
}

// SetDown takes the API server away or brings it back. What is on its way arrives; what was
// missed is delivered when the watches are back, and writes are tried again.
func (s *Store) SetDown(down bool) {
	s.down = down
	if down {
		return
	}
	waiting := s.waiting
	s.waiting = nil
	for _, r := range waiting {
		s.request(r)
	}
	for _, w := range s.all {
		s.flush(w)
	}
}

// Down says whether the API server answers nobody.
func (s *Store) Down() bool { return s.down }

// Frozen says whether a component is paused.
func (s *Store) Frozen(owner engine.Owner) bool {
	_, frozen := s.frozen[owner]
	return frozen
}

// AnyFrozen says whether any component is paused.
func (s *Store) AnyFrozen() bool { return len(s.frozen) > 0 }

func (s *Store) flush(w *Watch) {
	if s.down {
		return
	}
	held := w.held
	w.held = nil
	for _, n := range held {
		s.send(w, n)
	}
}
