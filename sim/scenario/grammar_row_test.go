package scenario

import (
	"slices"
	"strings"
	"testing"
)

// A row reads its field and prints it: those that do not are read with others, or are nothing that a Scenario has in the end.
func TestEveryRowReadsAndPrintsItsField(t *testing.T) {
	t.Parallel()
	var unread, unprinted []string
	unread, unprinted = halves("spec", specFields(), unread, unprinted)
	unread, unprinted = halves("proxy", proxyFields(), unread, unprinted)
	unread, unprinted = halves("apps", appFields(), unread, unprinted)
	unread, unprinted = halves("traffic", trafficFields(), unread, unprinted)
	unread, unprinted = halves("expect", expectFields(), unread, unprinted)
	const reads = "spec.description spec.manifests spec.init spec.loadBalancer spec.ingress spec.clients apps.profile " +
		"traffic.to traffic.via traffic.protocol traffic.clients traffic.connectTimeout traffic.timeout traffic.repeatReused traffic.synLinearTimeouts traffic.retries"
	if got := strings.Join(unread, " "); got != reads {
		t.Errorf("not read by their rows: %s, want %s", got, reads)
	}
	const prints = "spec.description spec.manifests spec.reboot spec.init spec.loadBalancer spec.ingress spec.clients traffic.protocol"
	if got := strings.Join(unprinted, " "); got != prints {
		t.Errorf("not printed by their rows: %s, want %s", got, prints)
	}
	for _, v := range verbs() {
		if v.read == nil {
			t.Errorf("%s is not read", v.name)
		}
	}
}

// halves adds the rows that do not read their field, and those that do not print it.
func halves[T any](of string, rows []fieldOf[T], unread, unprinted []string) (noRead, noPrint []string) {
	for _, r := range rows {
		if r.name != "" && r.read == nil {
			unread = append(unread, of+"."+r.name)
		}
		if r.write == nil {
			unprinted = append(unprinted, of+"."+r.name)
		}
	}
	return unread, unprinted
}

// The grammar has the rows in their order; the normalised form has each of them once, those with another place before the row
// that they name.
func TestRowsArePrintedInTheirPlace(t *testing.T) {
	t.Parallel()
	rows := []fieldOf[int]{{field: field{name: "a"}}, {field: field{name: "b"}}, {field: field{name: "c"}, before: "a"}, {field: field{name: "d"}, before: "c"}, {field: field{name: "e"}, before: "b"}}
	names := func(rows []fieldOf[int]) (out []string) {
		for _, r := range rows {
			out = append(out, r.name)
		}
		return out
	}
	if got := strings.Join(names(printed(rows)), " "); got != "d c a e b" {
		t.Errorf("printed as %s", got)
	}
	if got := shapeOf(rows).names(); !slices.Equal(got, names(rows)) {
		t.Errorf("the grammar has %v", got)
	}
}

// The causes that a Scenario may expect are all that the ledger knows.
func TestCausesAreThoseOfTheLedger(t *testing.T) {
	t.Parallel()
	names := causeNames()
	if len(names) < 10 || slices.Contains(names, "") || names[0] != "stale-dns" || names[len(names)-1] != "service-changed" {
		t.Errorf("got %v", names)
	}
}
