//go:build !linux

package nftables

import (
	"errors"
	"runtime"
)

// openKernel says that there is none of the kind.
func openKernel(Options) (kernel, error) {
	return nil, errors.New("nftables is a part of Linux; this is " + runtime.GOOS)
}

// listen is never reached: there is no kernel to listen to.
func listen(Options, func(Change) bool) (transactions, error) {
	return nil, errors.New("nftables is a part of Linux; this is " + runtime.GOOS)
}
