package scenario

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// The fields of a KubeletConfiguration (kubelet.config.k8s.io/v1beta1) that are read here.
const (
	shutdownGrace      = "shutdownGracePeriod"
	shutdownCritical   = "shutdownGracePeriodCriticalPods"
	shutdownByPriority = "shutdownGracePeriodByPodPriority"
)

// configuredKubelet takes how kubelets end their pods when their machine shuts down from the input's last KubeletConfiguration: one that
// says nothing of it leaves the kubelet's default. What a kubelet would not start with is warned of, and left out.
func (b *builder) configuredKubelet() {
	if len(b.world.kubeletConfigs) == 0 {
		return
	}
	o := b.world.kubeletConfigs[len(b.world.kubeletConfigs)-1]
	if !o.Has(shutdownGrace) && !o.Has(shutdownCritical) && !o.Has(shutdownByPriority) {
		return
	}
	groups, words, wrong := shutdownOf(o)
	if wrong != nil {
		b.doc.problems = append(b.doc.problems, *wrong)
		return
	}
	b.out.Shutdown, b.doc.shutdownSaid, b.doc.shutdownBy = groups, true, words
}

// shutdownOf reads a KubeletConfiguration; words say what it comes to, and where that stands.
func shutdownOf(o *manifest.Object) (groups []world.ShutdownGroup, words string, wrong *manifest.Problem) {
	fail := func(field, format string, args ...any) *manifest.Problem {
		p := o.Problem(manifest.Warning, field, fmt.Sprintf(format, args...)+"; how kubelets shut down is not read from it")
		return &p
	}
	if o.Has(shutdownByPriority) {
		if o.Has(shutdownGrace) || o.Has(shutdownCritical) {
			return nil, "", fail(shutdownByPriority, "a kubelet takes either this or %s and %s", shutdownGrace, shutdownCritical)
		}
		return prioritiesOf(o, fail)
	}
	var spans [2]engine.Time
	for i, field := range []string{shutdownGrace, shutdownCritical} {
		said := rawText(o.Value, field)
		d, err := time.ParseDuration(said)
		if o.Has(field) && (err != nil || d < 0 || d > 0 && d < time.Second) {
			return nil, "", fail(field, "%q is no duration of a second or more such as 30s", said)
		}
		spans[i] = engine.FromDuration(d)
	}
	whole, critical := spans[0], spans[1]
	switch {
	case critical > whole:
		return nil, "", fail(shutdownCritical, "it is part of %s, and may not be longer", shutdownGrace)
	case whole == 0:
		return nil, endsWithMachine + place(o, shutdownGrace, ""), nil
	}
	words = fmt.Sprintf("%s %s, %s of it for critical pods%s", shutdownGrace, whole.Duration(), critical.Duration(), place(o, shutdownGrace, ""))
	return []world.ShutdownGroup{{Priority: 0, Grace: whole - critical}, {Priority: world.CriticalPriority, Grace: critical}}, words, nil
}

// prioritiesOf reads the list of a KubeletConfiguration that says it for each priority.
func prioritiesOf(o *manifest.Object, fail func(field, format string, args ...any) *manifest.Problem) (groups []world.ShutdownGroup, words string, wrong *manifest.Problem) {
	for i, x := range rawList(o.Value, shutdownByPriority) {
		priority, isNumber := wholeNumber(rawAt(x, "priority"))
		seconds, isSpan := wholeNumber(rawAt(x, "shutdownGracePeriodSeconds"))
		if !isNumber || !isSpan || seconds < 0 {
			return nil, "", fail(fmt.Sprintf("%s[%d]", shutdownByPriority, i), "it needs a priority and shutdownGracePeriodSeconds")
		}
		groups = append(groups, world.ShutdownGroup{Priority: int32(priority), Grace: engine.Time(seconds) * engine.Second})
	}
	sorted.StableBy(groups, func(x, y world.ShutdownGroup) int { return cmp.Compare(x.Priority, y.Priority) })
	var each []string
	for _, g := range groups {
		each = append(each, fmt.Sprintf("%s from priority %d on", g.Grace.Duration(), g.Priority))
	}
	return groups, shutdownGrace + " " + strings.Join(each, ", ") + place(o, shutdownByPriority, ""), nil
}

// wholeNumber reads one that was decoded from YAML or JSON.
func wholeNumber(v any) (int64, bool) {
	n, err := strconv.ParseInt(fmt.Sprint(v), 10, 32)
	return n, err == nil
}
