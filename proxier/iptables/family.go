package iptables

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// kernel is the tables of one family, by way of the tools.
type kernel interface {
	// save returns what iptables-save prints of the tables, all if none are named.
	save(some ...table) (string, error)
	// restore has iptables-restore change what the text names.
	restore(text string) error
	// exists says whether a rule is there, in whatever words it is printed.
	exists(f fixture) (bool, error)
	// openLocalhost lets packets of 127.0.0.0/8 be routed. Where they were not, note is called first.
	openLocalhost(note func() error) error
	closeLocalhost() error
}

// family is one family's part of a Backend.
type family struct {
	kernel   kernel
	features features
	opts     *Options
	layout   layout
	state    *state // nil before the first Apply and after a failed one
	// seen is what the last check found, nil if something was applied since.
	seen *fingerprint
	// limit is how many chains of Services may be asked of the kernel, 0 for any number.
	limit int
	// without is why node ports do not answer on localhost though the node has them, nil if they do.
	without error
	// replaced counts how often all was written, partialFailures how often since a change had failed.
	replaced, partialFailures int
	// repairs counts how often since another program had changed the chains.
	repairs int
	// written counts the rules of the last call.
	written counts
}

// MaxChainsNFT is how many chains of Services iptables-nft is given. Its time grows with their
// square, since it looks for names in lists: of 1.8.9's time 62 % is comparing strings. Measured
// with one chain a Service, in seconds of a processor: 3 for 10,000, 10 for 20,000, 18 for
// 25,000, 22 for 30,000; with one for each endpoint, too, 12 for 30,000 and 51 for 60,000, which
// is 10,000 Services as kube-proxy writes them in a better order. A Service has one chain, one
// that is reachable from outside two or three.
const MaxChainsNFT = 25000

// checkSize refuses, before anything is touched, what would not end.
func (f *family) checkSize(s *state) error {
	if n := s.size(); f.limit > 0 && n > f.limit {
		return fmt.Errorf("%d Services need %d chains, and iptables-nft, whose time grows with their square, is not given more than %d: use nftables mode, or iptables-legacy",
			len(s.services), n, f.limit)
	}
	return nil
}

func (f *family) apply(p *plan.Plan, some []endpoints.ServiceName) error {
	if f.state == nil {
		return f.replace(p)
	}
	c := f.state.update(p, some)
	if c.empty() {
		return nil
	}
	if err := f.checkSize(f.state); err != nil {
		return err
	}
	f.seen = nil
	if err := f.write(c.text(f.layout)); err != nil {
		// Another program took our chains away, or what we believe of them is wrong. If it was neither,
		// the kernel will say so again.
		f.partialFailures++
		return f.repair(p)
	}
	return nil
}

// repair writes all chains since another program has changed them.
func (f *family) repair(p *plan.Plan) error {
	err := f.replace(p)
	if err == nil {
		f.repairs++
	}
	return err
}

// rival returns an error if a kube-proxy is at work. It keeps a canary of its own, an empty
// chain, in each table, and makes it again when it is gone; doc.go says why one that stands
// beside ours was made after we removed it.
func (f *family) rival(have saved) error {
	if f.opts.TakeOver {
		return nil
	}
	n := f.layout.names
	for _, t := range tables() {
		if have[t][n.chain(ownCanary)] != nil && have[t][n.chain(proxyCanary)] != nil {
			return fmt.Errorf("%w: another program made chain %s in table %s again after it was taken over; stop it, remove that chain "+
				"if no other proxy runs, or take over by force", ErrKubeProxy, n.chain(proxyCanary), t)
		}
	}
	return nil
}

// replace writes all chains. Where 127.0.0.0/8 may not be routed, which concerns nobody but callers on the node itself, it does without
// node ports on localhost.
func (f *family) replace(p *plan.Plan) error {
	err := f.replaceAll(p)
	if f.layout.takesLoopback() && closedToUs(err) {
		node := *f.layout.node
		node.LocalhostNodePorts = false
		f.layout.node = &node
		f.without = fmt.Errorf("node ports do not answer on 127.0.0.1: %w; set iptables.localhostNodePorts to false (--iptables-localhost-nodeports=false), "+
			"or let lameduck write to /proc/sys", err)
		err = f.replaceAll(p)
	}
	return err
}

// closedToUs says whether an error is of a setting of the kernel that may not be written: /proc/sys is read-only in a container without
// privileges.
func closedToUs(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path) && strings.HasPrefix(path.Path, "/proc/sys/") &&
		(errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission))
}

