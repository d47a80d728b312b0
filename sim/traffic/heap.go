package traffic

// heap is a binary heap: pop takes the element that is before all others.
type heap[T interface{ Before(T) bool }] []T

func (h *heap[T]) push(x T) {
	*h = append(*h, x)
	list := *h
	for i := len(list) - 1; i > 0; {
		parent := (i - 1) / 2
		if !list[i].Before(list[parent]) {
			return
		}
		list[i], list[parent] = list[parent], list[i]
		i = parent
	}
}

func (h *heap[T]) pop() T {
	list := *h
	top := list[0]
	last := len(list) - 1
	list[0] = list[last]
	clear(list[last:])
	list = list[:last]
	*h = list
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			return top
		}
		if child+1 < last && list[child+1].Before(list[child]) {
			child++
		}
		if !list[child].Before(list[i]) {
			return top
		}
		list[i], list[child] = list[child], list[i]
		i = child
	}
}
