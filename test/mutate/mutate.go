// Package mutate seeds mistakes into the sources for one build: tests that have to notice a
// mistake are built against it, and must fail. The sources themselves stay as they are.
//
// The mistakes are texts that were chosen (Edit), or they are drawn from those that the syntax tree
// allows (Mistake): all drawn ones are built at once, each behind a switch, and a Bench runs the tests
// that come by each.
package mutate

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Edit is one change of a source: the file, the text there, which has to occur once, and what
// stands there instead.
type Edit [3]string

// Apply returns the texts of the edited files, by name below root.
func Apply(root string, edits []Edit) (map[string]string, error) {
	texts := map[string]string{}
	for _, e := range edits {
		file, old := e[0], e[1]
		if _, ok := texts[file]; !ok {
			text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
			if err != nil {
				return nil, err
			}
			texts[file] = string(text)
		}
		if n := strings.Count(texts[file], old); n != 1 {
			return nil, fmt.Errorf("stale mutant: %q occurs %d times in %s, want once", old, n, file)
		}
		texts[file] = strings.Replace(texts[file], old, e[2], 1)
	}
	return texts, nil
}

// Compile says what is wrong with the types of edited files, nil for nothing. Each of the sources that has one of them
// is checked by itself.
func Compile(sources []*Source, root string, edits []Edit) error {
	texts, err := Apply(root, edits)
	if err != nil {
		return err
	}
	byDir := map[string]map[string]string{}
	for file, text := range texts { // order: each package for itself
		if filepath.Ext(file) != ".go" {
			continue
		}
		path, err := filepath.Abs(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil {
			return err
		}
		dir := filepath.Dir(path)
		if byDir[dir] == nil {
			byDir[dir] = map[string]string{}
		}
		byDir[dir][path] = text
	}
	var wrong []error
	for _, s := range sources {
		if byDir[s.Dir] != nil {
			wrong = append(wrong, s.Check(byDir[s.Dir]))
		}
	}
	return errors.Join(wrong...)
}

// Overlay writes the edited files into dir, with the list that has the go command read them in
// place of the originals: its flag -overlay takes what is returned.
func Overlay(dir, root string, edits []Edit) (list string, err error) {
	texts, err := Apply(root, edits)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for file, text := range texts {
		path, err := filepath.Abs(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil {
			return "", err
		}
		// Two of them may have one name.
		replace[path] = filepath.Join(dir, strconv.Itoa(len(replace))+"-"+filepath.Base(path))
		if err := os.WriteFile(replace[path], []byte(text), 0o600); err != nil {
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
