package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// machine is a directory that looks like /proc and /sys of one with 4 processors.
func machine(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range []string{
		"nf_conntrack_max", "nf_conntrack_tcp_timeout_established", "nf_conntrack_tcp_timeout_close_wait",
		"nf_conntrack_udp_timeout", "nf_conntrack_udp_timeout_stream", "nf_conntrack_tcp_be_liberal",
	} {
		write(t, filepath.Join(root, sysctls, name), "7\n")
	}
	write(t, filepath.Join(root, hashSize), "7\n")
	write(t, filepath.Join(root, online), "0-2,5\n")
	write(t, filepath.Join(root, oomScore), "0\n")
	for name, content := range files {
		write(t, filepath.Join(root, name), content)
	}
	return root
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Reference: Kubernetes 1.36 pkg/proxy/conntrack/sysctls.go.
func TestLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		limits Limits
		files  map[string]string
		want   string
	}{
		{"none", Limits{}, nil, ""},
		{"by processors", Limits{MaxPerCore: 1000, Min: 100}, nil, "max=4000 hashsize=1000"},
		{"at least", Limits{MaxPerCore: 1000, Min: 8000}, nil, "max=8000 hashsize=2000"},
		{"at least, but only if there is a limit", Limits{Min: 8000}, nil, ""},
		{"at most", Limits{MaxPerCore: 1 << 20, Min: 1 << 21}, nil, "max=1048576 hashsize=262144"},
		{"what is so already is left alone", Limits{MaxPerCore: 1000}, map[string]string{sysctls + "nf_conntrack_max": "4000\n", hashSize: "1000\n"}, ""},
		{"a larger table stays, a higher limit does not", Limits{MaxPerCore: 1000}, map[string]string{sysctls + "nf_conntrack_max": "9000\n", hashSize: "9000\n"}, "max=4000"},
		{"kube-proxy's", Limits{MaxPerCore: 32768, Min: 131072, TCPEstablished: 24 * time.Hour, TCPCloseWait: time.Hour}, nil,
			"max=131072 hashsize=32768 tcp_timeout_established=86400 tcp_timeout_close_wait=3600"},
		{"UDP, and no less than a second", Limits{UDP: 30 * time.Second, UDPStream: time.Millisecond}, nil, "udp_timeout=30 udp_timeout_stream=1"},
		{"one for each processor", Limits{MaxPerCore: 1}, nil, "max=4"},
		{"fewer than none are not meant", Limits{MaxPerCore: -1, Min: 8000, UDP: -time.Second}, nil, ""},
		{"at least more than at most, with just as many", Limits{MaxPerCore: 1 << 18, Min: 1 << 21}, nil, "max=2097152 hashsize=524288"},
		{"the shortest of all times", Limits{UDP: 1, TCPCloseWait: 1999 * time.Millisecond}, nil, "tcp_timeout_close_wait=1 udp_timeout=1"},
		{"what is no number is one then", Limits{MaxPerCore: 1000}, map[string]string{sysctls + "nf_conntrack_max": "many\n", hashSize: ""}, "max=4000 hashsize=1000"},
		{"liberal", Limits{TCPBeLiberal: true}, nil, "tcp_be_liberal=1"},
	} {
		root := machine(t, c.files)
		changed, err := c.limits.apply(root)
		var got []string
		for _, s := range changed {
			name := strings.TrimPrefix(filepath.Base(s.Name), "nf_conntrack_")
			got = append(got, fmt.Sprintf("%s=%d", name, s.Value))
			if data, err := os.ReadFile(filepath.Join(root, s.Name)); err != nil || string(data) != fmt.Sprint(s.Value) {
				t.Errorf("%s: %s is %q, %v", c.name, s.Name, data, err)
			}
		}
		if text := strings.Join(got, " "); text != c.want || err != nil {
			t.Errorf("%s: %s, %v; want %s", c.name, text, err, c.want)
		}
	}
}

// One limit that cannot be set does not keep the others from it.
func TestALimitThatCannotBeSet(t *testing.T) {
	t.Parallel()
	root := machine(t, nil)
	if err := os.Remove(filepath.Join(root, sysctls, "nf_conntrack_max")); err != nil {
		t.Fatal(err)
	}
	changed, err := Limits{MaxPerCore: 1000, TCPBeLiberal: true}.apply(root)
	if err == nil || !strings.Contains(err.Error(), "nf_conntrack_max: no such file") || len(changed) != 2 {
		t.Errorf("changed %v, error %v", changed, err)
	}
}

// One that is there and may not be written, as in a container, is named with what it is and was to be.
func TestALimitThatMayOnlyBeRead(t *testing.T) {
	t.Parallel()
	const readOnly = "/proc/sys/kernel/ngroups_max" // which the kernel lets nobody write
	now, err := os.ReadFile(readOnly)
	if err != nil {
		t.Skip(err)
	}
	root := machine(t, nil)
	liberal := filepath.Join(root, sysctls, "nf_conntrack_tcp_be_liberal")
	if err := errors.Join(os.Remove(liberal), os.Symlink(readOnly, liberal)); err != nil {
		t.Fatal(err)
	}
	changed, err := Limits{UDP: time.Minute, TCPBeLiberal: true}.apply(root)
	want := fmt.Sprintf("(it is %s, and was to be 1)", strings.TrimSpace(string(now)))
	if err == nil || !strings.HasPrefix(err.Error(), "host: set limits of connection tracking: ") || !strings.HasSuffix(err.Error(), want) || len(changed) != 1 {
		t.Errorf("changed %v, error %v, want one with %q", changed, err, want)
	}
}

func TestProcessors(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]int{"0\n": 1, "0-7\n": 8, "0-3,8-11,15\n": 9, "2-2": 1} {
		if got := processors(machine(t, map[string]string{online: content})); got != want {
			t.Errorf("%q: %d processors, want %d", content, got, want)
		}
	}
	for _, content := range []string{"", "all", "3-1,0-998", "x-998", "0-x,0-998"} {
		if got := processors(machine(t, map[string]string{online: content})); got != runtime.NumCPU() {
			t.Errorf("%q: %d processors, want those that the process has", content, got)
		}
	}
	if got := processors(t.TempDir()); got != runtime.NumCPU() {
		t.Errorf("without the file: %d processors, want those that the process has", got)
	}
}

func TestSetOOMScoreAdj(t *testing.T) {
	t.Parallel()
	root := machine(t, nil)
	if err := setOOMScoreAdj(root, -999); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(root, oomScore)); err != nil || string(data) != "-999" {
		t.Errorf("%q, %v", data, err)
	}
	write(t, filepath.Join(root, oomScore), "a word\n")
	if err := setOOMScoreAdj(root, 0); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(root, oomScore)); err != nil || string(data) != "0" {
		t.Errorf("what is no number stays: %q, %v", data, err)
	}
	if runtime.GOOS == "linux" {
		if err := SetOOMScoreAdj(1001); err == nil || !strings.Contains(err.Error(), "was to be 1001") {
			t.Errorf("more than there is: %v", err)
		}
	}
	if err := setOOMScoreAdj(t.TempDir(), -999); err == nil {
		t.Error("no error where there is no such file")
	}
}
