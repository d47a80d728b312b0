package iptables

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// conn runs the tools of one family.
type conn struct {
	layout  layout    // of no node: for names and the rehearsal
	path    [3]string // iptables-restore, iptables-save, iptables
	netNS   int
	version string // what the tool says of itself: its number, and what it writes to
	// patience is how long a tool may run, 0 for toolSeconds.
	patience time.Duration
}

// lockSeconds is how long a tool waits for the lock of iptables-legacy, /run/xtables.lock, while
// another has it. kube-proxy waits for 5; a table of 50,000 rules takes longer than that.
const lockSeconds = 30

// toolSeconds is how long a tool may run in all. What takes iptables longest is 20 s of a processor (MaxChainsNFT), and the lock comes before.
const toolSeconds = 120

// pipeSeconds is how long the output of a tool that was killed may be held open by a program that it has started.
const pipeSeconds = 1

// openKernel finds the tools of a family, and makes sure that they work.
func openKernel(opts Options, family endpoints.IPFamily) (kernel, features, error) {
	c := &conn{netNS: opts.NetNS, layout: layout{names: names{opts.ChainPrefix}, family: family, mark: opts.MasqueradeMark}}
	var have features
	err := c.do(func() (err error) {
		if err = c.find(opts.Variant); err != nil {
			return err
		}
		have, err = c.probe()
		return err
	})
	return c, have, err
}

// command is what a family's tool is called in a variant.
func command(family endpoints.IPFamily, v Variant, what string) string {
	name := "iptables"
	if family == endpoints.IPv6 {
		name = "ip6tables"
	}
	if v != Auto {
		name += "-" + v.String()
	}
	return name + what
}

// find finds the tools, and out what they are.
func (c *conn) find(v Variant) (err error) {
	for i, what := range []string{"-restore", "-save", ""} {
		if c.path[i], err = exec.LookPath(command(c.layout.family, v, what)); err != nil {
			return err
		}
	}
	c.version, err = c.run(c.path[2], "", "--version")
	return err
}

// versionNumber finds the number in what a tool says of itself: "iptables v1.8.9 (nf_tables)".
var versionNumber = regexp.MustCompile(`v(\d+)\.(\d+)\.(\d+)`)

// oldest is the first release with --random-fully, which also made iptables-restore wait for the lock.
var oldest = [3]int{1, 6, 2}

// checkVersion refuses tools that are too old, or that are none of the kind.
func checkVersion(said string) error {
	m := versionNumber.FindStringSubmatch(said)
	if m == nil {
		return fmt.Errorf("%q is no version of iptables", strings.TrimSpace(said))
	}
	var is [3]int
	for i := range is {
		is[i], _ = strconv.Atoi(m[i+1]) // digits, and what is too many of them is new enough
	}
	if slices.Compare(is[:], oldest[:]) < 0 {
		return fmt.Errorf("iptables %d.%d.%d are too old: want 1.6.2 or newer", is[0], is[1], is[2])
	}
	return nil
}

// isNFT says whether the tools write to the kernel's nftables.
func (c *conn) isNFT() bool { return strings.Contains(c.version, "nf_tables") }

// probe finds out what tools and kernel can do.
func (c *conn) probe() (features, error) {
	have := features{randomFully: true, nft: c.isNFT()}
	if err := checkVersion(c.version); err != nil {
		return have, err
	}
	if err := c.rehearse("-m conntrack --ctstate NEW -m addrtype --dst-type LOCAL -m statistic --mode random --probability 0.5 -m comment --comment x -j MARK --or-mark 0x1"); err != nil {
		return have, lacking(err, have.nft)
	}
	have.hairpin = c.rehearse(fmt.Sprintf(`-m bpf --bytecode "%s" -j RETURN`, hairpinProgram(c.layout.family))) == nil
	have.liberal = isOn("/proc/sys/net/netfilter/nf_conntrack_tcp_be_liberal")
	return have, nil
}

// isOn tells whether a setting of the kernel is there and not 0.
func isOn(file string) bool {
	text, err := os.ReadFile(file)
	return err == nil && strings.TrimSpace(string(text)) != "0"
}

// lacking names the capabilities that a tool which failed would have needed, if they are missing: what tools say of that
// does not ("unable to initialize table 'mangle'"). iptables-legacy speaks to the kernel over a raw socket.
func lacking(err error, nft bool) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if unix.Capget(&header, &sets[0]) != nil {
		return err
	}
	have := func(c int) bool { return sets[0].Effective&(1<<c) != 0 }
	var names []string
	if !have(unix.CAP_NET_ADMIN) {
		names = append(names, "CAP_NET_ADMIN")
	}
	if !nft && !have(unix.CAP_NET_RAW) {
		names = append(names, "CAP_NET_RAW")
	}
	if names == nil {
		return err
	}
	return fmt.Errorf("no right to change the rules (%s): %w", strings.Join(names, ", "), err)
}