func (f *family) replaceAll(p *plan.Plan) error {
	f.state, f.seen = nil, nil
	s := newState(f.layout, p)
	if err := f.checkSize(s); err != nil {
		return err
	}
	have, err := f.read()
	if err != nil {
		return err
	}
	if err := f.prepare(have); err != nil {
		return err
	}
	if err := f.write(whole(s, s.chains(p, filter), s.chains(p, nat), have)); err != nil {
		return err
	}
	f.state = s
	f.replaced++
	return nil
}

// read reads all tables, and returns an error if a kube-proxy shows in them.
func (f *family) read() (saved, error) {
	text, err := f.kernel.save()
	if err != nil {
		return saved{}, err
	}
	have := parseSaved(text)
	return have, f.rival(have)
}

// prepare makes the chains that have to be there first, and leads packets to them.
func (f *family) prepare(have saved) error {
	var missing []fixture
	for _, x := range f.layout.fixtures() {
		ok, err := f.stands(have, x)
		if err != nil {
			return fmt.Errorf("%s: %w", x.line(), err)
		}
		if !ok {
			missing = append(missing, x)
		}
	}
	if err := f.restore(groundwork(f.layout, have, missing, !f.opts.TakeOver)); err != nil {
		return err
	}
	if f.layout.takesLoopback() {
		return f.kernel.openLocalhost(f.noteLoopback)
	}
	return nil
}

// noteLoopback leaves a chain that says that it was us who let 127.0.0.0/8 be routed: a clean-up, in another
// process and at another time, is to take that back before the rule goes that makes it harmless.
func (f *family) noteLoopback() error {
	var s script
	s.block(mangle, []chain{{name: f.layout.chain(openedLoopback)}}, "", nil)
	return f.kernel.restore(s.String())
}

// stands says whether a rule is there: as we expect it to be printed, or as the tool finds it.
func (f *family) stands(have saved, x fixture) (bool, error) {
	if have.has(x) {
		return true, nil
	}
	if c := have[x.table][x.chain]; c == nil || len(c.rules) == 0 {
		return false, nil
	}
	if to := target(x.line()); to != "DROP" && have[x.table][to] == nil {
		return false, nil // nothing can lead there, and the tool would not even ask
	}
	return f.kernel.exists(x)
}

// deletion is what removes a rule.
func deletion(rule string) string { return "-D " + strings.TrimPrefix(rule, "-A ") + "\n" }

func (f *family) baseChains(t table) map[string]bool {
	out := map[string]bool{}
	for _, name := range f.layout.base(t) {
		if name != f.layout.chain(localnet) {
			out[name] = true
		}
	}
	return out
}

// check writes all chains again if they are no longer what we made of them.
func (f *family) check(p *plan.Plan) error {
	if f.state == nil {
		return f.replace(p)
	}
	have, err := f.read()
	if err != nil {
		return err
	}
	ok, err := f.intact(p, have)
	if err != nil {
		return err
	}
	if !ok {
		return f.repair(p)
	}
	return nil
}

// intact says whether all chains are there with as many rules as they should have, and have
// not changed since the last check if nothing was applied.
func (f *family) intact(p *plan.Plan, have saved) (bool, error) {
	for _, t := range tables() {
		for _, name := range f.layout.base(t) {
			if have[t][name] == nil {
				return false, nil
			}
		}
		for _, c := range f.state.chains(p, t) {
			if have[t][c.name] == nil || len(have[t][c.name].rules) != c.size() {
				return false, nil
			}
		}
	}
	expected := f.state.size()
	for name := range have[nat] { // order: a sum does not depend on it
		if f.layout.isServicePorts(name) {
			expected--
		}
	}
	if expected != 0 {
		return false, nil
	}
	for _, x := range f.layout.fixtures() {
		if ok, err := f.stands(have, x); err != nil || !ok {
			return false, err
		}
	}
	now := have.fingerprint(func(t table, name string) bool {
		return f.baseChains(t)[name] || t == nat && f.layout.isServicePorts(name)
	})
	unchanged := f.seen == nil || *f.seen == now
	f.seen = &now
	return unchanged, nil
}

// cleanup removes all that is ours from the tables.
func (f *family) cleanup() error {
	f.state, f.seen = nil, nil
	text, err := f.kernel.save()
	if err != nil {
		return err
	}
	have := parseSaved(text)
	if f.rival(have) != nil {
		// What is there is a kube-proxy's by now.
		return f.restore(withdrawal(f.layout, have))
	}
	if have[mangle][f.layout.chain(openedLoopback)] != nil {
		if err := f.kernel.closeLocalhost(); err != nil {
			return err
		}
	}
	return f.restore(removal(f.layout, have))
}

// restore does what a text says, if it says anything.
func (f *family) restore(text string) error {
	if text == "" {
		return nil
	}
	return f.kernel.restore(text)
}
