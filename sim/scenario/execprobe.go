package scenario

import (
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// execProbes says of the programs that ask whether a server lives, or has started, that they are taken to ask what an HTTP probe would:
// nobody knows what else they look at.
func (b *builder) execProbes(w *world.Workload) {
	c := w.Container()
	for _, kind := range []string{"livenessProbe", "startupProbe"} {
		p := c.LivenessProbe
		if kind == "startupProbe" {
			p = c.StartupProbe
		}
		if p == nil || p.Exec == nil || world.AsksProcess(p, kind == "livenessProbe") {
			continue
		}
		const most = 30
		command := []rune(strings.Join(p.Exec.Command, " "))
		if len(command) > most {
			command = append(command[:most], []rune("...")...)
		}
		b.notModelled("exec-probe", kind+" "+string(command)+" is taken to fail until the app listens, and whenever it does not", w.Kind()+" "+w.Name(), "unknown")
	}
}
