//go:build !linux

package host

import (
	"context"
	"errors"
	"net/netip"
)

var errNotLinux = errors.New("host: the addresses of a node can be told on Linux only")

// Addresses fails.
func Addresses() ([]netip.Addr, error) { return nil, errNotLinux }

// Watch fails.
func Watch(context.Context, func([]netip.Addr)) error { return errNotLinux }
