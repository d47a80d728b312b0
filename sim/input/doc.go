// Package input turns the files that somebody wants simulated into cases: those of their Scenarios, or of their workloads. The command line and
// the page of lameduck play both ask it, so that the same text has the same cases and the same errors in both.
//
// It opens no file: what a Scenario names is read by who calls it (Source.Read).
//
// The one data path: files -> manifest.Load -> Cases -> scenario.Parse or scenario.Infer -> cases and problems.
package input
