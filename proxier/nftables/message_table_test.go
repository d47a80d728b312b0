//go:build linux

package nftables

import (
	"encoding/binary"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

var rewrite = flag.Bool("update", false, "rewrite testdata/batches.txt")

// kinds names the messages of a batch.
var kinds = map[uint16]string{
	unix.NFNL_MSG_BATCH_BEGIN: "begin", unix.NFNL_MSG_BATCH_END: "end",
	nftMessage(unix.NFT_MSG_NEWTABLE): "new table", nftMessage(unix.NFT_MSG_DELTABLE): "delete table",
	nftMessage(unix.NFT_MSG_NEWCHAIN): "new chain", nftMessage(unix.NFT_MSG_DELCHAIN): "delete chain",
	nftMessage(unix.NFT_MSG_NEWRULE): "new rule", nftMessage(unix.NFT_MSG_DELRULE): "delete rules",
	nftMessage(unix.NFT_MSG_NEWSET): "new set", nftMessage(unix.NFT_MSG_DELSET): "delete set",
	nftMessage(unix.NFT_MSG_NEWSETELEM): "elements", nftMessage(unix.NFT_MSG_DELSETELEM): "no elements",
}

// batchText writes the messages of a batch, one a line: what it is for, what it is, its flags and family, its attributes.
func batchText(e *encoder) string {
	var b strings.Builder
	i := 0
	for m := range messages(e.b) {
		if int(m.seq) != i {
			fmt.Fprintf(&b, "number %d: ", m.seq)
		}
		l := e.labels[i]
		fmt.Fprintf(&b, "%s: %s %#x %x", l.what, kinds[m.kind], m.flags, m.data[:nfgenmsg])
		if l.rule != nil {
			fmt.Fprintf(&b, " %s", l.rule.text(vocabulary{l.family, e.mark}))
		}
		writeAttributes(&b, m.data[nfgenmsg:])
		b.WriteString("\n")
		i++
	}
	return b.String()
}

func writeAttributes(b *strings.Builder, data []byte) {
	for len(data) >= attrSize {
		n, kind := int(binary.NativeEndian.Uint16(data)), binary.NativeEndian.Uint16(data[2:])
		v := data[attrSize:n]
		switch text := strings.TrimSuffix(string(v), "\x00"); {
		case kind&unix.NLA_F_NESTED != 0:
			fmt.Fprintf(b, " %d{", kind&^unix.NLA_F_NESTED)
			writeAttributes(b, v)
			b.WriteString(" }")
		case len(text) > 1 && len(text) < len(v) && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-/_.") == "":
			fmt.Fprintf(b, " %d=%s", kind, text)
		default:
			fmt.Fprintf(b, " %d:%x", kind, v)
		}
		data = data[min((n+3)&^3, len(data)):]
	}
}

// between are chains that differ from those for 1 and for 1024 endpoints by numbers alone.
var between = regexp.MustCompile(`-(2|4|8|16|32|64|128|256|512)$`)

// What goes to the kernel is kept in testdata/batches.txt to the byte: what a kernel is asked first, a table with every shape of
// rule, one that is filled again, changes of Services, a table's end.
func TestBatchesAreKept(t *testing.T) {
	t.Parallel()
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("the bytes are those of a machine that has the low ones first")
	}
	var out strings.Builder
	write := func(title string, c *tableChange, generation uint32, check bool) {
		e := &encoder{table: "lameduck", mark: 0x4000}
		if err := e.batch([]*tableChange{c}, generation, check); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "=== %s\n%s\n", title, batchText(e))
	}
	node := backendtest.WorldNode(plan.NFTables)
	for _, f := range endpoints.Families() {
		all := rehearsal(newState(node, f))
		all.chains = slices.DeleteFunc(all.chains, func(c chain) bool { return between.MatchString(c.name) })
		write(fmt.Sprintf("%s: every shape of rule", f), all, 0, false)
		for _, x := range features() {
			c := x.change(f)
			c.sets = nil
			write(fmt.Sprintf("%s: %s", f, x.what), c, 0, false)
		}
		again := newState(node, f).create(plan.Empty(node))
		again.chains, again.sets = again.chains[:2], again.sets[:1]
		again.had = &stock{chains: []string{again.chains[0].name, "of-others"}, sets: []string{again.sets[0].name, "more"}}
		write(fmt.Sprintf("%s: a table that is filled again", f), again, 7, true)
		write(fmt.Sprintf("%s: a table that goes", f), &tableChange{family: f, remove: true}, 7, true)
		w := backendtest.NewWorld(3, node)
		s := newState(node, f)
		p, _ := w.Step(t)
		s.create(p)
		for i := range 4 {
			w.Disturb(t, 4)
			_, d := w.Step(t)
			write(fmt.Sprintf("%s: change %d", f, i+1), s.apply(&d), 7, true)
		}
	}
	golden.Compare(t, "testdata/batches.txt", out.String(), *rewrite)
}
