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
	object     kind = iota // a mapping with the fields listed
	mapOf                  // a mapping with any keys
	listOf                 // a list
	text                   // a string
	whole                  // a whole number, not negative
	number                 // a number with at most 3 decimals, not negative
	part                   // a part of a whole: a number from 0 to 1 with at most 3 decimals
	boolean                // true or false
	duration               // "15s"
	rate                   // "200/s"
	changes                // "0.2/s", or "0/s"
	spanOr                 // "15s", or the one word of the shape
	dist                   // a distribution: a duration, or a mapping with one of five keys
	quantity               // of a resource: 4, "500m" or "8Gi"
	priority               // of a pod: an int32
	portOfPods             // its number, or the name that a container has for it
	share                  // of pods: so many, or so many per cent of them
)

// shape is the grammar of one value.
type shape struct {
	kind   kind
	fields []field  // of an object, in the order in which they are documented
	elem   *shape   // of a map or list
	words  []string // of a text: what is valid, nil for anything; of a spanOr its word
	// short is the field of an object that may be written alone, without the object: "drain: node-1".
	short string
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
func file() shape                    { return shape{kind: text, file: true} }

// orShort is an object that may be written as one of its fields alone, a text or a list of texts.
func (s shape) orShort(field string) shape {
	s.short = field
	return s
}

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
		field{"apiVersion", of(text).doc("", "lameduck/v1alpha1")},
		field{"kind", of(text).doc("", "Scenario")},
		field{"metadata", fieldsOf(
			field{"name", of(text).doc("the file's name", "the name of the case")},
			field{"namespace", of(text).doc("", "not used")},
			field{"labels", mapping(of(text).doc("", "not used"))},
			field{"annotations", mapping(of(text).doc("", "not used"))},
		)},
		field{"spec", specShape()},
	)
}

func specShape() shape { return shapeOf(specFields()) }

func nodesShape() shape {
	return fieldsOf(
		field{"count", of(whole).doc("as many as the pods need, at least 3", "made-up nodes; leave it out where the input has Node objects")},
		field{"zones", list(of(text)).doc("[a, b, c]", "zones, given to the made-up nodes in turn")},
		field{"allocatable", mapping(of(quantity).doc("room for every pod", "how much of a resource each made-up node has for pods: cpu, memory, ephemeral-storage, pods, nvidia.com/gpu, ..."))},
		field{"kubelet", kubeletShape()},
		field{"proxy", proxyShape(false)},
		field{"overrides", list(fieldsOf(
			field{"node", of(text).doc("", "the node that is different: its name, node-1 for the first of made-up ones")},
			field{"zone", of(text).doc("its own", "its zone")},
			field{"proxy", proxyShape(true)},
			field{"latency", fieldsOf(
				field{"watch", of(dist).doc("spec.latency.watch", "the delay of its proxy's watch events")},
				field{"proxySync", of(dist).doc("spec.latency.proxySync", "how long its proxy's syncs take")},
			)},
		))},
	)
}

// proxyShape is the proxy of all nodes, or, of overrides, that of one.
func proxyShape(override bool) shape {
	s := shapeOf(proxyFields())
	for i := range s.fields {
		if f := &s.fields[i]; override {
			f.shape = f.shape.doc("spec.nodes.proxy."+f.name, "its proxy's "+f.name)
		}
	}
	return s
}

// latencyShape has a field for each row of latencyFields.
func latencyShape() shape {
	s := fieldsOf()
	for _, f := range latencyFields() {
		value := of(dist)
		if f.in == nil { // the others stand among the assumptions
			value = value.doc(f.absent, f.about)
		}
		s.fields = append(s.fields, field{f.name, value})
	}
	return s
}

// balancerShape is a preset, and what differs from it.
func balancerShape() shape {
	s := balancerValues()
	s.fields = slices.Insert(s.fields, 0, field{"preset", of(text).doc("auto: by what the Service says",
		"the load balancer of Services of type LoadBalancer: the name of a preset, or none")})
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
