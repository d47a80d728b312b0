package cli

import (
	"bytes"
	"strings"
	"testing"
)

// What may have been meant by a flag or a verb that there is not, or by a file without -f, is said in one line, with the verb's own help below.
func TestWhatWasMeantIsSaid(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"sim --taget x":          "lameduck: unknown flag: --taget; did you mean --target?\nRun 'lameduck sim --help' for usage.\n",
		"sim --zzzzzz":           "lameduck: unknown flag: --zzzzzz\nRun 'lameduck sim --help' for usage.\n",
		"proxy --cleanp":         "lameduck: unknown flag: --cleanp; did you mean --cleanup?\nRun 'lameduck proxy --help' for usage.\n",
		"-f app.yaml":            "lameduck: unknown shorthand flag: 'f' in -f; a verb comes before it: explain, play, proxy, sim or trace\nRun 'lameduck --help' for usage.\n",
		"--truth-table":          "lameduck: unknown flag: --truth-table; a verb comes before it: explain\nRun 'lameduck --help' for usage.\n",
		"-z":                     "lameduck: unknown shorthand flag: 'z' in -z\nRun 'lameduck --help' for usage.\n",
		"simm":                   "lameduck: unknown command \"simm\" for \"lameduck\"; did you mean sim?\nRun 'lameduck --help' for usage.\n",
		"nothing":                "lameduck: unknown command \"nothing\" for \"lameduck\"\nRun 'lameduck --help' for usage.\n",
		"sim app.yaml":           "lameduck: app.yaml: a file is given with -f: lameduck sim -f app.yaml\nRun 'lameduck sim --help' for usage.\n",
		"trace -f a.json b.json": "lameduck: b.json: a file is given with -f: lameduck trace -f b.json\nRun 'lameduck trace --help' for usage.\n",
		"explain deploy/":        "lameduck: deploy/: a file is given with -f: lameduck explain -f deploy/\nRun 'lameduck explain --help' for usage.\n",
		"explain ../deploy":      "lameduck: ../deploy: a file is given with -f: lameduck explain -f ../deploy\nRun 'lameduck explain --help' for usage.\n",
		"explain shop/web:80":    "lameduck: unknown command \"shop/web:80\" for \"lameduck explain\"\nRun 'lameduck explain --help' for usage.\n",
		"proxy -":                "lameduck: -: a file is given with -f: lameduck proxy -f -\nRun 'lameduck proxy --help' for usage.\n",
		"sim -f a.yaml more":     "lameduck: unknown command \"more\" for \"lameduck sim\"\nRun 'lameduck sim --help' for usage.\n",
		"version a.yaml":         "lameduck: unknown command \"a.yaml\" for \"lameduck version\"\nRun 'lameduck version --help' for usage.\n",
		"completion bash --shl":  "lameduck: unknown flag: --shl\nRun 'lameduck completion bash --help' for usage.\n",
	} {
		var out, said bytes.Buffer
		if code := Main(append([]string{"lameduck"}, strings.Fields(args)...), Streams{In: strings.NewReader(""), Out: &out, Err: &said}); code != ExitUsage || out.Len() > 0 || said.String() != want {
			t.Errorf("%s: exit code %d, %q on stdout, %q on stderr, want %q", args, code, out.String(), said.String(), want)
		}
	}
	for args, want := range map[string]string{
		"sim --all=maybe":                       `--all "maybe": want true or false`,
		"sim --runs x":                          `--runs "x": want a whole number`,
		"sim --runs 99999999999999999999":       `--runs "99999999999999999999": it is out of range`,
		"sim --seed -1":                         `--seed "-1": want a whole number, 0 or more`,
		"proxy --kube-api-qps x":                `--kube-api-qps "x": want a number`,
		"explain -o xml":                        `invalid argument "xml" for "-o, --output" flag: want text, json or yaml`,
		"proxy --iptables-masquerade-bit 1.5":   `--iptables-masquerade-bit "1.5": want a whole number`,
		"proxy --oom-score-adj 1 --ipvs-min=1h": `unknown flag: --ipvs-min`,
	} {
		var said bytes.Buffer
		if code := Main(append([]string{"lameduck"}, strings.Fields(args)...), Streams{In: strings.NewReader(""), Out: &said, Err: &said}); code != ExitUsage || !strings.HasPrefix(said.String(), "lameduck: "+want+"\n") {
			t.Errorf("%s: exit code %d, %q, want %q", args, code, said.String(), want)
		}
	}
	var said bytes.Buffer
	Main([]string{"kubectl-lameduck", "sim", "app.yml"}, Streams{Err: &said, Out: &said})
	if want := "kubectl lameduck: app.yml: a file is given with -f: kubectl lameduck sim -f app.yml\nRun 'kubectl lameduck sim --help' for usage.\n"; said.String() != want {
		t.Errorf("%q, want %q", said.String(), want)
	}
}
