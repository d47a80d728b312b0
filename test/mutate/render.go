package mutate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The files that each package with mistakes gets: only on Linux mistakes are made.
const (
	onLinux  = "lameduck_mistakes_linux.go"
	onOthers = "lameduck_mistakes_others.go"
)

// on is the call that asks whether mistake number n is made.
func on(n uint) string { return fmt.Sprintf("lameduckMistake(%d)", n) }

// Switched writes the sources with all mistakes in them, each behind a switch, into dir, and returns the list that the
// go command's flag -overlay takes. The number of a mistake is its position plus one. Which one is made is what the
// file control says when a program starts.
func Switched(dir, control string, drawn []*Mistake) (list string, err error) {
	replace := map[string]string{}
	add := func(path, text string) error {
		replace[path] = filepath.Join(dir, strconv.Itoa(len(replace))+"-"+filepath.Base(path))
		return os.WriteFile(replace[path], []byte(text), 0o600)
	}
	for path, text := range switched(control, drawn) {
		if err := add(path, text); err != nil {
			return "", err
		}
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list = filepath.Join(dir, "overlay.json")
	return list, os.WriteFile(list, data, 0o600)
}

// switched returns the texts of the files that change and of those that are new, by absolute path.
func switched(control string, drawn []*Mistake) map[string]string {
	files := map[*File][]wrapper{}
	also := map[string]bool{}
	texts := map[string]string{}
	for i, m := range drawn {
		for _, w := range m.also {
			if key := fmt.Sprint(m.File, w.start, w.end); !also[key] {
				also[key] = true
				files[m.file] = append(files[m.file], w)
			}
		}
		wrap := func(s string) string { return m.wrap(s, uint(i)+1) } // a position is not negative
		files[m.file] = append(files[m.file], wrapper{m.start, m.end, wrap})
		header := "package " + m.source.pkg.Name() + "\n"
		texts[filepath.Join(m.source.Dir, onLinux)] = header + fmt.Sprintf(reader, control)
		texts[filepath.Join(m.source.Dir, onOthers)] = "//go:build !linux\n\n" + header + elsewhere
	}
	for f, wrappers := range files {
		texts[f.Path] = render(f.Text, wrappers)
	}
	return texts
}

// render wraps places of a text, the inner ones first: one lies in another, or they have nothing in common. Of two
// around the same text the first is the inner one.
func render(text string, wrappers []wrapper) string {
	order := make([]int, len(wrappers))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(wrappers[a].start, wrappers[b].start), cmp.Compare(wrappers[b].end, wrappers[a].end), cmp.Compare(b, a))
	})
	sorted := make([]wrapper, len(order))
	for i, at := range order {
		sorted[i] = wrappers[at]
	}
	out, _ := within(text, 0, len(text), sorted)
	return out
}

// within renders text[start:end] with the wrappers that lie in it, and returns how many those are.
func within(text string, start, end int, sorted []wrapper) (out string, used int) {
	var b strings.Builder
	at := start
	for used < len(sorted) && sorted[used].start < end && sorted[used].end <= end {
		w := sorted[used]
		b.WriteString(text[at:w.start])
		inner, n := within(text, w.start, w.end, sorted[used+1:])
		b.WriteString(w.wrap(inner))
		at = w.end
		used += 1 + n
	}
	b.WriteString(text[at:end])
	return b.String(), used
}

// switchImports is what the switch itself imports.
var switchImports = []string{"encoding/binary", "os", "syscall"}

// reader is the file that each package with mistakes gets. Programs without an environment of their own making (those
// that tests start, with a clean one) have to hear of the choice, too, and whatever way a process ends, what it reached
// has to be known: so both are in a file that all of them map.
const reader = `
import (
	"encoding/binary"
	"os"
	"syscall"
)

var lameduckChosen, lameduckReached = lameduckControl()

func lameduckControl() (chosen uint32, reached []byte) {
	f, err := os.OpenFile(%q, os.O_RDWR, 0)
	if err != nil {
		return 0, nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, nil
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return 0, nil
	}
	if chosen = binary.LittleEndian.Uint32(data); chosen != 0 {
		return chosen, nil
	}
	return 0, data
}

func lameduckMistake(n uint32) bool {
	if lameduckReached != nil {
		lameduckReached[3+n] = 1
	}
	return lameduckChosen == n
}

func lameduckPick[T any](n uint32, right, wrong T) T {
	if lameduckMistake(n) {
		return wrong
	}
	return right
}
`

// elsewhere is the same for platforms on which no mistake is made.
const elsewhere = `
func lameduckMistake(uint32) bool { return false }

func lameduckPick[T any](_ uint32, right, _ T) T { return right }
`
