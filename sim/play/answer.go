package play

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/input"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// Told hears, while a question is answered, how many of a stage are done of how many.
type Told func(stage string, done, of int)

// Answer answers one Ask in JSON. It never panics. Who is told of its progress may be nil.
func Answer(ask []byte, told Told) (answer []byte) {
	var a Ask
	defer func() {
		if r := recover(); r != nil {
			answer = encoded(failed(a.Do, errors.New(broken(r))))
		}
	}()
	if len(ask) > 2*mostBytes {
		return encoded(failed("", errTooLong))
	}
	d := json.NewDecoder(bytes.NewReader(ask))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return encoded(failed("", refused(err)))
	}
	a.Name = cmp.Or(a.Name, "manifest.yaml")
	switch a.Do {
	case "look":
		return encoded(look(&a))
	case "turn":
		return encoded(turn(&a))
	case "draw":
		return draw(&a)
	case "run":
		return run(&a, told)
	default:
		return encoded(failed(a.Do, fmt.Errorf("do %q: want look, turn, draw or run", a.Do)))
	}
}

// broken words what is wrong with lameduck itself.
func broken(why any) string {
	return fmt.Sprintf("internal error: %v. This is a fault of lameduck: please report it with the manifest that caused it", why)
}

// refused words what JSON says of a question.
func refused(err error) error {
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return fmt.Errorf("%s is not for the page: run it with lameduck sim -f", name)
	}
	return fmt.Errorf("the question cannot be read: %w", err)
}

func encoded(v any) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return []byte(`{"do":"","refused":"internal error: the answer cannot be written","errors":[],"warnings":[]}`)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// failed is the answer to a question that is at fault.
func failed(do string, err error) Answered {
	return Answered{Do: do, Refused: err.Error(), Errors: []Problem{}, Warnings: []Problem{}}
}

// read is what was made of an Ask's manifest.
type read struct {
	answered Answered
	objects  *manifest.Objects
	cases    []scenario.Case
	leftOut  []record.LeftOut
	nowhere  []record.LeftOut
	// misspelled are fields of the input.
	misspelled []record.Misspelled
	unserved   []record.LeftOut
	ok         bool // nothing is wrong
}

// readManifest reads the manifest of an Ask and makes its cases.
func readManifest(a *Ask) *read {
	r := &read{answered: failed(a.Do, errors.New("")), objects: &manifest.Objects{}}
	opts, err := a.options()
	if err = cmp.Or(err, smallText(a.Manifest)); err != nil {
		r.answered.Refused = err.Error()
		return r
	}
	load := func(files []manifest.File) (*manifest.Objects, []manifest.Problem, error) {
		objects, problems := manifest.Load(files, manifest.Options{})
		return objects, problems, nil
	}
	from := input.Source{Files: []manifest.File{{Name: a.Name, Data: []byte(a.Manifest)}}, Load: load, Read: readNothing}
	objects, problems, _ := load(from.Files) // never fails
	r.objects = objects
	cases, found, err := from.Cases(objects, problems, opts)
	if err != nil {
		r.answered.Refused = err.Error()
		return r
	}
	r.answered.add(found)
	if manifest.HasErrors(found) {
		return r
	}
	r.cases, r.leftOut, r.nowhere, r.misspelled = cases, input.LeftOut(found), input.Nowhere(found), input.Misspelled(found)
	r.unserved = input.Unserved(objects, cases, r.leftOut, opts)
	if err := small(cases); err != nil {
		r.answered.Refused = err.Error()
		return r
	}
	r.ok = true
	return r
}

// readNothing stands for the files of the disk.
func readNothing(string) scenario.Content {
	return scenario.Content{Err: "a page reads no files: run it with lameduck sim -f"}
}

// mostShown is how many problems of a kind an answer has, as the terminal has.
const mostShown = 100

// add puts problems where they belong.
func (a *Answered) add(problems []manifest.Problem) {
	for _, p := range problems {
		to := &a.Warnings
		if p.Severity == manifest.Error {
			to = &a.Errors
		}
		if len(*to) < mostShown {
			*to = append(*to, problemOf(&p))
		}
	}
}

// problemOf is a problem where it belongs. One of a flag is at no line of the manifest, and says the flag, as in a terminal.
func problemOf(p *manifest.Problem) Problem {
	if strings.HasPrefix(p.File, "--") {
		return Problem{Text: p.Error()}
	}
	return Problem{Line: p.Line, Column: p.Column, Text: strings.TrimPrefix(p.Error(), p.Position.String()+": ")}
}

const mostRuns = 1000

// options are those of the simulator that an Ask's flags say.
func (a *Ask) options() (*scenario.Options, error) {
	f := &a.Flags
	given := map[string]string{}
	for _, g := range f.FeatureGates {
		name, value, _ := strings.Cut(g, "=")
		given[name] = value
	}
	gates, errs := input.Gates(given)
	nodes, err := number("nodes", f.Nodes, mostNodes)
	errs = append(errs, err, input.SetTwice(f.Set))
	if _, err := number("seed", f.Seed, input.LastSeed); err != nil {
		errs = append(errs, err)
	}
	if a.Runs < 0 || a.Runs > mostRuns {
		errs = append(errs, fmt.Errorf("--runs %d: want at most %d in a page; more of them with lameduck sim -f", a.Runs, mostRuns))
	}
	return &scenario.Options{
		KubernetesVersion: f.KubernetesVersion, FeatureGates: gates, Nodes: int(nodes), Rate: f.Rate, Timeout: f.Timeout, ConnectTimeout: f.ConnectTimeout,
		Profile: f.Profile, LB: f.LB, Env: f.Env, Actions: f.Actions, Target: f.Target, Until: f.Until, Set: f.Set, Wording: input.Wording(),
	}, errors.Join(errs...)
}

// number reads a flag that is a number from 1, 0 for one that is not given.
func number(name, text string, most uint64) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("--%s %s: want 1 to %d in a page", name, text, most)
	}
	return n, nil
}

// UnmarshalJSON reads a list, or a text with commas.
func (w *Words) UnmarshalJSON(raw []byte) error {
	list, one, err := listOf(raw)
	if one != "" {
		list = strings.Split(one, ",")
	}
	*w = list
	return err
}

// UnmarshalJSON reads a list, or a text.
func (l *List) UnmarshalJSON(raw []byte) error {
	list, one, err := listOf(raw)
	if one != "" {
		list = []string{one}
	}
	*l = list
	return err
}

func listOf(raw []byte) (list []string, one string, err error) {
	if bytes.HasPrefix(raw, []byte(`"`)) {
		err = json.Unmarshal(raw, &one)
		return nil, one, err
	}
	if err = json.Unmarshal(raw, &list); len(list) == 0 {
		list = nil // as if it were not given
	}
	return list, "", err
}
