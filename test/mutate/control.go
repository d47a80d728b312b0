package mutate

import (
	"encoding/binary"
	"os"
	"slices"
	"syscall"
)

// control is the file by which programs hear which mistake is made: its first four bytes. If none is, a byte follows for each
// mistake, in which they note that they came by.
type control []byte

// newControl makes the file at path for n mistakes. Programs of other users have to find it, too: tests start some.
func newControl(path string, n int) (control, error) {
	if err := os.WriteFile(path, make([]byte, 4+n), 0o600); err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o666); err != nil { // see above
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // what is mapped stays mapped
	return syscall.Mmap(int(f.Fd()), 0, 4+n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

// choose has programs that start from now on make a mistake, or none: 0.
func (c control) choose(number int) {
	binary.LittleEndian.PutUint32(c, uint32(number)) // not more than there are mistakes
	clear(c[4:])
}

// reached returns what programs came by since choose(0).
func (c control) reached() []byte { return slices.Clone(c[4:]) }
