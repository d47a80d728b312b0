// Package knob turns single settings of the workloads of an input, as if their manifests said so: how long preStop sleeps, the
// grace period, replicas, probes. It also reads the values that a setting is to have, one after another (Axis).
//
// It never runs anything: sim/grid does, with each value.
//
// The one data path: "prestop=0s..30s:1s" -> Axis -> its Values -> Turn -> the objects of the input, changed.
package knob
