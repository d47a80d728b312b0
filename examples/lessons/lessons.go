// Package lessons holds the files of lameduck's lessons: a *.md with the words of each, and a *.yaml with its world. README.md says
// how they are written; cmd/lameduck/internal/learn reads them.
package lessons

import "embed"

// Files are the words and worlds of all lessons.
//
//go:embed *.md *.yaml
var Files embed.FS
