package world

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Access is who may have a volume at a time.
type Access uint8

// The access modes of volumes, those of one holder first. ReadOnlyMany is as ReadWriteMany here.
const (
	ReadWriteOnce    Access = iota // the pods of one node
	ReadWriteOncePod               // one pod
	ReadWriteMany                  // whoever wants it
)

// String returns the mode as the API spells it.
func (a Access) String() string {
	return [...]string{"ReadWriteOnce", "ReadWriteOncePod", "ReadWriteMany"}[a]
}

// Claim is a PersistentVolumeClaim that pods of a workload have.
type Claim struct {
	Name    string // the claim's; that of the template where Each
	Each    bool   // every pod of a StatefulSet has one of its own
	Access  Access
	Assumed bool   // no claim of that name is in the input
	Path    string // where the workload asks for it
}

// Volumes is what is taken of volumes that the input has no claim of, and how they move.
type Volumes struct {
	Access     Access // of claims that are not in the input
	AccessSaid bool
	// Move is from the end of the last pod on a node that has a volume until another node has it.
	Move     engine.Dist
	MoveSaid bool
}

// Exclusive are the claims of a workload that not everybody may have at a time.
func (w *Workload) Exclusive() []Claim {
	return slices.DeleteFunc(slices.Clone(w.Claims), func(c Claim) bool { return c.Access == ReadWriteMany })
}
