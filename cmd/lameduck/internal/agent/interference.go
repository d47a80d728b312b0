package agent

import (
	"errors"

	"github.com/go-logr/logr"

	"github.com/lameduck-proxy/lameduck/proxier"
	"github.com/lameduck-proxy/lameduck/proxier/iptables"
	"github.com/lameduck-proxy/lameduck/proxier/metrics"
)

// interference tells of what others do to the rules, each thing once. Its owner is the Proxier's.
type interference struct {
	backend proxier.Backend
	log     logr.Logger
	count   func(what metrics.Interference, n int)
	rivals  *rivals

	repairs int
	without string
}

// observe asks a Backend, when a sync is over, what it has noticed. What a Backend cannot tell, it does not do.
func (i *interference) observe(s proxier.Sync) {
	if b, ok := i.backend.(interface{ Repairs() int }); ok {
		if n := b.Repairs() - i.repairs; n > 0 {
			i.repairs += n
			i.count(metrics.Repair, n)
			i.log.Info("Another program changed the rules; they were written again", "repairs", i.repairs)
		}
	}
	if b, ok := i.backend.(interface{ Removed() []string }); ok {
		for _, what := range b.Removed() {
			i.count(metrics.Removal, 1)
			i.log.Info("Another program's table stood in the place of ours and was removed", "removed", what)
		}
	}
	if b, ok := i.backend.(interface{ Without() error }); ok && s.Err == nil {
		i.tellWithout(b.Without())
	}
	if errors.Is(s.Err, iptables.ErrKubeProxy) {
		i.rivals.add(kubeProxyIPTables, true) // the Backend refuses to go on until it is started again
	}
}

// tellWithout tells what the rules do without, once as long as that stays so.
func (i *interference) tellWithout(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != i.without && err != nil {
		i.log.Error(err, "The rules are in force but for a part")
	}
	i.without = text
}
