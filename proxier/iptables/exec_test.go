//go:build linux

package iptables

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// tool writes a program that stands for one of the tools.
func tool(t *testing.T, name, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil { // a program
		t.Fatal(err)
	}
	return path
}

// A tool that hangs, and one whose children hang, are ended, and named with what they said.
func TestAToolThatDoesNotEndIsKilledAndNamed(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"itself":    "echo waiting for the lock >&2\nexec sleep 1000",
		"its child": "echo waiting for the lock >&2\nsleep 60", // which outlives the test
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := tool(t, "iptables-restore", script)
			c := &conn{layout: layout{family: endpoints.IPv4}, path: [3]string{path, path, path}, patience: 50 * time.Millisecond}
			err := c.restore("*nat\nCOMMIT\n")
			if err == nil || !strings.HasPrefix(err.Error(), path+" -w 30 --noflush did not end within 50ms and was killed") {
				t.Errorf("restore: %v", err)
			}
			if _, err := c.exists(fixture{table: nat, chain: "OUTPUT", spec: []string{"-j", "KUBE-SERVICES"}}); err == nil || !strings.Contains(err.Error(), "-t nat -C OUTPUT -j KUBE-SERVICES did not end within") {
				t.Errorf("exists: %v", err)
			}
		})
	}
}

// A tool that complains of a line of its input is quoted with that line, whichever it is: it is what has to be looked at.
func TestTheLineThatAToolRefusesIsShown(t *testing.T) {
	t.Parallel()
	const input = "*nat\n-A KUBE-SERVICES -j KUBE-NOWHERE\nCOMMIT"
	silent := tool(t, "iptables-restore", "cat > /dev/null\nexit 1")
	if err := (&conn{path: [3]string{silent}}).restore(input); err == nil || !strings.HasSuffix(err.Error(), "exit status 1") {
		t.Errorf("of one that says nothing: %v", err)
	}
	for says, want := range map[string]string{
		"iptables-restore: line 1 failed":         "iptables-restore: line 1 failed: *nat",
		"iptables-restore:\n  line 2 failed":      "iptables-restore: line 2 failed: -A KUBE-SERVICES -j KUBE-NOWHERE",
		"Error occurred at line: 3":               "Error occurred at line: 3: COMMIT",
		"iptables-restore: line 4 failed":         "iptables-restore: line 4 failed",
		"iptables-restore: line 0 failed":         "iptables-restore: line 0 failed",
		"line 99999999999999999999 failed":        "line 99999999999999999999 failed",
		"Another app is holding the xtables lock": "Another app is holding the xtables lock",
	} {
		path := tool(t, "iptables-restore", "cat > /dev/null\nprintf '"+says+"' >&2\nexit 1")
		c := &conn{layout: layout{family: endpoints.IPv4}, path: [3]string{path, path, path}}
		if err := c.restore(input); err == nil || !strings.HasSuffix(err.Error(), "exit status 1: "+want) {
			t.Errorf("%q: %v", says, err)
		}
	}
}

func TestWhetherARuleExistsIsToldByTheToolsCode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code   string
		ok     bool
		failed bool
	}{{"0", true, false}, {"1", false, false}, {"4", false, true}} {
		path := tool(t, "iptables", "echo no >&2\nexit "+c.code)
		conn := &conn{layout: layout{family: endpoints.IPv4}, path: [3]string{2: path}}
		if ok, err := conn.exists(fixture{table: nat, chain: "OUTPUT"}); ok != c.ok || (err != nil) != c.failed {
			t.Errorf("code %s: %v, %v", c.code, ok, err)
		}
	}
}

func TestVersionsOfIPTables(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"iptables v1.8.9 (nf_tables)\n": "",
		"ip6tables v1.6.2\n":            "",
		"iptables v2.0.0 (legacy)":      "",
		"iptables v1.6.1\n":             "iptables 1.6.1 are too old: want 1.6.2 or newer",
		"iptables v1.4.21":              "iptables 1.4.21 are too old: want 1.6.2 or newer",
		"command not understood\n":      `"command not understood" is no version of iptables`,
	} {
		got := ""
		if err := checkVersion(said); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

// set is a directory of tools that say their version and write down how each was called; script is what they do beside that.
func set(t *testing.T, version, script string, names ...string) (dir string, called func() string) {
	t.Helper()
	dir = t.TempDir()
	log := filepath.Join(dir, "log")
	for _, name := range names {
		text := "#!/bin/sh\necho \"" + name + " $*\" >> " + log + "\ncase \"$*\" in --version) echo '" + version + "'; exit 0;; esac\n" + script + "\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil { // a program
			t.Fatal(err)
		}
	}
	return dir, func() string {
		text, err := os.ReadFile(log)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		if err := os.RemoveAll(log); err != nil {
			t.Error(err)
		}
		return string(text)
	}
}

