package controlplane

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Format is the value of a Recording's field of that name.
const Format = "lameduck/recording/v1"

// Recording is what a cluster was, what was done to it and what happened then. docs/recordings.md describes the file.
type Recording struct {
	Format string `json:"format"`
	Name   string `json:"name"`
	About  string `json:"about,omitempty"`  // what it shows, for people
	Source string `json:"source,omitempty"` // where it was made
	// Kubernetes is the version of the control plane.
	Kubernetes string `json:"kubernetes"`
	// Objects are Nodes, workloads, Services and PodDisruptionBudgets as they were at the beginning, everything ready.
	Objects []json.RawMessage `json:"objects"`
	Pods    []Placed          `json:"pods"`
	Times   []Times           `json:"times"`
	Actions []Action          `json:"actions"`
	Until   Seconds           `json:"until"` // how long it was watched
	Events  []Event           `json:"events"`
}

// Placed is a pod that ran at the beginning: where, when it was created and since when it was ready, both below 0.
type Placed struct {
	Pod     string  `json:"pod"`
	Node    string  `json:"node"`
	Created Seconds `json:"created"`
	Ready   Seconds `json:"ready"`
}

// Times are the delays of the pods of a workload's revision, 0 being that of the beginning.
type Times struct {
	Workload string   `json:"workload"`
	Revision int      `json:"revision"`
	Start    Seconds  `json:"start"`
	Ready    *Seconds `json:"ready,omitempty"` // nil: never
	Stop     Seconds  `json:"stop"`
}

// Action is something that was done. Do is its verb, the other fields what the verb takes.
type Action struct {
	At       Seconds         `json:"at"`
	Do       string          `json:"do"`
	Workload string          `json:"workload,omitempty"`
	Node     string          `json:"node,omitempty"`
	Nodes    []string        `json:"nodes,omitempty"`
	Pod      *int            `json:"pod,omitempty"` // of the workload's, the oldest first
	Replicas *int            `json:"replicas,omitempty"`
	Image    string          `json:"image,omitempty"`
	Grace    *Seconds        `json:"gracePeriod,omitempty"`
	Timeout  *Seconds        `json:"timeout,omitempty"`
	Delete   bool            `json:"disableEviction,omitempty"`
	Object   json.RawMessage `json:"object,omitempty"`
}

// Event is one thing that the API showed, or that somebody who asked it was told. What says which of the other fields it has.
type Event struct {
	// At is when, What what happened.
	At         Seconds `json:"at"`
	What       What    `json:"what"`
	Pod        string  `json:"pod,omitempty"`  // "web r1 3": the fourth pod of the second revision
	Node       string  `json:"node,omitempty"` // of a pod that was bound, or that was cordoned or drained
	Service    string  `json:"service,omitempty"`
	Conditions string  `json:"conditions,omitempty"` // of an endpoint: "RST", each - where it does not hold
	Workload   string  `json:"workload,omitempty"`
	Revision   int     `json:"revision,omitempty"`
	Replicas   int     `json:"replicas,omitempty"`
	Budget     string  `json:"budget,omitempty"`
	Status     []int   `json:"status,omitempty"` // disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods
}

// What happened.
type What string

// What can happen.
const (
	Created      What = "created"      // a pod
	Bound        What = "bound"        // a pod, to Node
	Running      What = "running"      // a pod
	Ready        What = "ready"        // a pod
	Unready      What = "unready"      // a pod, which goes on
	Deleted      What = "deleted"      // a pod got its deletionTimestamp
	Ended        What = "ended"        // a pod's phase is Succeeded or Failed
	Gone         What = "gone"         // a pod's object
	Endpoint     What = "endpoint"     // a pod is in a slice of Service with other Conditions than before
	EndpointGone What = "endpointGone" // it is in none any more
	Scaled       What = "scaled"       // the ReplicaSet of Workload and Revision is to have Replicas
	Cordoned     What = "cordoned"     // Node
	Uncordoned   What = "uncordoned"   // Node
	Evicted      What = "evicted"      // an eviction of Pod was granted
	Refused      What = "refused"      // an eviction of Pod was refused
	Drained      What = "drained"      // kubectl drain is done with Node
	GaveUp       What = "gaveUp"       // kubectl drain is done with Node, and failed
	BudgetStatus What = "budget"       // the status of Budget is Status
)

