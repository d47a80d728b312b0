package cli

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/proxier/page"
)

// What is wrong with flags is an error that names them, before anything is read or built.
func TestFlagsThatCannotBeMeantAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, want string }{
		{"sim -f - --rate 5/s --rate 6/s", `invalid argument "6/s" for "--rate" flag: it is given twice: before that it was "5/s"`},
		{"sim -f - --runs 2 --runs 2", `"--runs" flag: it is given twice`},
		{"sim -f - --sensitivity --sensitivity=false", `it is given twice: before that it was "true"`},
		{"explain -f - --node a --node b", `before that it was "a"`},
		{"trace -f - --to 10.0.0.1:80 --from 10.0.0.2 --from 10.0.0.3", `"--from" flag: it is given twice`},
		{"sim -f - --set start=2s --set start=3s", `--set start is given twice, with "2s" and "3s"`},
		{"sim -f - --request-timeout junk", `--request-timeout "junk": want a duration`},
		{"explain -f - --request-timeout -3s", `--request-timeout "-3s": want a duration`},
		{"proxy --dry-run -f - --mode iptables --mode nftables", `"--mode" flag: it is given twice: before that it was "iptables"`},
		{"proxy --dry-run -f - --node a --node b", `"--node" flag: it is given twice`},
		{"sim --list causes -f -", "--filename has no effect beside it"},
		{"sim --list causes --runs 5 --seed 3", "--runs, --seed has no effect beside it"},
		{"explain --truth-table -f -", "--filename has no effect beside it"},
		{"sim -f - --runs 1000001", "--runs 1000001: want at most 1000000"},
		{"sim -f - --seed 18446744073709551615", "--seed 18446744073709551615: want 1 to 9000000000000000"},
		{"sim -f - --nodes 10001", "--nodes 10001: want 1 to 10000 nodes\nlameduck: the input has an error"},
		{"sim -f - --nodes -1", "--nodes -1: want 1 to 10000 nodes\nlameduck: the input has an error"},
		{"sim -f - --rate 1000001/s", "more than 1000000/s"},
		{"sim -f - --until 200h", "--until 200h"},
		{"sim -f - --until 0s", "--until 0s: spec.until: a run that ends at 0s has nothing in it"},
		{"sim -f - --until 100h --rate 900000/s", "more than 10000000000 requests; at most "},
	} {
		code, out, err := attempt(t, "flags", asInput(t, documents(t, hostileWorld)), strings.Fields(c.args)...)
		if code != ExitUsage || out != "" || !strings.Contains(err, c.want) {
			t.Errorf("%s: exit code %d, %q on stdout, on stderr\n%swant %q", c.args, code, out, err, c.want)
		}
	}
}

// A flag for several values takes them, and proxy takes the last of several as kube-proxy does.
func TestFlagsForSeveralValuesMayBeRepeated(t *testing.T) {
	t.Parallel()
	input := asInput(t, documents(t, hostileWorld))
	for _, args := range []string{
		"explain -f - -v -v --node node-1",
		"explain -f - --node node-1 --feature-gates ProxyTerminatingEndpoints=true --feature-gates ProxyTerminatingEndpoints=true",
		"proxy --dry-run -f - --node node-1 --proxy-mode iptables --proxy-mode nftables",
	} {
		code, _, err := attempt(t, "flags", input, strings.Fields(args)...)
		if code != ExitOK {
			t.Errorf("%s: exit code %d: %s", args, code, err)
		}
		const said = `warning: --proxy-mode is given 2 times: "nftables" counts`
		if strings.Contains(err, said) != strings.Contains(args, "--proxy-mode") {
			t.Errorf("%s: %s", args, err)
		}
	}
}

// Of thousands of warnings the first hundred are printed, and a count.
func TestManyWarningsAreACount(t *testing.T) {
	t.Parallel()
	var input strings.Builder
	for i := range 250 {
		fmt.Fprintf(&input, "---\n{apiVersion: v1, kind: Service, metadata: {name: s%d}, spec: {ports: [{port: 80, nodePort: -%d}]}}\n", i, i+1)
	}
	_, _, err := attempt(t, "warnings", input.String(), "explain", "-f", "-", "--node", "n")
	if n := strings.Count(err, "warning: "); n != mostShown {
		t.Errorf("%d warnings are printed, want %d", n, mostShown)
	}
	if !strings.Contains(err, "250 warnings in all: the first 100 are above") {
		t.Errorf("no count in\n%s", err[max(0, len(err)-300):])
	}
}

// full is what cannot be written to.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// An answer that cannot be written is an error, whoever writes it.
func TestAnAnswerThatIsLostIsAnError(t *testing.T) {
	t.Parallel()
	const quick = "sim -f - --runs 1 --sensitivity=false --fixes 0"
	const swept = "sim -f - --runs 1 --action rollout --sweep prestop=0s"
	lines := []string{"--help", "sim --help", "help proxy", "version", "version -o json", "--version", "completion bash", "sim --list presets", "sim --list facts",
		"sim --list facts=kube-proxy", "sim --list schema", "learn", "learn fallback", "trace -f - --from 10.244.1.9 --to 10.96.0.10:80 --node node-1",
		swept}
	for _, format := range []string{"text", "json", "yaml", "junit", "html", "perfetto"} {
		lines = append(lines, quick+" -o "+format)
	}
	for _, format := range []string{"text", "json", "yaml"} {
		lines = append(lines, "sim --list causes -o "+format, "explain -f - --node node-1 -o "+format, swept+" -o "+format)
	}
	for _, args := range lines {
		var said strings.Builder
		std := Streams{In: strings.NewReader(asInput(t, documents(t, hostileWorld))), Out: full{}, Err: &said}
		if code := Main(append([]string{"lameduck"}, strings.Fields(args)...), std); code != ExitUsage || !strings.Contains(said.String(), "no space left on device") {
			t.Errorf("%s: exit code %d, %s", args, code, said.String())
		}
	}
}

// What a format cannot say is an error, and nothing is printed.
func TestAnAnswerThatNoFormatHasIsAnError(t *testing.T) {
	t.Parallel()
	for _, f := range []format{formatJSON, formatYAML} {
		var out strings.Builder
		if err := f.write(&out, math.NaN(), nil); err == nil || out.Len() > 0 {
			t.Errorf("%s: %v, printed %q", f, err, out.String())
		}
		if err := f.write(full{}, 1, nil); err == nil {
			t.Errorf("%s: no error of what cannot be written to", f)
		}
	}
}

// A picture is drawn where lines are wide enough, and what is printed is a text.
func TestWherePicturesAreDrawn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		output string
		wide   int
		want   bool
	}{{"text", page.Widest, true}, {"text", page.Widest + 1, true}, {"text", page.Widest - 1, false}, {"text", 0, false}, {"html", page.Widest, false}} {
		cmd := &simCommand{output: c.output, std: Streams{Out: sized{columns: c.wide}}}
		if got := cmd.textOptions(); got.Lanes != c.want || got.Width != c.wide {
			t.Errorf("%s of %d columns: lanes %v in %d, want %v", c.output, c.wide, got.Lanes, got.Width, c.want)
		}
	}
}
