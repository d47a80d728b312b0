package api

import "testing"

func TestAQueueGivesBackInOrderAndUsesItsMemoryAgain(t *testing.T) {
	t.Parallel()
	var q queue[int]
	next, want := 0, 0
	for round := range 200 { // never empty, so that it has to make room in front
		for range 1 + round%3 {
			q.push(next)
			next++
		}
		for next-want > 3 {
			if got := q.pop(); got != want {
				t.Fatalf("got %d, want %d", got, want)
			}
			want++
		}
	}
	for ; want < next; want++ {
		if got := q.pop(); got != want {
			t.Fatalf("got %d, want %d", got, want)
		}
	}
	if len(q.list) != 0 || q.first != 0 || cap(q.list) > 16 {
		t.Errorf("%d entries, %d gone, room for %d after at most six at a time", len(q.list), q.first, cap(q.list))
	}
}

func TestAPoolKeepsEachValueUnderItsNumber(t *testing.T) {
	t.Parallel()
	var p pool[string]
	a, b := p.put("a"), p.put("b")
	if got := p.take(a); got != "a" {
		t.Errorf("got %q, want a", got)
	}
	c := p.put("c")
	if c != a {
		t.Errorf("the free number %d was not used again, but %d", a, c)
	}
	if got := p.take(b) + p.take(c); got != "bc" {
		t.Errorf("got %q, want bc", got)
	}
}
