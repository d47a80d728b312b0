package record

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/lameduck-proxy/lameduck/test/controlplane"
)

const second = time.Second

// actions are what is done.
func actions(list ...controlplane.Action) []controlplane.Action { return list }

// Plays are all that are played.
func Plays() []Play {
	return slices.Concat(rollouts(), sizes(), evictions(), drainings(), statefulSets(), daemonSets(), nodes())
}

// both are two Deployments and a Service in front of them.
func both(label string, all ...runtime.Object) []runtime.Object {
	s := service(label)
	s.Spec.Selector = map[string]string{"tier": label}
	return append(all, s)
}

func rollouts() []Play {
	restart := actions(do(0, "rolloutRestart", "web"))
	roll := func(name, about string, replicas int32, surge, unavailable string, until time.Duration) Play {
		return Play{Name: name, About: about, Nodes: 3, Objects: with("web", deployment("web", replicas, surge, unavailable)), Times: web(), Actions: restart, Until: until}
	}
	stuck := roll("rollout-never-ready", "the new pods never become ready: the rollout stays where it is", 4, "1", "1", 12*second)
	stuck.Times = slices.Concat(times("web", 1, 1, 2.5, 0), times("web", 1, -1, 2.5, 1))
	back := stuck
	back.Name, back.About, back.Until = "rollback-of-a-stuck-rollout", "a rollout that is stuck is undone: its pods, which are not ready, go first", 18*second
	back.Actions = actions(do(0, "rolloutRestart", "web"), do(8, "rollback", "web"))
	waiting := roll("rollout-min-ready-seconds", "pods count 3 s after they are ready", 3, "1", "0", 35*second)
	waiting.Objects = with("web", deployment("web", 3, "1", "0", waits(3)))
	return []Play{
		roll("rollout-surge-1", "one more, none fewer", 3, "1", "0", 18*second),
		roll("rollout-unavailable-1", "none more, one fewer", 3, "0", "1", 18*second),
		roll("rollout-quarter", "the default: 25 % more, 25 % fewer", 4, "25%", "25%", 16*second),
		roll("rollout-all-at-once", "twice as many pods for a while", 4, "100%", "0", 12*second),
		roll("rollout-half", "half of them more, half of them fewer", 6, "50%", "50%", 14*second),
		roll("rollout-ten", "ten pods with 25 % and 25 %", 10, "25%", "25%", 16*second),
		roll("rollout-single", "one pod", 1, "25%", "25%", 12*second),
		stuck, back, waiting,
		{
			Name: "rollout-onto-a-rollout", About: "a second rollout begins while the first is under way", Nodes: 3, Times: web(), Until: 18 * second,
			Objects: with("web", deployment("web", 4, "1", "0")), Actions: actions(do(0, "setImage", "web", image("example.com/web:2")), do(5.5, "setImage", "web", image("example.com/web:3"))),
		},
		{
			Name: "rollback-halfway", About: "a rollout is undone while it is under way", Nodes: 3, Times: web(), Until: 16 * second,
			Objects: with("web", deployment("web", 4, "1", "0")), Actions: actions(do(0, "rolloutRestart", "web"), do(5.5, "rollback", "web")),
		},
		{
			Name: "pause-and-resume", About: "a rollout is paused, scaled meanwhile, and goes on", Nodes: 3, Times: web(), Until: 24 * second,
			Objects: with("web", deployment("web", 4, "1", "1")),
			Actions: actions(do(0, "rolloutRestart", "web"), do(0.5, "pause", "web"), do(6.5, "scale", "web", to(6)), do(12, "resume", "web")),
		},
		{
			Name: "rollout-scaled-without-surge", About: "scaled while a rollout with maxSurge 0 is under way", Nodes: 3, Times: web(), Until: 20 * second,
			Objects: with("web", deployment("web", 4, "0", "1")), Actions: actions(do(0, "rolloutRestart", "web"), do(3.5, "scale", "web", to(5))),
		},
		{
			Name: "rollout-beside-another", About: "two Deployments behind one Service", Nodes: 3, Until: 16 * second,
			Times: slices.Concat(web(), times("api", 1.5, 1, 3, 0, 1)), Objects: both("front", deployment("web", 3, "1", "0", tier("front")), deployment("api", 2, "1", "0", tier("front"))),
			Actions: actions(do(0, "rolloutRestart", "web"), do(0.5, "rolloutRestart", "api")),
		},
		{
			Name: "rollouts-without-history", About: "two rollouts one after the other, no old ReplicaSet being kept", Nodes: 3, Times: web(), Until: 22 * second,
			Objects: with("web", deployment("web", 2, "1", "0", keeps(0))), Actions: actions(do(0, "rolloutRestart", "web"), do(11, "rolloutRestart", "web")),
		},
		{
			Name: "rollout-restarted-at-once", About: "restarted again half a second later: the first restart's pod goes before it runs", Nodes: 3, Times: web(), Until: 18 * second,
			Objects: with("web", deployment("web", 3, "1", "0")), Actions: actions(do(0, "setImage", "web", image("example.com/web:2")), do(0.5, "setImage", "web", image("example.com/web:3"))),
		},
		{
			Name: "rollout-short-grace", About: "pods that would take longer to stop than their grace period", Nodes: 3, Times: web(), Until: 12 * second,
			Objects: with("web", deployment("web", 3, "1", "1", stopsWithin(1))), Actions: restart,
		},
		{
			Name: "paused-and-scaled", About: "a paused Deployment is scaled, and rolls out when it is resumed", Nodes: 3, Times: web(), Until: 22 * second,
			Objects: with("web", deployment("web", 4, "50%", "0")),
			Actions: actions(do(0, "pause", "web"), do(0.5, "setImage", "web", image("example.com/web:2")), do(1.5, "scale", "web", to(6)), do(6.5, "scale", "web", to(2)), do(11.5, "resume", "web")),
		},
		{
			Name: "recreate", About: "all old pods stop, then all new ones start", Nodes: 3, Times: web(), Until: 10 * second,
			Objects: with("web", recreate("web", 3)), Actions: restart,
		},
		{
			Name: "recreate-twice", About: "a second change while old pods still stop", Nodes: 3, Times: web(), Until: 14 * second,
			Objects: with("web", recreate("web", 3)), Actions: actions(do(0, "setImage", "web", image("example.com/web:2")), do(1.2, "setImage", "web", image("example.com/web:3"))),
		},
		{
			Name: "rollout-of-30", About: "30 pods: a controller's requests are limited to 20 a second, 30 at once", Nodes: 3, Times: web(), Until: 20 * second, Alone: true,
			Objects: with("web", deployment("web", 30, "100%", "0")), Actions: restart,
		},
	}
}

