package nftables

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// Remove removes the tables of a Backend with these options that any program made, and says whether there were any. It needs less of
// the kernel than a Backend does. Where the kernel has no nftables there are none; where nobody may look, it is an error.
func Remove(opts Options) (found bool, err error) {
	err = withKernel(opts, func(k kernel, opts Options) (err error) {
		found, err = remove(k, opts)
		return err
	})
	return found, err
}

// Chains lists the chains of all tables of one family, each as its table's and its own name with a blank between. There are none where
// the kernel has no nftables.
func Chains(opts Options, family endpoints.IPFamily) (list []string, err error) {
	err = withKernel(opts, func(k kernel, _ Options) (err error) {
		list, err = k.chains(family)
		return err
	})
	return list, err
}

// withKernel does something with a kernel that has nftables.
func withKernel(opts Options, do func(kernel, Options) error) error {
	opts, err := opts.withDefaults()
	if err != nil {
		return fmt.Errorf("nftables: %w", err)
	}
	k, err := openKernel(opts)
	return inKernel(k, err, opts, do)
}

// inKernel does something with a kernel, or says why it could not be opened.
func inKernel(k kernel, err error, opts Options, do func(kernel, Options) error) error {
	if errors.Is(err, syscall.EPROTONOSUPPORT) {
		return nil // it knows no netfilter
	}
	if err != nil {
		return fmt.Errorf("nftables: %w", err)
	}
	switch _, err = k.generation(); {
	case errors.Is(err, syscall.EPERM):
		err = fmt.Errorf("no right to see or change the ruleset (CAP_NET_ADMIN): %w", err)
	case errors.Is(err, syscall.EINVAL):
		err = nil // netfilter has nobody for such messages (nfnetlink.c, nfnetlink_rcv_msg)
	case err == nil:
		err = do(k, opts)
	}
	if err = errors.Join(err, k.close()); err != nil {
		return fmt.Errorf("nftables: %w", err)
	}
	return nil
}

func remove(k kernel, opts Options) (found bool, err error) {
	if found, err = there(k, opts); !found || err != nil {
		return found, err
	}
	if err := k.remove(opts.Table, opts.Families); err != nil {
		return true, fmt.Errorf("remove table %s: %w", opts.Table, err)
	}
	again, err := there(k, opts)
	if again && err == nil {
		err = fmt.Errorf("table %s was removed, and another program made it again: end the proxy that runs", opts.Table)
	}
	return true, err
}

// there says whether the table is there in any family.
func there(k kernel, opts Options) (bool, error) {
	for _, f := range opts.Families {
		if _, ok, err := k.inspect(opts.Table, f); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}
