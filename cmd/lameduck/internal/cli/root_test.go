package cli

import (
	"errors"
	"net/netip"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// By its name the program is a plugin of kubectl, or what kubectl asks for the words that may follow.
func TestNamesOfTheProgram(t *testing.T) {
	t.Parallel()
	for program, want := range map[string]struct {
		display string
		args    []string
	}{
		"lameduck":                           {"lameduck", []string{"sim", "-f"}},
		"/usr/bin/kubectl-lameduck":          {"kubectl lameduck", []string{"sim", "-f"}},
		"/opt/kubectl-x/lameduck":            {"lameduck", []string{"sim", "-f"}},
		"/usr/bin/kubectl_complete-lameduck": {"kubectl lameduck", []string{"__complete", "sim", "-f"}},
	} {
		if got := displayName(program); got != want.display {
			t.Errorf("%s is called %q", program, got)
		}
		if got := arguments([]string{program, "sim", "-f"}); !slices.Equal(got, want.args) {
			t.Errorf("%s is given %q", program, got)
		}
	}
}

// A fault is one whatever is around it, and what it wraps is found.
func TestFaultsKeepTheirCause(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	if err := error(internalError{cause}); !errors.Is(err, cause) || err.Error() != "cause" {
		t.Errorf("%v", err)
	}
}

// How wide lines are is said by COLUMNS where no terminal says it; what is no number is none. The test changes the environment, so it runs alone.
func TestHowWideLinesAre(t *testing.T) {
	for value, want := range map[string]int{"": 0, "80": 80, "wide": 0, "80x": 0} {
		t.Setenv("COLUMNS", value)
		if got := columns(full{}); got != want {
			t.Errorf("COLUMNS=%s: %d", value, got)
		}
		if got := columns(sized{columns: 7}); got != 7 {
			t.Errorf("of what has a width: %d", got)
		}
	}
}

// A node has the addresses of its object first, and those of the machine that are not among them, each once.
func TestTheAddressesOfANode(t *testing.T) {
	t.Parallel()
	config, _ := readConfig(t, "")
	s := &settings{flags: &nodeFlags{}, config: config, profile: endpoints.Profile{Options: endpoints.CurrentOptions()}}
	object := &corev1.Node{}
	object.Name = "node-1"
	object.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "192.0.2.1"}}
	var host []netip.Addr
	for _, a := range []string{"192.0.2.1", "192.0.2.2", "fd00::1"} {
		host = append(host, netip.MustParseAddr(a))
	}
	node, err := s.node("node-1", object, nil, host)
	if err != nil || !slices.Equal(node.Addresses, host) {
		t.Errorf("%v, %v", node, err)
	}
}
