package controlplane

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// account is what events amount to.
type account struct {
	// series are the times of events, by what happened to which pods: "created web r1".
	series map[string][]Seconds
	// says are statements about the whole, by what they are about.
	says map[string]string

	pods    map[string]*podState
	chosen  map[string]map[string]int // how many pods were deleted, by workload and what was special about them
	paths   map[string]string         // conditions in slices, by service and pod
	bounds  map[string]*bounds        // by workload
	sizes   map[string]int            // of ReplicaSets
	budgets map[string][]int
	refused int

	revisions numbering // one that no pod was made of, and no ReplicaSet, does not count
}

// podState is a pod at a moment.
type podState struct {
	podName
	node                                 string
	running, ready, deleted, ended, gone bool
}

func (p *podState) active() bool    { return !p.deleted && !p.ended && !p.gone }
func (p *podState) available() bool { return p.active() && p.ready }

// bounds are the extremes of a workload.
type bounds struct{ leastAvailable, mostActive, mostThere, mostTerminating int }

func newAccount(r *Recording, events []Event) *account {
	a := &account{
		series: map[string][]Seconds{}, says: map[string]string{}, pods: map[string]*podState{}, chosen: map[string]map[string]int{},
		paths: map[string]string{}, bounds: map[string]*bounds{}, sizes: map[string]int{}, budgets: map[string][]int{},
	}
	a.begin(r)
	for i := range events {
		a.add(&events[i])
		a.extremes()
	}
	a.conclude()
	return a
}

// begin takes note of the pods of the beginning. The names are those of the recording; a simulation has the same.
func (a *account) begin(r *Recording) {
	for _, p := range r.Pods {
		name, err := parsePod(p.Pod)
		if err != nil {
			continue // Read refuses it
		}
		name.revision = a.revisions.revision(name.workload, name.revision)
		a.pods[p.Pod] = &podState{podName: name, node: p.Node, running: true, ready: true}
	}
	for _, p := range a.pods { // order: only counts
		if b := a.bounds[p.workload]; b == nil {
			a.bounds[p.workload] = &bounds{}
		}
		b := a.bounds[p.workload]
		b.leastAvailable++
	}
	a.extremes()
}

// add counts one event.
func (a *account) add(e *Event) {
	switch e.What {
	case Scaled:
		a.sizes[fmt.Sprintf("%s r%d", e.Workload, a.revisions.revision(e.Workload, e.Revision))] = e.Replicas
		return
	case BudgetStatus:
		a.budgets[e.Budget] = e.Status
		return
	case Refused:
		a.refused++
		return
	case Evicted:
		return
	case Cordoned, Uncordoned, Drained, GaveUp:
		a.at(string(e.What)+" "+e.Node, e.At)
		return
	default: // of a pod
	}
	p := a.pod(e.Pod)
	if p == nil {
		return
	}
	of := fmt.Sprintf(" %s r%d", p.workload, p.revision)
	switch e.What {
	case Endpoint:
		a.at(string(e.What)+of+" "+e.Conditions, e.At)
		a.paths[e.Service+" "+e.Pod] += " " + e.Conditions
		return
	case EndpointGone:
		a.at(string(e.What)+of, e.At)
		a.paths[e.Service+" "+e.Pod] += " gone"
		return
	default:
	}
	a.at(string(e.What)+of, e.At)
	a.change(p, e)
}

// change changes a pod.
func (a *account) change(p *podState, e *Event) {
	switch e.What {
	case Bound:
		p.node = e.Node
	case Running:
		p.running = true
	case Ready:
		p.ready = true
	case Unready:
		p.ready = false
	case Deleted:
		a.choose(p)
		p.deleted = true
	case Ended:
		p.ended, p.ready = true, false
	case Gone:
		p.gone = true
	default:
	}
}

// at notes the time of an event.
func (a *account) at(series string, at Seconds) { a.series[series] = append(a.series[series], at) }