// rehearse puts a rule into a chain of its own, in the table that is quick to write, and
// removes both.
func (c *conn) rehearse(rule string) error {
	probe := chain{name: c.layout.chain("LAMEDUCK-PROBE")}
	with := probe
	with.rule("%s", rule)
	var s script
	s.block(mangle, []chain{with}, "", nil)
	s.block(mangle, nil, "", []string{probe.name})
	return c.restore(s.String())
}

// do runs f in the namespace of the Backend: on a thread of its own, which ends there, unless
// it is the caller's.
func (c *conn) do(f func() error) error {
	if c.netNS == 0 {
		return f()
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked
		err := unix.Setns(c.netNS, unix.CLONE_NEWNET)
		if err == nil {
			err = f()
		} else {
			err = fmt.Errorf("enter network namespace: %w", err)
		}
		done <- err
	}()
	return <-done
}

// run runs a tool and returns what it prints. A tool does not outlive the process: what it writes late, the next
// process would not know of. That is bound to the thread that started it.
func (c *conn) run(path, input string, args ...string) (string, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	patience := cmp.Or(c.patience, toolSeconds*time.Second)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.WaitDelay = pipeSeconds * time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var out, problems bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &problems
	if err := cmd.Run(); err != nil {
		name := strings.Join(append([]string{path}, args...), " ")
		if ctx.Err() != nil {
			return "", fmt.Errorf("%s did not end within %v and was killed%s", name, patience, said(problems.String(), input))
		}
		return "", fmt.Errorf("%s: %w%s", name, err, said(problems.String(), input))
	}
	return out.String(), nil
}

// said is what a tool has said of its input before it failed, if anything.
func said(problems, input string) string {
	if text := explain(problems, input); text != "" {
		return ": " + text
	}
	return ""
}

// lineNumber finds the line that a tool complains of.
var lineNumber = regexp.MustCompile(`line:? (\d+)`)

// explain returns what a tool says of its input, with the line that it means.
func explain(problems, input string) string {
	out := strings.Join(strings.Fields(problems), " ")
	if m := lineNumber.FindStringSubmatch(out); m != nil {
		lines := strings.Split(input, "\n")
		if n, _ := strconv.Atoi(m[1]); n >= 1 && n <= len(lines) { // digits, and what is too many of them is no line
			out += ": " + lines[n-1]
		}
	}
	return out
}

func (c *conn) save(some ...table) (string, error) {
	var all strings.Builder
	err := c.do(func() error {
		if len(some) == 0 {
			text, err := c.run(c.path[1], "")
			all.WriteString(text)
			return err
		}
		for _, t := range some {
			text, err := c.run(c.path[1], "", "-t", t.String())
			if err != nil {
				return err
			}
			all.WriteString(text)
		}
		return nil
	})
	return all.String(), err
}

func (c *conn) restore(text string) error {
	return c.do(func() error {
		_, err := c.run(c.path[0], text, "-w", strconv.Itoa(lockSeconds), "--noflush")
		return err
	})
}

// noSuchRule is the code with which iptables -C ends when the rule is not there.
const noSuchRule = 1

func (c *conn) exists(f fixture) (ok bool, err error) {
	err = c.do(func() error {
		args := []string{"-w", strconv.Itoa(lockSeconds), "-t", f.table.String(), "-C", f.chain}
		_, err := c.run(c.path[2], "", append(args, f.spec...)...)
		ok = err == nil
		if code := new(exec.ExitError); errors.As(err, &code) && code.ExitCode() == noSuchRule {
			return nil
		}
		return err
	})
	return ok, err
}

// routeLocalnet is the switch that lets 127.0.0.0/8 be routed. It is the namespace's of the
// thread that opens it.
const routeLocalnet = "/proc/sys/net/ipv4/conf/all/route_localnet"

func (c *conn) openLocalhost(note func() error) error {
	return c.do(func() error {
		text, err := os.ReadFile(routeLocalnet)
		if err != nil || strings.TrimSpace(string(text)) == "1" {
			return err
		}
		return setRouteLocalnet("1", note)
	})
}

func (c *conn) closeLocalhost() error {
	return c.do(func() error { return setRouteLocalnet("0", func() error { return nil }) })
}

// setRouteLocalnet writes to the switch, and calls before once it is known that it may.
func setRouteLocalnet(to string, before func() error) error {
	f, err := os.OpenFile(routeLocalnet, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err := before(); err != nil {
		return errors.Join(err, f.Close())
	}
	_, err = f.WriteString(to)
	return errors.Join(err, f.Close())
}
