package determinism

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// childEnv tells this test binary to be a child: to do one of the jobs below and print the result
// on stdout.
const childEnv = "LAMEDUCK_DETERMINISM_CHILD"

// TestMain is the child, or the tests.
func TestMain(m *testing.M) {
	words := strings.Fields(os.Getenv(childEnv))
	if len(words) == 0 {
		os.Exit(m.Run())
	}
	out, err := job(words)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if _, err := os.Stdout.Write(out); err != nil {
		os.Exit(1)
	}
}

// job does what a child is asked for:
//
//	sums all|some            the lines to compare, of everything or of what runs fast
//	steps INPUT CASE SEED    the steps of one run
//	report INPUT json|text   one report
func job(words []string) ([]byte, error) {
	list, err := inputs(words[0] != "sums" || len(words) < 2 || words[1] == "all")
	if err != nil {
		return nil, err
	}
	if words[0] == "sums" {
		lines, err := sums(list)
		return []byte(strings.Join(lines, "\n") + "\n"), err
	}
	i := slices.IndexFunc(list, func(in input) bool { return len(words) > 1 && in.name == words[1] })
	if i < 0 {
		return nil, fmt.Errorf("no such input: %q", words)
	}
	switch {
	case words[0] == "report" && len(words) == 3:
		asJSON, asText, _, err := reports(list[i])
		if words[2] == "json" {
			return asJSON, err
		}
		return asText, err
	case words[0] == "steps" && len(words) == 4:
		at, err := strconv.Atoi(words[2])
		if err != nil || at >= len(list[i].cases) {
			return nil, fmt.Errorf("no such case: %q", words)
		}
		seed, err := strconv.ParseUint(words[3], 10, 64)
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		err = writeSteps(&out, list[i].cases[at].Scenario, seed)
		return out.Bytes(), err
	}
	return nil, fmt.Errorf("no such job: %q", words)
}

// worker does jobs: this process, or a child of some kind.
type worker struct {
	name string
	do   func(words ...string) ([]byte, error)
}

// kept is a worker that does a job once, however often it is asked for: what others are compared with.
func kept(w worker) worker {
	var mu sync.Mutex
	done := map[string][]byte{}
	return worker{w.name, func(words ...string) ([]byte, error) {
		mu.Lock()
		defer mu.Unlock()
		key := strings.Join(words, " ")
		if out, ok := done[key]; ok {
			return out, nil
		}
		out, err := w.do(words...)
		if err == nil {
			done[key] = out
		}
		return out, err
	}}
}

// child is a worker that runs a command in a process of its own for each job.
func child(t *testing.T, name string, env []string, command ...string) worker {
	t.Helper()
	return worker{name, func(words ...string) ([]byte, error) {
		cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
		cmd.Env = append(append(os.Environ(), env...), childEnv+"="+strings.Join(words, " "))
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", strings.Join(words, " "), err, &stderr)
		}
		return out, nil
	}}
}

// compare has both workers do everything, or some, and returns the differences, each with its
// first differing step or line; nil when there is none.
func compare(one, other worker, what string) ([]string, error) {
	a, err := one.do("sums", what)
	if err != nil {
		return nil, err
	}
	b, err := other.do("sums", what)
	if err != nil {
		return nil, err
	}
	var found []string
	left, right := strings.Split(string(a), "\n"), strings.Split(string(b), "\n")
	if len(left) != len(right) {
		return []string{firstDifference(bytes.NewReader(a), bytes.NewReader(b), one.name, other.name)}, nil
	}
	told := map[string]bool{} // of each input the first difference only: the others follow from it
	for i := range left {
		words := strings.Fields(left[i])
		if left[i] == right[i] || len(words) > 1 && told[words[1]] {
			continue
		}
		told[words[1]] = true
		again := words[:len(words)-1]
		if again[0] == "run" {
			again = append([]string{"steps"}, again[1:]...)
		}
		where := ""
		if len(found) < mostLocated {
			if where, err = locate(one, other, again); err != nil {
				return nil, err
			}
		}
		found = append(found, fmt.Sprintf("%s\n  %s: %s\n  %s: %s\n%s", strings.Join(again, " "), one.name, left[i], other.name, right[i], where))
	}
	return found, nil
}

// mostLocated is of how many inputs that differ the first differing step is looked for: it takes
// seconds each, and where all of them differ the first few say why.
const mostLocated = 4

// attempts is how often a difference is looked for again: one that depends on chance may hide.
const attempts = 5

// locate does one job with both workers and says where the results part.
func locate(one, other worker, words []string) (string, error) {
	for range attempts { // a worker that keeps what it did is the same each time: the other may differ
		a, err := one.do(words...)
		if err != nil {
			return "", err
		}
		b, err := other.do(words...)
		if err != nil {
			return "", err
		}
		if at := firstDifference(bytes.NewReader(a), bytes.NewReader(b), one.name, other.name); at != "" {
			return at, nil
		}
	}
	return fmt.Sprintf("in %d further tries it did not differ: it depends on chance", attempts), nil
}
