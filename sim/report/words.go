package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// minutes is from where on a duration is written in minutes.
const minutes = 100 * engine.Second

// inMinutes writes a number of minutes: "2.4".
func inMinutes(t engine.Time) string {
	const tenth = 6 * engine.Second
	tenths := (t + tenth/2) / tenth
	return strings.TrimSuffix(fmt.Sprintf("%d.%d", tenths/10, tenths%10), ".0")
}

// spanOr0 is span for a table, where nothing is a number.
func spanOr0(t engine.Time) string {
	if t == 0 {
		return "0 s"
	}
	return span(t)
}

// span writes a duration for people: "13.6 s", "0.98 s", "2.4 min", "nothing".
func span(t engine.Time) string {
	switch {
	case t == 0:
		return "nothing"
	case t >= minutes:
		return inMinutes(t) + " min"
	default:
		return figure(t) + " s"
	}
}

// figure rounds a duration to what a reader needs: two decimals below ten seconds, else one.
func figure(t engine.Time) string {
	switch {
	case t == 0:
		return "0"
	case t < 10*engine.Millisecond:
		return "<0.01"
	case t < 10*engine.Second:
		return ((t + 5*engine.Millisecond) / (10 * engine.Millisecond) * (10 * engine.Millisecond)).Seconds()
	default:
		return ((t + 50*engine.Millisecond) / (100 * engine.Millisecond) * (100 * engine.Millisecond)).Seconds()
	}
}

// shortDigest writes the digests of images with 12 of their 64 hexadecimal digits, as docker does:
// enough to find one again.
func shortDigest(words string) string {
	const before, digits, shown = "@sha256:", 64, 12
	var out strings.Builder
	for {
		head, rest, found := strings.Cut(words, before)
		out.WriteString(head)
		if !found {
			return out.String()
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return !strings.ContainsRune("0123456789abcdef", r) })
		if end < 0 {
			end = len(rest)
		}
		digest := rest[:end]
		if end == digits {
			digest = digest[:shown]
		}
		out.WriteString(before + digest)
		words = rest[end:]
	}
}

// since writes a time from another one on with two decimals: "-0.13 s", "12.04 s".
func since(t, zero engine.Time) string {
	d, sign := t-zero, ""
	if d < 0 {
		d, sign = -d, "-"
	}
	hundredths := int64((d + 5*engine.Millisecond) / (10 * engine.Millisecond))
	if hundredths == 0 {
		sign = ""
	}
	return fmt.Sprintf("%s%d.%02d s", sign, hundredths/100, hundredths%100)
}

// Lost is what a case loses, as its range over the runs, and in how many of them.
func Lost(c *record.Case) string {
	if len(c.Runs) == 0 {
		return "-"
	}
	return fmt.Sprintf("%s in %d of %s", spread(c.LostSeconds), c.WithLoss, count(len(c.Runs), "run", "runs"))
}

// spread writes the median with the range over runs: "13.6 s (12-16)", "-" for nothing.
func spread(r record.Range) string {
	low, middle, high := engine.Time(r.Min), engine.Time(r.Median), engine.Time(r.Max)
	if high == 0 {
		return "-"
	}
	if low == high {
		return spanOr0(middle)
	}
	if middle >= minutes && inMinutes(low) == inMinutes(high) {
		return span(middle)
	}
	if middle >= minutes {
		return fmt.Sprintf("%s (%s-%s)", span(middle), inMinutes(low), inMinutes(high))
	}
	return fmt.Sprintf("%s (%s-%s)", spanOr0(middle), figure(low), figure(high))
}

// percent writes a bound, rounded up: "14 %", "1.5 %", "1 %".
func percent(f record.Fraction) string {
	const tenth = 1000 // of a percent, in millionths
	tenths := (int64(f) + tenth - 1) / tenth
	if tenths >= 100 {
		return fmt.Sprintf("%d %%", (int64(f)+10*tenth-1)/(10*tenth))
	}
	return strings.TrimSuffix(fmt.Sprintf("%d.%d", tenths/10, tenths%10), ".0") + " %"
}

// share writes a part of a whole: "91 %", "<1 %".
func share(n, of uint64) string {
	p := (200*n + of) / (2 * of)
	switch {
	case p == 0 && n > 0:
		return "<1 %"
	case p == 100 && n < of:
		return ">99 %"
	default:
		return fmt.Sprintf("%d %%", p)
	}
}

// rateWords writes thousandths of a request a second: "100/s".
func rateWords(milli int) string {
	if milli == 0 {
		return ""
	}
	return (engine.Time(milli) * engine.Millisecond).Seconds() + "/s"
}

// thousands groups digits: "1,490".
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// numbers writes the median with the range over runs: "1 (1-3)".
func numbers(r record.Range) string {
	if r.Min == r.Max {
		return thousands(r.Median)
	}
	return fmt.Sprintf("%s (%s-%s)", thousands(r.Median), thousands(r.Min), thousands(r.Max))
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(int64(n)) + " " + many
}

// inRuns says in how many runs something was so: "in every rolling restart", "in 3 of 20 runs".
func inRuns(c *record.Case, n int) string {
	if n == len(c.Runs) && n > 1 {
		return "in every " + one(c)
	}
	return fmt.Sprintf("in %s of %s", thousands(int64(n)), many(c, len(c.Runs)))
}

// one and many are what a run of a case is called.
func one(c *record.Case) string {
	if c.Kind == "Scenario" {
		return "run"
	}
	if c.Action == "rolling restart" && c.Recreates {
		return "restart"
	}
	return c.Action
}

// article puts one before a word: "a node drain", "an eviction".
func article(word string) string {
	if word != "" && strings.ContainsRune("aeiou", rune(word[0])) {
		return "an " + word
	}
	return "a " + word
}

func many(c *record.Case, n int) string {
	word := one(c)
	if n != 1 {
		word = plural(word)
	}
	return thousands(int64(n)) + " " + word
}

func distinct(list []string, s string) []string {
	for _, have := range list {
		if have == s {
			return list
		}
	}
	return append(list, s)
}

// listed joins words as a sentence does: "a, b and c"; of more than most, the rest is a number.
func listed(words []string, most int) string { return scenario.Listed(words, most) }
