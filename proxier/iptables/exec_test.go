//go:build linux

package iptables

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// tool writes a program that stands for one of the tools.
func tool(t *testing.T, name, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil { // a program
		t.Fatal(err)
	}
	return path
}

// A tool that hangs, and one whose children hang, are ended, and named with what they said.
func TestAToolThatDoesNotEndIsKilledAndNamed(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"itself":    "echo waiting for the lock >&2\nexec sleep 1000",
		"its child": "echo waiting for the lock >&2\nsleep 60", // which outlives the test
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := tool(t, "iptables-restore", script)
			c := &conn{layout: layout{family: endpoints.IPv4}, path: [3]string{path, path, path}, patience: 50 * time.Millisecond}
			err := c.restore("*nat\nCOMMIT\n")
			if err == nil || !strings.HasPrefix(err.Error(), path+" -w 30 --noflush did not end within 50ms and was killed") {
				t.Errorf("restore: %v", err)
			}
			if _, err := c.exists(fixture{table: nat, chain: "OUTPUT", spec: []string{"-j", "KUBE-SERVICES"}}); err == nil || !strings.Contains(err.Error(), "-t nat -C OUTPUT -j KUBE-SERVICES did not end within") {
				t.Errorf("exists: %v", err)
			}
		})
	}
}

// A tool that complains of a line of its input is quoted with that line, whichever it is: it is what has to be looked at.
func TestTheLineThatAToolRefusesIsShown(t *testing.T) {
	t.Parallel()
	const input = "*nat\n-A KUBE-SERVICES -j KUBE-NOWHERE\nCOMMIT"
	for says, want := range map[string]string{
		"iptables-restore: line 1 failed":         "iptables-restore: line 1 failed: *nat",
		"iptables-restore:\n  line 2 failed":      "iptables-restore: line 2 failed: -A KUBE-SERVICES -j KUBE-NOWHERE",
		"Error occurred at line: 3":               "Error occurred at line: 3: COMMIT",
		"iptables-restore: line 4 failed":         "iptables-restore: line 4 failed",
		"iptables-restore: line 0 failed":         "iptables-restore: line 0 failed",
		"line 99999999999999999999 failed":        "line 99999999999999999999 failed",
		"Another app is holding the xtables lock": "Another app is holding the xtables lock",
	} {
		path := tool(t, "iptables-restore", "cat > /dev/null\nprintf '"+says+"' >&2\nexit 1")
		c := &conn{layout: layout{family: endpoints.IPv4}, path: [3]string{path, path, path}}
		if err := c.restore(input); err == nil || !strings.HasSuffix(err.Error(), "exit status 1: "+want) {
			t.Errorf("%q: %v", says, err)
		}
	}
}

func TestWhetherARuleExistsIsToldByTheToolsCode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code   string
		ok     bool
		failed bool
	}{{"0", true, false}, {"1", false, false}, {"4", false, true}} {
		path := tool(t, "iptables", "echo no >&2\nexit "+c.code)
		conn := &conn{layout: layout{family: endpoints.IPv4}, path: [3]string{2: path}}
		if ok, err := conn.exists(fixture{table: nat, chain: "OUTPUT"}); ok != c.ok || (err != nil) != c.failed {
			t.Errorf("code %s: %v, %v", c.code, ok, err)
		}
	}
}

func TestVersionsOfIPTables(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"iptables v1.8.9 (nf_tables)\n": "",
		"ip6tables v1.6.2\n":            "",
		"iptables v2.0.0 (legacy)":      "",
		"iptables v1.6.1\n":             "iptables 1.6.1 are too old: want 1.6.2 or newer",
		"iptables v1.4.21":              "iptables 1.4.21 are too old: want 1.6.2 or newer",
		"command not understood\n":      `"command not understood" is no version of iptables`,
	} {
		got := ""
		if err := checkVersion(said); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}
