package play

// Ask is one question of the page. Do says which, and which of the other fields count.
type Ask struct {
	// Do is "look", "turn", "draw" or "run".
	Do string `json:"do"`
	// Manifest is the text in the editor. Name is what the file is called in positions and in the command to repeat; "" for manifest.yaml.
	Manifest string `json:"manifest"`
	Name     string `json:"name"`
	// Version is lameduck's, for the record: what start.json says. "" for (devel).
	Version string `json:"version"`
	// Flags are for look, draw and run: what of lameduck sim -f is no field of the manifest.
	Flags Flags `json:"flags"`
	// Workload, Knob and Value are for turn, and for draw where something is turned before: a Knob's workload and name as look has them, and a value such
	// as "5s", "3" or "25%". A number alone is taken for seconds where the knob has them.
	Workload string `json:"workload"`
	Knob     string `json:"knob"`
	Value    string `json:"value"`
	// Runs is for run: how many seeds of each case, 0 for as many as lameduck sim takes.
	Runs int `json:"runs"`
	// Quick is for run: few seeds (Runs, or 3), and neither other values of assumptions nor fixes.
	Quick bool `json:"quick"`
	// Undrawn is for run: the record has no timelines. Those that are looked at are asked for with draw.
	Undrawn bool `json:"undrawn"`
	// Case, Family and Seed are for draw: which case, by its ID, behind which of the load balancers that it might have, by its preset ("" for the first), and
	// which run of it.
	Case   string `json:"case"`
	Family string `json:"family"`
	Seed   uint64 `json:"seed"`
}

// Flags are flags of lameduck sim by their names, with the words of a command line. A name that is not here is refused. "" is as if the flag were not
// given.
type Flags struct {
	Actions           Words  `json:"action,omitempty"`
	ConnectTimeout    string `json:"connect-timeout,omitempty"`
	Env               string `json:"env,omitempty"`
	FeatureGates      Words  `json:"feature-gates,omitempty"` // NAME=true or NAME=false
	KubernetesVersion string `json:"kubernetes-version,omitempty"`
	LB                string `json:"lb,omitempty"`
	Nodes             string `json:"nodes,omitempty"`
	Profile           string `json:"profile,omitempty"`
	Rate              string `json:"rate,omitempty"`
	Seed              string `json:"seed,omitempty"`
	Set               List   `json:"set,omitempty"` // PATH=VALUE of a Scenario's spec
	Target            string `json:"target,omitempty"`
	Timeout           string `json:"timeout,omitempty"`
	Until             string `json:"until,omitempty"`
}

// Words are a list in JSON, or one text with commas between them.
type Words []string

// List is a list in JSON, or one text that is all of it.
type List []string

// Answered is what every answer begins with. Refused is one sentence where the question itself, a flag or a bound is at fault, and then nothing else
// is answered; "" otherwise. Errors are those of the manifest: what cannot be read is not run. Warnings are of the same kind and stop nothing.
type Answered struct {
	Do       string    `json:"do"`
	Refused  string    `json:"refused"`
	Errors   []Problem `json:"errors"`
	Warnings []Problem `json:"warnings"`
}

// Problem is something wrong with the manifest. Line and Column count from 1. Text has the words of the terminal without their position.
type Problem struct {
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Text   string `json:"text"`
}

// Looked answers look.
type Looked struct {
	Answered
	Cases []Case `json:"cases"`
	Knobs []Knob `json:"knobs"`
	// Choices are the values of flags that take one of a list, by the flag's name; InForce those that hold now: "" where the flag is not given and its
	// default is no single value.
	Choices map[string][]Option `json:"choices"`
	InForce map[string]string   `json:"inForce"`
}

// Case is what will be simulated. Judged is false for one of which nothing is claimed; Reason says why.
type Case struct {
	ID       string `json:"id"`
	Action   string `json:"action"`
	Workload string `json:"workload"` // "ns/name"
	Traffic  string `json:"traffic"`
	Judged   bool   `json:"judged"`
	Reason   string `json:"reason"`
}

// Knob is a setting with a place on a scale. One with a Workload is a field of the manifest, for turn. One without is --set: its Name is the path,
// and "NAME=VALUE" belongs into Flags.Set.
type Knob struct {
	Workload string `json:"workload"` // "Deployment ns/name", "" for --set
	Name     string `json:"knob"`
	// Unit is what follows the number in a value: "s", "ms", "%" or "".
	Unit string `json:"unit"`
	// Value is what the manifest, or a flag, says, or else the default; "" where it is no value of the scale, such as a preStop hook that runs a
	// program.
	Value   string `json:"value"`
	Written bool   `json:"written"` // it stands in the manifest, or in the flags
	Line    int    `json:"line"`    // of the manifest, 0 where it does not stand there
	Min     int    `json:"min"`
	Max     int    `json:"max"`
	Step    int    `json:"step"`
	Words   string `json:"words"`
}

// Option is a value, with what it is.
type Option struct {
	Value string `json:"value"`
	Words string `json:"words"`
}

// Turned answers turn: the text with one field changed.
type Turned struct {
	Answered
	Manifest string `json:"manifest"`
}

// Drawn answers draw, which is asked so that a picture changes while somebody drags a knob. Timeline comes last in the answer: one run of the case as lanes, as
// in a record, but for the requests that were simply answered, which are counted: the lanes of clients have them spread evenly between the others. It is null
// where there is no such case.
type Drawn struct {
	Turned
	Case string `json:"case"`
}

// Ran answers run. Record comes last in the answer, byte for byte the document of lameduck sim -f NAME -o json --timeline with the same flags (and
// --runs, and for Quick --sensitivity=false --fixes 0; without --timeline for Undrawn); it is null with Refused or Errors.
type Ran struct {
	Answered
	// Command is the command line that has the same record.
	Command string `json:"command"`
	Exit    int    `json:"exit"` // the exit code: 0, or 1 where something is lost or not as expected
	Text    string `json:"text"` // the report in lines of 100 columns
	// What follows is what a report in HTML has beside the record (sim/html): see its type data.
	Order  []int    `json:"order"`  // of the cases, the worst first
	Titles []string `json:"titles"` // of the cases
	Replay string   `json:"replay"`
	Notes  []string `json:"notes"`
	Runs   int      `json:"runs"` // of the case with the most
	Head   *Head    `json:"head"` // null where there is no case
}

// Head is the head of the report: of the worst case.
type Head struct {
	Verdict  string  `json:"verdict"`
	Sentence string  `json:"sentence"`
	Answers  []Label `json:"answers"`
}

// Label is one answer of the head: who notices, why, what to do.
type Label struct {
	Label string   `json:"label"`
	Words []string `json:"words"`
}

// Start is the file start.json that lameduck play serves beside the page: which lameduck it is, and the manifest of -f, "" for the page's own.
type Start struct {
	Version  string `json:"version"`
	Name     string `json:"name"`
	Manifest string `json:"manifest"`
}
