package backendtest

import (
	"os"
	"testing"
)

// Lacking ends a test for want of a right or a program: it is skipped. Where LAMEDUCK_KERNEL is set, as `make kernel`
// does, nothing may be wanting, and it fails.
func Lacking(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("LAMEDUCK_KERNEL") != "" {
		t.Fatalf("LAMEDUCK_KERNEL is set, and this test may not be skipped: "+format, args...)
	}
	t.Skipf(format, args...)
}
