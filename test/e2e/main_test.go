package e2e

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/lameduck-proxy/lameduck/test/e2e/component"
	"github.com/lameduck-proxy/lameduck/test/lab"
)

// enabled says whether cases run: they take a minute or more, and rights.
func enabled() bool { return os.Getenv("LAMEDUCK_E2E") != "" }

func TestMain(m *testing.M) {
	component.Main()
	flag.Parse()
	if enabled() {
		if code, ran := lab.InUserNamespace(); ran {
			os.Exit(code)
		}
	}
	code := m.Run()
	if err := shared.close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
