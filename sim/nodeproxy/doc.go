// Package nodeproxy is the service proxy of a simulated node: what its watch has brought, when it syncs by the pacing of the real
// proxy (proxier/pace), which view of the API its rules are made of, and what it answers on its health port. What the slices in
// the API say is a View; nodes that cannot differ share the Plan of one. Syncs for Services beside the Scenario's are no events
// of the run: a proxy catches up with them when it next hears of the Scenario.
package nodeproxy