// Seconds is a time in seconds, to the millisecond.
type Seconds float64

// SecondsOf are the seconds of a duration.
func SecondsOf(d time.Duration) Seconds {
	return Seconds(math.Round(d.Seconds()*1000) / 1000)
}

// Duration is the time as a duration.
func (s Seconds) Duration() time.Duration {
	return time.Duration(math.Round(float64(s)*1000)) * time.Millisecond
}

// Read reads a file.
func Read(path string) (*Recording, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	r := &Recording{}
	if err := d.Decode(r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// check says what a reader cannot do with a recording.
func (r *Recording) check() error {
	var errs []error
	if r.Format != Format {
		errs = append(errs, fmt.Errorf("format is %q, and not %q", r.Format, Format))
	}
	if len(r.Actions) == 0 || len(r.Events) == 0 {
		errs = append(errs, errors.New("nothing was done, or nothing happened"))
	}
	if !slices.IsSortedFunc(r.Events, func(a, b Event) int { return compareSeconds(a.At, b.At) }) {
		errs = append(errs, errors.New("events are not in the order of their times"))
	}
	for _, e := range r.Events {
		if e.Pod != "" {
			if _, err := parsePod(e.Pod); err != nil {
				errs = append(errs, err)
				break
			}
		}
	}
	return errors.Join(errs...)
}

func compareSeconds(a, b Seconds) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}

// podName is a pod of a recording.
type podName struct {
	workload          string
	revision, ordinal int
}

func (p podName) String() string { return fmt.Sprintf("%s r%d %d", p.workload, p.revision, p.ordinal) }

// numbering numbers the revisions of workloads by when they appeared: 0 is that of the beginning.
type numbering struct{ known map[string][]int }

// revision is the number of one, by another number that it has.
func (n *numbering) revision(workload string, other int) int {
	if n.known == nil {
		n.known = map[string][]int{}
	}
	list := n.known[workload]
	if len(list) == 0 {
		list = []int{0}
	}
	i := slices.Index(list, other)
	if i < 0 {
		i, list = len(list), append(list, other)
	}
	n.known[workload] = list
	return i
}

// parsePod reads "web r1 3".
func parsePod(name string) (podName, error) {
	var p podName
	fields := strings.Fields(name)
	if len(fields) == 3 {
		if n, err := fmt.Sscanf(fields[1]+" "+fields[2], "r%d %d", &p.revision, &p.ordinal); n == 2 && err == nil {
			p.workload = fields[0]
			return p, nil
		}
	}
	return p, fmt.Errorf("pod %q: expected WORKLOAD rREVISION NUMBER, such as \"web r1 3\"", name)
}

// Write writes a file.
func (r *Recording) Write(path string) error {
	var out bytes.Buffer
	out.WriteString("{\n")
	fields := []struct {
		name  string
		value any
	}{
		{"format", r.Format}, {"name", r.Name}, {"about", r.About}, {"source", r.Source}, {"kubernetes", r.Kubernetes}, {"until", r.Until},
		{"objects", r.Objects}, {"pods", r.Pods}, {"times", r.Times}, {"actions", r.Actions}, {"events", r.Events},
	}
	for i, f := range fields {
		if err := writeField(&out, f.name, f.value, i == len(fields)-1); err != nil {
			return err
		}
	}
	out.WriteString("}\n")
	return os.WriteFile(path, out.Bytes(), 0o644) // for everybody
}

// writeField writes a field on a line of its own, and of a list each element.
func writeField(out *bytes.Buffer, name string, value any, last bool) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	var list []json.RawMessage
	if json.Unmarshal(data, &list) == nil && len(list) > 0 {
		lines := make([]string, len(list))
		for i := range list {
			lines[i] = "    " + string(list[i])
		}
		data = []byte("[\n" + strings.Join(lines, ",\n") + "\n  ]")
	}
	fmt.Fprintf(out, "  %q: %s", name, data)
	if !last {
		out.WriteByte(',')
	}
	out.WriteByte('\n')
	return nil
}

// ReadDir reads all recordings of a directory, by name. There has to be one.
func ReadDir(dir string) ([]*Recording, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: there is no recording (*.json)", dir)
	}
	var out []*Recording
	for _, f := range files {
		r, err := Read(f)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}
