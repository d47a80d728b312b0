package determinism

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/sweep"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// input is one thing to run: a file, or a world drawn from a seed.
type input struct {
	name  string // without blanks: a path from the repository's root, world-SEED or stages-SEED
	cases []scenario.Case
}

const (
	root   = "../.."
	corpus = "../../../shared/corpus" // not part of the repository
)

// worldSeeds are the worlds of drawn Scenarios. Any numbers would do; that they stay the same
// makes a failure reproducible.
var worldSeeds = []uint64{1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233}

// inputs reads everything there is to run, in one order; without all, what runs within a second.
func inputs(all bool) ([]input, error) {
	patterns, worlds := []string{root + "/examples/scenarios/*.yaml", root + "/examples/*.yaml"}, worldSeeds[:4]
	if all {
		patterns, worlds = append(patterns, root+"/sim/scenario/testdata/manifests/*.yaml", corpus+"/*.yaml"), worldSeeds
	}
	var out []input
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		for _, path := range files {
			cases, err := readCases(path)
			if err != nil {
				return nil, err
			}
			name := strings.Replace(filepath.ToSlash(path), corpus, "corpus", 1)
			out = append(out, input{strings.TrimPrefix(name, root+"/"), cases})
		}
	}
	for _, seed := range worlds {
		for _, draw := range []func(uint64) (input, error){worldInput, stagesInput} {
			in, err := draw(seed)
			if err != nil {
				return nil, err
			}
			out = append(out, in)
		}
	}
	return out, nil
}

// worldInput draws the world of a seed.
func worldInput(seed uint64) (input, error) {
	name := fmt.Sprintf("world-%d", seed)
	cases, err := casesOf(manifest.File{Name: name + ".yaml", Data: []byte(drawWorld(seed))})
	return input{name, cases}, err
}

// stagesInput draws the world with an ingress controller of a seed.
func stagesInput(seed uint64) (input, error) {
	name := fmt.Sprintf("stages-%d", seed)
	cases, err := casesOf(manifest.File{Name: name + ".yaml", Data: []byte(drawTwoStages(seed))})
	return input{name, cases}, err
}

func readCases(path string) ([]scenario.Case, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return casesOf(manifest.File{Name: path, Data: data})
}

// casesOf makes the cases of a file: of its Scenarios, or, without any, of its workloads.
func casesOf(file manifest.File) ([]scenario.Case, error) {
	objects, problems := manifest.Load([]manifest.File{file}, manifest.Options{})
	opts := scenario.Options{Files: map[string]scenario.Content{}}
	for _, s := range objects.Scenarios {
		for _, ref := range scenario.References(s, opts) {
			data, err := os.ReadFile(ref.Path)
			opts.Files[ref.Path] = scenario.Content{Files: []manifest.File{{Name: ref.Path, Data: data}}}
			if err != nil {
				return nil, err
			}
		}
	}
	var cases []scenario.Case
	var more []manifest.Problem
	if len(objects.Scenarios) > 0 {
		var list []*world.Scenario
		list, more = scenario.Parse(objects, opts)
		cases = sweep.Scenarios(list)
	} else {
		cases, more = scenario.Infer(objects, opts)
	}
	if problems = append(problems, more...); manifest.HasErrors(problems) {
		return nil, fmt.Errorf("%s: %v\n%s", file.Name, problems, file.Data)
	}
	return cases, nil
}