func sizes() []Play {
	scale := func(name, about string, from int32, nodes int, until time.Duration, list ...controlplane.Action) Play {
		return Play{Name: name, About: about, Nodes: nodes, Objects: with("web", deployment("web", from, "1", "0")), Times: web(), Actions: list, Until: until}
	}
	pending := scale("scale-down-pending", "pods that are not ready go before pods that are", 3, 3, 14*second, do(0, "scale", "web", to(6)), do(1.5, "scale", "web", to(4)))
	return []Play{
		scale("scale-up", "from 2 to 5", 2, 3, 6*second, do(0, "scale", "web", to(5))),
		scale("scale-down", "from 6 to 3, two on each node", 6, 3, 7*second, do(0, "scale", "web", to(3))),
		scale("scale-down-doubled-up", "from 4 to 3: one of the two on one node goes", 4, 3, 7*second, do(0, "scale", "web", to(3))),
		scale("scale-to-zero", "all pods go", 4, 3, 7*second, do(0, "scale", "web", to(0))),
		scale("scale-down-and-up", "scaled up again while pods still stop", 6, 3, 9*second, do(0, "scale", "web", to(3)), do(1.6, "scale", "web", to(5))),
		pending,
		scale("scale-up-during-a-rollout", "new pods are shared out between both revisions", 6, 3, 26*second, do(0, "rolloutRestart", "web"), do(3.5, "scale", "web", to(10))),
		scale("scale-down-during-a-rollout", "so are those that go", 8, 4, 24*second, do(0, "rolloutRestart", "web"), do(3.5, "scale", "web", to(5))),
		{
			Name: "delete-a-pod", About: "a deleted pod is replaced at once", Nodes: 3, Times: web(), Until: 6 * second,
			Objects: with("web", deployment("web", 3, "1", "0")), Actions: actions(do(0, "delete", "web", pod(1))),
		},
		{
			Name: "slices-of-120", About: "120 pods in two slices, 40 of which go", Nodes: 3, Times: web(), Until: 12 * second, Alone: true,
			Objects: with("web", deployment("web", 120, "25%", "25%")), Actions: actions(do(0, "scale", "web", to(80))),
		},
		{
			Name: "slices-grow-to-120", About: "from 60 pods to 120: a second slice", Nodes: 3, Times: web(), Until: 14 * second, Alone: true,
			Objects: with("web", deployment("web", 60, "25%", "25%")), Actions: actions(do(0, "scale", "web", to(120))),
		},
	}
}

