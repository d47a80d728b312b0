package learn

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Condition is what an exercise asks of the file itself, beside what the run loses: that the hook is as short as it says, or
// that a field has one value.
type Condition struct {
	Of    string // a path such as "Deployment/web spec.replicas", or one of the lengths in seconds: hook, rest
	Op    string // one of ops
	Value string
	Words string // what a reader is told of it, which does not give the solution away
}

// The lengths that are no field: that of the preStop hook, and what it leaves of the grace period.
const (
	hook = "hook"
	rest = "rest"
)

// defaultGrace is terminationGracePeriodSeconds where a manifest does not say it.
const defaultGrace = 30

// conditionOf reads "Deployment/web spec.replicas = 2: the words", "hook <= 10: the words".
var conditionOf = regexp.MustCompile(`^(hook|rest|\S+ \S+) (=|<=|>=) (\S+): (.+)$`)

// newCondition reads a condition, ok false for none.
func newCondition(text string) (c Condition, ok bool) {
	m := conditionOf.FindStringSubmatch(text)
	if m == nil {
		return c, false
	}
	_, err := strconv.ParseFloat(m[3], 64)
	return Condition{m[1], m[2], m[3], m[4]}, m[2] == "=" || err == nil
}

// holds says whether a file's leaves are so.
func (c Condition) holds(values map[string]string) bool {
	if c.Op == "=" {
		return values[c.Of] == c.Value
	}
	is, bound := c.number(values), numberOf(c.Value)
	if c.Op == "<=" {
		return is <= bound
	}
	return is >= bound
}

// number is what is compared, NaN where the file does not say it in a way that is read here.
func (c Condition) number(values map[string]string) float64 {
	switch c.Of {
	case hook:
		return hookSeconds(values)
	case rest:
		return graceSeconds(values) - hookSeconds(values)
	default:
		return numberOf(values[c.Of])
	}
}

func numberOf(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// sleeping is the program of a hook that only waits.
var sleeping = regexp.MustCompile(`\bsleep (\d+(?:\.\d+)?)s?$`)

// hookSeconds is how long the preStop hooks of the file's workload wait: 0 where there is none.
func hookSeconds(values map[string]string) float64 {
	const sleep, exec = ".lifecycle.preStop.sleep.seconds", ".lifecycle.preStop.exec.command"
	longest := 0.0
	words := map[string][]string{}
	// order: the longest of them
	for path, value := range values {
		if strings.HasSuffix(path, sleep) {
			longest = max(longest, numberOf(value))
		}
		if at := strings.Index(path, exec+"["); at >= 0 {
			words[path[:at]] = nil
		}
	}
	// order: the longest of them
	for container := range words {
		var command []string
		for i := 0; ; i++ {
			word, ok := values[fmt.Sprintf("%s%s[%d]", container, exec, i)]
			if !ok {
				break
			}
			command = append(command, word)
		}
		m := sleeping.FindStringSubmatch(strings.Join(command, " "))
		if m == nil {
			return math.NaN() // it may take any time
		}
		longest = max(longest, numberOf(m[1]))
	}
	return longest
}

// graceSeconds is the grace period of the file's workload.
func graceSeconds(values map[string]string) float64 {
	// order: there is one workload in a lesson
	for path, value := range values {
		if strings.HasSuffix(path, "spec.template.spec.terminationGracePeriodSeconds") {
			return numberOf(value)
		}
	}
	return defaultGrace
}
