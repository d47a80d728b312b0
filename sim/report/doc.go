// Package report shows what became of a simulation: as text for people, as the record that
// JSON and YAML print, and as JUnit XML. It answers in the order people ask: what is the
// verdict, how much is lost, why, and under which assumptions.
//
// It judges nothing, which is package check's, and writes to an io.Writer only.
//
// The one data path: check.Simulation -> WriteText | Build (JSON, YAML) | WriteJUnit.
package report
