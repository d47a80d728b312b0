package engine

import "math/bits"

// The generator is SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
// Generators, OOPSLA 2014), used as a counter-based function: a draw is the finalizer of a key
// plus the counter times the golden gamma. Nothing is remembered between draws, so one more
// pod, retry or consumer shifts nobody else's.

const goldenGamma = 0x9e3779b97f4a7c15

// mix is SplitMix64's finalizer (Stafford's variant 13).
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Stream draws for one component and one purpose. It is a value: copies draw the same.
type Stream struct{ key uint64 }

// Stream returns the stream of a component, named by its role and ordinal (never by a
// generated name), for one purpose.
func (e *Engine) Stream(component, purpose string) Stream {
	return NewStream(e.seed, component, purpose)
}

// NewStream is Engine.Stream for a seed.
func NewStream(seed uint64, component, purpose string) Stream {
	return newComponent(seed, component).Stream(PurposeOf(purpose))
}

// Component is a component's name made ready for many streams.
type Component struct{ key uint64 }

// Purpose is a purpose made ready for streams of many components.
type Purpose struct{ hash uint64 }

// Component returns what Stream makes of a component's name.
func (e *Engine) Component(name string) Component { return newComponent(e.seed, name) }

func newComponent(seed uint64, name string) Component {
	return Component{mix(mix(seed+goldenGamma) ^ hashString(name))}
}

// PurposeOf returns what Stream makes of a purpose.
func PurposeOf(purpose string) Purpose { return Purpose{hashString(purpose)} }

// Stream is Engine.Stream(component, purpose).
func (c Component) Stream(p Purpose) Stream { return Stream{mix(c.key + goldenGamma ^ p.hash)} }

// Draw returns the counter-th draw: uniform over all uint64, always the same for the same
// stream and counter.
func (s Stream) Draw(counter uint64) uint64 { return mix(s.key + counter*goldenGamma) }

// Sub returns an independent stream for the n-th part of a component, such as a request.
func (s Stream) Sub(n uint64) Stream { return Stream{mix(s.Draw(n) ^ goldenGamma)} }

// Another returns a second draw that comes with a first one, independent of it.
func Another(draw uint64) uint64 { return mix(draw ^ goldenGamma) }

// Below scales a draw to 0..n-1 without the bias of a remainder; n > 0.
func Below(draw uint64, n int) int {
	high, _ := bits.Mul64(draw, uint64(n))
	return int(high)
}

// hashString is FNV-1a, finished by mix: names differ in few bits.
func hashString(s string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * 0x100000001b3
	}
	return mix(h)
}