// only has the test find no programs but those of a directory, and the shell's.
func only(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"cat", "grep"} {
		path, err := exec.LookPath(name)
		if err == nil {
			err = os.Symlink(path, filepath.Join(dir, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
}

// three are the tools of a family and variant.
func three(name string) []string { return []string{name + "-restore", name + "-save", name} }

const modern = "iptables v1.8.9 (nf_tables)"

// Each family and variant has three tools of its own. What they are is asked once; one that is missing is named, whichever it is.
func TestTheToolsOfAFamilyAndVariant(t *testing.T) {
	for _, c := range []struct {
		family  endpoints.IPFamily
		variant Variant
		name    string
	}{
		{endpoints.IPv4, Auto, "iptables"}, {endpoints.IPv6, Auto, "ip6tables"}, {endpoints.IPv4, NFT, "iptables-nft"},
		{endpoints.IPv6, NFT, "ip6tables-nft"}, {endpoints.IPv4, Legacy, "iptables-legacy"}, {endpoints.IPv6, Legacy, "ip6tables-legacy"},
	} {
		dir, called := set(t, modern, "", three(c.name)...)
		only(t, dir)
		found := &conn{layout: layout{family: c.family}}
		if err := found.find(c.variant); err != nil || found.version != modern+"\n" || !found.isNFT() || called() != c.name+" --version\n" {
			t.Errorf("%s: %v, version %q", c.name, err, found.version)
		}
		for i, name := range three(c.name) {
			if found.path[i] != filepath.Join(dir, name) {
				t.Errorf("%s: found %s", name, found.path[i])
			}
			if err := os.Rename(filepath.Join(dir, name), filepath.Join(dir, "away")); err != nil {
				t.Fatal(err)
			}
			if err := found.find(c.variant); !errors.Is(err, exec.ErrNotFound) || !strings.Contains(err.Error(), `"`+name+`"`) {
				t.Errorf("without %s: %v", name, err)
			}
			if err := os.Rename(filepath.Join(dir, "away"), filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// What tools and kernel can do is found out before anything is written: what nobody can do without is an error, the rest is done without.
func TestWhatToolsAndKernelCanDo(t *testing.T) {
	const refusesAll, refusesPrograms = "cat > /dev/null; echo no such match >&2; exit 2", "if grep -q bytecode; then echo no bpf >&2; exit 2; fi"
	for name, c := range map[string]struct {
		version, script string
		want            features
		err             string
	}{
		"everything":        {modern, "cat > /dev/null", features{randomFully: true, hairpin: true, nft: true}, ""},
		"iptables-legacy":   {"iptables v1.8.9 (legacy)", "cat > /dev/null", features{randomFully: true, hairpin: true}, ""},
		"no programs":       {modern, refusesPrograms, features{randomFully: true, nft: true}, ""},
		"none of it":        {modern, refusesAll, features{randomFully: true, nft: true}, "no such match"},
		"tools of 2015":     {"iptables v1.4.21", refusesAll, features{randomFully: true}, "iptables 1.4.21 are too old"},
		"another program":   {"busybox", "cat > /dev/null", features{randomFully: true}, `"busybox" is no version of iptables`},
		"no version at all": {"", "", features{randomFully: true}, `"" is no version of iptables`},
	} {
		dir, called := set(t, c.version, c.script, three("iptables")...)
		path := os.Getenv("PATH")
		only(t, dir)
		k, have, err := openKernel(Options{ChainPrefix: "KUBE", MasqueradeMark: 1 << 14}, endpoints.IPv4)
		have.liberal = false // of the machine
		if have != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %+v, %v, want %+v, %q", name, have, err, c.want, c.err)
		}
		if c.err == "" && (k == nil || strings.Count(called(), "iptables-restore -w 30 --noflush\n") != 2) {
			t.Errorf("%s: the rehearsals were not made", name)
		}
		t.Setenv("PATH", path)
	}
	only(t, t.TempDir())
	if _, _, err := openKernel(Options{}, endpoints.IPv4); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("without tools: %v", err)
	}
}

// All tables are saved at once, or some of them one by one; what was read before one that cannot be is not an answer.
func TestTablesAreSavedAsAskedFor(t *testing.T) {
	t.Parallel()
	dir, called := set(t, modern, `case "$*" in "-t filter") echo no such table >&2; exit 3;; esac; echo "text of $*"`, "iptables-save")
	c := &conn{path: [3]string{1: filepath.Join(dir, "iptables-save")}}
	for _, step := range []struct {
		some        []table
		text, calls string
		fails       bool
	}{
		{nil, "text of \n", "iptables-save \n", false},
		{[]table{mangle, nat}, "text of -t mangle\ntext of -t nat\n", "iptables-save -t mangle\niptables-save -t nat\n", false},
		{[]table{filter, nat}, "", "iptables-save -t filter\n", true},
	} {
		text, err := c.save(step.some...)
		if text != step.text || called() != step.calls || (err != nil) != step.fails || err != nil && !strings.HasSuffix(err.Error(), "exit status 3: no such table") {
			t.Errorf("%v: %q, %v", step.some, text, err)
		}
	}
	gone := &conn{path: [3]string{1: filepath.Join(dir, "nobody")}}
	if text, err := gone.save(); text != "" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without the tool: %q, %v", text, err)
	}
}

// A namespace that is none is said before any tool is run.
func TestANamespaceThatCannotBeEntered(t *testing.T) {
	t.Parallel()
	dir, called := set(t, modern, "", "iptables-restore")
	c := &conn{netNS: 1 << 20, path: [3]string{filepath.Join(dir, "iptables-restore")}}
	if err := c.restore("*nat\nCOMMIT\n"); !errors.Is(err, unix.EBADF) || !strings.HasPrefix(err.Error(), "enter network namespace: ") || called() != "" {
		t.Errorf("got %v", err)
	}
}

// Whoever lacks a right is told which: iptables-legacy needs one more.
func TestWhichRightsAreMissing(t *testing.T) {
	alone(t)
	refused := errors.New("unable to initialize table 'mangle'")
	for _, nft := range []bool{false, true} {
		if err := lacking(refused, nft); err != refused { //nolint:errorlint // it is the same one
			t.Errorf("with all rights: %v", err)
		}
	}
	withoutRights(t)
	for nft, want := range map[bool]string{false: "CAP_NET_ADMIN, CAP_NET_RAW", true: "CAP_NET_ADMIN"} {
		if err := lacking(refused, nft); !errors.Is(err, refused) || err.Error() != "no right to change the rules ("+want+"): "+refused.Error() {
			t.Errorf("nft %v: %v", nft, err)
		}
	}
}

// Packets of 127.0.0.0/8 are routed only once it is written down that they were not before, and no longer when nobody needs it.
func TestTheSwitchOfLocalhostIsTurnedAfterANote(t *testing.T) {
	alone(t)
	c := &conn{}
	if err := c.closeLocalhost(); err != nil { // a namespace begins as the machine is
		t.Fatal(err)
	}
	notes := 0
	refusal := errors.New("no note")
	open := func(refused error) func() error {
		return func() error {
			return c.openLocalhost(func() error {
				if refused == nil {
					notes++
				}
				return refused
			})
		}
	}
	for _, step := range []struct {
		name  string
		do    func() error
		want  string
		err   error
		notes int
	}{
		{"opened without a note", open(refusal), "0", refusal, 0},
		{"opened", open(nil), "1", nil, 1},
		{"opened again", open(nil), "1", nil, 1},
		{"closed", c.closeLocalhost, "0", nil, 1},
		{"opened once more", open(nil), "1", nil, 2},
	} {
		err := step.do()
		text, problem := os.ReadFile(routeLocalnet)
		if problem != nil {
			t.Fatal(problem)
		}
		if !errors.Is(err, step.err) || err != nil && step.err == nil || strings.TrimSpace(string(text)) != step.want || notes != step.notes {
			t.Errorf("%s: %v, the switch is %q after %d notes", step.name, err, text, notes)
		}
	}
}

// A tool ends with the program that started it: what it wrote late, the next one would not know of.
func TestAToolDoesNotOutliveItsProgram(t *testing.T) {
	t.Parallel()
	const child = "LAMEDUCK_RUNS_A_TOOL"
	if path := os.Getenv(child); path != "" {
		_, _ = (&conn{}).run(path, "")
		return
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	path := tool(t, "iptables", "exec 3> "+pipe+"\necho begun >&3\nexec sleep 60")
	program := exec.Command(os.Args[0], "-test.run=^TestAToolDoesNotOutliveItsProgram$")
	program.Env = append(slices.Clone(os.Environ()), child+"="+path)
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(pipe, os.O_RDWR, 0) // does not wait for a writer
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	from := bufio.NewReader(f)
	if line, err := from.ReadString('\n'); line != "begun\n" {
		t.Fatal(line, err)
	}
	reader, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	if err := errors.Join(f.Close(), program.Process.Kill(), reader.SetReadDeadline(time.Now().Add(20*time.Second))); err != nil {
		t.Fatal(err)
	}
	_ = program.Wait() // it was killed
	if _, err := reader.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the tool still runs: %v", err)
	}
}

// What is done in another namespace is done by a thread that ends with it: none stays there to do something else.
func TestNoThreadStaysInAnotherNamespace(t *testing.T) {
	alone(t)
	there, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = there.Close() }()
	const own = "/proc/thread-self/ns/net"
	name, err := os.Readlink(own)
	if err != nil {
		t.Fatal(err)
	}
	alone(t)
	c := &conn{netNS: int(there.Fd())}
	for range 20 {
		if err := c.do(func() error {
			if now, err := os.Readlink(own); now != name {
				t.Errorf("it is done in %s, want %s: %v", now, name, err)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	// The process's first thread cannot end before the process: Go has it wait for ever, and nothing is run on it (runtime.mexit).
	first := filepath.Join("/proc/self/task", strconv.Itoa(os.Getpid()), "ns/net")
	for until := time.Now().Add(10 * time.Second); ; runtime.Gosched() { // a thread ends when it comes to it
		left := 0
		threads, err := filepath.Glob("/proc/self/task/*/ns/net")
		if err != nil {
			t.Fatal(err)
		}
		for _, thread := range threads {
			if where, err := os.Readlink(thread); err == nil && where == name && thread != first {
				left++
			}
		}
		if left == 0 {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("%d threads are left in the other namespace", left)
		}
	}
}

// canaried is what a tool saves of a kernel in which a Backend's chains are.
const canaried = "*mangle\n:KUBE-LAMEDUCK-CANARY - [0:0]\nCOMMIT\n*nat\n:KUBE-SERVICES - [0:0]\nCOMMIT\n"

// keeping are tools that save what is in a file beside them; iptables-restore empties it.
func keeping(t *testing.T, version, saved string, names ...string) (dir string) {
	t.Helper()
	dir, _ = set(t, version, "d=${0%/*}\ncase ${0##*/} in *-save) cat $d/saved;; *-restore) cat > $d/restored; echo > $d/saved;; esac", names...)
	if err := os.WriteFile(filepath.Join(dir, "saved"), []byte(saved), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// What was left is removed with the tools of the variant, whatever they are called, and by nobody who has not got them.
func TestWithWhichToolsChainsAreRemoved(t *testing.T) {
	path := os.Getenv("PATH")
	const legacy = "iptables v1.8.9 (legacy)"
	nothing := func(endpoints.IPFamily) ([]string, error) { return nil, nil }
	for name, c := range map[string]struct {
		version, saved string
		names          []string
		shown          func(endpoints.IPFamily) ([]string, error)
		found          bool
		err            string
	}{
		"those of the variant":            {modern, canaried, three("iptables-nft"), unseen, true, ""},
		"those of the variant, and none":  {modern, "*nat\n:KUBE-SERVICES - [0:0]\nCOMMIT\n", three("iptables-nft"), unseen, false, ""},
		"those without a variant":         {modern, canaried, three("iptables"), unseen, true, ""},
		"those of the other variant":      {legacy, canaried, three("iptables"), nothing, false, ""},
		"those of the other, where it is": {legacy, canaried, three("iptables"), func(endpoints.IPFamily) ([]string, error) { return []string{"mangle KUBE-LAMEDUCK-CANARY"}, nil }, false, "only that program can remove: chain KUBE-LAMEDUCK-CANARY of table mangle"},
		"those that cannot be asked":      {"'; exit 4; echo '", canaried, three("iptables-nft"), nothing, false, "exit status 4"},
		"none":                            {modern, canaried, nil, nothing, false, ""},
	} {
		dir := keeping(t, c.version, c.saved, c.names...)
		only(t, dir)
		found, err := Remove(Options{Variant: NFT, Families: []endpoints.IPFamily{endpoints.IPv4}}, c.shown)
		if found != c.found || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, %v", name, found, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "restored")); (err == nil) != c.found {
			t.Errorf("%s: something was restored: %v", name, err == nil)
		}
		t.Setenv("PATH", path)
	}
	if found, err := Remove(Options{MasqueradeMark: 3}, unseen); found || err == nil || !strings.HasPrefix(err.Error(), "iptables: masquerade mark") {
		t.Errorf("options that cannot be: %v, %v", found, err)
	}
	if found, err := Remove(Options{Variant: NFT, NetNS: 1 << 20}, unseen); found || !errors.Is(err, unix.EBADF) {
		t.Errorf("a namespace that is none: %v, %v", found, err)
	}
}

// Whoever has no rights, and needed none, is not told of any.
func TestRightsThatNobodyNeeded(t *testing.T) {
	alone(t)
	only(t, keeping(t, modern, canaried, three("iptables-nft")...))
	withoutRights(t)
	if found, err := Remove(Options{Variant: NFT, Families: []endpoints.IPFamily{endpoints.IPv4}}, unseen); !found || err != nil {
		t.Errorf("%v, %v", found, err)
	}
}