func evictions() []Play {
	ask := func(name, about string, until time.Duration, more ...controlplane.Action) Play {
		return Play{Name: name, About: about, Nodes: 3, Objects: with("web", deployment("web", 3, "1", "0")), Times: web(), Actions: more, Until: until}
	}
	none := ask("evict-without-a-budget", "granted", 6*second, do(0, "evict", "web", pod(0)))
	granted := ask("evict-within-a-budget", "one may go", 7*second, do(0, "evict", "web", pod(0)))
	granted.Objects = append(granted.Objects, budget("web", "minAvailable", "2"))
	second2 := ask("evict-two-of-a-budget-of-one", "the second is refused until the first has a successor", 12*second,
		do(0, "evict", "web", pod(0)), do(1, "evict", "web", pod(0)), do(6, "evict", "web", pod(0)))
	second2.Objects = append(second2.Objects, budget("web", "maxUnavailable", "1"))
	two := ask("evict-under-two-budgets", "two budgets on a pod: 500", 3*second, do(0, "evict", "web", pod(0)))
	two.Objects = append(two.Objects, budget("one", "minAvailable", "1"), budget("other", "minAvailable", "1"))
	per := ask("evict-per-cent", "67 % of 3 are to stay: none may go", 4*second, do(0, "evict", "web", pod(0)))
	per.Objects = append(per.Objects, budget("web", "minAvailable", "67%"))
	sick := ask("evict-not-ready", "pods that are not ready may go where enough others are", 12*second,
		do(0, "rolloutRestart", "web"), do(5.5, "evict", "web", pod(3)), do(9.5, "evict", "web", pod(0)))
	sick.Times = slices.Concat(times("web", 1, 1, 2.5, 0), times("web", 1, -1, 2.5, 1))
	sick.Objects = append(sick.Objects, budget("web", "minAvailable", "3"))
	waiting := ask("evict-without-a-node", "a pod that no node takes goes whatever the budget says", 10*second,
		do(0, "scale", "web", to(4)), do(3.5, "evict", "web", pod(3)), do(5.5, "evict", "web", pod(0)))
	waiting.Objects = append(with("web", deployment("web", 3, "0", "1", apart)), budget("web", "maxUnavailable", "0"))
	twice := ask("evict-what-stops", "a pod that is being deleted already", 8*second, do(0, "delete", "web", pod(0)), do(0.5, "evict", "web", pod(0)), do(1, "evict", "web", pod(0)))
	twice.Objects = append(twice.Objects, budget("web", "minAvailable", "1"))
	return []Play{none, granted, second2, two, per, sick, waiting, twice}
}

