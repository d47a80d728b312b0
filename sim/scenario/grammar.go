package scenario

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// The grammar of a Scenario document as data: what check.go checks a document against, what
// --set may name, and what an unknown field is compared with. docs/model/simulator.md 6
// in a table.

// kind is what a value has to be.
type kind uint8

const (
	object   kind = iota // a mapping with the fields listed
	mapOf                // a mapping with any keys
	listOf               // a list
	text                 // a string
	whole                // a whole number, not negative
	number               // a number with at most 3 decimals, not negative
	part                 // a part of a whole: a number from 0 to 1 with at most 3 decimals
	boolean              // true or false
	duration             // "15s"
	rate                 // "200/s"
	changes              // "0.2/s", or "0/s"
	spanOr               // "15s", or the one word of the shape
	dist                 // a distribution: a duration, or a mapping with one of five keys
)

// shape is the grammar of one value.
type shape struct {
	kind   kind
	fields []field  // of an object, in the order in which they are documented
	elem   *shape   // of a map or list
	words  []string // of a text: what is valid, nil for anything; of a spanOr its word
	// later names what is not simulated yet: giving the field at all is an error.
	later string
	// file says that the text names a file beside the document.
	file bool
	// def is the default, and about what the field is for: the words of FieldDoc.
	def, about string
}

// field is one field of an object.
type field struct {
	name  string
	shape shape
}

func fieldsOf(fields ...field) shape { return shape{kind: object, fields: fields} }
func mapping(elem shape) shape       { return shape{kind: mapOf, elem: &elem} }
func list(elem shape) shape          { return shape{kind: listOf, elem: &elem} }
func of(k kind) shape                { return shape{kind: k} }
func word(words ...string) shape     { return shape{kind: text, words: words} }
func orWord(word string) shape       { return shape{kind: spanOr, words: []string{word}} }
func later(what string) shape        { return shape{later: what} }
func file() shape                    { return shape{kind: text, file: true} }

// doc is the shape with its default and what it is for, for people.
func (s shape) doc(def, about string) shape {
	s.def, s.about = def, about
	return s
}

func (s shape) field(name string) *shape { return fieldNamed(s.fields, name) }

func fieldNamed(fields []field, name string) *shape {
	for i := range fields {
		if fields[i].name == name {
			return &fields[i].shape
		}
	}
	return nil
}

func (s shape) names() []string {
	var names []string
	for _, f := range s.fields {
		names = append(names, f.name)
	}
	return names
}

// documentShape is the whole document.
func documentShape() shape {
	return fieldsOf(
		field{"apiVersion", of(text)},
		field{"kind", of(text)},
		field{"metadata", fieldsOf(
			field{"name", of(text)}, field{"namespace", of(text)},
			field{"labels", mapping(of(text))}, field{"annotations", mapping(of(text))},
		)},
		field{"spec", specShape()},
	)
}

func specShape() shape {
	return fieldsOf(
		field{"description", of(text)},
		field{"kubernetes", fieldsOf(field{"version", of(text)}, field{"featureGates", mapping(of(boolean))})},
		field{"manifests", list(file())},
		field{"nodes", nodesShape()},
		field{"churn", of(changes)},
		field{"latency", latencyShape()},
		field{"init", of(dist)},
		field{"apps", mapping(appShape(true))},
		field{"loadBalancer", balancerShape()},
		field{"ingress", ingressShape()},
		field{"clients", fieldsOf(
			field{"timeout", orWord(noTimeout)},
			field{"connectTimeout", orWord(noTimeout)},
			field{"dialTimeout", orWord(noTimeout)},
			field{"repeatReused", of(boolean)},
		)},
		field{"deadAddress", orWord(silent)},
		field{"traffic", list(trafficShape())},
		field{"actions", list(actionShape())},
		field{"expect", expectShape()},
		field{"warmup", of(duration)},
		field{"until", of(duration)},
	)
}

func nodesShape() shape {
	return fieldsOf(
		field{"count", of(whole)},
		field{"zones", list(of(text))},
		field{"kubelet", later("nodes.kubelet (node shutdown)")},
		field{"proxy", proxyShape()},
		field{"overrides", list(fieldsOf(
			field{"node", of(text)},
			field{"zone", of(text)},
			field{"proxy", proxyShape()},
			field{"latency", fieldsOf(field{"watch", of(dist)}, field{"proxySync", of(dist)})},
		))},
	)
}

func proxyShape() shape {
	return fieldsOf(
		field{"mode", word("nftables", "iptables")},
		field{"minSyncPeriod", of(duration)},
		field{"syncPeriod", of(duration)},
		field{"masqueradeAll", of(boolean)},
	)
}

