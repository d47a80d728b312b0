package timeline

import "github.com/lameduck-proxy/lameduck/sim/engine"

// spans are made one after the other.
type spans struct {
	list []Span
	open bool
	more int // that were left out
}

// set has something be so from a moment on; "" for nothing.
func (s *spans) set(at engine.Time, is string) {
	if s.open {
		last := &s.list[len(s.list)-1]
		if last.Is == is {
			return
		}
		last.To = at
		s.open = false
		if last.From == at {
			s.list = s.list[:len(s.list)-1]
		}
	}
	if is == "" {
		return
	}
	if n := len(s.list); n > 0 && s.list[n-1].Is == is && s.list[n-1].To == at {
		s.open = true // as it was
		return
	}
	if len(s.list) == mostSpans {
		s.more++
		return
	}
	s.list, s.open = append(s.list, Span{From: at, Is: is}), true
}

// now is what is so at the end, "" for nothing.
func (s *spans) now() string {
	if !s.open {
		return ""
	}
	return s.list[len(s.list)-1].Is
}

// until are all of them, the last one to the end of the run.
func (s *spans) until(end engine.Time) []Span {
	s.set(end, "")
	return append([]Span{}, s.list...)
}
