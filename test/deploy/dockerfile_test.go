//go:build linux

package deploy

import (
	"bytes"
	"debug/elf"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// stage is one FROM of a Dockerfile, with what follows.
type stage struct {
	from, name string
	steps      []step
}

// step is an instruction, such as COPY, and what follows the word.
type step struct{ word, text string }

// all returns what follows each instruction of one kind.
func (s stage) all(word string) (texts []string) {
	for _, st := range s.steps {
		if st.word == word {
			texts = append(texts, st.text)
		}
	}
	return texts
}

// stages reads the Dockerfile.
func stages(t *testing.T) []stage {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	comments := regexp.MustCompile(`(?m)^#.*\n`)
	var out []stage
	for line := range strings.SplitSeq(strings.ReplaceAll(string(comments.ReplaceAll(text, nil)), "\\\n", ""), "\n") {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case word == "":
		case word == "FROM":
			fields := slices.DeleteFunc(strings.Fields(rest), func(f string) bool { return strings.HasPrefix(f, "--") })
			if len(fields) != 3 || fields[1] != "AS" {
				t.Fatalf("FROM %s: want an image and AS a name", rest)
			}
			out = append(out, stage{from: fields[0], name: fields[2]})
		case len(out) == 0:
			t.Fatalf("%s before the first FROM", word)
		default:
			last := &out[len(out)-1]
			last.steps = append(last.steps, step{word, rest})
		}
	}
	return out
}

// What an image is made from is said by version, and of the two images one is nothing but the binary.
func TestDockerfile(t *testing.T) {
	t.Parallel()
	all := stages(t)
	var names []string
	for _, s := range all {
		names = append(names, s.name)
		if s.from != "scratch" && !regexp.MustCompile(`:v?\d+\.\d+\.\d+`).MatchString(s.from) {
			t.Errorf("FROM %s: want a version to the patch", s.from)
		}
	}
	if diff := cmp.Diff([]string{"build", "iptables", "nftables"}, names); diff != "" {
		t.Fatalf("stages (-want +got):\n%s", diff)
	}
	if all[2].from != "scratch" {
		t.Errorf("nftables is made from %s: its binary needs nothing", all[2].from)
	}
	for _, s := range all[1:] {
		want := stage{from: s.from, name: s.name, steps: all[2].steps}
		drop := func(s stage) stage { // the descriptions differ
			s.steps = slices.DeleteFunc(slices.Clone(s.steps), func(st step) bool { return st.word == "LABEL" })
			return s
		}
		if diff := cmp.Diff(drop(want), drop(s), cmp.AllowUnexported(stage{}, step{})); diff != "" {
			t.Errorf("%s (-nftables +%s):\n%s", s.name, s.name, diff)
		}
		if diff := cmp.Diff([]string{"--from=build /out/lameduck /usr/local/bin/lameduck"}, s.all("COPY")); diff != "" {
			t.Errorf("%s copies (-want +got):\n%s", s.name, diff)
		}
		for _, label := range []string{"title", "description", "source", "licenses", "version", "revision"} {
			if !strings.Contains(strings.Join(s.all("LABEL"), " "), "org.opencontainers.image."+label+"=") {
				t.Errorf("%s has no label %s", s.name, label)
			}
		}
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if wants := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(mod); !strings.HasPrefix(all[0].from, "golang:"+string(wants[1])+".") {
		t.Errorf("the build is on %s, go.mod wants %s", all[0].from, wants[1])
	}
}

// ignored says whether a path is left out by .dockerignore: by the last line that is about it or a directory that it is in.
func ignored(patterns []string, name string) bool {
	out := false
	for _, p := range patterns {
		p, kept := strings.CutPrefix(p, "!")
		pattern, anywhere := strings.CutPrefix(p, "**/")
		for at := name; at != "."; at = path.Dir(at) {
			what := at
			if anywhere {
				what = path.Base(at)
			}
			if ok, err := path.Match(pattern, what); ok && err == nil {
				out = !kept
			}
		}
	}
	return out
}

// buildContext makes a directory of what the Dockerfile's first stage copies.
func buildContext(t *testing.T, build stage) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, ".dockerignore"))
	if err != nil {
		t.Fatal(err)
	}
	patterns := slices.DeleteFunc(strings.Fields(regexp.MustCompile(`(?m)^#.*$`).ReplaceAllString(string(text), "")), func(s string) bool { return s == "" })
	dir := t.TempDir()
	for _, c := range build.all("COPY") {
		fields := strings.Fields(c)
		for _, from := range fields[:len(fields)-1] {
			if to := fields[len(fields)-1]; to != from && to != "./" {
				t.Fatalf("COPY %s: want the same place", c)
			}
			copyTree(t, patterns, from, dir)
		}
	}
	return dir
}

