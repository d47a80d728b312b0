// Package files delivers the objects of files and directories to a source.Sink, as they are and as they change.
//
//	fsnotify -> debounce -> source.Read -> manifest.Load -> difference to what was delivered -> source.Sink
//
// The input counts as a whole: as long as any of it cannot be read, all of it stays as it was when it last could, and what
// is wrong is logged with its position, once. So a file that is half-written takes nothing away. An empty file counts as
// half-written, and a directory without any manifest, or a path that is gone, as an input that cannot be read: to take the last object
// away, leave a List without items. What is wrong with single objects is logged as a warning, and they are left out.
//
// Directories are watched, not files: editors and ConfigMap volumes put a new file, or a new directory by way of a
// symbolic link, in the place of the old one. Where notifications do not work, as on network file systems, the input is looked at
// from time to time. What kube-proxy's selectors leave out is left out (see package apiserver).
package files
