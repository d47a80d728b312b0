package engine

import "strconv"

// TraceHash hashes what happens, in order. Two runs with equal hashes went through the same
// events and the same requests.
type TraceHash struct {
	state uint64
	names [64]hashedName // event names are few: mostly one is met again
	watch func(step Step)
}

// hashedName is a name with its hash, in the place that few other names have.
type hashedName struct {
	name string
	hash uint64
}

// nameHash returns the hash of an event's name.
func (h *TraceHash) nameHash(name string) uint64 {
	n := len(name)
	if n == 0 {
		return hashString(name)
	}
	place := (n + 7*int(name[0]) + 13*int(name[n/2]) + 31*int(name[n-1])) % len(h.names)
	known := &h.names[place]
	if known.name != name {
		*known = hashedName{name, hashString(name)}
	}
	return known.hash
}

// Step is one thing hashed, for a comparison of two runs step by step.
type Step struct {
	At    Time
	Class Class
	Owner Owner
	Name  string
	Words []uint64 // of a request or another record; nil for an event
	Hash  uint64   // after the step
}

func newTraceHash(seed uint64) TraceHash {
	return TraceHash{state: mix(seed ^ goldenGamma)}
}

// Watch has every further step handed to f, which must not change the world.
func (h *TraceHash) Watch(f func(Step)) { h.watch = f }

// Event hashes an executed event.
func (h *TraceHash) Event(at Time, class Class, owner Owner, name string) {
	h.add(uint64(at))
	h.add(uint64(class)<<32 | uint64(owner))
	h.add(h.nameHash(name))
	if h.watch != nil {
		h.watch(Step{At: at, Class: class, Owner: owner, Name: name, Hash: h.state})
	}
}

// Record hashes something that is no event, such as a request: its parts as words.
func (h *TraceHash) Record(name string, words ...uint64) {
	state := h.state
	for _, w := range words {
		state = mix(state^w) + goldenGamma
	}
	h.state = state
	if h.watch != nil {
		h.watch(Step{Name: name, Words: append([]uint64(nil), words...), Hash: h.state})
	}
}

func (h *TraceHash) add(w uint64) { h.state = mix(h.state^w) + goldenGamma }

// Sum returns the hash so far.
func (h *TraceHash) Sum() uint64 { return h.state }

// String returns the hash as 16 hexadecimal digits.
func (h *TraceHash) String() string {
	s := strconv.FormatUint(h.state, 16)
	return "0000000000000000"[len(s):] + s
}
