// Package html writes a simulation as one page: a file that opens from disk, asks nobody for anything, and has the timeline of
// the worst runs. The data in it is the JSON of -o json --timeline.
//
// The script and the style are built from web by npm and kept in dist, so that building lameduck needs Go alone: make report builds
// them, and test/browser holds dist to what web builds, and the page to what it promises, in a browser.
//
// A lesson's page has the same picture below its question: WriteLesson, and WriteLessons for the list of them.
//
// The one data path: record.Simulation -> report.Build -> JSON in the page -> web.
package html
