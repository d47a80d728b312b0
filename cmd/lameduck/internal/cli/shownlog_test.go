package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
)

// A log has the words of objects, files and other programs as a terminal may show them, wherever they stand, and values as they are.
func TestALogObeysNoWords(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	log := shownLog(funcr.NewJSON(func(obj string) { out.WriteString(obj + "\n") }, funcr.Options{}))
	const hostile, shown = "a\x1b[2Jb", `"a\\x1b[2Jb"`
	log.WithValues("with", hostile).Info(hostile, "names", []string{hostile, "plain"}, "n", 5)
	log.Error(errors.New(hostile), "failed")
	for _, want := range []string{`"msg":` + shown, `"with":` + shown, `"names":[` + shown + `,"plain"]`, `"n":5`, `"error":` + shown} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in\n%s", want, out.String())
		}
	}
}
