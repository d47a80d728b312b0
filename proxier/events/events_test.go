package events

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// server is an API server's Events, and what it says to those who want to write one.
type server struct {
	mu     sync.Mutex
	began  time.Time
	answer func() error // nil for yes
	record
}

// record is what has come of it.
type record struct {
	events  []*eventsv1.Event
	patches []string
	asked   int
	log     []string
}

// look returns the record as it is now.
func (s *server) look() record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.record
}

func (s *server) say() error {
	s.asked++
	if s.answer == nil {
		return nil
	}
	return s.answer()
}

func (s *server) CreateEvent(_ context.Context, e *eventsv1.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.say(); err != nil {
		return err
	}
	s.events = append(s.events, e)
	return nil
}

func (s *server) PatchEvent(_ context.Context, namespace, name string, patch []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.say(); err != nil {
		return err
	}
	s.patches = append(s.patches, fmt.Sprintf("%v %s/%s %s", time.Since(s.began), namespace, name, patch))
	return nil
}

func (s *server) says(answer func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

func (s *server) heed(_, args string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, args)
}

// inBubble tells a story of a Recorder.
func inBubble(t *testing.T, story func(r *Recorder, s *server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &server{began: time.Now()}
		r := New(Options{Writer: s, Controller: "lameduck", Instance: "lameduck-node-1", Log: funcr.New(s.heed, funcr.Options{})})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); r.Run(ctx) }()
		story(r, s)
		cancel()
		<-done
	})
}

// after waits until all that happens within a time has happened.
func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func web(note string) Event {
	return Event{
		Regarding: corev1.ObjectReference{APIVersion: "v1", Kind: "Service", Namespace: "shop", Name: "web"},
		Warning:   true, Reason: "FailedToStartServiceHealthcheck", Action: "Listen", Note: note,
	}
}

// Reference: Kubernetes 1.36 pkg/apis/core/validation/events.go, what an Event of events.k8s.io/v1 has to have.
func TestAnEventIsWrittenAsTheAPIHasIt(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *Recorder, s *server) {
		r.Record(web("port 31000 is taken"))
		node := corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: strings.Repeat("n", 250) + ".example"}
		r.Record(Event{Regarding: node, Reason: "Starting", Action: "StartKubeProxy", Note: strings.Repeat("ü", 1000)})
		synctest.Wait()
		if len(s.look().events) != 2 {
			t.Fatalf("%d Events written", len(s.look().events))
		}
		want := &eventsv1.Event{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("web.%x", s.began.UnixNano())},
			EventTime:  metav1.MicroTime{Time: s.began}, ReportingController: "lameduck", ReportingInstance: "lameduck-node-1",
			Action: "Listen", Reason: "FailedToStartServiceHealthcheck", Regarding: web("").Regarding, Note: "port 31000 is taken", Type: "Warning",
		}
		if diff := cmp.Diff(want, s.look().events[0]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		e := s.look().events[1]
		if e.Namespace != "default" || e.Type != "Normal" || len(e.Note) > maxNote || len(e.Note) < maxNote-1 || len(e.Name) > 253 || e.Name == s.look().events[0].Name {
			t.Errorf("of a node: %s/%s %s, %d bytes", e.Namespace, e.Name, e.Type, len(e.Note))
		}
	})
}

func TestWhatComesAgainIsCounted(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *Recorder, s *server) {
		time.Sleep(time.Second / 2) // no two things at one moment
		for range 100 {
			r.Record(web("taken"))
			time.Sleep(time.Second)
		}
		r.Record(web("forbidden")) // something else
		after(2 * seriesInterval)
		if len(s.look().events) != 2 || len(s.look().patches) != 2 {
			t.Fatalf("%d Events, patched %q", len(s.look().events), s.look().patches)
		}
		if got, want := s.look().patches[0], fmt.Sprintf(`1m0s shop/%s {"series":{"count":60,`, s.look().events[0].Name); !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
		if got, want := s.look().patches[1], fmt.Sprintf(`2m0s shop/%s {"series":{"count":100,`, s.look().events[0].Name); !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
		after(quietFor)
		r.Record(web("taken")) // long after
		synctest.Wait()
		if len(s.look().events) != 3 {
			t.Errorf("%d Events", len(s.look().events))
		}
	})
}

