//go:build !linux

package conntrack

import (
	"errors"
	"runtime"
)

// openTable says that there is none of the kind.
func openTable(int) (table, error) {
	return nil, errors.New("connection tracking is a part of Linux; this is " + runtime.GOOS)
}
