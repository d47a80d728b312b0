package graft

import (
	"fmt"
	"hash/fnv"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/test/golden"
)

// Compare compares what comes of each input with what came of it before: testdata/grafted has a file for each group, with what rows writes of its
// inputs. number says what is picked for an input where there is a choice. A group is a test of its own, such as TestGraftedInputs/07.
func Compare(t *testing.T, root string, groups int, update bool, rows func(out *strings.Builder, name, text string, number uint64)) {
	t.Helper()
	stock, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	names := make([][]string, groups)
	for _, name := range stock.Names() {
		i := numberOf(name) % uint64(groups)
		names[i] = append(names[i], name)
	}
	for i, own := range names {
		group := fmt.Sprintf("%02d", i)
		t.Run(group, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			for _, name := range own {
				text, err := stock.Input(name)
				if err != nil {
					t.Fatal(err)
				}
				rows(&out, name, text, numberOf(name))
			}
			golden.Compare(t, fmt.Sprintf("testdata/grafted/%s.txt", group), out.String(), update)
		})
	}
}

// numberOf is of a name. The last bits tell short names badly apart.
func numberOf(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return h.Sum64() >> 8
}
