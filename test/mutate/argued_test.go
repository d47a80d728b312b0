package mutate

import (
	"strings"
	"testing"
)

// argued is a mistake that no test can notice, because nothing that anybody sees depends on it.
type argued struct {
	name   string // Mistake.Name
	reason string
}

// reasonsByName has the reason of each argued mistake.
func reasonsByName() map[string]string {
	reasons := map[string]string{}
	for _, a := range arguedMistakes {
		reasons[a.name] = a.reason
	}
	return reasons
}

// An argued mistake can still be made: its function still has the text that it changes.
func TestArguedMistakesExist(t *testing.T) {
	t.Parallel()
	exist := map[string]bool{}
	for _, m := range production(t) {
		exist[m.Name()] = true
	}
	seen := map[string]bool{}
	for _, a := range arguedMistakes {
		if !exist[a.name] {
			t.Errorf("no such mistake any more: %s", a.name)
		}
		if seen[a.name] || len(strings.Fields(a.reason)) < 4 {
			t.Errorf("there twice, or without a reason: %s", a.name)
		}
		seen[a.name] = true
	}
}

var arguedMistakes = []argued{
	{
		`sim/scenario/scaler.go: scaledObject: comparison widened: "n > 0" -> "n >= 0"`,
		"a greatest number of pods of 0 is none to whoever asks for it",
	},
	{
		`endpoints/edit.go: editGroups: early return dropped: "return nil, false" -> ""`,
		"groups that are edited and those that are built from all slices are the same: it only bounds the work",
	},
	{
		`endpoints/manifest/split.go: (*header).line: comparison narrowed: "strings.IndexByte(\" -#\\r\\n\", c) >= 0" -> "strings.IndexByte(\" -#\\r\\n\", c) > 0"`,
		"a document with lines that are indented is read by the full parser then, to the same end",
	},
	{
		`proxier/explain/truth.go: sample: bound shifted: "1" -> "2"`,
		"the endpoints of the sample have other addresses then, which nothing shows",
	},
	{
		`proxier/kubeproxy/types.go: (*FlushFrequency).UnmarshalJSON: comparison widened: "len(data) > 0" -> "len(data) >= 0"`,
		"encoding/json gives a value to decode, which is never without a byte",
	},
	{
		`sim/endpointslice/endpoint.go: PartsOf: statement dropped: "out[i] = make([]Entry, 0, n)" -> ""`,
		"append grows the list as well, in more steps",
	},
	{
		`sim/control/tainteviction.go: (*TaintEviction).plan: statement dropped: "c.cancel(p.ID)" -> "" #3`,
		"an eviction that another one has taken the place of does nothing when its time comes",
	},
	{
		`sim/placement/cycle.go: (*Cycle).node: conjunct deleted: "len(at.taints) > 0 && !world.Tolerates(tolerations, at.taints)" -> "!world.Tolerates(tolerations, at.taints)"`,
		"no taints are tolerated by whoever tolerates nothing: it only saves the call",
	},
	{
		`sim/traffic/silence.go: (*silence).makeRoom: disjunct deleted: "n < cap(q.list) || done <= n/4" -> "done <= n/4"`,
		"those that have given up are forgotten sooner, which nobody asks for again",
	},
	{
		`cmd/lameduck/internal/agent/serve.go: healthAddresses: conjunct deleted: "endpoints.FamilyOf(a) == f && slices.ContainsFunc(ranges, in)" -> "slices.ContainsFunc(ranges, in)"`,
		"a range of one family contains no address of the other (netip.Prefix.Contains)",
	},
	{
		`proxier/kubeproxy/change.go: Reread: comparison widened: "next.Mode != running.Mode" -> "true"`,
		"to read the same file again in the mode that it names comes to the same",
	},
	{
		`proxier/kubeproxy/fields.go: walk: conjunct deleted: "t.Anonymous && name == \"\"" -> "name == \"\""`,
		"each field of a KubeProxyConfiguration that is not embedded has a name in JSON",
	},
	{
		`cmd/lameduck/internal/cli/servers.go: (*serverFlags).options: conjunct deleted: "f.set(\"healthz-port\") && f.healthzPort == 0" -> "f.healthzPort == 0"`,
		"a port that is not given is 10256, and not 0",
	},
	{
		`cmd/lameduck/internal/cli/servers.go: (*serverFlags).options: conjunct deleted: "f.set(\"metrics-port\") && f.metricsPort == 0" -> "f.metricsPort == 0"`,
		"a port that is not given is 10249, and not 0",
	},
	{
		`cmd/lameduck/internal/cli/version.go: currentVersion: early return dropped: "return v" -> "" #2`,
		"a program that the go command has built of a module knows what it was built of",
	},
	{
		`endpoints/manifest/validate_pod.go: (*checker).hook: conjunct deleted: "h.TCPSocket != nil && badPortReference(h.TCPSocket.Port) != \"\"" -> "h.TCPSocket != nil"`,
		"a hook with tcpSocket does nothing, whatever its port is",
	},
	{
		`endpoints/manifest/yaml_simple.go: (*simpleParser).flow: statement dropped: "at = p.spaces(at)" -> ""`,
		"a list with spaces there is handed over to the full parser then, which reads it alike",
	},
	{
		`endpoints/selection.go: (*tally).count: conjunct deleted: "local && e.IsLocal(node.Name)" -> "e.IsLocal(node.Name)"`,
		"the local counts are looked at by the Local list alone, and there is none where they are not asked for",
	},
	{
		`endpoints/selection.go: (*tally).count: conjunct deleted: "local && e.IsLocal(node.Name)" -> "e.IsLocal(node.Name)" #2`,
		"the local counts are looked at by the Local list alone, and there is none where they are not asked for",
	},
	{
		`endpoints/snapshot.go: (*Service).HealthCheckNodePort: bound shifted: "0" -> "1"`,
		"a Service has one such port for all of its ports, or none: the first port has it if any has",
	},
	{
		`proxier/explain/build.go: (*builder).port: statement dropped: "*scratch = decisions" -> ""`,
		"it only saves taking memory for the next port's decisions",
	},
	{
		`proxier/nftables/allowlists.go: (*update).firewall: early return dropped: "return" -> ""`,
		"equal lists are one, whose uses go down and up again: the next return ends it",
	},
	{
		`proxier/source/files/files.go: (*Source).load: early return dropped: "return" -> ""`,
		"to read the same files again delivers nothing, because only differences are delivered, and says nothing that was said",
	},
	{
		`proxier/source/files/files.go: (*Source).load: field ignored: "s.last, s.read = read, err == nil" -> ""`,
		"it only saves the reading of files that are as they were, see above",
	},
	{
		`sim/balancer/gates.go: (*Balancer).keepGates: conjunct deleted: "waiting && !b.gates.waiting" -> "!b.gates.waiting"`,
		"while no pod waits nobody asks when the ticks are, and the first one that waits sets them again",
	},
	{
		`sim/nodeproxy/churn.go: (*Proxy).hears: field ignored: "o.heard = p.arrival()" -> ""`,
		"what a watch brings next is taken up no earlier than the clock says, and the clock is at what it brought before",
	},
	{
		`sim/control/deployment.go: (*Deployments).create: field ignored: "created.Created = c.d.Engine.Now()" -> ""`,
		"ReplicaSets of a Deployment are created in the order of their revisions, which is what is compared next",
	},
	{
		`sim/control/rollout.go: newSize: early return dropped: "return in.replicas" -> ""`,
		"the difference to the replicas is not positive then, less than any room, and leads to the same number",
	},
	{
		`endpoints/manifest/split.go: isCleanText: conjunct deleted: "c < ' ' && c != '\\n' && c != '\\r' && c != '\\t'" -> "c < ' ' && c != '\\n' && c != '\\r'"`,
		"a text with tabs is looked at letter by letter then, and nothing is wrong with it there, either",
	},
	{
		`proxier/nftables/listen_linux.go: subscribe: field ignored: "Family: unix.AF_NETLINK" -> ""`,
		"unix.Bind says itself of which family the address is",
	},
	{
		`sim/api/store.go: (*Store).flush: early return dropped: "return" -> ""`,
		"while the API server is down, what is sent is held again, in the same order",
	},
	{
		`sim/judgements.go: (*judgements).of: early return dropped: "return j.few[i].blame, true" -> ""`,
		"a judgement that is not found is made once more, and comes to the same",
	},
	{
		`sim/scenario/lb.go: isProxy: conjunct deleted: "ok && p.Layer7()" -> "p.Layer7()"`,
		"a name that is unknown has an empty preset, which is not of layer 7",
	},
	{
		`sim/scenario/scaler.go: scaledObject: conjunct deleted: "ok && n > 0 && n <= maxWhole" -> "ok && n > 0"`,
		"a greatest number of pods that is not positive is none to whoever asks for it",
	},
	{
		`sim/traffic/silence.go: (*Traffic).nextQuiet: comparison widened: "len(t.streams) > 0" -> "len(t.streams) >= 0"`,
		"where nothing has ever been silent nobody asks, and without streams nothing is",
	},
	{
		`endpoints/manifest/node.go: parseInt: bound shifted: "19" -> "18"`,
		"a longer number is read by strconv, to the same end",
	},
	{
		`endpoints/manifest/path.go: (*Object).removeItems: conjunct deleted: "n.shape == sequence && s.index >= 0" -> "s.index >= 0"`,
		"the path and the number of items are those of a list that was decoded from the same place",
	},
	{
		`sim/api/queue.go: (*queue[T]).push: condition negated: "q.first > 0 && len(q.list) == cap(q.list) && 2*q.first >= len(q.list)" -> "!(q.first > 0 && len(q.list) == cap(q.list) && 2*q.first >= len(q.list))"`,
		"it only chooses when the room in front is used again",
	},
	{
		`sim/scenario/document.go: (*document).references: conjunct deleted: "ok && name != \"\"" -> "name != \"\""`,
		"what is no text is an empty one here",
	},
	{
		`sim/scenario/read.go: (cursor).seconds: disjunct deleted: "c.v == nil || err != nil" -> "c.v == nil"`,
		"what cannot be read has been reported by then, and nothing of the document is used",
	},
	{
		`sim/scenario/set.go: putInto: disjunct deleted: "!ok || m == nil" -> "m == nil"`,
		"what is no mapping is a nil one here",
	},
	{
		`sim/traffic/heap.go: (*heap[T]).push: comparison widened: "i > 0" -> "i >= 0"`,
		"the first entry is its own parent here, and not before itself",
	},
	{
		`sim/bounds.go: tooLarge: bound shifted: "mostPodsNodes" -> "20000001" #2`,
		"no number of pods times one of nodes, each within its own bound, is 20,000,001",
	},
	{
		`sim/traffic/wait.go: (*Traffic).wake: field ignored: "t.spare = append(t.spare, a)" -> ""`,
		"it only saves taking memory for the next request that waits",
	},
	{
		`proxier/pace/pace.go: (Policy).retry: comparison widened: "wait < p.RetryInterval" -> "wait <= p.RetryInterval"`,
		"what is longer than the retry interval is cut to it in the end",
	},
	{
		`proxier/pace/pace.go: (Policy).checksBefore: comparison widened: "p.checkAt(s) < moment" -> "p.checkAt(s) <= moment"`,
		"a sync that is due at that very moment is a full one in either case",
	},
	{
		`proxier/host/host_linux.go: Addresses: conjunct deleted: "ok && usable(addr.Unmap(), a.Flags)" -> "usable(addr.Unmap(), a.Flags)"`,
		"the kernel's addresses have 4 or 16 bytes, and nothing else is no address",
	},
	{
		`proxier/host/limits.go: (Setting).set: comparison widened: "now > s.Value" -> "now >= s.Value"`,
		"a number that is the same is left alone by what stands before it",
	},
	{
		`endpoints/manifest/yaml_simple.go: (*simpleParser).value: early return dropped: "return n" -> ""`,
		"what the simple parser builds after it has given up is thrown away, and the first place where it gave up is what it says",
	},
	{
		`endpoints/manifest/yaml_simple.go: (*simpleParser).value: early return dropped: "return n" -> "" #2`,
		"what the simple parser builds after it has given up is thrown away, see above",
	},
	{
		`endpoints/manifest/yaml_simple.go: (*simpleParser).flow: early return dropped: "return n, at" -> ""`,
		"it reads nothing more once it has given up, and what it has built is thrown away, see above",
	},
	{
		`sim/cluster/service.go: (*World).offers: early return dropped: "return true" -> ""`,
		"a Service that nobody has changed has the port that its entry was made for: the longer way comes to the same",
	},
	{
		`sim/control/scheduler.go: (*Scheduler).schedule: disjunct deleted: "p == nil || p.Deleting()" -> "p == nil"`,
		"a pod without a node is gone as soon as it is deleted, and not known any more",
	},
	{
		`sim/traffic/calm.go: (*calm).isGood: early return dropped: "return true" -> ""`,
		"it only saves asking the targets of a way once more within one look, in which they answer alike",
	},
	{
		`cmd/lameduck/internal/agent/agent.go: run: error ignored: "return err" -> "return nil" #3`,
		"without a kernel a proxy can always be made: what it programs nothing with is there",
	},
	{
		`sim/scenario/set.go: (*document).put: statement dropped: "d.settingError(setting, \"%v\", err)" -> ""`,
		"its paths are those that the program writes, and what it writes it can read (TestAPathIsReadAsItIsWritten)",
	},
	{
		`sim/scenario/set.go: (*document).override: early return dropped: "return" -> "" #2`,
		"what cannot be read has been reported by then, and nothing of the document is used",
	},
	{
		`cmd/lameduck/internal/cli/learn.go: (*learnCommand).load: error ignored: "return internalError{err}" -> "return nil"`,
		"what it reads is built in, and the tests of the lessons have read it",
	},
	{
		`sim/record/enough.go: mayDecide: bound shifted: "708_291" -> "708292"`,
		"up to 1,000 runs, the most there are, no root of it is another",
	},
	{
		`proxier/conntrack/stale.go: (*judge).serving: statement dropped: "j.known[key] = set" -> ""`,
		"what is not kept is worked out again, from the same Snapshot",
	},
	{
		`proxier/plan/table.go: (*table).own: comparison widened: "n.owner != t.owner" -> "true"`,
		"a node that is copied once more is one that nobody else has",
	},
	{
		`endpoints/manifest/split.go: withoutVersion: bound shifted: "1" -> "2"`,
		"it is a comment then, a letter shorter",
	},
	{
		`sim/traffic/sure.go: (*sure).forget: condition negated: "done > len(q.list)/4" -> "!(done > len(q.list)/4)"`,
		"it only chooses when the list is cut, whose first entries nobody looks at any more",
	},
	{
		`sim/record/judge.go: (*balance).told: bound shifted: "0" -> "1"`,
		"a difference of one is never so much that it is told: its square is 1, and four times the runs that differ is more",
	},
	{
		`sim/traffic/agenda.go: (*lane).add: case dropped: "case l.head > n/2 && n == cap(l.list):" -> ""`,
		"it only saves taking memory, by using the room in front again",
	},
	{
		`cmd/lameduck/internal/cli/sim.go: (*simCommand).progress: disjunct deleted: "f == nil || !term.IsTerminal(int(f.Fd()))" -> "!term.IsTerminal(int(f.Fd()))"`,
		"a file that is none has the descriptor of none, which is no terminal",
	},
	{
		`sim/books.go: (*run).seenUnder: statement dropped: "common[view.Number] = s" -> ""`,
		"a pod that is not remembered to be checked is checked once more",
	},
	{
		`proxier/source/live/list.go: (*reader).object: early return dropped: "return o, fmt.Errorf(\"%s %s: %w\", o.Kind, o.Name, err)" -> ""`,
		"what was read as JSON can be written as YAML: there is no such error",
	},
	{
		`proxier/nftables/watch_linux.go: (*watcher).concerns: disjunct deleted: "m.kind>>8 != unix.NFNL_SUBSYS_NFTABLES || m.kind&0xff == unix.NFT_MSG_NEWGEN" -> "m.kind>>8 != unix.NFNL_SUBSYS_NFTABLES"`,
		"the end of a transaction is of no family, and what is of none of ours is left out next",
	},
}
