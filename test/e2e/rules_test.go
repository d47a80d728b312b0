package e2e

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"

	"github.com/lameduck-proxy/lameduck/test/e2e/node"
)

// rules are the addresses that the IPv4 rules of a node name.
func (m *member) rules(ctx context.Context) (map[string]bool, error) {
	command := []string{"iptables-save", "-t", "nat"}
	if m.proxy.Mode == node.NFTables {
		command = []string{"nft", "-n", "list", "table", "ip", "lameduck"}
	}
	var text []byte
	err := m.Enter(func() (err error) {
		text, err = exec.CommandContext(ctx, command[0], command[1:]...).Output() // one of the two above
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %v: %w", m.Name, command, err)
	}
	out := map[string]bool{}
	notAddress := func(r rune) bool { return (r < '0' || r > '9') && r != '.' }
	for _, word := range strings.FieldsFunc(string(text), notAddress) {
		out[word] = true
	}
	return out, nil
}

// refused wants a connection to be turned down at once.
func refused(ctx context.Context, w way) error {
	a, err := w.ask(ctx)
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("%s, %s to %s: answered by %q, error %w; want it refused", w.name, w.protocol, w.to, a.Pod, err)
	}
	return nil
}
