package api

// queue is values of which the first to come is the first to go. Its memory is used again.
type queue[T any] struct {
	list  []T
	first int // the ones before are gone
}

func (q *queue[T]) push(v T) {
	if q.first > 0 && len(q.list) == cap(q.list) && 2*q.first >= len(q.list) {
		n := copy(q.list, q.list[q.first:])
		clear(q.list[n:])
		q.list, q.first = q.list[:n], 0
	}
	q.list = append(q.list, v)
}

// len is how many there are.
func (q *queue[T]) len() int { return len(q.list) - q.first }

// pop takes the first one out, which there has to be.
func (q *queue[T]) pop() T {
	var none T
	v := q.list[q.first]
	q.list[q.first] = none
	if q.first++; q.first == len(q.list) {
		q.list, q.first = q.list[:0], 0
	}
	return v
}

// pool keeps values under numbers until they are taken. Numbers and memory are used again.
type pool[T any] struct {
	list []T
	free []uint64
}

// put keeps a value and returns its number.
func (p *pool[T]) put(v T) uint64 {
	if n := len(p.free); n > 0 {
		i := p.free[n-1]
		p.free = p.free[:n-1]
		p.list[i] = v
		return i
	}
	p.list = append(p.list, v)
	return uint64(len(p.list) - 1)
}

// take returns the value of a number, which is free then.
func (p *pool[T]) take(i uint64) T {
	var none T
	v := p.list[i]
	p.list[i] = none
	p.free = append(p.free, i)
	return v
}
