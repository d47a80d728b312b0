package fix

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/edit"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// drainOf is the drain of a workload's fullest node, and the workload.
func drainOf(t *testing.T, text string) (*world.Scenario, *world.Workload) {
	t.Helper()
	objects, problems := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
	cases, more := scenario.Infer(objects, scenario.Options{Actions: []string{"drain"}})
	if manifest.HasErrors(problems) || manifest.HasErrors(more) || len(cases) == 0 || cases[0].Scenario == nil {
		t.Fatalf("%v %v", problems, more)
	}
	s := cases[0].Scenario
	return s, s.Workload("shop/web")
}

const (
	one    = "  replicas: 1"
	wants2 = "\n---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web, namespace: shop}\nspec:\n  minAvailable: 2\n  selector: {matchLabels: {app: web}}\n"
	wants1 = "\n---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web, namespace: shop}\nspec:\n  minAvailable: 1\n  selector: {matchLabels: {app: web}}\n"
	never  = "\n---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web, namespace: shop}\nspec:\n  maxUnavailable: 0\n  selector: {matchLabels: {app: web}}\n"
	hpa    = "\n---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web, namespace: shop}\nspec:\n  minReplicas: 1\n  maxReplicas: 1\n  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n"
	crowd  = "\n---\n{apiVersion: v1, kind: Node, metadata: {name: n1}}\n---\n{apiVersion: v1, kind: Node, metadata: {name: n2}}\n" +
		"---\n{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop, labels: {pod-template-hash: x}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-x, uid: u, controller: true}]}, spec: {nodeName: n1, containers: [{name: c, image: c}]}}\n" +
		"---\n{apiVersion: v1, kind: Pod, metadata: {name: b, namespace: shop, labels: {pod-template-hash: x}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-x, uid: u, controller: true}]}, spec: {nodeName: n1, containers: [{name: c, image: c}]}}\n"
	claim = "      volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]"
)

// ready are the lines of a pod that says when it is ready.
var ready = map[string]string{"CONTAINER": "        readinessProbe: {httpGet: {path: /, port: 8080}}\n"}

// A second pod helps only where each is taken for ready when it is: the kubelet takes a pod without a readiness probe for ready before its app
// listens, and its predecessor leaves.
func TestASecondPodSaysWhenItIsReady(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct { // order: each for itself
		text, title string
		has         []string
	}{
		"without a probe": {fill(nil), "replicas: 2 with a PodDisruptionBudget (maxUnavailable: 1) and a readinessProbe on port 8080", []string{"readinessProbe"}},
		"with one":        {fill(ready), "replicas: 2 with a PodDisruptionBudget (maxUnavailable: 1)", nil},
	} {
		s, w := drainOf(t, strings.Replace(x.text, "  replicas: 2", one, 1))
		seconds := 0
		for _, c := range Changes(s, w, 0) {
			if c.ID != "replicas" {
				continue
			}
			seconds++
			if c.Title != x.title || !slices.Equal(c.Has, x.has) {
				t.Errorf("%s: %q, has %v", name, c.Title, c.Has)
			}
			probe := Apply(s, w.Name(), []Change{c}).Workload(w.Name()).Container().ReadinessProbe
			if probe == nil || x.has != nil && (probe.TCPSocket == nil || probe.TCPSocket.Port.IntVal != 8080) {
				t.Errorf("%s: probe %v", name, probe)
			}
		}
		if seconds != 1 {
			t.Errorf("%s: %d times", name, seconds)
		}
	}
}

