package play

import (
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/test/golden"
)

var update = flag.Bool("update", false, "rewrite the sums of answers")

// keptAnswers has a line for each example and for each of its knobs.
const keptAnswers = "testdata/answers.txt"

// What the page is answered of the examples stays as it was: what there is in them, and their text with each knob turned to the ends of its scale and to
// what it cannot have. Flags are asked for beside them.
func TestAnswersOfExamples(t *testing.T) {
	t.Parallel()
	var lines []string
	for _, pattern := range []string{"../../examples/*.yaml", "../report/testdata/*.yaml"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatal(pattern, err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, answersOf(t, filepath.Base(path), string(data))...)
		}
	}
	for _, flags := range []Flags{
		{Actions: Words{"drain=node-1"}}, {Actions: Words{"rollout", "nothing"}}, {ConnectTimeout: "1s", Timeout: "2s"}, {Env: "kind"}, {Env: "nowhere"},
		{FeatureGates: Words{"ProxyTerminatingEndpoints=true"}, KubernetesVersion: "1.25"}, {FeatureGates: Words{"A"}}, {LB: "gke-l4"},
		{LB: "nobody"}, {Nodes: "5"}, {Nodes: "-1"}, {Nodes: "many"}, {Profile: "nginx"}, {Rate: "50/s"}, {Rate: "50"}, {Seed: "7"}, {Seed: "-7"},
		{Target: "nodes"}, {Until: "2m"}, {Set: List{"nodes.count=4", "nodes.count=5"}}, {Set: List{"latency.watch=1s"}}, {Set: List{"latency"}},
		{KubernetesVersion: "1.99"}, {KubernetesVersion: "1.3"},
	} {
		said, err := json.Marshal(flags)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, "flags "+string(said)+" "+short(answerTo(t, Ask{Do: "look", Manifest: app, Flags: flags})))
	}
	golden.Compare(t, keptAnswers, strings.Join(lines, "\n")+"\n", *update)
}

func answersOf(t *testing.T, name, text string) []string {
	t.Helper()
	raw := answerTo(t, Ask{Do: "look", Manifest: text, Name: name})
	var looked Looked
	if err := json.Unmarshal(raw, &looked); err != nil {
		t.Fatal(err)
	}
	lines := []string{name + " " + short(raw)}
	for _, k := range looked.Knobs {
		if k.Workload == "" {
			continue
		}
		line := name + ", " + k.Workload + " " + k.Name
		for _, value := range []string{strconv.Itoa(k.Min) + k.Unit, strconv.Itoa(k.Max) + k.Unit, "7", "x"} {
			line += " " + value + ": " + short(answerTo(t, Ask{Do: "turn", Manifest: text, Name: name, Workload: k.Workload, Knob: k.Name, Value: value}))
		}
		lines = append(lines, line)
	}
	return lines
}

func answerTo(t *testing.T, a Ask) []byte {
	t.Helper()
	raw, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return Answer(raw, nil)
}

// short is the sum of an answer, with what it was refused for.
func short(raw []byte) string {
	h := fnv.New32a()
	_, _ = h.Write(raw)
	var a Answered
	if json.Unmarshal(raw, &a) != nil || a.Refused == "" {
		return fmt.Sprintf("%08x", h.Sum32())
	}
	return fmt.Sprintf("%08x (%s)", h.Sum32(), a.Refused)
}
