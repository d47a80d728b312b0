// Package scenario turns what a user wrote into a complete description of a world to
// simulate: which pods, Services, nodes and delays there are, who asks for what, what is
// done to them and what is expected.
//
// There are two ways in. Parse reads documents of kind Scenario, whose grammar is the table
// in grammar.go; Infer makes one Scenario per workload and traffic entry from manifests that
// nobody wrote for lameduck. Both end in the same normalised form, Scenario, in which every
// default is filled in and every default that the input did not say is listed. What the
// simulator does not do yet is refused by name, at its position, and never ignored.
//
// The package never opens a file, looks at a clock or draws a random number, and decides
// nothing about what happens in a run: that is sim/cluster and sim/traffic. Files that a
// Scenario names are listed by References; the caller reads them.
//
// Load balancers are a table (preset.go): which row a Service has is said by the Scenario or a
// flag, concluded from what the input says of it (lb_evidence.go), or one assumption more.
//
// The one data path:
//
//	Scenario document, --set values -> checked against the grammar (check.go)
//	  -> world of objects (world.go) -> apps, hooks (app.go, hook.go) -> Scenario (parse.go)
//	manifests -> world of objects -> classes of traffic (class.go) -> Cases (infer.go)
package scenario
