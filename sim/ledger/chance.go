package ledger

import "math/bits"

// A client that some nodes or targets lead to a dead pod loses one request and not the next, as chance has it: in a minute of one in
// two there are ten in a row that fail, though others were answered all the time. That is no outage.

const (
	// byChance is how many requests in a row may always fail although some could have succeeded.
	byChance = 10
	// calm is how many requests in a row are answered between one episode of failures and the next.
	calm = 100
	// certain is one in how many episodes has so many failures in a row by chance where that is no longer taken for chance.
	certain = 1000
)

// episode is stretches of failures that are not far from each other.
type episode struct {
	stretches     int
	total, failed uint64 // requests from its first to its last failure
}

// episodeOf is the first episode of stretches in order, none of which follows another at once.
func episodeOf(list []stretch) episode {
	e := episode{}
	for i := range list {
		if i > 0 && list[i].first-list[i-1].last > calm {
			break
		}
		e.stretches++
		e.failed += list[i].requests()
		e.total = list[i].last - list[0].first + 1
	}
	return e
}

// chance says that so many failures in a row may be chance where as many others of an episode fail as do: of the n requests besides
// them a part q fails, and n(1-q)q^run such rows are to be expected.
func (e episode) chance(run uint64) bool {
	if run < byChance {
		return true
	}
	rest, failed := e.total-run, e.failed-run
	if failed == 0 {
		return false // all of its failures are in this row
	}
	const one = 1 << 32
	q := failed * one / rest
	expected := (rest - failed) * one
	for ; run > 0 && expected > one/certain; run-- {
		hi, lo := bits.Mul64(expected, q)
		expected = hi<<32 | lo>>32
	}
	return expected > one/certain
}