// Two Events that differ in what they are about besides are two.
func TestWhatAnEventIsRelatedToCounts(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *Recorder, s *server) {
		for _, name := range []string{"", "a", "b", "a"} {
			e := web("x")
			if name != "" {
				e.Related = &corev1.ObjectReference{Kind: "Node", Name: name}
			}
			r.Record(e)
		}
		after(time.Minute)
		var related []string
		for _, e := range s.look().events {
			if e.Related == nil {
				related = append(related, "")
			} else {
				related = append(related, e.Related.Name)
			}
		}
		slices.Sort(related)
		if !slices.Equal(related, []string{"", "a", "b"}) {
			t.Errorf("of %q", related)
		}
	})
}

func TestAServerIsNotFlooded(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *Recorder, s *server) {
		for i := range 2 * maxKnown {
			r.Record(web(fmt.Sprint(i)))
		}
		synctest.Wait()
		if len(s.look().events) != burst {
			t.Errorf("%d Events at once, want %d", len(s.look().events), burst)
		}
		after(10*interval + time.Second)
		if len(s.look().events) != burst+10 {
			t.Errorf("%d Events after %v, want %d", len(s.look().events), 10*interval, burst+10)
		}
		after(2 * time.Hour)
		if len(s.look().events) != maxKnown {
			t.Errorf("%d Events in all, want %d", len(s.look().events), maxKnown)
		}
		if len(s.look().log) != 1 || !strings.Contains(s.look().log[0], `"dropped"=1000`) {
			t.Errorf("logged: %q", s.look().log)
		}
		r.Record(web("later"))
		synctest.Wait()
		if len(s.look().events) != maxKnown+1 {
			t.Error("nothing is written any more")
		}
	})
}

func TestWithoutPermissionItIsSaidOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *Recorder, s *server) {
		s.says(func() error {
			return apierrors.NewForbidden(schema.GroupResource{Group: "events.k8s.io", Resource: "events"}, "", errors.New("no"))
		})
		for i := range 10 {
			r.Record(web(fmt.Sprint(i)))
		}
		after(time.Minute)
		if s.look().asked != 10 || len(s.look().log) != 1 || !strings.Contains(s.look().log[0], "create and patch of events") {
			t.Errorf("asked %d times, logged %q", s.look().asked, s.look().log)
		}
		s.says(nil) // somebody has changed the role
		r.Record(web("later"))
		synctest.Wait()
		if len(s.look().events) != 1 {
			t.Errorf("%d Events", len(s.look().events))
		}
	})
}

func TestAServerThatIsAwayIsAskedAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *Recorder, s *server) {
		s.says(func() error { return errors.New("connection refused") })
		r.Record(web("first"))
		r.Record(web("second"))
		after(3*retryInterval + time.Second)
		s.says(nil)
		after(retryInterval)
		if len(s.look().events) != 2 || s.look().events[0].Note != "first" || len(s.look().log) != 0 {
			t.Errorf("%d Events, logged %q", len(s.look().events), s.look().log)
		}
		s.says(func() error { return errors.New("connection refused") })
		asked := s.look().asked
		r.Record(web("third"))
		after(time.Hour)
		if s.look().asked != asked+tries || len(s.look().log) != 1 {
			t.Errorf("asked %d times, logged %q", s.look().asked-asked, s.look().log)
		}
	})
}

// An Event lives for an hour on an API server: what comes again later finds nothing to count.
func TestAnEventThatIsGoneIsNotCounted(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *Recorder, s *server) {
		r.Record(web("taken"))
		synctest.Wait()
		s.says(func() error { return apierrors.NewNotFound(schema.GroupResource{Resource: "events"}, "web.1") })
		r.Record(web("taken"))
		after(3 * seriesInterval)
		if s.look().asked != 2 || len(s.look().log) != 0 {
			t.Errorf("asked %d times, logged %q", s.look().asked, s.look().log)
		}
	})
}

func TestWithoutARecorderNothingIsWritten(t *testing.T) {
	t.Parallel()
	var r *Recorder
	r.Record(web("taken"))
}
