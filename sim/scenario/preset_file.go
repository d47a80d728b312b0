package scenario

import (
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/presets"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// presetTable is what the files of sim/presets say. They are a part of the program: they are read when the first one asks, and
// are the same ever after. What is wrong with them is a mistake in the program.
var presetTable = sync.OnceValue(func() []Preset {
	var files []manifest.File
	for _, f := range presets.Files() {
		files = append(files, manifest.File{Name: f.Path, Data: []byte(f.Text)})
	}
	out, problems := readPresets(files)
	if len(problems) > 0 {
		panic("scenario: a preset is not well-formed: " + problems[0].String())
	}
	return out
})

// presetStatuses says how far a value can be known, in the words of docs/model.
func presetStatuses() []string {
	return []string{verified, "documented", reported, recalled, inferred}
}

// shortStatus is how the list of presets says it.
func shortStatus(status string) string {
	if status == "documented" {
		return documented
	}
	return status
}

// presetsShape is the grammar of such a file (package presets).
func presetsShape() shape {
	values := list(fieldsOf(
		field{"status", word(presetStatuses()...)},
		field{"source", of(text)},
		field{"reported", reportedShape()},
		field{"unmeasured", reportedShape()},
		field{"loadBalancer", balancerValues()},
	))
	return fieldsOf(field{"presets", list(fieldsOf(
		field{"name", of(text)},
		field{"short", of(text)},
		field{"what", of(text)},
		field{"layer7", of(boolean)},
		field{"values", values},
		field{"externalTrafficPolicy", fieldsOf(field{string(policyLocal), values}, field{string(policyCluster), values})},
	))})
}

// reportedShape has a field for each that may be known by reports alone.
func reportedShape() shape {
	s := fieldsOf()
	for _, name := range reportedFields() {
		s.fields = append(s.fields, field{name, list(of(duration))})
	}
	return s
}

// readPresets reads files of presets: all of them in order, or what is wrong.
func readPresets(files []manifest.File) ([]Preset, []manifest.Problem) {
	r := presetReader{taken: map[string]manifest.Position{}}
	var problems []manifest.Problem
	for _, f := range files {
		problems = append(problems, r.file(f)...)
	}
	return r.out, problems
}

// presetReader reads presets, whose names are taken then.
type presetReader struct {
	taken map[string]manifest.Position
	out   []Preset
}

func (r *presetReader) file(f manifest.File) []manifest.Problem {
	o, problems := manifest.Raw(f)
	if o == nil {
		return problems
	}
	d := &document{object: o}
	d.value, _ = o.Value.(map[string]any)
	root := presetsShape()
	if d.check(&root, "", d.value); len(d.problems) == 0 {
		for _, c := range (cursor{d, "", d.value}).get("presets").items() {
			r.family(c)
		}
	}
	return append(problems, d.sorted()...)
}

// family reads the rows of a family: one, or one for each policy.
func (r *presetReader) family(c cursor) {
	row := Preset{Family: c.get("name").text(""), Short: c.get("short").text(""), What: c.get("what").text("")}
	for _, name := range []string{"name", "short", "what"} {
		if c.get(name).text("") == "" {
			c.fail("%s is missing", name)
		}
	}
	r.take(c.get("name"), row.Family)
	policies := c.get("externalTrafficPolicy")
	if !policies.present() {
		row.ID = row.Family
		r.row(c, row, c.get("values").items())
		return
	}
	for _, policy := range []corev1.ServiceExternalTrafficPolicy{policyLocal, policyCluster} {
		given := policies.get(string(policy))
		if !given.present() {
			policies.fail("%s is missing: want both policies, or neither", policy)
			continue
		}
		row := row
		row.ID = row.Family + "-" + strings.ToLower(string(policy))
		row.What += ", externalTrafficPolicy " + string(policy)
		row.Policy = policy
		r.take(c.get("name"), row.ID)
		r.row(c, row, slices.Concat(c.get("values").items(), given.items()))
	}
}

// take refuses a name that is no word, or taken.
func (r *presetReader) take(c cursor, name string) {
	switch first, taken := r.taken[name]; {
	case name == lbAuto || name == lbNone || !isWord(name):
		c.fail("%q is no name of a preset: want letters, digits and -, and neither %s nor %s", name, lbAuto, lbNone)
	case taken:
		c.fail("there is a preset %s already, at %s: want another name", name, first)
	default:
		r.taken[name] = c.d.position(c.at)
	}
}

// row reads a row from all values that are given for it.
func (r *presetReader) row(c cursor, p Preset, values []cursor) {
	p.LoadBalancer.Preset = p.ID
	if c.get("layer7").flag(false) {
		p.LoadBalancer.Layer7 = &world.Layer7{}
	}
	row := presetRow{&p, map[string]PresetField{}, map[string]manifest.Position{}}
	for _, v := range values {
		row.claim(v)
	}
	var missing []string
	for _, f := range balancerFields(&p.LoadBalancer) {
		if _, ok := row.given[f.name]; !ok {
			missing = append(missing, f.name)
		}
		p.Fields = append(p.Fields, row.given[f.name])
	}
	if len(missing) > 0 {
		c.fail("%s has no value for %s: want every field, with its source", p.ID, strings.Join(missing, ", "))
	}
	r.out = append(r.out, p)
}

// presetRow is a row while it is read: what is given so far, and where.
type presetRow struct {
	*Preset
	given map[string]PresetField
	at    map[string]manifest.Position
}

// claim reads values with one source.
func (r *presetRow) claim(c cursor) {
	status, source := c.get("status").text(""), c.get("source").text("")
	if status == "" {
		c.fail("status is missing: want %s", orList(presetStatuses()))
	}
	if source == "" {
		c.fail("source is missing: want a fact of docs/model, or a page of the maker, and what it says")
	}
	values := c.get("loadBalancer")
	for _, f := range lbFields() {
		at := values.get(f.name)
		switch first, twice := r.at[f.name]; {
		case !at.present():
			continue
		case twice:
			at.fail("given for %s at %s already: want it once", r.ID, first)
		case !f.belongsTo(&r.LoadBalancer):
			at.fail("not a field of %s; valid here: %s", r.ID, strings.Join(fieldNames(&r.LoadBalancer), ", "))
		default:
			f.read(at, &r.LoadBalancer)
			r.at[f.name] = at.d.position(at.at)
			r.LoadBalancer.SYNUnknown = r.LoadBalancer.SYNUnknown || f.name == repeatedSYN && (status == inferred || status == recalled)
			r.given[f.name] = PresetField{Name: f.name, Value: f.say(&r.LoadBalancer), Source: source, Status: shortStatus(status)}
		}
	}
	r.reports(c, status == reported)
	r.guesses(c, status == inferred || status == recalled)
}

// guesses reads what a value that nobody has measured might be instead.
func (r *presetRow) guesses(c cursor, may bool) {
	guesses, values := c.get("unmeasured"), c.get("loadBalancer")
	if guesses.present() && !may {
		guesses.fail("these are values in place of one that nobody has measured: want status inferred or recalled, or none")
		return
	}
	for _, name := range reportedFields() {
		at := guesses.get(name)
		if !at.present() {
			continue
		}
		ends := at.items()
		if len(ends) != 2 || ends[0].span(0) >= ends[1].span(0) {
			at.fail("expected two durations, the lesser one first")
			continue
		}
		guess := world.Report{Field: name, Least: ends[0].span(0), Most: ends[1].span(0), Unmeasured: true}
		if taken := r.LoadBalancer.Timing(name); !values.get(name).present() || taken.Max() >= guess.Least {
			at.fail("%s is %s: want a value, and two longer ones", name, taken)
		}
		r.LoadBalancer.Reported = append(r.LoadBalancer.Reported, guess)
	}
}

// reports reads the ranges of what is only reported.
func (r *presetRow) reports(c cursor, want bool) {
	ranges, values := c.get("reported"), c.get("loadBalancer")
	if !want {
		if ranges.present() {
			ranges.fail("a range is what reports differ in: want status reported, or none")
		}
		return
	}
	for _, name := range values.keys() {
		if !ranges.get(name).present() {
			c.fail("%s is only reported: want the least and the most that was, as reported: {%s: [5s, 40s]}", name, name)
		}
	}
	for _, name := range reportedFields() {
		at := ranges.get(name)
		if !at.present() {
			continue
		}
		ends := at.items()
		if len(ends) != 2 || ends[0].span(0) >= ends[1].span(0) {
			at.fail("expected two durations, [least, most]")
			continue
		}
		report := world.Report{Field: name, Least: ends[0].span(0), Most: ends[1].span(0)}
		if taken := r.LoadBalancer.Timing(name); !values.get(name).present() || taken.Min() < report.Least || taken.Max() > report.Most {
			at.fail("%s is %s: want a value within what was reported", name, taken)
		}
		r.LoadBalancer.Reported = append(r.LoadBalancer.Reported, report)
	}
}
