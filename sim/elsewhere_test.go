package sim

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// failedElsewhere counts the failures of a run for which another pod could have answered, and all
// of them.
func failedElsewhere(t *testing.T, sc *world.Scenario) (elsewhere, all uint64) {
	t.Helper()
	r, err := Run(sc, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range r.Ledger.Groups() {
		if all += g.Count; g.Blame.Elsewhere {
			elsewhere += g.Count
		}
	}
	return elsewhere, all
}

// slowlyReady listens at once, and is not Ready before its readiness probe is asked 10 s later.
func slowlyReady(sc *world.Scenario) {
	template(sc).Containers[0].ReadinessProbe.InitialDelaySeconds = 10
}

// One replica with Recreate is an outage until the new pod is Ready: while that listens and is not
// Ready it could not have answered. Reference: docs/model/simulator.md 9.
func TestAPodThatListensAndIsNotReadyCouldNotHaveAnswered(t *testing.T) {
	t.Parallel()
	sc := quiet(1, action(20*sec, world.RolloutRestart{Workload: "deployment/web"}))
	slowlyReady(sc)
	sc.Workloads[0].Deployment().Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	elsewhere, all := failedElsewhere(t, sc)
	if all < 150 || elsewhere > 0 {
		t.Errorf("%d of %d failures say that another pod could have answered", elsewhere, all)
	}
	svc := sc.Services[0].Service
	svc.Spec.PublishNotReadyAddresses = true // then it is used as soon as it has an address
	slowSync(sc)
	if elsewhere, _ = failedElsewhere(t, sc); elsewhere == 0 {
		t.Error("with publishNotReadyAddresses a pod that listens could have answered")
	}
}

// Every workload that the Service selects counts.
func TestAPodOfAnotherWorkloadOfTheServiceCouldHaveAnswered(t *testing.T) {
	t.Parallel()
	for _, canary := range []bool{false, true} {
		sc := quiet(1, action(20*sec, world.Delete{Pods: world.Pods{Workload: "web", Number: 0}}))
		sc.Workloads[0].App.Start = engine.Constant(10 * sec)
		slowSync(sc)
		if canary {
			w := sc.Workloads[0]
			w.Resource = w.Deployment().DeepCopy()
			w.Deployment().Name = "canary"
			sc.Workloads = append(sc.Workloads, w)
		}
		elsewhere, all := failedElsewhere(t, sc)
		if want := all; all == 0 || canary && elsewhere != want || !canary && elsewhere == want {
			t.Errorf("canary %v: %d of %d failures say that another pod could have answered", canary, elsewhere, all)
		}
	}
}
