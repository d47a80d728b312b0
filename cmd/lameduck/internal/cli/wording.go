package cli

import (
	siminput "github.com/lameduck-proxy/lameduck/sim/input"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// commandLine words what a user can say as the flags of sim.
func commandLine() scenario.Wording { return siminput.Wording() }
