package api

import "github.com/lameduck-proxy/lameduck/sim/engine"

// Awake runs what a component has to do, now or when it is no longer paused.
func (s *Store) Awake(owner engine.Owner, run func()) {
	if held, frozen := s.frozen[owner]; frozen {
		s.frozen[owner] = append(held, run)
		return
	}
	run()
}

// AwakeWith is awake for what is done with a number: no function is made unless the component is paused.
func (s *Store) AwakeWith(owner engine.Owner, do func(uint64), with uint64) {
	if _, frozen := s.frozen[owner]; frozen {
		s.Awake(owner, func() { do(with) })
		return
	}
	do(with)
}

// Freeze pauses a component.
func (s *Store) Freeze(owner engine.Owner) {
	if _, already := s.frozen[owner]; !already {
		s.frozen[owner] = nil
	}
}

// Thaw lets a component go on.
func (s *Store) Thaw(owner engine.Owner) {
	held := s.frozen[owner]
	delete(s.frozen, owner)
	for _, run := range held {
		run()
	}
}