func copyTree(t *testing.T, patterns []string, from, dir string) {
	t.Helper()
	copied := 0
	err := filepath.WalkDir(filepath.Join(root, from), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil || ignored(patterns, filepath.ToSlash(rel)) {
			return err
		}
		copied++
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, rel)), 0o755); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, rel), text, 0o644)
	})
	if err != nil || copied == 0 {
		t.Fatalf("COPY %s: %d files, %v", from, copied, err)
	}
}

// What is copied is what the binary is built from: no tests, and no package is missing.
func TestBuildContext(t *testing.T) {
	t.Parallel()
	dir := buildContext(t, stages(t)[0])
	list := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./cmd/lameduck")
	list.Dir = dir
	if out, err := list.CombinedOutput(); err != nil {
		t.Errorf("go list: %v\n%s", err, out)
	}
	err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(name, "_test.go") || filepath.Base(name) == "testdata" {
			t.Errorf("%s is in the build context", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// image builds the binary as the Dockerfile does, of the same files, and returns its path.
func image(t *testing.T) string {
	t.Helper()
	if os.Getenv("LAMEDUCK_KERNEL") == "" {
		t.Skip("builds all there is once more: LAMEDUCK_KERNEL=1")
	}
	build := stages(t)[0]
	dir := buildContext(t, build)
	runs := build.all("RUN")
	if len(runs) != 2 || runs[0] != "go mod download" || strings.Count(runs[1], "/out/") != 1 {
		t.Fatalf("RUN %q: want one build into /out", runs)
	}
	out := t.TempDir()
	cmd := exec.Command("sh", "-ec", strings.Replace(runs[1], "/out/", out+"/", 1))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "TARGETOS=linux", "TARGETARCH="+goarch(t), "VERSION=v1.2.3-test", "REVISION=0123abc")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", runs[1], err, text)
	}
	return filepath.Join(out, "lameduck")
}

func goarch(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOARCH").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// The image's binary is static and runs where there is no other file. Built again, elsewhere, it is the same.
func TestImageBinary(t *testing.T) {
	t.Parallel()
	binary := image(t)
	program, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	again, err := os.ReadFile(image(t))
	if err != nil || !bytes.Equal(program, again) {
		t.Errorf("two builds differ (%d and %d bytes, %v)", len(program), len(again), err)
	}
	parsed, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parsed.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("it has a segment %s: it is not static", p.Type)
		}
	}
	alone := t.TempDir()
	if err := os.WriteFile(filepath.Join(alone, "lameduck"), program, 0o755); err != nil { // it is to be run
		t.Fatal(err)
	}
	for _, args := range [][]string{{"version"}, {"explain", "--truth-table"}, {"proxy", "--help"}} {
		cmd := exec.Command("/lameduck", args...)
		cmd.Dir, cmd.Env = "/", []string{}
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Chroot: alone, Cloneflags: syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		}
		out, err := cmd.CombinedOutput()
		if err != nil || len(out) == 0 || args[0] == "version" && !strings.Contains(string(out), "lameduck v1.2.3-test ") {
			t.Errorf("lameduck %q, alone: %v\n%s", args, err, out)
		}
	}
}
