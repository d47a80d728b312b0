package cluster

import (
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// object is anything the store keeps: *Pod, *ReplicaSet, *Deployment, *Node, *sliceWrite.
type object any

// key finds an object in the store.
type key struct {
	kind kind
	a, b int
}

// kind is what a watch asks for.
type kind uint8

const (
	kindPod kind = iota
	kindReplicaSet
	kindDeployment
	kindSlices
	kindNode
	numKinds
)

// record is an object in the store, with what the delays of its writes and news are drawn from. It stays
// when the object goes.
type record struct {
	current object // nil when there is none
	asked   uint64 // writes asked for
	changed uint64 // versions
	named   bool   // writes and watches are there
	writes  engine.Stream
	watches engine.Purpose
}

// store is the API server with its storage: the current version of each object, and watches
// that hear of every write, each in its own time and in order.
//
// Every delay is drawn for the object, by a name that no other object's existence changes, and
// by how often that object was written: one more pod shifts nobody else's draws.
type store struct {
	eng     *engine.Engine
	owner   engine.Owner
	latency engine.Dist
	name    func(key) string
	pods    []*record // by PodID
	others  map[key]*record
	watches [numKinds][]*watch
	all     []*watch // each once, in order of subscription
	slices  sliceLog // what the nodes' proxies hear of, each in its own time

	requests pool[request] // on their way

	execute, arrive, hand func(uint64) // executed, arrived, take: for events

	changedPod func(old, p *Pod) // hears of every version of a pod, before the watches

	down    bool                      // the API server answers nobody
	waiting []request                 // that are repeated when it is back
	frozen  map[engine.Owner][]func() // components that are paused, with what they have to do since

	hear func(AuditEvent)
}

func newStore(eng *engine.Engine, latency engine.Dist, name func(key) string) *store {
	s := &store{
		eng: eng, owner: eng.Register("apiserver"), latency: latency, name: name,
		others: map[key]*record{}, frozen: map[engine.Owner][]func(){},
	}
	s.execute, s.arrive, s.hand = s.executed, s.arrived, s.take
	return s
}

// watch is one component's stream of news. Deliveries keep the order of the writes: one that
// is drawn to be faster than the one before waits for it.
type watch struct {
	label   string // of its events
	draws   engine.Component
	owner   engine.Owner
	latency engine.Dist
	deliver func(object)
	wants   func(object) bool // nil: everything of the kinds
	last    engine.Time       // when the last news on its way will be delivered
	held    []news            // while the API server is down
	coming  queue[object]     // on its way; it arrives in order
	number  uint64            // in store.all
}

// news is one version of an object, with the draw of its delay.
type news struct {
	object object
	draw   uint64
}

// subscribe starts a watch of some kinds.
func (s *store) subscribe(name string, owner engine.Owner, latency engine.Dist, deliver func(object), kinds ...kind) *watch {
	w := &watch{
		label: "watch " + name, draws: s.eng.Component(name), owner: owner, latency: latency, deliver: deliver,
		number: uint64(len(s.all)),
	}
	for _, k := range kinds {
		s.watches[k] = append(s.watches[k], w)
	}
	s.all = append(s.all, w)
	return w
}

// get returns the current version of an object, nil when there is none.
func (s *store) get(k key) object {
	if k.kind == kindPod {
		if k.a < len(s.pods) && s.pods[k.a] != nil {
			return s.pods[k.a].current
		}
		return nil
	}
	if r := s.others[k]; r != nil {
		return r.current
	}
	return nil
}

// put puts an object in without a write, as at the beginning.
func (s *store) put(k key, o object) { s.recordOf(k).current = o }

// recordOf returns that of an object, whether there is one or not.
func (s *store) recordOf(k key) *record {
	if k.kind != kindPod {
		r := s.others[k]
		if r == nil {
			r = new(record)
			s.others[k] = r
		}
		return r
	}
	for k.a >= len(s.pods) {
		s.pods = append(s.pods, nil)
	}
	if s.pods[k.a] == nil {
		s.pods[k.a] = new(record)
	}
	return s.pods[k.a]
}

// written is recordOf for who draws a delay. The object's name is made once.
func (s *store) written(k key) *record {
	r := s.recordOf(k)
	if !r.named {
		name := s.name(k)
		r.named, r.writes, r.watches = true, s.eng.Stream(name, "write"), engine.PurposeOf("watch "+name)
	}
	return r
}

// write changes an object after the latency of a write: mutate gets the version current by
// then, nil when there is none, and returns the next, or nil to leave it. done, if not nil,
// hears when the answer is there. While the API server is down nothing is written; the client
// tries again when it is back.
func (s *store) write(owner engine.Owner, name string, k key, mutate func(object) object, done func()) {
	o := s.written(k)
	delay := s.latency.Sample(o.writes.Draw(o.asked))
	o.asked++
	s.writeAfter(delay, owner, name, k, mutate, done)
}

// limited is write through a client's rate limit.
func (s *store) limited(l *limiter, owner engine.Owner, name string, k key, mutate func(object) object, done func()) {
	at := l.take(s.eng.Now())
	if at <= s.eng.Now() {
		s.write(owner, name, k, mutate, done)
		return
	}
	s.eng.At(at, engine.ClassTimer, owner, name+" (rate limit)", func() {
		s.awake(owner, func() { s.write(owner, name, k, mutate, done) })
	})
}

// request is a write on its way.
type request struct {
	delay  engine.Time
	owner  engine.Owner
	name   string
	key    key
	mutate func(object) object
	done   func()
}

// writeAfter is write with a latency of the caller's.
func (s *store) writeAfter(delay engine.Time, owner engine.Owner, name string, k key, mutate func(object) object, done func()) {
	s.request(request{delay, owner, name, k, mutate, done})
}

// request sends a write, or has it wait for the API server.
func (s *store) request(r request) {
	if s.down {
		s.waiting = append(s.waiting, r)
		return
	}
	s.eng.AfterWith(r.delay, engine.ClassDelivery, s.owner, r.name, s.execute, s.requests.put(r))
}

// executed carries out a write that has come to the API server.
func (s *store) executed(number uint64) {
	r := s.requests.take(number)
	if s.down {
		s.waiting = append(s.waiting, r)
		return
	}
	s.commit(r.key, r.mutate)
	if r.done != nil {
		s.awake(r.owner, r.done)
	}
}

// commit changes an object now. The last version of a pod or a ReplicaSet is sent and not kept.
func (s *store) commit(k key, mutate func(object) object) {
	o := s.recordOf(k)
	next := mutate(o.current)
	if next == nil {
		return
	}
	if p, ok := next.(*Pod); ok {
		old, _ := o.current.(*Pod)
		s.changedPod(old, p)
	}
	s.written(k)
	o.current = next
	if last(next) {
		o.current = nil
	}
	s.tell(AuditEvent{Kind: Wrote}, next)
	version, purpose := o.changed, o.watches
	o.changed++
	for _, w := range s.watches[k.kind] {
		if w.wants == nil || w.wants(next) {
			s.send(w, news{next, w.draws.Stream(purpose).Draw(version)})
		}
	}
	if write, ok := next.(*sliceWrite); ok && write.view != nil {
		s.slices.add(sliceNews{write, s.eng.Now(), purpose, version})
	}
}

// last says whether a version of an object is its last one.
func last(o object) bool {
	switch o := o.(type) {
	case *Pod:
		return o.Gone
	case *ReplicaSet:
		return o.Gone
	default:
		return false
	}
}

func (s *store) send(w *watch, n news) {
	if s.down {
		w.held = append(w.held, n)
		return
	}
	at := max(w.last, s.eng.Now().Add(w.latency.Sample(n.draw)))
	w.last = at
	w.coming.push(n.object)
	s.eng.AtWith(at, engine.ClassDelivery, w.owner, w.label, s.arrive, w.number)
}

// arrived has the component of a watch hear of what has arrived, unless it is paused.
func (s *store) arrived(number uint64) { s.awakeWith(s.all[number].owner, s.hand, number) }

// take has a watch's component hear of what has arrived first.
func (s *store) take(number uint64) {
	w := s.all[number]
	o := w.coming.pop()
	s.tell(AuditEvent{Kind: Delivered, Name: strings.TrimPrefix(w.label, "watch ")}, o)
	w.deliver(o)
}

// setDown takes the API server away or brings it back. What is on its way arrives; what was
// missed is delivered when the watches are back, and writes are tried again.
func (s *store) setDown(down bool) {
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

func (s *store) flush(w *watch) {
	if s.down {
		return
	}
	held := w.held
	w.held = nil
	for _, n := range held {
		s.send(w, n)
	}
}
