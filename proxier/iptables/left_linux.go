package iptables

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// Left says whether a Backend with these options has left its chains here: whether its canary stands. It
// changes nothing, and where there is no such iptables, nothing was left.
func Left(opts Options) (bool, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return false, fmt.Errorf("iptables: %w", err)
	}
	for _, f := range opts.Families {
		found, err := left(opts, f)
		if found || err != nil {
			return found, err
		}
	}
	return false, nil
}

func left(opts Options, family endpoints.IPFamily) (found bool, err error) {
	c := &conn{netNS: opts.NetNS, layout: layout{names: names{opts.ChainPrefix}, family: family}}
	err = c.do(func() error {
		if err := c.find(opts.Variant); errors.Is(err, exec.ErrNotFound) || err == nil && c.untouched() {
			return nil
		} else if err != nil {
			return err
		}
		text, err := c.run(c.path[1], "", "-t", mangle.String())
		if err != nil {
			return lacking(err, !strings.Contains(c.version, "legacy"))
		}
		found = parseSaved(text)[mangle][c.layout.chain(ownCanary)] != nil
		return nil
	})
	if err != nil {
		err = fmt.Errorf("iptables: %s: %w", family, err)
	}
	return found, err
}

// untouched says whether nobody has ever used iptables-legacy's table here: to look at it would make it.
func (c *conn) untouched() bool {
	if !strings.Contains(c.version, "legacy") {
		return false
	}
	name := "ip_tables_names"
	if c.layout.family == endpoints.IPv6 {
		name = "ip6_tables_names"
	}
	text, err := os.ReadFile("/proc/thread-self/net/" + name)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) // the kernel has no iptables of that kind
	}
	return !slices.Contains(strings.Fields(string(text)), mangle.String())
}
