package nftables

import (
	"errors"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// kernel is where transactions go.
type kernel interface {
	// generation is the number of the ruleset, all tables together. Each transaction of
	// anybody moves it on by one.
	generation() (uint32, error)
	// commit makes all changes or none. With check, it fails with errGeneration unless the
	// ruleset is of that generation.
	commit(table string, changes []*tableChange, generation uint32, check bool) error
	// inspect says what the chains and sets of a table look like from outside; ok is false if
	// there is no such table.
	inspect(table string, family endpoints.IPFamily) (s structure, ok bool, err error)
	// stock says what a table is made of, nil if it holds what is neither a chain nor a set; ok is false
	// if there is no such table.
	stock(table string, family endpoints.IPFamily) (s *stock, ok bool, err error)
	// remove takes away the tables of this name that exist.
	remove(table string, families []endpoints.IPFamily) error
	// chains lists those of all tables of a family, each as "TABLE CHAIN".
	chains(family endpoints.IPFamily) ([]string, error)
	// watch tells of what others do from now on.
	watch(opts Options) (notices, error)
	close() error
}

// errGeneration says that another program changed the ruleset.
var errGeneration = errors.New("the ruleset is of another generation")

// nextGeneration is the number after a transaction: the kernel leaves out 0 (nf_tables_api.c,
// nf_tables_commit).
func nextGeneration(g uint32) uint32 { return max(g+1, 1) }

// structure is what tells whether chains or sets of a table are still those that were made,
// without looking at what is in them. The handle is never given twice.
type structure struct {
	handle uint64 // of the table
	uses   uint32 // its chains and sets
	chains uint64 // digest of the chains' handles and uses: rules, and jumps to them
}

// stock is what a table is made of, by name.
type stock struct{ chains, sets []string }

func (s *stock) empty() bool { return len(s.chains)+len(s.sets) == 0 }

// tableChange is what a transaction does to one table, in the order of its fields.
type tableChange struct {
	family endpoints.IPFamily
	// replace empties the table first. What packets remembered is lost with it.
	replace bool
	// had is what there is to replace. Then what is there is filled again, since a packet that is on
	// its way through a table that goes would find nothing any more; nil removes the table and
	// makes it from nothing.
	had         *stock
	sets        []set
	chains      []chain // all are made before the first rule, since rules jump forward
	ranges      []rangeElements
	addVerdicts []verdictElement
	rows        *changes // in the order of setID, for each set first what goes
	delVerdicts []verdictElement
	dropChains  []string
	dropSets    []string
	// remove takes the table away again at the end: a rehearsal.
	remove bool
}

// verdictElement is an element of a verdict map.
type verdictElement struct {
	in      setID
	number  uint32
	verdict verdict
}

// rangeElements are those of a new set of ranges.
type rangeElements struct {
	in    string
	spans []span
}

// empty says whether there is nothing to do.
func (c *tableChange) empty() bool {
	return !c.structural() && c.rows.empty()
}

// structural says whether chains or sets come or go.
func (c *tableChange) structural() bool {
	return c.replace || len(c.sets)+len(c.chains)+len(c.addVerdicts)+len(c.delVerdicts) > 0
}
