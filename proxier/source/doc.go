// Package source is where objects come from: files, directories and standard
// input. It answers: which bytes did the user mean by -f? It never parses them;
// that is endpoints/manifest. It reads everything once and watches nothing.
//
// The one data path: paths -> Read -> manifest.File -> manifest.Load.
package source
