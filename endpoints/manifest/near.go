package manifest

import "strings"

// Nearest returns the candidate that name was most likely meant to be: the same
// but for case, or at most two edits away (one in a short word). "" when there
// is none. The first of equally near candidates wins, so candidates must be in
// a fixed order.
func Nearest(name string, candidates []string) string {
	best, bestDistance := "", 3
	if len(name) <= 4 {
		bestDistance = 2
	}
	for _, c := range candidates {
		if c == name {
			continue // it is not what is missing
		}
		if strings.EqualFold(c, name) {
			return c
		}
		if d := distance(name, c, bestDistance); d < bestDistance && d < len(c) {
			best, bestDistance = c, d
		}
	}
	return best
}

// onlyLonger returns the only candidate that a name is the beginning of: terminationGracePeriod is that of terminationGracePeriodSeconds.
func onlyLonger(name string, candidates []string) string {
	const least = 8 // bytes: the beginning of a word says little
	only := ""
	for _, c := range candidates {
		if len(name) < least || len(c) <= len(name) || !strings.EqualFold(c[:len(name)], name) {
			continue
		}
		if only != "" {
			return ""
		}
		only = c
	}
	return only
}

// distance is the Levenshtein distance of a and b over bytes, ignoring ASCII
// case, or limit when it is not below limit.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit || len(a) > 128 {
		return limit
	}
	a, b = strings.ToLower(a), strings.ToLower(b)
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return min(row[len(b)], limit)
}
