package endpoints

// places remembers at which position each key was added. A Service has a few ports, which are compared one by one; thousands of them
// would take the square of that.
type places[K comparable] struct {
	few  [8]K
	n    int
	many map[K]int // all of them, once there are more than few
}

// of returns the position of a key, -1 if it was not added.
func (p *places[K]) of(k K) int {
	if p.many != nil {
		if at, ok := p.many[k]; ok {
			return at
		}
		return -1
	}
	for i := range p.n {
		if p.few[i] == k {
			return i
		}
	}
	return -1
}

// add adds a key that was not, at the next position.
func (p *places[K]) add(k K) {
	switch {
	case p.n < len(p.few):
		p.few[p.n] = k
	case p.many == nil:
		p.many = map[K]int{}
		for i, one := range p.few {
			p.many[one] = i
		}
		fallthrough
	default:
		p.many[k] = p.n
	}
	p.n++
}