// pod is a pod, which is new where it was not known.
func (a *account) pod(name string) *podState {
	if p := a.pods[name]; p != nil {
		return p
	}
	parsed, err := parsePod(name)
	if err != nil {
		return nil
	}
	parsed.revision = a.revisions.revision(parsed.workload, parsed.revision)
	p := &podState{podName: parsed}
	a.pods[name] = p
	if a.bounds[p.workload] == nil {
		a.bounds[p.workload] = &bounds{}
	}
	return p
}

// choose notes what was special about a pod that is deleted.
func (a *account) choose(p *podState) {
	words := "ready"
	switch {
	case p.node == "":
		words = "without a node"
	case !p.running:
		words = "pending"
	case !p.ready:
		words = "not ready"
	}
	key := fmt.Sprintf("%s r%d", p.workload, p.revision)
	if a.chosen[key] == nil {
		a.chosen[key] = map[string]int{}
	}
	a.chosen[key][words]++
}

// extremes looks at the counts of a moment.
func (a *account) extremes() {
	now := map[string]*bounds{}
	for name := range a.bounds {
		now[name] = &bounds{}
	}
	for _, p := range a.pods { // order: only counts
		b := now[p.workload]
		if p.available() {
			b.leastAvailable++
		}
		if p.active() {
			b.mostActive++
		}
		if !p.ended && !p.gone {
			b.mostThere++
		}
		if p.deleted && !p.ended && !p.gone {
			b.mostTerminating++
		}
	}
	for name, b := range now { // order: each is by itself
		of := a.bounds[name]
		of.leastAvailable = min(of.leastAvailable, b.leastAvailable)
		of.mostActive = max(of.mostActive, b.mostActive)
		of.mostThere = max(of.mostThere, b.mostThere)
		of.mostTerminating = max(of.mostTerminating, b.mostTerminating)
	}
}

// conclude says what it all amounts to.
func (a *account) conclude() {
	for name, b := range a.bounds { // order: each is by itself
		a.says[name+": least available"] = fmt.Sprint(b.leastAvailable)
		a.says[name+": most pods"] = fmt.Sprint(b.mostActive)
		a.says[name+": most pods, with those that stop"] = fmt.Sprint(b.mostThere)
		a.says[name+": most pods that stop"] = fmt.Sprint(b.mostTerminating)
	}
	for name, size := range a.sizes { // order: each is by itself
		a.says[name+": spec.replicas at the end"] = fmt.Sprint(size)
	}
	for name, status := range a.budgets { // order: each is by itself
		a.says["budget "+name+" at the end"] = fmt.Sprint(status)
	}
	for name, words := range a.chosen { // order: each is by itself
		a.says[name+": deleted"] = counts(words)
	}
	a.says["evictions refused"] = fmt.Sprint(a.refused > 0)
	a.ends()
	paths := map[string]map[string]int{}
	for name, path := range a.paths { // order: only counts
		service, pod, _ := strings.Cut(name, " ")
		p := a.pods[pod]
		key := fmt.Sprintf("endpoints of %s in %s r%d", service, p.workload, p.revision)
		if paths[key] == nil {
			paths[key] = map[string]int{}
		}
		paths[key][strings.TrimSpace(path)]++
	}
	for key, list := range paths { // order: each is by itself
		a.says[key] = counts(list)
	}
}

// ends says which pods there are at the end.
func (a *account) ends() {
	last := map[string]map[string]int{}
	for _, p := range a.pods { // order: only counts
		if p.gone {
			continue
		}
		words := "ready"
		switch {
		case p.ended:
			words = "ended"
		case p.deleted:
			words = "stopping"
		case p.node == "":
			words = "without a node"
		case !p.ready:
			words = "not ready"
		}
		key := fmt.Sprintf("%s r%d", p.workload, p.revision)
		if last[key] == nil {
			last[key] = map[string]int{}
		}
		last[key][words]++
	}
	for key, words := range last { // order: each is by itself
		a.says[key+": at the end"] = counts(words)
	}
}

// counts are "3 ready, 1 pending".
func counts(of map[string]int) string {
	var out []string
	for _, words := range slices.Sorted(maps.Keys(of)) {
		out = append(out, fmt.Sprintf("%d %s", of[words], words))
	}
	return strings.Join(out, ", ")
}
