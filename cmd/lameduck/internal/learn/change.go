package learn

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Hunk is one change of a world: lines with a blank stay, those with - go and those with + come.
type Hunk struct{ lines []string }

// sides are the lines before and after.
func (h Hunk) sides() (before, after string) {
	var b, a strings.Builder
	for _, line := range h.lines {
		if line[0] != '+' {
			b.WriteString(line[1:] + "\n")
		}
		if line[0] != '-' {
			a.WriteString(line[1:] + "\n")
		}
	}
	return b.String(), a.String()
}

// Solved is the world with the solution in it.
func (l *Lesson) Solved() (string, error) {
	text := "\n" + l.World
	for i, h := range l.Exercise.Hunks {
		before, after := h.sides()
		before, after = "\n"+before, "\n"+after
		if n := strings.Count(text, before); n != 1 {
			return "", fmt.Errorf("change %d of the solution: its lines are %d times in %s, want once:%s", i+1, n, l.File(), strings.TrimSuffix(before, "\n"))
		}
		text = strings.Replace(text, before, after, 1)
	}
	return text[1:], nil
}

// Strays are what a reader changed beyond what the exercise is about: a path each. An error means that the text is no YAML.
func (l *Lesson) Strays(text string) ([]string, error) {
	was, err := leaves(l.World)
	if err != nil {
		return nil, err
	}
	is, err := leaves(text)
	if err != nil {
		return nil, err
	}
	var out []string
	// order: sorted below
	for path, value := range was {
		if now, ok := is[path]; (!ok || now != value) && !l.may(path) {
			out = append(out, path)
		}
	}
	// order: sorted below
	for path := range is {
		if _, ok := was[path]; !ok && !l.may(path) {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out, nil
}

// may says whether the exercise lets a path be changed.
func (l *Lesson) may(path string) bool {
	return slices.ContainsFunc(l.Exercise.Change, func(begin string) bool {
		rest, ok := strings.CutPrefix(path, begin)
		return ok && (rest == "" || strings.ContainsAny(rest[:1], ".[ "))
	})
}

// leaves are the single values of all documents by path: "Deployment/web spec.replicas" is "3".
func leaves(text string) (map[string]string, error) {
	out := map[string]string{}
	dec := yaml.NewDecoder(strings.NewReader(text))
	for {
		var doc map[string]any
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s", strings.TrimPrefix(err.Error(), "yaml: "))
		}
		if doc == nil {
			continue
		}
		meta, _ := doc["metadata"].(map[string]any)
		collect(out, fmt.Sprintf("%v/%v ", doc["kind"], meta["name"]), doc)
	}
}

// collect puts the leaves of a value below a path.
func collect(out map[string]string, path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		sep := "."
		if strings.HasSuffix(path, " ") {
			sep = ""
		}
		// order: into a map
		for key, item := range v {
			collect(out, path+sep+key, item)
		}
	case []any:
		for i, item := range v {
			collect(out, fmt.Sprintf("%s[%d]", path, i), item)
		}
	default:
		out[path] = fmt.Sprint(v)
	}
}
