package learn

import (
	"slices"
	"strings"
)

// CommandOn is the lesson's command on another file.
func (l *Lesson) CommandOn(file string) []string {
	words := slices.Clone(l.Command)
	for i, w := range words {
		if w == l.File() {
			words[i] = file
		}
	}
	return words
}

// checkRuns are enough to see what is lost in one of twenty runs.
const checkRuns = "100"

// CheckCommand is CommandOn with enough runs. That the file expects what the exercise wants is not asked again: see Strays.
func (l *Lesson) CheckCommand(file string) []string {
	words := l.CommandOn(file)
	if l.Command[0] == "sim" {
		words = append(words, "--runs", checkRuns)
	}
	return words
}

// Missed are the goals that are not reached, by what CheckCommand printed, whether it ended without findings, and the file that it was
// run on. An error means that the file is no YAML.
func (l *Lesson) Missed(output string, fine bool, text string) ([]Goal, error) {
	values, err := leaves(text)
	if err != nil {
		return nil, err
	}
	var out []Goal
	for _, g := range l.Exercise.Goals {
		if g.Expect != "" && !fine || g.Says != "" && !Contains(output, g.Says) || g.Never != "" && Contains(output, g.Never) || g.Where != nil && !g.Where.holds(values) {
			out = append(out, g)
		}
	}
	return out, nil
}

// Contains says whether an output has words in it, wherever its lines are broken.
func Contains(output, words string) bool {
	return strings.Contains(strings.Join(strings.Fields(output), " "), strings.Join(strings.Fields(words), " "))
}
