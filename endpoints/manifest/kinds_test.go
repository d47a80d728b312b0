package manifest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/test/golden"
)

// What is read of each kind, and in which versions, is kept whole.
func TestKindsAreKept(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	kinds := kindTable()
	for _, kind := range sortedKeys(kinds) {
		k := kinds[kind]
		fmt.Fprintf(&out, "%s %s clusterScoped %t unnamed %t foreign %t finish %t", kind, k.apiVersion, k.clusterScoped, k.unnamed, k.foreign, k.finish != nil)
		if k.newValue != nil {
			fmt.Fprintf(&out, " %T", k.newValue())
		}
		for _, version := range sortedKeys(k.read) {
			fmt.Fprintf(&out, ", reads %s", version)
			if other := k.read[version]; other != nil {
				fmt.Fprintf(&out, " %T", other())
			}
		}
		for _, version := range sortedKeys(k.old) {
			fmt.Fprintf(&out, ", %s until %s", version, k.old[version])
		}
		out.WriteString("\n")
	}
	golden.Compare(t, "testdata/kinds.txt", out.String(), *update)
}

// Numbers with a point are whole ones as far as a float tells each from the next.
func TestWholeNumbersWithAPoint(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"80.0": true, "8e1": true, "-3.0": true, "0.0": true, "80.5": false, "9007199254740991.0": true, "-9007199254740991.0": true,
		"9007199254740992.0": false, "-9007199254740992.0": false, "1e300": false, "-1e300": false, ".inf": false, ".nan": false, "": false, "true": false, "x": false,
	} {
		n := node{plain: true, text: text}
		if _, ok := n.integer(); ok != want {
			t.Errorf("%q is a whole number: %t", text, ok)
		}
	}
	if _, ok := (&node{text: "80"}).integer(); ok {
		t.Error(`"80" in quotes is a number`)
	}
}
