package nftables

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
)

// walked is what a walk through bytes has to come by, each with its place, read from the definition: parts whose first bytes say how long they
// are, with their header, each on a boundary of four bytes; the first that is shorter than its header or not all there is the last to be looked at.
func walked(b []byte, header int, length func([]byte) int, part func(from, to int) string) (all []string) {
	for at := 0; at+header <= len(b); at += (4 - at%4) % 4 {
		n := length(b[at:])
		if n < header || at+n > len(b) {
			return all
		}
		all = append(all, part(at, at+n))
		at += n
	}
	return all
}

// Whatever bytes come, messages and attributes are those that are whole, as far as the lengths can be believed.
func TestAWalkShowsWhatIsWhole(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	most, short, last := 0, 0, 0
	for range 20_000 {
		b := make([]byte, rng.IntN(64))
		for i := range b {
			b[i] = byte(rng.IntN(256))
		}
		for at := 0; at+4 <= len(b); at += 4 { // lengths that can be: most numbers that are drawn are too long
			if rng.IntN(2) == 0 {
				binary.NativeEndian.PutUint32(b[at:], uint32(rng.IntN(28))|rng.Uint32()<<16)
			}
			if rng.IntN(4) == 0 {
				binary.NativeEndian.PutUint32(b[at:], uint32(min(rng.IntN(28), len(b)-at)))
			}
		}
		var got []string
		for kind, v := range attributes(b) {
			got = append(got, fmt.Sprintf("%d %x", kind, v))
		}
		want := walked(b, 4, func(b []byte) int { return int(binary.NativeEndian.Uint16(b)) }, func(from, to int) string {
			return fmt.Sprintf("%d %x", binary.NativeEndian.Uint16(b[from+2:])&0x3fff, b[from+4:to])
		})
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("attributes of %x:\n%q, want\n%q", b, got, want)
		}
		most = max(most, len(got))
		got = got[:0]
		for m := range messages(b) {
			got = append(got, fmt.Sprintf("%d %d %d %x", m.kind, m.flags, m.seq, m.data))
		}
		want = walked(b, 16, func(b []byte) int { return int(binary.NativeEndian.Uint32(b)) }, func(from, to int) string {
			if to == from+16 {
				short++
			}
			if to == len(b) {
				last++
			}
			h := b[from:]
			return fmt.Sprintf("%d %d %d %x", binary.NativeEndian.Uint16(h[4:]), binary.NativeEndian.Uint16(h[6:]), binary.NativeEndian.Uint32(h[8:]), b[from+16:to])
		})
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("messages of %x:\n%q, want\n%q", b, got, want)
		}
	}
	if most < 4 || short < 100 || last < 100 {
		t.Errorf("at most %d attributes in a message, %d messages without anything, %d that end with the datagram: the test tests little", most, short, last)
	}
}
