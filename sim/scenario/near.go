package scenario

import (
	"slices"
	"strings"
)

// nearest returns the candidate that name was most likely meant to be: the same but for case,
// or a few edits away, or one that begins with it, and never the name itself. "" when there is none. Of equally near ones
// the first wins.
func nearest(name string, candidates []string) string {
	limit := 3
	if len(name) <= 4 {
		limit = 2
	}
	best, least := "", limit
	for _, c := range candidates {
		if c == name {
			continue // it is not what is missing
		}
		if strings.EqualFold(c, name) {
			return c
		}
		if d := distance(name, c); d < least && d < len(c) {
			best, least = c, d
		}
	}
	for _, c := range candidates {
		if best == "" && c != name && len(name) > 3 && strings.HasPrefix(strings.ToLower(c), strings.ToLower(name)) {
			best = c
		}
	}
	return best
}

// distance counts the bytes to change, add, leave out or swap with their neighbour, ignoring
// case; words too different in length are just far apart.
func distance(a, b string) int {
	const far = 100
	if len(a)-len(b) > 3 || len(b)-len(a) > 3 || len(a) > 64 {
		return far
	}
	a, b = strings.ToLower(a), strings.ToLower(b)
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			change := last[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, row[j]+1, last[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// distinct keeps the first of each word.
func distinct(words []string) []string {
	var out []string
	for _, w := range words {
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// didYouMean ends a message about an unknown word.
func didYouMean(name string, valid []string) string {
	if near := nearest(name, valid); near != "" {
		return "did you mean " + near + "?"
	}
	return "valid here: " + strings.Join(valid, ", ")
}
