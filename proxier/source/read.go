package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// Errors that Read wraps, for callers that branch on them.
var (
	// ErrNoInput means that no path was given, or that a directory has no
	// manifest in it.
	ErrNoInput = errors.New("no manifests")
	// ErrTooLarge means that the files together exceed manifest.DefaultMaxBytes.
	ErrTooLarge = errors.New("input too large")
	// ErrURL means that a path is a URL: lameduck fetches nothing.
	ErrURL = errors.New("URLs are not read")
	// ErrStdinTwice means that "-" was given more than once.
	ErrStdinTwice = errors.New("standard input can be read only once")
)

// Read reads what the paths name, in that order:
//
//   - "-" is stdin, at most once;
//   - a directory stands for the *.yaml, *.yml and *.json files in it and, but
//     for ReadFlat, below it, sorted by name, without those whose name or directory's name starts
//     with a dot; symbolic links are followed, each directory is read once;
//   - anything else is a file, whatever its name.
//
// The files together may hold manifest.DefaultMaxBytes. Sizes are looked at
// before anything is read, and nothing is read beyond the limit.
//
// The error joins all that went wrong, each part naming its path; the files
// that could be read are returned all the same. stdin may be nil when "-" is
// not among the paths. The result is the caller's.
func Read(paths []string, stdin io.Reader) ([]manifest.File, error) {
	return newReader(stdin).read(paths)
}

// ReadFlat is Read without what lies below directories.
func ReadFlat(paths []string, stdin io.Reader) ([]manifest.File, error) {
	r := newReader(stdin)
	r.flat = true
	return r.read(paths)
}

func newReader(stdin io.Reader) *reader {
	return &reader{stdin: stdin, limit: manifest.DefaultMaxBytes, left: manifest.DefaultMaxBytes}
}

// reader is the state of one Read.
type reader struct {
	stdin     io.Reader
	usedStdin bool
	limit     int64 // of the whole input
	left      int64 // what is left of it
	full      bool  // the limit was hit: nothing more is read
	flat      bool  // what lies below a directory is not read
	files     []manifest.File
	errs      []error
}

func (r *reader) read(paths []string) ([]manifest.File, error) {
	if len(paths) == 0 {
		return nil, fmt.Errorf("%w: give a file, a directory, or - for standard input", ErrNoInput)
	}
	for _, path := range paths {
		if r.full {
			break
		}
		r.path(path)
	}
	return r.files, errors.Join(r.errs...)
}

func (r *reader) fail(path string, err error) {
	// The operating system's errors name the path again.
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	if path == "-" {
		path = "<stdin>" // as positions name it
	}
	r.errs = append(r.errs, fmt.Errorf("%s: %w", path, err))
}

func (r *reader) path(path string) {
	switch {
	case path == "-" && r.usedStdin:
		r.fail("-", ErrStdinTwice)
	case path == "-":
		r.usedStdin = true
		if r.stdin == nil {
			r.fail("-", errors.New("there is no standard input"))
			return
		}
		r.content("-", r.stdin)
	case strings.HasPrefix(path, "http://") || strings.HasPrefix(path, "https://"):
		r.fail(path, fmt.Errorf("%w: pass it on by curl -fsSL %s | lameduck ... -f -", ErrURL, path))
	case path == "":
		r.fail(`""`, errors.New("empty file name"))
	default:
		info, err := os.Stat(path)
		switch {
		case err != nil:
			r.fail(path, err)
		case info.IsDir():
			r.directory(path)
		default:
			r.file(path, info)
		}
	}
}

func (r *reader) directory(root string) {
	before, errs := len(r.files), len(r.errs)
	r.walk(root, map[string]bool{})
	if len(r.files) == before && len(r.errs) == errs {
		r.fail(root, fmt.Errorf("%w: the directory has no *.yaml, *.yml or *.json file", ErrNoInput))
	}
}

// walk reads a directory. visited holds the real paths of those already seen,
// so that a symbolic link to a parent ends somewhere.
func (r *reader) walk(dir string, visited map[string]bool) {
	canonical, err := filepath.EvalSymlinks(dir)
	if err != nil {
		r.fail(dir, err)
		return
	}
	if canonical, err = filepath.Abs(canonical); err != nil {
		r.fail(dir, err)
		return
	}
	if visited[canonical] {
		return
	}
	visited[canonical] = true
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		r.fail(dir, err)
		return
	}
	for _, entry := range entries {
		if r.full {
			return
		}
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		info, err := os.Stat(path)
		switch {
		case err != nil && !isManifest(path):
			// A dangling link to something that would not be read anyway.
		case err != nil:
			r.fail(path, err)
		case info.IsDir() && r.flat:
		case info.IsDir():
			r.walk(path, visited)
		case info.Mode().IsRegular() && isManifest(path):
			r.file(path, info)
		}
	}
}

func isManifest(path string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(path)))
}

func (r *reader) file(path string, info fs.FileInfo) {
	if info.Size() > r.left { // a pipe has none
		r.tooLarge(path)
		return
	}
	f, err := os.Open(path)
	if err != nil {
		r.fail(path, err)
		return
	}
	r.content(path, f)
	if err := f.Close(); err != nil {
		r.fail(path, err)
	}
}

// content reads at most what is left of the limit: the size of a pipe is not
// known beforehand, and a file may grow.
func (r *reader) content(name string, from io.Reader) {
	data, err := io.ReadAll(io.LimitReader(from, r.left+1))
	switch {
	case err != nil:
		r.fail(name, err)
	case int64(len(data)) > r.left:
		r.tooLarge(name)
	default:
		r.left -= int64(len(data))
		r.files = append(r.files, manifest.File{Name: name, Data: data})
	}
}

// tooLarge ends the reading: whatever follows would not fit either.
func (r *reader) tooLarge(name string) {
	r.fail(name, fmt.Errorf("%w: all files together are limited to %d MiB", ErrTooLarge, r.limit>>20))
	r.full = true
}
