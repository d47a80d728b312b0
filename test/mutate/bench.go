package mutate

import (
	"context"
	"path/filepath"
	"time"
)

// Verdict is what became of a mistake.
type Verdict struct {
	Mistake *Mistake
	By      string // the test that noticed it, and its package; empty if none did
	Tried   int    // how many tests came by it
	Open    bool   // time ran out before all tests that could notice it were run
}

// Bench tries mistakes, one at a time.
type Bench struct {
	Root string                           // the module whose tests are run
	Dir  string                           // for what is built, an empty directory that any user may enter
	Log  func(format string, args ...any) // hears how far it is
	Till time.Time                        // when to stop; zero: when all are tried
	Own  bool                             // no tests but those of a mistake's own package
	// Quick is how long a quick test takes at most. Which tests are slower depends on the machine; which of them come by a mistake does not.
	Quick time.Duration

	verdicts []Verdict
	suites   []*suite
	overlay  string
	control  control
}

// Try runs the tests that come by each mistake until one notices it. Tests that fail without any mistake are named in the log and do not count.
func (b *Bench) Try(ctx context.Context, drawn []*Mistake) ([]Verdict, error) {
	for _, m := range drawn {
		b.verdicts = append(b.verdicts, Verdict{Mistake: m})
	}
	var err error
	if b.suites, err = suites(b.Root); err != nil {
		return nil, err
	}
	path := filepath.Join(b.Dir, "control")
	if b.overlay, err = Switched(b.Dir, path, drawn); err != nil {
		return nil, err
	}
	if b.control, err = newControl(path, len(drawn)); err != nil {
		return nil, err
	}
	for _, p := range passes {
		if b.Own && !p.own {
			continue
		}
		if err := b.pass(ctx, p); err != nil {
			return nil, err
		}
	}
	return b.verdicts, nil
}

// pass is one way through all packages: with tests of one cost.
type pass struct {
	own  bool // tests of a mistake's own package, or those of packages above it
	cost int  // of the tests: see batches
}

// passes have all tests of a mistake's own package first, the quickest of all before the others: they notice most, and to build the tests of the
// packages above takes longer than to run them.
var passes = []pass{{true, 0}, {true, 1}, {true, 2}, {false, 0}, {false, 1}, {false, 2}}

// pass tries what is still unnoticed.
func (b *Bench) pass(ctx context.Context, p pass) error {
	for _, s := range b.suites {
		if err := b.run(ctx, s, p); err != nil {
			return err
		}
	}
	if p.own && p.cost == 2 {
		for _, v := range b.verdicts {
			if v.By == "" {
				b.Log("not noticed by its own package: %s", v.Mistake.Name())
			}
		}
	}
	return nil
}

// run tries what is still unnoticed with the tests of one package: what is wrong in that package itself, or in those
// below it.
func (b *Bench) run(ctx context.Context, s *suite, p pass) error {
	var numbers []int
	for i, v := range b.verdicts {
		if v.By == "" && s.deps[v.Mistake.Package] && (v.Mistake.Package == s.path) == p.own {
			numbers = append(numbers, i+1)
		}
	}
	if len(numbers) == 0 {
		return nil
	}
	from := time.Now()
	late := func() bool { return !b.Till.IsZero() && time.Now().After(b.Till) }
	known, err := b.record(ctx, s, p.cost, numbers, late)
	if err != nil {
		return err
	}
	noticed, tried := 0, 0
	for _, number := range numbers {
		v, tests := &b.verdicts[number-1], s.batches(number, b.Quick)[p.cost]
		switch {
		case !known || late() && len(tests) > 0:
			v.Open = true
			continue
		case len(tests) == 0:
			continue
		}
		if err := b.try(ctx, s, tests, number, v); err != nil {
			return err
		}
		tried++
		if v.By != "" {
			noticed++
		}
	}
	if tried > 0 {
		b.Log("%s noticed %d of %d in %.0f s", s.path, noticed, tried, time.Since(from).Seconds())
	}
	return nil
}

// try makes one mistake and runs tests of a package that come by it.
func (b *Bench) try(ctx context.Context, s *suite, tests []recorded, number int, v *Verdict) error {
	var names []string
	took := time.Duration(0)
	for _, r := range tests {
		names, took = append(names, r.name), took+r.took
	}
	v.Tried += len(names)
	b.control.choose(number)
	defer b.control.choose(0) // programs that only list tests would else make it, and can fail where a package is initialized
	out, _, err := b.start(ctx, s, names, 5*time.Second+10*took)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		v.By = s.path + " " + why(out, err)
	}
	return nil
}
