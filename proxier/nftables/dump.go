package nftables

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// Dump writes the tables of a Plan in nft's syntax, as `nft -f` takes them: what Apply would
// load, without a kernel. The same Plan gives the same text.
func Dump(w io.Writer, p *plan.Plan, opts Options) error {
	opts, err := opts.withDefaults()
	if err != nil {
		return fmt.Errorf("nftables: %w", err)
	}
	if err := checkNode(p.Node()); err != nil {
		return fmt.Errorf("nftables: %w", err)
	}
	out := bufio.NewWriter(w)
	for _, f := range opts.Families {
		d := dumper{Writer: out, vocabulary: vocabulary{f, opts.MasqueradeMark}}
		d.table(opts.Table, newState(p.Node(), f).create(p))
	}
	return out.Flush()
}

type dumper struct {
	*bufio.Writer
	vocabulary
}

func (d *dumper) table(name string, c *tableChange) {
	fmt.Fprintf(d, "table %s %s {\n", d.ip(), name)
	for i := range c.sets {
		d.set(&c.sets[i], c)
	}
	for i := range c.chains {
		d.chain(&c.chains[i])
	}
	fmt.Fprintf(d, "}\n")
}

func (d *dumper) set(s *set, c *tableChange) {
	switch {
	case s.kind == verdictMap:
		fmt.Fprintf(d, "\tmap %s {\n\t\ttypeof %s : verdict\n", s.name, d.typeOf(s.key))
	case s.value != nil:
		fmt.Fprintf(d, "\tmap %s {\n\t\ttypeof %s : %s\n", s.name, d.typeOf(s.key), d.typeOf(s.value))
	default:
		fmt.Fprintf(d, "\tset %s {\n\t\ttypeof %s\n", s.name, d.typeOf(s.key))
	}
	if s.size > 0 {
		fmt.Fprintf(d, "\t\tsize %d\n", s.size)
	}
	switch s.kind {
	case memory:
		fmt.Fprintf(d, "\t\tflags dynamic,timeout\n")
	case intervalSet:
		fmt.Fprintf(d, "\t\tflags interval\n")
	default:
	}
	if elements := d.elements(s, c); len(elements) > 0 {
		fmt.Fprintf(d, "\t\telements = { %s }\n", strings.Join(elements, ",\n\t\t\t     "))
	}
	fmt.Fprintf(d, "\t}\n\n")
}

// typeOf names fields by expressions that have their types.
func (d *dumper) typeOf(fields []field) string {
	words := make([]string, len(fields))
	for i, f := range fields {
		switch f {
		case fieldAddr:
			words[i] = d.ip() + " daddr"
		case fieldProto:
			words[i] = "meta l4proto"
		case fieldPort:
			words[i] = "th dport"
		case fieldIndex:
			words[i] = "numgen random mod 2"
		default:
			words[i] = "meta priority"
		}
	}
	return strings.Join(words, " . ")
}

func (d *dumper) elements(s *set, c *tableChange) []string {
	var out []string
	for _, r := range c.ranges {
		if r.in == s.name {
			for _, span := range r.spans {
				out = append(out, span.String())
			}
		}
	}
	for i, known := range setTable {
		if known.name != s.name {
			continue
		}
		if i < numRowSets {
			return d.rows(s, c.rows.sets[i].add)
		}
		for _, v := range c.addVerdicts {
			if int(v.in) == i {
				out = append(out, fmt.Sprintf("%s : %s", handle(v.number), v.verdict.text(d.vocabulary)))
			}
		}
	}
	return out
}

// String returns the range as nft has it.
func (s span) String() string {
	if s.first == s.last {
		return s.first.String()
	}
	return s.first.String() + "-" + s.last.String()
}

// rows renders rows in the order of their keys.
func (d *dumper) rows(s *set, b []byte) []string {
	size := sizeOf(s.key, d.family) + sizeOf(s.value, d.family)
	all := slices.Collect(slices.Chunk(b, size))
	slices.SortFunc(all, slices.Compare)
	out := make([]string, len(all))
	for i, row := range all {
		key, rest := d.fields(s.key, row)
		out[i] = key
		if s.value != nil {
			value, _ := d.fields(s.value, rest)
			out[i] += " : " + value
		}
	}
	return out
}

func (d *dumper) fields(fields []field, b []byte) (text string, rest []byte) {
	words := make([]string, len(fields))
	for i, f := range fields {
		n := sizeOf(fields[i:i+1], d.family)
		words[i], b = fieldText(f, b[:n]), b[n:]
	}
	return strings.Join(words, " . "), b
}

func fieldText(f field, b []byte) string {
	switch f {
	case fieldAddr:
		a, _ := netip.AddrFromSlice(b) // cannot fail: the size is that of a family
		return a.String()
	case fieldProto:
		return protocolName(b[0])
	case fieldPort:
		return fmt.Sprint(binary.BigEndian.Uint16(b))
	case fieldIndex:
		return fmt.Sprint(binary.NativeEndian.Uint32(b))
	default:
		return handle(binary.NativeEndian.Uint32(b))
	}
}

func protocolName(n byte) string {
	for _, p := range []endpoints.Protocol{endpoints.TCP, endpoints.UDP, endpoints.SCTP} {
		if protocolNumber(p) == n {
			return strings.ToLower(p.String())
		}
	}
	return fmt.Sprint(n)
}

// handle is how nft writes what a packet's priority holds.
func handle(n uint32) string { return fmt.Sprintf("%x:%x", n>>16, n&0xffff) }

func (d *dumper) chain(c *chain) {
	fmt.Fprintf(d, "\tchain %s {\n", c.name)
	if c.hook != noHook {
		fmt.Fprintf(d, "\t\ttype nat hook %s priority %d; policy accept;\n", c.hook, c.hook.priority())
	}
	for i := range c.rules {
		fmt.Fprintf(d, "\t\t%s\n", c.rules[i].text(d.vocabulary))
	}
	fmt.Fprintf(d, "\t}\n\n")
}

// text returns the rule in nft's syntax.
func (r *rule) text(v vocabulary) string {
	words := make([]string, 0, len(r.statements)+1)
	for _, s := range r.statements {
		words = append(words, s.text(v))
	}
	if r.comment != "" {
		words = append(words, fmt.Sprintf("comment %q", r.comment))
	}
	return strings.Join(words, " ")
}