// Of two budgets that cover a pod one has to go, and which one decides whether a pod may: all of them are blocked, and one is loosened, too, where
// none lets one go.
func TestOfTwoBudgetsOneGoes(t *testing.T) {
	t.Parallel()
	budget := func(name, bound string) string {
		return "\n---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: " + name + ", namespace: shop}\nspec: {" + bound + ", selector: {matchLabels: {app: web}}}\n"
	}
	wide := strings.Replace(budget("all", "maxUnavailable: 0"), "{matchLabels: {app: web}}", "{}", 1) +
		"---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: api, namespace: shop}\nspec:\n  selector: {matchLabels: {app: api}}\n  template:\n" +
		"    metadata: {labels: {app: api}}\n    spec: {containers: [{name: c, image: example.com/api, ports: [{containerPort: 80}]}]}\n" +
		"---\n{apiVersion: v1, kind: Service, metadata: {name: api, namespace: shop}, spec: {selector: {app: api}, ports: [{port: 80}]}}\n"
	for name, c := range map[string]struct { // order: each for itself
		text string
		want []string // titles, places of the edits, and what is left
	}{
		"one of them lets a pod go": {
			budget("x1", "minAvailable: 80%") + budget("x2", "maxUnavailable: 30%"),
			[]string{"delete PodDisruptionBudget x1 (minAvailable 80%), :25 # delete PodDisruptionBudget x1, leaves x2 1"},
		},
		"both do": {
			budget("x1", "minAvailable: 1") + budget("x2", "maxUnavailable: 1"),
			[]string{
				"delete PodDisruptionBudget x2 (maxUnavailable 1), :31 # delete PodDisruptionBudget x2, leaves x1 1",
				"delete PodDisruptionBudget x1 (minAvailable 1), :25 # delete PodDisruptionBudget x1, leaves x2 1",
			},
		},
		"none does": {
			budget("x1", "minAvailable: 2") + budget("x2", "maxUnavailable: 0"),
			[]string{
				"delete PodDisruptionBudget x2 (maxUnavailable 0), maxUnavailable: 1 in PodDisruptionBudget x1, :31 # delete PodDisruptionBudget x2, leaves x1 1",
				"delete PodDisruptionBudget x1 (minAvailable 2), maxUnavailable: 1 in PodDisruptionBudget x2, :25 # delete PodDisruptionBudget x1, leaves x2 1",
			},
		},
		"one of them is of others, too": {
			budget("x1", "minAvailable: 1") + wide,
			[]string{"delete PodDisruptionBudget all (maxUnavailable 0), :31 # delete PodDisruptionBudget all, leaves x1 1; it is the budget of shop/api, too: narrow its selector instead"},
		},
	} {
		s, w := drainOf(t, fill(ready)+c.text)
		var got []string
		for _, x := range Unblock(s, w) {
			if x.ID == "budget" {
				t.Errorf("%s: %s leaves two", name, x.Title)
			}
			if x.ID != "oneBudget" {
				continue
			}
			after := Apply(s, w.Name(), []Change{x})
			left := (&target{sc: after, w: after.Workload(w.Name())}).coverings()
			words := fmt.Sprintf("%s, :%d %s, leaves %s %d", x.Title, x.Edits[0].Line, x.Edits[0].YAML()[0], left[0].Value.Name, len(left))
			if x.Destructive != "" {
				words += "; " + x.Destructive
			}
			got = append(got, words)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A webhook that is asked of its own Pods keeps them from being made whatever ends the last of them: two pods are no answer by themselves.
func TestAWebhookIsNotAskedOfItsOwnPods(t *testing.T) {
	t.Parallel()
	const configuration = `
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: w}
webhooks:
- {name: other.example.com, admissionReviewVersions: [v1], sideEffects: None, clientConfig: {url: "https://a.example"}}
- name: w.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {service: {name: web, namespace: shop, port: 80}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
`
	s, w := drainOf(t, strings.Replace(fill(ready), "  replicas: 2", one, 1)+configuration)
	var titles []string
	for _, c := range Changes(s, w, 0) {
		if c.ID == "replicas" || c.ID == "namespaceSelector" {
			titles = append(titles, c.Title)
			if got := editsText(c.Edits[:1]); !strings.Contains(got, "webhooks[1].namespaceSelector.matchExpressions namespaceSelector:|  matchExpressions:|    - key: kubernetes.io/metadata.name|      operator: NotIn|      values: [shop]") {
				t.Errorf("%s: %s", c.ID, got)
			}
			if got := Apply(s, w.Name(), []Change{c}).Vetoes; len(s.Vetoes) != 1 || len(got) != 0 {
				t.Errorf("%s: %v, %v before", c.ID, got, s.Vetoes)
			}
		}
	}
	const own = "a namespaceSelector in its webhook that leaves shop out"
	if want := []string{own, own + ", replicas: 2 with a PodDisruptionBudget (maxUnavailable: 1)"}; !slices.Equal(titles, want) {
		t.Errorf("%q", titles)
	}
}

// What a drain may want of a manifest, and what is to be pasted where. A rollout wants none of it.
func TestChangesForADrain(t *testing.T) {
	t.Parallel()
	single := strings.Replace(fill(ready), "  replicas: 2", one, 1)
	claimed := strings.Replace(single, "      containers:", claim+"\n      containers:", 1)
	recreate := strings.Replace(single, one, one+"\n  strategy: {type: Recreate}", 1)
	redis := strings.Replace(single, "image: nginx", "image: redis:7", 1)
	unknown := strings.NewReplacer("image: nginx", "image: registry.corp/kv:1", "8080", "5432").Replace(single)
	for name, c := range map[string]struct {
		text    string
		want    []string // "ID: title"
		edits   string   // of the first: file:line, path and what is pasted, by field
		untried string
		careful bool
	}{
		"one replica": {single, []string{"replicas: replicas: 2 with a PodDisruptionBudget (maxUnavailable: 1)"},
			"web.yaml:5 spec.replicas 2; web.yaml:0  apiVersion: policy/v1|kind: PodDisruptionBudget|metadata: {name: web, namespace: shop}|spec:|  maxUnavailable: 1|  selector: {matchLabels: {app: web}}", "", false},
		"one replica with a budget that two satisfy": {single + wants1, []string{"replicas: replicas: 2"}, "web.yaml:5 spec.replicas 2", "", false},
		"one replica with a budget that lets no pod go": {single + never, []string{"replicas: replicas: 2 with maxUnavailable: 1 in its PodDisruptionBudget"},
			"web.yaml:5 spec.replicas 2; web.yaml:28 spec spec:|  maxUnavailable: 1|  selector: {matchLabels: {app: web}}", "", false},
		"an autoscaler keeps one": {single + hpa, []string{"replicas: minReplicas: 2 of HPA web with a PodDisruptionBudget (maxUnavailable: 1)"},
			"web.yaml:29 spec.minReplicas 2; web.yaml:30 spec.maxReplicas 2; web.yaml:0  apiVersion: policy/v1|kind: PodDisruptionBudget|metadata: {name: web, namespace: shop}|spec:|  maxUnavailable: 1|  selector: {matchLabels: {app: web}}", "", false},
		"one that must not run twice": {recreate, []string{"replicas: replicas: 2 with a PodDisruptionBudget (maxUnavailable: 1)"}, "", "", true},
		"a database":                  {redis, nil, "", "a second database, or cache, would not have the data of the first", false},
		"an app on a database's port": {unknown, nil, "", "a second database, or cache, would not have the data of the first", false},
		"a volume of one node":        {claimed, nil, "", "the volume claim data may be of one node at a time, and nothing in the input says otherwise", false},
		"two replicas anywhere":       {fill(nil), []string{"budget: a PodDisruptionBudget (maxUnavailable: 1) for a drain with all pods on one node"}, "", "", false},
		"two replicas on two nodes":   {fill(nil) + strings.Replace(crowd, "namespace: shop, labels: {pod-template-hash: x}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-x, uid: u, controller: true}]}, spec: {nodeName: n1", "namespace: shop, labels: {pod-template-hash: x}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-x, uid: u, controller: true}]}, spec: {nodeName: n2", 1), nil, "", "", false},
		"two replicas on one node": {fill(nil) + crowd, []string{"budget: a PodDisruptionBudget (maxUnavailable: 1)", "spread: topologySpreadConstraints over nodes"},
			"web.yaml:0  apiVersion: policy/v1|kind: PodDisruptionBudget|metadata: {name: web, namespace: shop}|spec:|  maxUnavailable: 1|  selector: {matchLabels: {app: web}}", "", false},
		"with a budget already": {fill(nil) + crowd + wants1, []string{"spread: topologySpreadConstraints over nodes"},
			"web.yaml:9 spec.template.spec.topologySpreadConstraints topologySpreadConstraints:|  - maxSkew: 1|    topologyKey: kubernetes.io/hostname|    whenUnsatisfiable: ScheduleAnyway|    labelSelector: {matchLabels: {app: web}}", "", false},
	} {
		s, w := drainOf(t, c.text)
		var got []string
		var first *Change
		for _, x := range Changes(s, w, 0) {
			if slices.Contains([]string{"replicas", "budget", "spread"}, x.ID) {
				got = append(got, x.ID+": "+x.Title)
				if first == nil {
					first = &x
				}
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", name, got)
			continue
		}
		if c.edits != "" && editsText(first.Edits) != c.edits {
			t.Errorf("%s: %s", name, editsText(first.Edits))
		}
		if first != nil && (first.Destructive != "") != c.careful {
			t.Errorf("%s: careful: %q", name, first.Destructive)
		}
		if _, why := Untried(s, w); why != c.untried {
			t.Errorf("%s: not tried: %q", name, why)
		}
		rollout, w := worldOf(t, c.text, scenario.Options{Actions: []string{"rollout"}})
		for _, x := range Changes(rollout, w, 0) {
			if x.Replicas > 0 || x.Budget != nil || x.Spread || x.Makeshift != "" {
				t.Errorf("%s: a rollout wants %s", name, x.Title)
			}
		}
	}
}

// One pod of a canary has others beside it: that it waits for its successor is no poor answer. Where its Service leads to it alone it is one.
func TestAHookIsEnoughForOnePodBesideOthers(t *testing.T) {
	t.Parallel()
	one := strings.NewReplacer("replicas: 2", "replicas: 1", "labels: {app: web}", "labels: {app: web, track: canary}").Replace(fill(nil))
	other := "---\n" + strings.NewReplacer("name: web, ", "name: web-stable, ", "matchLabels: {app: web}", "matchLabels: {track: stable}", "labels: {app: web}", "labels: {app: web, track: stable}").
		Replace(strings.SplitN(fill(nil), "---", 2)[0])
	for name, c := range map[string]struct {
		text string
		poor bool
	}{
		"alone":                        {one, true},
		"beside others":                {one + other, false},
		"beside, with its own Service": {strings.Replace(one, "selector: {app: web}\n  ports", "selector: {track: canary}\n  ports", 1) + other, true},
		"beside none":                  {one + strings.Replace(other, "replicas: 2", "replicas: 0", 1), true},
	} {
		s, w := takenBy(t, c.text, "drain")
		found := false
		for _, x := range Changes(s, w, 0) {
			found = found || x.ID == "preStop"
			if x.ID == "preStop" && (x.Makeshift != "") != c.poor {
				t.Errorf("%s: makeshift %q", name, x.Makeshift)
			}
		}
		if !found {
			t.Errorf("%s: no hook", name)
		}
	}
}

// A hook that outlasts a time without a pod in a rollout only hides it, where all pods may go at once; not with the change that keeps them, nor where
// one stays, or another workload answers.
func TestAHookThatOnlyHidesThatNoPodIsThere(t *testing.T) {
	t.Parallel()
	const all = "  strategy: {rollingUpdate: {maxUnavailable: 100%}}"
	other := "---\n" + strings.NewReplacer("name: web, ", "name: web-stable, ", "matchLabels: {app: web}", "matchLabels: {track: stable}", "labels: {app: web}", "labels: {app: web, track: stable}").
		Replace(strings.SplitN(fill(nil), "---", 2)[0])
	for name, c := range map[string]struct {
		text string
		poor bool
	}{
		"all may go":               {fill(map[string]string{"STRATEGY": all}), true},
		"all, beside another one":  {fill(map[string]string{"STRATEGY": all}) + other, false},
		"one stays":                {fill(map[string]string{"STRATEGY": "  strategy: {rollingUpdate: {maxUnavailable: 1}}"}), false},
		"one stays, by default":    {fill(nil), false},
		"a hook is no use at all":  {fill(map[string]string{"STRATEGY": "  strategy: {type: Recreate}"}), false},
		"none may go before a new": {strings.Replace(fill(nil), "replicas: 2", "replicas: 1", 1), false},
	} {
		s, w := takenBy(t, c.text, "rollout")
		at := slices.IndexFunc(Changes(s, w, 0), func(x Change) bool { return x.ID == "preStop" })
		if at < 0 {
			t.Errorf("%s: no hook", name)
			continue
		}
		if x := Changes(s, w, 0)[at]; (x.Makeshift != "") != c.poor || (x.Unless == "maxUnavailable") != c.poor {
			t.Errorf("%s: makeshift %q, unless %q", name, x.Makeshift, x.Unless)
		}
	}
}

// editsText writes edits in a line.
func editsText(edits []edit.Edit) string {
	var out []string
	for i := range edits {
		e := &edits[i]
		what := strings.Join(e.YAML(), "|")
		if what == "" {
			what = e.To.String()
		}
		out = append(out, fmt.Sprintf("%s:%d %s %s", e.File, e.Line, e.Path, what))
	}
	return strings.Join(out, "; ")
}

// Pods that are kept apart by zone.
const (
	zoned = "      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: web}}}]}}"
	even  = "      topologySpreadConstraints: [{topologyKey: topology.kubernetes.io/zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]"
)

// What lets a drain go on that a budget keeps from its end.
func TestChangesForADrainThatIsBlocked(t *testing.T) {
	t.Parallel()
	single := strings.Replace(fill(ready), "  replicas: 2", one, 1)
	sick := strings.Replace(crowd, "containers: [{name: c, image: c}]}}\n---", "containers: [{name: c, image: c}]}, status: {phase: Running, conditions: [{type: Ready, status: 'False'}]}}\n---", 1)
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"it wants all of two":             {fill(nil) + wants2, []string{"maxUnavailable: 1 in its PodDisruptionBudget", "one node more"}},
		"it lets none go":                 {fill(nil) + never, []string{"maxUnavailable: 1 in its PodDisruptionBudget", "one node more"}},
		"it wants the only one":           {single + wants1, []string{"replicas: 2", "maxUnavailable: 1 in its PodDisruptionBudget", "one node more"}},
		"its pods may not share a zone":   {fill(map[string]string{"GRACE": zoned}) + never, []string{"maxUnavailable: 1 in its PodDisruptionBudget", "one node more in zone a"}},
		"nor be much more in one":         {fill(map[string]string{"GRACE": even}) + never, []string{"maxUnavailable: 1 in its PodDisruptionBudget", "one node more in zone a"}},
		"or not if they can":              {fill(map[string]string{"GRACE": strings.Replace(even, "DoNotSchedule", "ScheduleAnyway", 1)}) + never, []string{"maxUnavailable: 1 in its PodDisruptionBudget", "one node more"}},
		"it waits for one that is not ok": {fill(nil) + sick + wants1, []string{"unhealthyPodEvictionPolicy: AlwaysAllow"}},
	} {
		s, w := drainOf(t, c.text)
		var got []string
		for _, x := range Unblock(s, w) {
			got = append(got, x.Title)
			if changed := Apply(s, w.Name(), []Change{x}); x.Budget != nil && len(changed.Budgets) != 1 {
				t.Errorf("%s: %s: %d budgets", name, x.Title, len(changed.Budgets))
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// With a second pod there are two, whatever scales the workload; the pods that share a node are placed again, but for the first.
func TestApplyingWhatADrainWants(t *testing.T) {
	t.Parallel()
	s, w := drainOf(t, strings.Replace(fill(nil), "  replicas: 2", one, 1)+hpa)
	for _, x := range Changes(s, w, 0) {
		if x.ID == "replicas" {
			out := Apply(s, w.Name(), []Change{x})
			if n := out.Workload(w.Name()).Replicas(); n != 2 || len(out.Budgets) != 1 || w.Replicas() != 1 || len(s.Budgets) != 0 {
				t.Errorf("%d replicas, %d budgets", n, len(out.Budgets))
			}
		}
	}
	s, w = drainOf(t, fill(nil)+crowd)
	for _, x := range Changes(s, w, 0) {
		if x.ID == "spread" {
			if out := Apply(s, w.Name(), []Change{x}); len(out.Workload(w.Name()).Placed) != 1 || len(w.Placed) != 2 {
				t.Errorf("%+v", out.Workload(w.Name()).Placed)
			}
		}
	}
}

// What takes pods away and makes none has no use for minReadySeconds, and an app with an hour to end lacks no time.
func TestChangesForAScaleDown(t *testing.T) {
	t.Parallel()
	hour := strings.Replace(fill(nil), "      containers:", "      terminationGracePeriodSeconds: 3600\n      containers:", 1)
	for name, c := range map[string]struct{ text, action, want string }{
		"a rollout":            {fill(nil), "rollout", "minReadySeconds terminationGracePeriodSeconds"},
		"a scale-down":         {fill(nil), "scale-down", "terminationGracePeriodSeconds"},
		"an hour of grace":     {hour, "scale-down", ""},
		"an hour in a rollout": {hour, "rollout", "minReadySeconds"},
	} {
		objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(c.text)}}, manifest.Options{})
		cases, problems := scenario.Infer(objects, scenario.Options{Actions: []string{c.action}})
		if manifest.HasErrors(problems) || len(cases) == 0 || cases[0].Scenario == nil {
			t.Fatal(problems)
		}
		s := cases[0].Scenario
		var got []string
		for _, x := range Changes(s, s.Workload("shop/web"), 0) {
			if x.ID == "minReadySeconds" || x.ID == "terminationGracePeriodSeconds" {
				got = append(got, x.ID)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Pods without a node share none, and the first two that are on one do.
func TestPodsThatShareANode(t *testing.T) {
	t.Parallel()
	for nodes, want := range map[string]bool{"": false, "a": false, "a b c": false, "a b a": true, "a a": true, "- -": false, "- a -": false, "- a - a": true} {
		var pods []world.Placed
		for _, n := range strings.Fields(nodes) {
			pods = append(pods, world.Placed{Node: strings.Trim(n, "-")})
		}
		if got := shared(pods); got != want {
			t.Errorf("%q: %v", nodes, got)
		}
	}
}

// A change that deletes budgets deletes those of the workload's namespace, and one that replaces a budget replaces that one.
func TestBudgetsThatAChangeLeaves(t *testing.T) {
	t.Parallel()
	named := func(names ...string) (out []world.Budget) {
		for _, n := range names {
			namespace, name, _ := strings.Cut(n, "/")
			out = append(out, world.Budget{Value: &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}})
		}
		return out
	}
	s, w := drainOf(t, fill(ready))
	s.Budgets = named("shop/a", "shop/b", "till/a", "till/b")
	for want, a := range map[string]Around{ // order: each for itself
		"shop/a shop/b till/a till/b":        {},
		"shop/b till/a till/b":               {Gone: []string{"a"}},
		"till/a till/b":                      {Gone: []string{"a", "b"}},
		"shop/a till/a till/b shop/b":        {Budget: &named("shop/b")[0]},
		"shop/a shop/b till/a till/b shop/c": {Budget: &named("shop/c")[0]},
		"till/a till/b shop/b":               {Gone: []string{"a"}, Budget: &named("shop/b")[0]},
	} {
		var got []string
		for _, b := range a.kept(s, w.Name()).Budgets {
			got = append(got, b.Value.Namespace+"/"+b.Value.Name)
		}
		if strings.Join(got, " ") != want || len(s.Budgets) != 4 {
			t.Errorf("%+v: %q, want %q", a, got, want)
		}
	}
}
