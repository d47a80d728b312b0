package mutate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// record builds the tests of a package and runs each without any mistake: the quick ones, and for the last cost the slow ones, too, for
// the mistakes of these numbers. It returns false if it was too late for that.
func (b *Bench) record(ctx context.Context, s *suite, cost int, numbers []int, late func() bool) (bool, error) {
	if s.binary == "" {
		if late() {
			return false, nil
		}
		if err := b.recordQuick(ctx, s); err != nil {
			return false, err
		}
	}
	if cost == 2 && len(s.pending) > 0 {
		return b.recordSlow(ctx, s, numbers, late)
	}
	return true, nil
}

func (b *Bench) recordQuick(ctx context.Context, s *suite) error {
	if err := s.build(ctx, b.Dir, b.overlay); err != nil {
		return err
	}
	names, err := s.names(ctx)
	if err != nil {
		return fmt.Errorf("%s: tests cannot be listed: %w", s.path, err)
	}
	for _, name := range names {
		r, _, err := b.alone(ctx, s, name, crowded*b.Quick)
		if err != nil || r.cost > b.Quick { // one that looks at how much time it has gives up early: it may pass if it has more
			s.pending = append(s.pending, name)
		} else {
			s.quick = append(s.quick, r)
		}
	}
	sortByCost(s.quick)
	return ctx.Err()
}

// recordSlow runs the slow tests to their end.
func (b *Bench) recordSlow(ctx context.Context, s *suite, numbers []int, late func() bool) (bool, error) {
	var slow []recorded
	for _, name := range s.pending {
		if late() {
			return false, nil
		}
		whole, out, err := b.alone(ctx, s, name, longest)
		if err != nil {
			b.Log("%s %s fails without any mistake, and does not count: %v\n%s", s.path, name, err, end(out))
			continue
		}
		if whole.reaches(numbers) < worthParts {
			slow = append(slow, whole)
			continue
		}
		slow = append(slow, b.parts(ctx, s, whole, below(name, out), late)...)
	}
	sortByCost(slow)
	s.slow, s.pending = slow, nil
	return true, ctx.Err()
}

// crowded is how many times longer a test takes at most on a machine that has other things to do, too.
const crowded = 4

// longest is how long a test may take by itself.
const longest = 10 * time.Minute

// worthParts is how many mistakes a test has to come by to be divided: that takes as long as to try two of them with the whole.
const worthParts = 3

// setUp is how long what a test does around its own tests may take to be done for each of them.
const setUp = 2 * time.Second

// parts runs the tests of a test, each by itself: a mistake is tried with those that come by it. The whole counts where it comes by a mistake
// outside of them. If what it does before and after them takes longer than setUp, it is not divided.
func (b *Bench) parts(ctx context.Context, s *suite, whole recorded, names []string, late func() bool) []recorded {
	around, _, err := b.alone(ctx, s, whole.name+"/", longest) // none of them has an empty name
	if err != nil || len(names) < 2 || around.cost > setUp {
		return []recorded{whole}
	}
	all := []recorded{whole}
	outside := slices.Clone(whole.reached)
	for _, name := range names {
		r, _, err := b.alone(ctx, s, name, longest)
		if err != nil || late() {
			return all[:1] // it needs one before it, or nobody is going to run them
		}
		all = append(all, r)
		for i, reached := range r.reached {
			if reached != 0 {
				outside[i] = 0
			}
		}
	}
	for i, reached := range around.reached {
		outside[i] |= reached
	}
	all[0].reached = outside
	return all
}

// reaches counts those of some mistakes that the test comes by.
func (r recorded) reaches(numbers []int) (n int) {
	for _, number := range numbers {
		if r.reached[number-1] != 0 {
			n++
		}
	}
	return n
}

// costOf is what a test costs that took some time, in which processors worked for it for another: on a crowded machine quick tests are quick,
// too. One that only waits costs what is left of its time on a machine that was crowded meanwhile.
func costOf(took, worked time.Duration) time.Duration { return max(worked, took/crowded) }

// alone runs one test in a process of its own, without any mistake.
func (b *Bench) alone(ctx context.Context, s *suite, name string, limit time.Duration) (recorded, []byte, error) {
	b.control.choose(0)
	from := time.Now()
	out, worked, err := b.start(ctx, s, []string{name}, limit)
	took := time.Since(from)
	return recorded{name, took, costOf(took, worked), b.control.reached()}, out, err
}

func sortByCost(tests []recorded) {
	slices.SortStableFunc(tests, func(a, b recorded) int { return cmp.Compare(a.cost, b.cost) })
}

// end is the last that a test said.
func end(out []byte) []byte { return out[max(0, len(out)-4000):] }
