package scenario

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// A golden file is a list of cases: a line "=== what the case shows", lines "$ ..." that say
// how it is read, the input, a line "----", and what comes out: the problems, then the
// normalised form. A line "--> name" in the input starts a further file; the first is in.yaml.
// A file that only References name is one of those with a "+" before its name.
//
//	$ set PATH=VALUE    a --set
//	$ flag NAME VALUE   another flag: nodes, rate, profile, target, version, gate, until, lb, env
//	$ show a b          only these parts of the normalised form
//	$ infer             Infer, not Parse
//	$ with web          testdata/web.yaml as another file of the input
func TestGolden(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			for i, c := range strings.Split("\n"+string(data), "\n=== ") {
				if i == 0 {
					out.WriteString(strings.TrimSpace(c) + "\n\n")
					continue
				}
				title, rest, _ := strings.Cut(c, "\n")
				input, want, _ := strings.Cut(rest+"\n", "----\n")
				got := caseText(input)
				if got != strings.TrimRight(want, "\n")+"\n" && !*update {
					t.Errorf("%s\ngot:\n%s\nwant:\n%s", title, got, want)
				}
				fmt.Fprintf(&out, "%s=== %s\n%s----\n%s", map[bool]string{true: "\n"}[i > 1], title, input, got)
			}
			if *update {
				if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// caseText runs one case.
func caseText(input string) string {
	opts := Options{Files: map[string]Content{}, Wording: flags(), Actions: []string{"rollout"}}
	var show []string
	infer, with := false, ""
	for strings.HasPrefix(input, "$ ") {
		line, rest, _ := strings.Cut(input, "\n")
		input = rest
		verb, args, _ := strings.Cut(strings.TrimPrefix(line, "$ "), " ")
		switch verb {
		case "set":
			opts.Set = append(opts.Set, args)
		case "flag":
			goldenFlag(&opts, args)
		case "show":
			show = strings.Fields(args)
		case "infer":
			infer = true
		case "with":
			with = args + ".yaml"
		default:
			panic("unknown directive " + line)
		}
	}
	files := goldenFiles(input, opts.Files)
	if with != "" {
		data, err := os.ReadFile(filepath.Join("testdata", with))
		if err != nil {
			panic(err)
		}
		files = append(files, manifest.File{Name: with, Data: data})
	}
	objects, problems := manifest.Load(files, manifest.Options{})
	var b strings.Builder
	if infer {
		cases, more := Infer(objects, opts)
		writeProblems(&b, append(problems, more...))
		writeCases(&b, cases, show)
	} else {
		scenarios, more := Parse(objects, opts)
		writeProblems(&b, append(problems, more...))
		for i, s := range scenarios {
			if i > 0 {
				b.WriteString("---\n")
			}
			b.WriteString(sections(Normal(s), show))
		}
	}
	if b.Len() == 0 {
		return "nothing\n"
	}
	return b.String()
}

func goldenFlag(opts *Options, args string) {
	name, value, _ := strings.Cut(args, " ")
	switch name {
	case "nodes":
		if _, err := fmt.Sscan(value, &opts.Nodes); err != nil {
			panic(err)
		}
	case "rate":
		opts.Rate = value
	case "profile":
		opts.Profile = value
	case "action": // "unasked": what is done where nobody asks for actions
		if opts.Actions = strings.Split(value, ","); value == "unasked" {
			opts.Actions = nil
		}
	case "target":
		opts.Target = value
	case "version":
		opts.KubernetesVersion = value
	case "lb":
		opts.LB = value
	case "env":
		opts.Env = value
	case "until":
		opts.Until = value
	case "gate":
		gate, on, _ := strings.Cut(value, "=")
		opts.FeatureGates = map[string]bool{gate: on == "true"}
	default:
		panic("unknown flag " + name)
	}
}

func goldenFiles(input string, named map[string]Content) []manifest.File {
	name := "in.yaml"
	var files []manifest.File
	for i, part := range strings.Split("\n"+input, "\n--> ") {
		if i > 0 {
			name, part, _ = strings.Cut(part, "\n")
		} else {
			part = strings.TrimPrefix(part, "\n")
		}
		if i == 0 && part == "" {
			continue
		}
		if !strings.HasSuffix(part, "\n") {
			part += "\n" // the split took it
		}
		if path, ok := strings.CutPrefix(name, "+"); ok {
			named[path] = Content{Files: []manifest.File{{Name: path, Data: []byte(part)}}}
			continue
		}
		files = append(files, manifest.File{Name: name, Data: []byte(part)})
	}
	return files
}

func writeProblems(b *strings.Builder, problems []manifest.Problem) {
	for _, p := range problems {
		fmt.Fprintf(b, "%s: %v\n", p.Severity, p)
	}
}

func writeCases(b *strings.Builder, cases []Case, show []string) {
	for _, c := range cases {
		fmt.Fprintf(b, "%s: %s of %s %s, %s", c.ID, c.Action, c.Kind, c.Workload, c.Traffic)
		if c.FailurePolicy != "" {
			fmt.Fprintf(b, ", failurePolicy %s", c.FailurePolicy)
		}
		if c.Headline {
			fmt.Fprintf(b, ", headline %d", c.Users)
		}
		if c.Verdict != "" {
			fmt.Fprintf(b, ", %s: %s", c.Verdict, c.Reason)
		}
		b.WriteString("\n")
		if c.Scenario != nil && show != nil {
			b.WriteString(sections(Normal(c.Scenario), show))
		}
	}
}

// sections keeps the named top-level keys of a normalised form; nil keeps all.
func sections(normal string, names []string) string {
	if names == nil {
		return normal
	}
	var b strings.Builder
	keep := false
	for line := range strings.Lines(normal) {
		if !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "- ") {
			key, _, _ := strings.Cut(line, ":")
			keep = slices.Contains(names, key)
		}
		if keep {
			b.WriteString(line)
		}
	}
	return b.String()
}

// flags words settings as a command line does.
func flags() Wording {
	return Wording{
		OptionText: func(name, value string) string { return strings.TrimSpace("--" + name + " " + value) },
		FieldText:  func(path, value string) string { return "--set " + path + "=" + value },
	}
}
