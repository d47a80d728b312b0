package plan

import "iter"

// merge walks two sequences in the same key order and hands over the elements with equal
// keys together, nil for the side that has none.
func merge[T, K any](a, b iter.Seq[*T], key func(*T) K, compare func(K, K) int, yield func(a, b *T)) {
	nextA, stopA := iter.Pull(a)
	defer stopA()
	nextB, stopB := iter.Pull(b)
	defer stopB()
	x, okA := nextA()
	y, okB := nextB()
	for okA || okB {
		c := 0
		switch {
		case !okB:
			c = -1
		case !okA:
			c = 1
		default:
			c = compare(key(x), key(y))
		}
		switch {
		case c < 0:
			yield(x, nil)
			x, okA = nextA()
		case c > 0:
			yield(nil, y)
			y, okB = nextB()
		default:
			yield(x, y)
			x, okA = nextA()
			y, okB = nextB()
		}
	}
}
