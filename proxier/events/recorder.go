package events

import (
	"context"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/flowcontrol"
)

const (
	// burst Events are written at once, then one each interval: a cluster's worth of bad objects fills no API server.
	burst    = 25
	interval = 5 * time.Second
	// maxKnown is how many Events are waiting or may still be repeated.
	maxKnown = 1000
	// seriesInterval passes between two writes of how often an Event has come again; after quietFor without another
	// it is a new one (client-go 1.36 tools/events, finishTime; verified).
	seriesInterval = time.Minute
	quietFor       = 6 * time.Minute
	// retryInterval passes before a server that did not answer is asked again, tries times (client-go 1.36 tools/events; verified).
	retryInterval = 10 * time.Second
	tries         = 12
)

// Event is something that the users of an object should know.
type Event struct {
	Regarding corev1.ObjectReference
	Related   *corev1.ObjectReference // nil for none
	Warning   bool                    // else it is normal
	Reason    string                  // why it was recorded: one word in CamelCase, for programs
	Action    string                  // what was being done, likewise
	Note      string                  // for people; it may be empty
}

// Writer writes Events to an API server.
type Writer interface {
	CreateEvent(ctx context.Context, e *eventsv1.Event) error
	// PatchEvent applies a JSON merge patch.
	PatchEvent(ctx context.Context, namespace, name string, patch []byte) error
}

// Options of a Recorder.
type Options struct {
	Writer Writer
	// Controller and Instance say who reports: a program, and which one of it.
	Controller, Instance string
	Log                  logr.Logger
}

// Recorder writes Events. A nil Recorder takes them and writes none.
type Recorder struct {
	opts  Options
	limit flowcontrol.RateLimiter

	mu      sync.Mutex
	known   map[key]*entry
	queue   []*entry // to be created
	dropped int
	wake    chan struct{} // has room for one signal: more would say the same

	// What follows is Run's.
	named  int64 // the moment in the last Event's name, in ns
	denied bool
}

// key is what makes two Events the same.
type key struct {
	regarding, related corev1.ObjectReference
	warning            bool
	reason, action     string
	note               string
}

// entry is an Event that was recorded.
type entry struct {
	Event
	key     key
	first   time.Time
	last    time.Time
	count   int32
	written int32  // the count that the API server knows
	name    string // once it was created
	lost    bool   // it could not be created
	patched time.Time
}

// New returns a Recorder that writes nothing before Run.
func New(o Options) *Recorder {
	return &Recorder{
		opts: o, limit: flowcontrol.NewTokenBucketRateLimiter(float32(time.Second)/float32(interval), burst),
		known: map[key]*entry{}, wake: make(chan struct{}, 1),
	}
}

// Record has an Event written, or counted if it is known. It returns at once.
func (r *Recorder) Record(e Event) {
	if r == nil {
		return
	}
	k := key{regarding: e.Regarding, warning: e.Warning, reason: e.Reason, action: e.Action, note: e.Note}
	if e.Related != nil {
		k.related = *e.Related
	}
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.known[k]; old != nil && now.Sub(old.last) < quietFor {
		old.count++
		old.last = now
		return
	}
	if len(r.known) >= maxKnown {
		r.dropped++
		return
	}
	fresh := &entry{Event: e, key: k, first: now, last: now, count: 1}
	r.known[k] = fresh
	r.queue = append(r.queue, fresh)
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run writes Events until the context ends.
func (r *Recorder) Run(ctx context.Context) {
	series := time.NewTicker(seriesInterval)
	defer series.Stop()
	for {
		for e := r.next(); e != nil; e = r.next() {
			if r.limit.Wait(ctx) != nil {
				return
			}
			r.create(ctx, e)
		}
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
		case <-series.C:
			r.repeated(ctx)
			r.forget()
		}
	}
}

// next takes an Event out of the queue, nil if there is none.
func (r *Recorder) next() *entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) == 0 {
		return nil
	}
	e := r.queue[0]
	r.queue = r.queue[1:]
	return e
}

// create writes a new Event.
func (r *Recorder) create(ctx context.Context, e *entry) {
	name := r.name(e)
	object := r.object(e, name)
	err := r.try(ctx, func() error { return r.opts.Writer.CreateEvent(ctx, object) })
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		e.lost = true
		r.refused(err)
		return
	}
	e.name, e.written, e.patched = name, 1, time.Now()
}

// try asks until there is an answer, for as long as that makes sense, and returns what was wrong at last.
func (r *Recorder) try(ctx context.Context, ask func() error) error {
	for range tries - 1 {
		err := ask()
		if err == nil || ctx.Err() != nil || apierrors.ReasonForError(err) != metav1.StatusReasonUnknown {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(retryInterval):
		}
	}
	return ask()
}

// refused says once that the API server takes no Events of ours.
func (r *Recorder) refused(err error) {
	level := 4
	if !r.denied {
		r.denied, level = true, 0
	}
	r.opts.Log.V(level).Info("The API server takes no Events, they are only logged", "reason", err.Error(), "need", "create and patch of events.events.k8s.io")
}

// repeated tells the API server of Events that have come again.
func (r *Recorder) repeated(ctx context.Context) {
	for _, s := range r.due() {
		if !r.limit.TryAccept() {
			return // the next time
		}
		err := r.try(ctx, func() error { return r.opts.Writer.PatchEvent(ctx, s.namespace, s.name, s.patch) })
		r.mu.Lock()
		if err == nil {
			s.of.patched = time.Now()
		} else {
			r.opts.Log.V(4).Info("An Event cannot be counted further", "event", s.namespace+"/"+s.name, "reason", err.Error())
		}
		s.of.written = s.count // an Event that has expired does not come back by being counted
		r.mu.Unlock()
	}
}

// forget gives up the room of Events that have not come again, and says how many there was none for.
func (r *Recorder) forget() {
	r.mu.Lock()
	now := time.Now()
	for k, e := range r.known { // order: each is forgotten by itself
		waiting := e.name == "" && !e.lost
		if !waiting && now.Sub(e.last) >= quietFor && (e.lost || e.written == e.count) {
			delete(r.known, k)
		}
	}
	dropped := r.dropped
	r.dropped = 0
	r.mu.Unlock()
	if dropped > 0 {
		r.opts.Log.Info("More Events than can be written", "dropped", dropped, "in", seriesInterval)
	}
}
