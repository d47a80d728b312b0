package story

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// slowProbe is from how many seconds on the time to a probe's second try is worth naming: with less, it is the app that takes long.
const slowProbe = 10

// probeBehind says which probe keeps a pod that serves already from being ready, and where it stands, "" for none: of its server's startup and
// readiness probe the one that is asked at longer intervals. Without the first no pod is asked for the second.
func probeBehind(w *world.Workload, b ledger.Blame) (words, path string) {
	if flag, _ := closesUnseen(w); flag != "" && b.Cause == ledger.ListenerClosed && b.Elsewhere {
		p := w.Container().ReadinessProbe
		return fmt.Sprintf("readinessProbe of periodSeconds %d, failureThreshold %d", p.PeriodSeconds, p.FailureThreshold), serverPath(w) + ".readinessProbe"
	}
	if p := w.Container().ReadinessProbe; p != nil && b.Cause == ledger.NoLocalEndpoint && b.Actor == ledger.App && w.Hooks[w.Container().Name].FailsReadiness {
		return fmt.Sprintf("readinessProbe of periodSeconds %d, failureThreshold %d", p.PeriodSeconds, p.FailureThreshold), serverPath(w) + ".readinessProbe"
	}
	if b.Actor != ledger.KubeletProbe || b.Cause != ledger.NoEndpoint && b.Cause != ledger.NoLocalEndpoint {
		return "", ""
	}
	server, most := w.Container(), int32(slowProbe-1)
	if p := server.StartupProbe; p != nil && p.InitialDelaySeconds+p.PeriodSeconds > most {
		most = p.InitialDelaySeconds + p.PeriodSeconds
		words, path = "startupProbe of "+probeTimes(p.InitialDelaySeconds, p.PeriodSeconds), serverPath(w)+".startupProbe"
	}
	if p := server.ReadinessProbe; p != nil && p.InitialDelaySeconds+p.PeriodSeconds > most {
		words, path = "readinessProbe of "+probeTimes(p.InitialDelaySeconds, p.PeriodSeconds), serverPath(w)+".readinessProbe"
	}
	return words, path
}

// closesUnseen is the argument of a server by which it closes its port after SIGTERM before its readiness probe has failed so often as
// counts, and where that stands; "" where it is none, or has none.
func closesUnseen(w *world.Workload) (words, path string) {
	server, flag := w.Container(), w.App.AcceptsFlag()
	if !w.App.ClosesUnseen(server.ReadinessProbe) {
		return "", ""
	}
	at := slices.IndexFunc(server.Args, func(a string) bool { return strings.HasPrefix(a, flag+"=") })
	if at < 0 {
		return "", ""
	}
	return server.Args[at], fmt.Sprintf("%s.args[%d]", serverPath(w), at)
}

// probeTimes are those that decide when a probe is asked.
func probeTimes(delay, period int32) string {
	words := fmt.Sprintf("periodSeconds %d", period)
	if delay > 0 {
		words = fmt.Sprintf("initialDelaySeconds %d, ", delay) + words
	}
	return words
}