// latencyShape has a field for each row of latencyFields.
func latencyShape() shape {
	s := fieldsOf()
	for _, f := range latencyFields() {
		s.fields = append(s.fields, field{f.name, of(dist)})
	}
	return s
}

// balancerShape is a preset, and what differs from it.
func balancerShape() shape {
	s := balancerValues()
	s.fields = slices.Insert(s.fields, 0, field{"preset", of(text)})
	return s
}

// balancerValues has a field for each row of lbFields.
func balancerValues() shape {
	s := fieldsOf()
	for _, f := range lbFields() {
		s.fields = append(s.fields, field{f.name, f.shape})
	}
	return s
}

func trafficShape() shape {
	return fieldsOf(
		field{"name", of(text)},
		field{"from", word("external", "pods")},
		field{"to", of(text)},
		field{"nodes", list(of(text))},
		field{"via", list(of(text))},
		field{"protocol", word("TCP", "UDP", "SCTP")},
		field{"rate", of(rate)},
		field{"arrivals", word("poisson", "constant", "closed-loop")},
		field{"clients", of(whole)},
		field{"connection", word("per-request", "keep-alive", "http2", "grpc", "session")},
		field{"waitForReady", of(boolean)},
		field{"sourcePorts", word("ephemeral", "fixed")},
		field{"idle", of(duration)},
		field{"connectTimeout", orWord(noTimeout)},
		field{"timeout", orWord(noTimeout)},
		field{"repeatReused", of(boolean)},
		field{"retries", fieldsOf(field{"count", of(whole)})},
		field{"headline", of(boolean)},
	)
}

// verbs lists what actions do, in the grammar's order.
func verbs() []field {
	podOf := fieldsOf(field{"of", of(text)}, field{"pod", of(whole)})
	return []field{
		{"rolloutRestart", of(text)},
		{"apply", file()},
		{"setImage", fieldsOf(field{"of", of(text)}, field{"container", of(text)}, field{"image", of(text)})},
		{"scale", fieldsOf(field{"of", of(text)}, field{"replicas", of(whole)})},
		{"delete", podOf},
		{"crashPod", podOf},
		{"setReady", fieldsOf(field{"of", of(text)}, field{"pod", of(whole)}, field{"ready", of(boolean)})},
		{"setGate", fieldsOf(field{"of", of(text)}, field{"pod", of(whole)}, field{"type", of(text)}, field{"open", of(boolean)})},
		{"pause", of(text)},
		{"resume", of(text)},
		{"rollback", of(text)},
		{"dependency", fieldsOf(field{"name", of(text)}, field{"state", word("down", "up")})},
		{"apiserver", word("down", "up")},
		{"component", fieldsOf(field{"name", of(text)}, field{"pause", of(boolean)}, field{"restart", of(boolean)})},
		{"evict", later("evict")},
		{"drain", later("drain")},
		{"cordon", later("cordon")},
		{"scaleDownNode", of(text)},
		{"shutdownNode", later("shutdownNode")},
		{"spotNotice", later("spotNotice")},
		{"crashNode", of(text)},
	}
}

func actionShape() shape {
	return fieldsOf(append([]field{
		{"at", of(duration)},
		{"for", of(duration)},
		{"namespace", of(text)},
	}, verbs()...)...)
}

func expectShape() shape {
	causes := list(word(causeNames()...))
	return fieldsOf(
		field{"failed", fieldsOf(field{"max", of(whole)}, field{"min", of(whole)})},
		field{"lostSeconds", fieldsOf(field{"max", of(number)}, field{"min", of(number)})},
		field{"causes", fieldsOf(field{"only", causes}, field{"some", causes}, field{"none", causes})},
		field{"verdict", word("outage", "stuck", "drops", "depends", "rare", "holds", "not-judged")},
		field{"order", list(of(text))},
		field{"usablePods", fieldsOf(field{"min", of(whole)}, field{"max", of(whole)})},
	)
}

// causeNames are the causes that the ledger has names for.
func causeNames() []string {
	var names []string
	for c := ledger.Cause(1); c < ledger.NumCauses; c++ {
		names = append(names, c.String())
	}
	return names
}

// distShape is a distribution that is spelled out: exactly one of these.
func distShape() shape {
	return fieldsOf(
		field{"constant", of(duration)},
		field{"uniform", list(of(duration))},
		field{"normal", fieldsOf(field{"mean", of(duration)}, field{"deviation", of(duration)})},
		field{"lognormal", fieldsOf(field{"median", of(duration)}, field{"p99", of(duration)})},
		field{"histogram", fieldsOf(field{"file", file()}, field{"cap", of(duration)})},
	)
}
