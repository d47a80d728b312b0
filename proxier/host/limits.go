package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Limits are the kernel's for tracking connections, as kube-proxy sets them (pkg/proxy/conntrack/sysctls.go, 1.36;
// verified). What is 0 or false is left as it is.
type Limits struct {
	// MaxPerCore is how many connections are tracked for each processor, Min how many at least, if MaxPerCore is set.
	MaxPerCore, Min int
	// TCPEstablished and those that follow are how long an idle connection is tracked, in whole seconds.
	TCPEstablished, TCPCloseWait, UDP, UDPStream time.Duration
	// TCPBeLiberal has packets outside of a connection's window not count as invalid.
	TCPBeLiberal bool
}

// Setting is a file of the kernel and the number in it.
type Setting struct {
	Name  string
	Value int
}

// maxTracked is how many connections kube-proxy has tracked at most, however many processors there are.
const maxTracked = 1 << 20

const (
	sysctls  = "proc/sys/net/netfilter/"
	hashSize = "sys/module/nf_conntrack/parameters/hashsize"
	online   = "sys/devices/system/cpu/online"
	oomScore = "proc/self/oom_score_adj"
)

// Apply sets the limits and returns those that were another before. A limit that cannot be set, such as in a container
// for which /proc/sys is read-only, does not stop the others; the error names all of them.
func (l Limits) Apply() ([]Setting, error) {
	return l.apply("/")
}

func (l Limits) apply(root string) ([]Setting, error) {
	var changed []Setting
	var errs []error
	for _, s := range l.settings(processors(root)) {
		did, err := s.set(root)
		errs = append(errs, err)
		if did {
			changed = append(changed, s)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return changed, fmt.Errorf("host: set limits of connection tracking: %w", err)
	}
	return changed, nil
}

// settings are what the limits come down to on so many processors.
func (l Limits) settings(processors int) []Setting {
	var out []Setting
	if tracked := l.tracked(processors); tracked > 0 {
		const perBucket = 4
		out = append(out, Setting{sysctls + "nf_conntrack_max", tracked}, Setting{hashSize, tracked / perBucket})
	}
	for _, t := range []struct {
		name string
		idle time.Duration
	}{
		{"nf_conntrack_tcp_timeout_established", l.TCPEstablished}, {"nf_conntrack_tcp_timeout_close_wait", l.TCPCloseWait},
		{"nf_conntrack_udp_timeout", l.UDP}, {"nf_conntrack_udp_timeout_stream", l.UDPStream},
	} {
		if t.idle > 0 {
			out = append(out, Setting{sysctls + t.name, max(1, int(t.idle/time.Second))})
		}
	}
	if l.TCPBeLiberal {
		out = append(out, Setting{sysctls + "nf_conntrack_tcp_be_liberal", 1})
	}
	return out
}

// tracked is how many connections are to be tracked, 0 for as many as are.
func (l Limits) tracked(processors int) int {
	if l.MaxPerCore <= 0 {
		return 0
	}
	scaled := l.MaxPerCore * processors
	if scaled > maxTracked {
		return maxTracked // before Min, as in kube-proxy
	}
	return max(scaled, l.Min)
}

// set writes the number if it is another. The size of the hash table is only raised: it is all namespaces'.
func (s Setting) set(root string) (changed bool, err error) {
	file := filepath.Join(root, s.Name)
	data, err := os.ReadFile(file)
	if err != nil {
		return false, err
	}
	now, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err == nil && (now == s.Value || s.Name == hashSize && now > s.Value) {
		return false, nil
	}
	if err := os.WriteFile(file, []byte(strconv.Itoa(s.Value)), 0); err != nil { // it exists
		return false, fmt.Errorf("%w (it is %s, and was to be %d)", err, strings.TrimSpace(string(data)), s.Value)
	}
	return true, nil
}

// processors counts those of the machine. Those that this process may run on can be fewer (kubernetes issue 99225).
func processors(root string) int {
	data, _ := os.ReadFile(filepath.Join(root, online)) // without it there is no list, see below
	count := 0
	for r := range strings.SplitSeq(strings.TrimSpace(string(data)), ",") {
		first, last, many := strings.Cut(r, "-")
		if !many {
			last = first
		}
		from, err1 := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err1 != nil || err2 != nil || to < from {
			return runtime.NumCPU()
		}
		count += to - from + 1
	}
	return count
}

// SetOOMScoreAdj says how much rather than others this process is ended when memory runs out, from -1000 for never
// to 1000.
func SetOOMScoreAdj(score int) error { return setOOMScoreAdj("/", score) }

func setOOMScoreAdj(root string, score int) error {
	_, err := Setting{oomScore, score}.set(root)
	return err
}