func drainings() []Play {
	one, both := []string{"node-1"}, []string{"node-1", "node-2"}
	drain := func(name, about string, replicas int32, nodes int, until time.Duration, list ...controlplane.Action) Play {
		return Play{Name: name, About: about, Nodes: nodes, Objects: with("web", deployment("web", replicas, "1", "0")), Times: web(), Actions: list, Until: until}
	}
	kept := drain("drain-with-a-budget", "two pods on the node, of which one may go at a time", 6, 3, 22*second, drains(0, one))
	kept.Objects = append(kept.Objects, budget("web", "maxUnavailable", "1"))
	blocked := drain("drain-blocked", "a budget that never allows anything", 3, 3, 17*second, drains(0, one))
	blocked.Objects = append(blocked.Objects, budget("web", "minAvailable", "3"))
	givesUp := drain("drain-gives-up", "the same, with a timeout", 3, 3, 16*second, drains(0, one, within(8)))
	givesUp.Objects = append(givesUp.Objects, budget("web", "minAvailable", "3"))
	two := drain("drain-under-two-budgets", "kubectl gives up on the 500 at once", 3, 3, 5*second, drains(0, one))
	two.Objects = append(two.Objects, budget("one", "minAvailable", "1"), budget("other", "minAvailable", "1"))
	deletes := drain("drain-disable-eviction", "pods are deleted, whatever the budget says", 3, 3, 8*second, drains(0, one, byDeletion))
	deletes.Objects = append(deletes.Objects, budget("web", "minAvailable", "3"))
	tight := drain("drain-against-anti-affinity", "no other node takes the pod", 3, 3, 8*second, drains(0, one))
	tight.Objects = with("web", deployment("web", 3, "0", "1", apart))
	single := drain("drain-single-replica", "an eviction does not start a successor first", 1, 3, 8*second, drains(0, one))
	roll := drain("drain-during-a-rollout", "a node is drained while a rollout is under way", 6, 3, 24*second, do(0, "rolloutRestart", "web"), drains(1.5, one))
	sick := drain("drain-never-ready", "pods that never become ready go under a budget with AlwaysAllow", 4, 4, 14*second,
		do(0, "rolloutRestart", "web"), drains(6, both))
	sick.Times = slices.Concat(times("web", 1, 1, 2.5, 0), times("web", 1, -1, 2.5, 1))
	sick.Objects = append(sick.Objects, budget("web", "maxUnavailable", "1", whatever))
	crowd := drain("drain-many-at-once", "six pods on the node ask at one moment, and two may go at a time", 18, 3, 30*second, drains(0, one))
	crowd.Objects = append(crowd.Objects, budget("web", "maxUnavailable", "2"))
	part := drain("drain-per-cent", "30 % of 7, rounded up, may be away", 7, 3, 20*second, drains(0, both))
	part.Objects = append(part.Objects, budget("web", "maxUnavailable", "30%"))
	least := drain("drain-min-available", "minAvailable counts pods that stop until they are gone", 4, 2, 20*second, drains(0, one))
	least.Objects = append(least.Objects, budget("web", "minAvailable", "3"))
	return []Play{
		crowd, part, least,
		drain("uncordon", "pods that waited for a node find one", 3, 1, 9*second, do(0, "cordon", "", onNode), do(1, "scale", "web", to(5)), do(4, "uncordon", "", onNode)),
		drain("drain", "one node, no budget", 3, 3, 8*second, drains(0, one)),
		drain("drain-two-nodes", "both are cordoned first, then emptied one after the other", 4, 4, 12*second, drains(0, both)),
		drain("drain-short-grace", "a grace period of 1 s", 3, 3, 7*second, drains(0, one, grace(1))),
		drain("cordon", "a cordoned node gets no further pods", 3, 3, 7*second, do(0, "cordon", "", onNode), do(1, "scale", "web", to(6))),
		kept, blocked, givesUp, two, deletes, tight, single, roll, sick,
	}
}

