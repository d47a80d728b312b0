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

// Left says that nothing was left: there are no iptables.
func Left(Options) (bool, error) { return false, nil }
