package servers

import (
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/units"
)

// windowsShell is the script of a shell of Windows, by ";" for PowerShell's and by "&" for cmd's; ok is false for other programs.
func windowsShell(argv []string) (commands []string, ok bool) {
	name := strings.ToLower(argv[0][strings.LastIndexAny(argv[0], `/\`)+1:])
	between := map[string]string{"powershell": ";", "pwsh": ";", "cmd": "&"}[strings.TrimSuffix(name, ".exe")]
	if between == "" {
		return nil, false
	}
	rest := argv[1:]
	for len(rest) > 0 && len(rest[0]) > 1 && strings.ContainsRune("-/", rune(rest[0][0])) {
		rest = rest[1:] // -NoProfile, -Command, /c
	}
	return strings.Split(strings.Join(rest, " "), between), true
}

// windows is the effect of commands of a shell of Windows: sleeps are known, and nothing else.
func windows(commands []string) (total effect) {
	for _, command := range commands {
		if strings.TrimSpace(command) != "" {
			total = total.then(windowsCommand(strings.Fields(strings.Trim(command, " \"'&{}"))))
		}
	}
	return total
}

func windowsCommand(words []string) effect {
	said := strings.Join(words, " ")
	name, unit := strings.ToLower(words[0]), engine.Second
	rest := words[1:]
	if len(rest) == 2 {
		switch flag := strings.ToLower(rest[0]); {
		case shortens(flag, "-milliseconds"):
			unit, rest = engine.Millisecond, rest[1:]
		case shortens(flag, "-seconds"):
			rest = rest[1:]
		}
	}
	if (name == "start-sleep" || name == "sleep") && len(rest) == 1 {
		if milli, ok := units.Decimal(rest[0], 3); ok && milli < uint64(Forever/unit)*1000 {
			d := engine.Time(milli) * (unit / 1000)
			return effect{min: d, max: d, why: []string{said}}
		}
	}
	if strings.TrimSuffix(name, ".exe") == "timeout" {
		for i, w := range words[1:] {
			if d, ok := sleepTime(w); ok && (i == 0 || strings.EqualFold(words[i], "/t")) {
				e := unknownEffect(said + ": it ends at once where its input is redirected, as that of a hook is")
				e.max = d
				return e
			}
		}
	}
	return unknownEffect("unknown command " + said)
}

// shortens says that a flag is the beginning of a name, as PowerShell takes them.
func shortens(flag, name string) bool {
	_, ok := strings.CutPrefix(name, flag)
	return ok && len(flag) > 1
}
