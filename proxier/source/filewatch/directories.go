package filewatch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxLinks is how many symbolic links a path may lead through; the kernel's own limit is 40.
const maxLinks = 40

// directories returns, sorted, the directories in which something has to change for what the paths stand for to change: those that
// hold a file, or a symbolic link on the way to it, and all below one that is given. Of what does not exist it is the nearest
// that does.
func directories(paths []string) []string {
	w := walker{dirs: map[string]bool{}, real: map[string]bool{}}
	for _, path := range paths {
		abs, err := filepath.Abs(path)
		if err != nil {
			continue // reading it will say so
		}
		w.path(abs)
	}
	out := make([]string, 0, len(w.dirs))
	for dir := range w.dirs { // order: sorted below
		out = append(out, dir)
	}
	slices.Sort(out)
	return out
}

type walker struct {
	dirs map[string]bool
	real map[string]bool // directories that were walked, by their real paths: links may lead in circles
}

// path takes a path in: what leads there, and all below it.
func (w *walker) path(abs string) {
	end := w.links(abs)
	info, err := os.Stat(end)
	switch {
	case err != nil:
		w.nearest(end)
	case info.IsDir():
		w.below(end)
	default:
		w.dirs[filepath.Dir(end)] = true
	}
}

// links resolves a path step by step and takes in the directory of each symbolic link on the way. It returns where
// the path ends, which need not exist.
func (w *walker) links(abs string) string {
	for range maxLinks {
		at, link := firstLink(abs)
		if link == "" {
			return abs
		}
		w.dirs[filepath.Dir(at)] = true
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(at), link)
		}
		abs = filepath.Join(link, strings.TrimPrefix(abs, at))
	}
	return abs
}

// firstLink finds the first symbolic link on a path, and where it leads; "" if there is none.
func firstLink(abs string) (at, target string) {
	for i := 1; i <= len(abs); i++ {
		if i < len(abs) && abs[i] != filepath.Separator {
			continue
		}
		if target, err := os.Readlink(abs[:i]); err == nil {
			return abs[:i], target
		}
	}
	return "", ""
}

// nearest takes in the nearest directory above a path that does not exist.
func (w *walker) nearest(path string) {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			w.dirs[dir] = true
			return
		}
		if dir == filepath.Dir(dir) {
			return
		}
	}
}

// below takes in a directory and all below it that source.Read would look into, by way of links, too.
func (w *walker) below(dir string) {
	if w.real[dir] {
		return
	}
	w.real[dir], w.dirs[dir] = true, true
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // reading it will say so
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		if entry.IsDir() || entry.Type()&os.ModeSymlink != 0 {
			w.path(path)
		}
	}
}
