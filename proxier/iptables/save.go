package iptables

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strings"
)

// saved is what iptables-save printed: the chains of the tables that are of interest, each with
// its rules as lines that begin with -A.
type saved [numTables]map[string]*savedChain

type savedChain struct{ rules []string }

// parseSaved reads what iptables-save prints. Other tables and comments are skipped.
func parseSaved(text string) saved {
	var out saved
	for i := range out {
		out[i] = map[string]*savedChain{}
	}
	var in map[string]*savedChain
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "*"):
			in = nil
			for _, t := range tables() {
				if line[1:] == t.String() {
					in = out[t]
				}
			}
		case in == nil:
		case strings.HasPrefix(line, ":"):
			name, _, _ := strings.Cut(line[1:], " ")
			in[name] = &savedChain{}
		case strings.HasPrefix(line, "-A "):
			name, _, _ := strings.Cut(line[len("-A "):], " ")
			if c := in[name]; c != nil {
				c.rules = append(c.rules, line)
			}
		}
	}
	return out
}

// chains lists the chains of a table by name.
func (s saved) chains(t table) []string { return slices.Sorted(maps.Keys(s[t])) }

// hasRules says whether one of some chains is not empty.
func (s saved) hasRules(t table, some []chain) bool {
	return slices.ContainsFunc(some, func(c chain) bool {
		have := s[t][c.name]
		return have != nil && len(have.rules) > 0
	})
}

// has says whether a rule is there, as it is printed.
func (s saved) has(f fixture) bool {
	c := s[f.table][f.chain]
	return c != nil && slices.Contains(c.rules, f.line())
}

// target is where a rule leads, "" if that is no chain or anything else.
func target(rule string) string {
	_, after, ok := strings.Cut(rule, " -j ")
	if !ok {
		if _, after, ok = strings.Cut(rule, " -g "); !ok {
			return ""
		}
	}
	name, _, _ := strings.Cut(after, " ")
	return name
}

// leading lists the rules of a table's chains, other than some, that lead to one of them.
func (s saved) leading(t table, to map[string]bool) []string {
	var out []string
	for _, name := range s.chains(t) {
		if to[name] {
			continue
		}
		for _, rule := range s[t][name].rules {
			if to[target(rule)] {
				out = append(out, rule)
			}
		}
	}
	return out
}

// fingerprint is that of the rules of some chains of a table, counters apart.
type fingerprint [sha256.Size]byte

func (s saved) fingerprint(ours func(table, string) bool) fingerprint {
	h := sha256.New()
	for _, t := range tables() {
		for _, name := range s.chains(t) {
			if !ours(t, name) {
				continue
			}
			h.Write([]byte(t.String() + " " + name + "\n"))
			for _, rule := range s[t][name].rules {
				h.Write([]byte(rule + "\n"))
			}
		}
	}
	return fingerprint(h.Sum(nil))
}
