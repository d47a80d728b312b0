package plan

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// tableWorld is tables beside the maps they have to equal.
type tableWorld struct {
	table table
	want  map[endpoints.ServiceName]*Service
}

func (w tableWorld) copy() tableWorld {
	want := map[endpoints.ServiceName]*Service{}
	for k, v := range w.want {
		want[k] = v
	}
	return tableWorld{w.table.copy(), want}
}

func (w tableWorld) check(t *testing.T, names []*Service) {
	t.Helper()
	if w.table.len != len(w.want) {
		t.Fatalf("the table has %d Services, want %d", w.table.len, len(w.want))
	}
	for _, s := range names {
		if got := w.table.get(s.hash, s.Name); got != w.want[s.Name] {
			t.Fatalf("%s: got %v, want %v", s.Name, got, w.want[s.Name])
		}
	}
}

// Hashes of few bits make Services meet at every depth; the mask of zero makes them all meet.
func TestTableEqualsAMapAndItsCopiesStay(t *testing.T) {
	t.Parallel()
	for _, mask := range []uint64{^uint64(0), 0xff, 0xf000_0000_0000_000f, 0xf << 60, 0} {
		t.Run(fmt.Sprintf("%x", mask), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(1, mask))
			var names []*Service
			for i := range 60 {
				name := endpoints.ServiceName{Namespace: "ns", Name: fmt.Sprint(i)}
				names = append(names, &Service{Name: name, hash: hashName(name) & mask})
			}
			worlds := []tableWorld{{want: map[endpoints.ServiceName]*Service{}}}
			for range 200 {
				w := worlds[len(worlds)-1].copy()
				for range 1 + rng.IntN(4) {
					s := *names[rng.IntN(len(names))]
					if rng.IntN(3) == 0 {
						w.table.delete(s.hash, s.Name)
						delete(w.want, s.Name)
					} else {
						w.table.set(&s)
						w.want[s.Name] = &s
					}
				}
				worlds = append(worlds, w)
			}
			for _, w := range worlds {
				w.check(t, names)
			}
		})
	}
}

func TestHashNameTellsNamespaceAndNameApart(t *testing.T) {
	t.Parallel()
	a := hashName(endpoints.ServiceName{Namespace: "ab", Name: "c"})
	b := hashName(endpoints.ServiceName{Namespace: "a", Name: "bc"})
	if a == b {
		t.Error("ab/c and a/bc have the same hash")
	}
}
