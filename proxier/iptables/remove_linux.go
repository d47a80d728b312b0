package iptables

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// Remove removes the chains of one variant of iptables and says whether there were any. With TakeOver those are the chains with the
// options' prefix that any program made, and those with any prefix that have a Backend's canary; without it, only what stands beside a
// Backend's canary. Where nobody has used the variant it makes nothing.
//
// Without the variant's tools it asks what the kernel shows: shown lists the chains of nftables in a family, each as "TABLE CHAIN". If
// there are chains to remove, the missing tool is an error.
func Remove(opts Options, shown func(endpoints.IPFamily) ([]string, error)) (found bool, err error) {
	opts, err = opts.withDefaults()
	if err != nil {
		return false, fmt.Errorf("iptables: %w", err)
	}
	var errs []error
	for _, f := range opts.Families {
		one, err := removeFamily(opts, f, shown)
		found = found || one
		if err != nil {
			errs = append(errs, &familyError{f, err})
		}
	}
	return found, errors.Join(errs...)
}

func removeFamily(opts Options, family endpoints.IPFamily, shown func(endpoints.IPFamily) ([]string, error)) (found bool, err error) {
	c := &conn{netNS: opts.NetNS, layout: opts.layout(nobodys(), family, features{})}
	err = c.do(func() error {
		missing := c.findVariant(opts.Variant)
		switch {
		case errors.Is(missing, exec.ErrNotFound):
			return c.checkShown(opts, missing, shown)
		case missing != nil:
			return missing
		case opts.Variant == Legacy:
			used, err := c.legacyTables()
			if len(used) == 0 || err != nil {
				return err
			}
		}
		if found, err = removeAll(c, &opts, c.layout); err != nil {
			return lacking(err, opts.Variant == NFT)
		}
		return nil
	})
	return found, err
}

// findVariant finds the tools of a variant, be they called iptables only.
func (c *conn) findVariant(v Variant) error {
	err := c.find(v)
	if !errors.Is(err, exec.ErrNotFound) {
		return err
	}
	if c.find(Auto) == nil && c.isNFT() == (v == NFT) {
		return nil
	}
	return err
}

// checkShown returns an error if the kernel has what a tool that is missing would remove.
func (c *conn) checkShown(opts Options, missing error, shown func(endpoints.IPFamily) ([]string, error)) error {
	var there []string
	var err error
	if opts.Variant == Legacy {
		if !opts.TakeOver {
			return nil // the kernel shows tables only: whose chains are in them cannot be told
		}
		there, err = c.legacyTables()
	} else if there, err = shown(c.layout.family); err == nil {
		there = removable(&opts, c.layout, there)
	}
	if err != nil {
		return fmt.Errorf("%w, and what the kernel has cannot be seen: %w", missing, err)
	}
	if len(there) == 0 {
		return nil
	}
	return fmt.Errorf("%w, and the kernel has what only that program can remove: %s", missing, strings.Join(there, ", "))
}

// legacyTables lists the tables of iptables-legacy that are in use: to look at one makes it.
func (c *conn) legacyTables() ([]string, error) {
	name := "/proc/thread-self/net/ip_tables_names"
	if c.layout.family == endpoints.IPv6 {
		name = "/proc/thread-self/net/ip6_tables_names"
	}
	return tablesIn(name)
}

// tablesIn lists the tables that a file names, of those that kube-proxy uses. Without the file there are none.
func tablesIn(name string) ([]string, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // the kernel has no iptables of that kind
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, t := range strings.Fields(string(text)) {
		if t == mangle.String() || t == nat.String() || t == filter.String() {
			out = append(out, "table "+t+" of "+name)
		}
	}
	return out, nil
}
