package nftables

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// tablesOnly is a kernel that knows of tables whether they are there.
type tablesOnly struct {
	kernel
	there    []endpoints.IPFamily
	looks    int   // so far
	blindAt  int   // at which look nobody may look, from 1; 0 is never
	refuses  error // to remove
	comeBack bool  // another program makes them again
	removed  [][]endpoints.IPFamily
}

var errBlind = errors.New("nobody may look")

func (k *tablesOnly) inspect(_ string, f endpoints.IPFamily) (structure, bool, error) {
	if k.looks++; k.looks == k.blindAt {
		return structure{}, false, errBlind
	}
	return structure{}, slices.Contains(k.there, f), nil
}

func (k *tablesOnly) remove(_ string, families []endpoints.IPFamily) error {
	k.removed = append(k.removed, families)
	if k.refuses == nil && !k.comeBack {
		k.there = nil
	}
	return k.refuses
}

// Whoever removes what a proxy left is told whether there was any, and whether it is gone.
func TestTablesAreRemovedOrItIsSaidWhyNot(t *testing.T) {
	t.Parallel()
	both := []endpoints.IPFamily{endpoints.IPv4, endpoints.IPv6}
	refusal := errors.New("busy")
	for name, c := range map[string]struct {
		kernel  *tablesOnly
		found   bool
		removes int
		err     string
		is      error
	}{
		"nothing":                        {&tablesOnly{}, false, 0, "", nil},
		"both":                           {&tablesOnly{there: both}, true, 1, "", nil},
		"that of one family":             {&tablesOnly{there: both[1:]}, true, 1, "", nil},
		"nothing that anybody may see":   {&tablesOnly{there: both, blindAt: 1}, false, 0, "", errBlind},
		"what the second look is for":    {&tablesOnly{blindAt: 2}, false, 0, "", errBlind},
		"what cannot be seen afterwards": {&tablesOnly{there: both, blindAt: 2}, true, 1, "", errBlind},
		"what the kernel keeps":          {&tablesOnly{there: both, refuses: refusal}, true, 1, "remove table duck: ", refusal},
		"what comes back":                {&tablesOnly{there: both, comeBack: true}, true, 1, "table duck was removed, and another program made it again: end the proxy that runs", nil},
	} {
		found, err := remove(c.kernel, Options{Table: "duck", Families: both})
		if found != c.found || len(c.kernel.removed) != c.removes || c.is != nil && !errors.Is(err, c.is) || (err == nil) != (c.err == "" && c.is == nil) || err != nil && !strings.HasPrefix(err.Error(), c.err) {
			t.Errorf("%s: found %v, removed %d times, %v", name, found, len(c.kernel.removed), err)
		}
		for _, families := range c.kernel.removed {
			if !slices.Equal(families, both) {
				t.Errorf("%s: removed of %v", name, families)
			}
		}
	}
}

// Options that no table can have are an error before anybody looks.
func TestNothingIsRemovedOrListedWithOptionsThatCannotBe(t *testing.T) {
	t.Parallel()
	wrong := Options{MasqueradeMark: 3}
	if found, err := Remove(wrong); found || err == nil || !strings.HasPrefix(err.Error(), "nftables: ") {
		t.Errorf("remove: %v, %v", found, err)
	}
	if list, err := Chains(wrong, endpoints.IPv4); list != nil || err == nil || !strings.HasPrefix(err.Error(), "nftables: ") {
		t.Errorf("list: %v, %v", list, err)
	}
	if found, err := Remove(Options{NetNS: -7}); found || err == nil || !strings.HasPrefix(err.Error(), "nftables: ") {
		t.Errorf("a network namespace that is none: %v, %v", found, err)
	}
}

// answering is a kernel that says something when it is asked which generation its ruleset has, and when it is let go of.
type answering struct {
	kernel
	generationErr, closeErr error
	closed                  int
}

func (k *answering) generation() (uint32, error) { return 1, k.generationErr }

func (k *answering) close() error { k.closed++; return k.closeErr }

// Where there is no nftables there is nothing to do; where nobody may look, or the kernel fails, that is an error, and the kernel is let
// go of in any case.
func TestWhatAKernelWithoutNFTablesSays(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		opening error
		kernel  answering
		doing   error
		did     bool
		err     string
		closed  int
	}{
		"all is well":            {nil, answering{}, nil, true, "", 1},
		"no netfilter":           {fmt.Errorf("netlink socket: %w", syscall.EPROTONOSUPPORT), answering{}, nil, false, "", 0},
		"no socket":              {broken, answering{}, nil, false, "nftables: broken", 0},
		"no right":               {nil, answering{generationErr: syscall.EPERM}, nil, false, "nftables: no right to see or change the ruleset (CAP_NET_ADMIN): operation not permitted", 1},
		"no nftables":            {nil, answering{generationErr: syscall.EINVAL}, nil, false, "", 1},
		"it fails":               {nil, answering{generationErr: broken}, nil, false, "nftables: broken", 1},
		"what is done fails":     {nil, answering{}, broken, true, "nftables: broken", 1},
		"it cannot be let go of": {nil, answering{closeErr: broken}, nil, true, "nftables: broken", 1},
	} {
		did := false
		err := inKernel(&c.kernel, c.opening, Options{Table: "duck"}, func(_ kernel, opts Options) error {
			did = opts.Table == "duck"
			return c.doing
		})
		if did != c.did || c.kernel.closed != c.closed || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%s: done %v, closed %d times, %v", name, did, c.kernel.closed, err)
		}
	}
}
