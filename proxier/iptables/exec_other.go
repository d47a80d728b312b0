//go:build !linux

package iptables

import (
	"errors"
	"runtime"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// openKernel says that there is none of the kind.
func openKernel(Options, endpoints.IPFamily) (kernel, features, error) {
	return nil, features{}, errors.New("iptables are a part of Linux; this is " + runtime.GOOS)
}

// Remove finds nothing: there are no iptables.
func Remove(Options, func(endpoints.IPFamily) ([]string, error)) (bool, error) { return false, nil }
