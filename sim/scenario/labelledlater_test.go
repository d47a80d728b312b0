package scenario

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// Of Services and budgets that go by labels which an operator sets while pods run it is said that they are not simulated.
func TestLabelsThatNoTemplateHas(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../report/testdata/sets/postgres.yaml")
	if err != nil {
		t.Fatal(err)
	}
	objects, _ := manifest.Load([]manifest.File{{Name: "in.yaml", Data: data}}, manifest.Options{})
	_, problems := inferKept(t, objects, Options{Wording: flags()})
	words := fmt.Sprint(problems)
	for _, want := range []string{
		"Service db/acid-db: spec.selector: it selects pods by labels that are not in their template",
		"Service db/acid-db-repl: spec.selector: it selects pods by labels that are not in their template",
		"PodDisruptionBudget db/postgres-acid-db-pdb: spec.selector: it covers pods by labels that are not in their template",
		": nothing that is done here asks it; --action drain=NODE does",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("%s: not in %s", want, words)
		}
	}
}
