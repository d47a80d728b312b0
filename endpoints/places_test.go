package endpoints

import "testing"

func TestPlacesAreFoundHoweverManyThereAre(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 7, 8, 9, 10, 1000} {
		var p places[int]
		for i := range n {
			if at := p.of(10 * i); at != -1 {
				t.Fatalf("of %d: %d is at %d before it was added", n, 10*i, at)
			}
			p.add(10 * i)
		}
		for i := range n {
			if at := p.of(10 * i); at != i {
				t.Errorf("of %d: %d is at %d, want %d", n, 10*i, at, i)
			}
		}
		if at := p.of(-1); at != -1 {
			t.Errorf("of %d: what was never added is at %d", n, at)
		}
	}
}
