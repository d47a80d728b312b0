package docs

func Bare() {} // want "exported Bare has no comment"

// Documented has one.
func Documented() {}

func unexported() {}

type Type struct { // want "exported Type has no comment"
	Bare int // want "exported Type.Bare has no comment"
}

// Struct has fields, the first of which are what this comment is about.
type Struct struct {
	Leading  int
	Followed int

	Separate int // want "exported Struct.Separate has no comment"

	// First is documented, and covers
	First  int
	Second int

	Third  int // want "exported Struct.Third has no comment"
	fourth int
	Fifth  int // in seconds
	Sixth,
	Seventh int

	Type
}

func (Struct) Method() {} // want "exported Method has no comment"

// Documented has one.
func (*Struct) Documented() {}

type hidden struct{ field int }

func (hidden) Method() {}

// Interface has methods.
type Interface interface {
	Leading()

	// Documented has one.
	Documented()

	Bare() // want "exported Interface.Bare has no comment"
	error
}

type (
	// Grouped has one.
	Grouped   int
	Ungrouped int // want "exported Ungrouped has no comment"
)

const Loose = 1 // want "exported Loose has no comment"

// A block may be documented once.
const (
	A = iota
	B

	C
)

const (
	// D begins a run.
	D = iota
	E

	F // want "exported F has no comment"
	g
)

var (
	V int // counts
	W int

	X, y int // want "exported X has no comment"
)

type Generic[K comparable, V any] struct{} // want "exported Generic has no comment"

func (*Generic[K, V]) Method() {} // want "exported Method has no comment"
