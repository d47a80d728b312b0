package nftables

import (
	"bufio"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// A set, a map and a map of verdicts are declared as nft declares them, and fields are written as it writes them.
func TestDeclarationsAreWrittenAsNftDoes(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]set{ // order: each by itself
		"set s { typeof ip daddr . meta l4proto . th dport": {name: "s", key: []field{fieldAddr, fieldProto, fieldPort}},
		"map m { typeof ip daddr : th dport":                {name: "m", key: []field{fieldAddr}, value: []field{fieldPort}},
		"map v { typeof numgen random mod 2 : verdict":      {name: "v", kind: verdictMap, key: []field{fieldIndex}},
	} {
		var out strings.Builder
		d := &dumper{bufio.NewWriter(&out), vocabulary{family: endpoints.IPv4}}
		d.set(&s, &tableChange{family: endpoints.IPv4})
		if err := d.Flush(); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(strings.Fields(out.String()), " "); !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for _, tt := range []struct {
		f    field
		b    []byte
		want string
	}{
		{fieldAddr, []byte{10, 0, 0, 1}, "10.0.0.1"}, {fieldProto, []byte{6}, "tcp"}, {fieldProto, []byte{17}, "udp"}, {fieldProto, []byte{132}, "sctp"}, {fieldProto, []byte{1}, "1"},
		{fieldPort, []byte{1, 187}, "443"},
	} {
		if got := fieldText(tt.f, tt.b); got != tt.want {
			t.Errorf("field %d of %v: %s, want %s", tt.f, tt.b, got, tt.want)
		}
	}
}
