package script

import (
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// answer is what the program prints of a command, once it has ended.
type answer struct {
	stdout, stderr string
	err            error
}

// answers are those of commands that documents show, several of them more than once.
var answers = struct {
	sync.Mutex
	of map[string]func() answer
}{of: map[string]func() answer{}}

// answerTo runs the program in the root of the repository: once for each command, whichever document shows it.
func answerTo(args ...string) answer {
	key := strings.Join(args, "\x00")
	answers.Lock()
	run := answers.of[key]
	if run == nil {
		run = sync.OnceValue(func() answer { return ask(args) })
		answers.of[key] = run
	}
	answers.Unlock()
	return run()
}

func ask(args []string) answer {
	var out, errs strings.Builder
	cmd := exec.Command(filepath.Join(binaries, "lameduck"), args...) // the documents' own commands
	cmd.Dir, cmd.Stdout, cmd.Stderr = "../..", &out, &errs
	err := cmd.Run()
	return answer{out.String(), errs.String(), err}
}