func statefulSets() []Play {
	restart := actions(do(0, "rolloutRestart", "db"))
	db := times("db", 1, 1, 2.5, 0, 1, 2)
	set := func(name, about string, until time.Duration, list []controlplane.Action) Play {
		return Play{Name: name, About: about, Nodes: 3, Objects: with("db", statefulSet()), Times: db, Actions: list, Until: until}
	}
	together := set("statefulset-parallel", "podManagementPolicy Parallel: one at a time all the same", 22*second, restart)
	together.Objects = with("db", statefulSet(parallel))
	part := set("statefulset-partition", "ordinals below 2 keep their revision", 10*second, restart)
	part.Objects = with("db", statefulSet(partition(2)))
	manual := set("statefulset-on-delete", "only a deleted pod gets the new revision", 10*second, actions(do(0, "rolloutRestart", "db"), do(1, "delete", "db", pod(1))))
	manual.Objects = with("db", statefulSet(onDelete))
	stuck := set("statefulset-never-ready", "the first new pod never becomes ready: the others stay", 14*second, restart)
	stuck.Times = slices.Concat(times("db", 1, 1, 2.5, 0), times("db", 1, -1, 2.5, 1))
	scaleP := set("statefulset-parallel-scale", "Parallel: all at once", 12*second, actions(do(0, "scale", "db", to(6)), do(5, "scale", "db", to(2))))
	scaleP.Objects = with("db", statefulSet(parallel))
	drained := set("statefulset-drain", "a pod comes back on another node once it has gone", 10*second, actions(drains(0, []string{"node-1"})))
	return []Play{
		set("statefulset-rollout", "from the last ordinal on, each when the one before is ready again", 22*second, restart),
		together, part, manual, stuck,
		set("statefulset-scale", "one after the other, up and down", 22*second, actions(do(0, "scale", "db", to(5)), do(8, "scale", "db", to(2)))),
		scaleP, drained,
	}
}

func daemonSets() []Play {
	restart := actions(do(0, "rolloutRestart", "agent"))
	ds := func(name, about, surge, unavailable string, until time.Duration, list []controlplane.Action) Play {
		return Play{
			Name: name, About: about, Nodes: 3, Objects: with("agent", daemonSet("agent", surge, unavailable)),
			Times: times("agent", 1, 1, 2.5, 0, 1, 2), Actions: list, Until: until,
		}
	}
	return []Play{
		ds("daemonset-rollout", "one node after another", "0", "1", 22*second, restart),
		ds("daemonset-two-at-a-time", "two nodes at a time", "0", "2", 16*second, restart),
		ds("daemonset-surge", "the new pod first", "1", "0", 20*second, restart),
		ds("daemonset-drain", "kubectl drain leaves its pods", "0", "1", 4*second, actions(drains(0, []string{"node-1"}))),
		ds("daemonset-delete", "a deleted pod is replaced when it has ended", "0", "1", 8*second, actions(do(0, "delete", "agent", pod(1)))),
	}
}

func nodes() []Play {
	node := func(name, about string, until time.Duration, list ...controlplane.Action) Play {
		return Play{Name: name, About: about, Nodes: 3, Objects: with("web", deployment("web", 3, "1", "0")), Times: web(), Actions: list, Until: until}
	}
	silence := do(0, "silence", "", onNode)
	leaving := node("node-silent-evicts", "pods that tolerate that for 5 s are deleted, and replaced; nobody stops them", 75*second, silence)
	leaving.Objects = with("web", deployment("web", 3, "1", "0", leaves(5)))
	return []Play{
		node("node-deleted", "the Node object goes, and PodGC deletes its pods", 90*second, do(0, "deleteNode", "", onNode)),
		node("node-silent", "a kubelet says nothing any more: not ready, and tainted", 65*second, silence),
		node("node-silent-and-back", "it speaks again 60 s later, and its pods are ready as before", 75*second, silence, do(60, "speak", "", onNode)),
		leaving,
	}
}
