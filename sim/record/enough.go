package record

// Worthwhile says that more runs, up to so many in all, may yet show which of two verdicts a case has that is on the border: in
// one of five cases at least, if things go on as they have in its runs.
func (c *Case) Worthwhile(most int) bool {
	n := tallyOf(c.Runs)
	switch {
	case c.Enough() || n.runs >= most:
		return false
	case !decided(n.outages, n.runs, 2):
		return mayDecide(n.outages, n.runs, 2, most)
	case n.stuck > 0 && !decided(n.stuck, n.runs, oneInRare):
		return mayDecide(n.stuck, n.runs, oneInRare, most)
	case n.large == 0 && n.losses >= oftenEnough:
		return mayDecide(n.losses, n.runs, oneInRare, most)
	default:
		return true // something has not been seen often enough
	}
}

// mayDecide says that k of n runs may come to be decided by so many in all, with a chance of one in five or more. What k is off by
// grows with the number of runs, and what the further ones add to it is uncertain by chance, theirs and that of the runs so far:
// together sqrt((in-1) most (most-n) / n). One in five is 0.8416 of that. The sum has to reach the border of decided.
func mayDecide(k, n, in, most int) bool {
	off := int64(max(in*k-n, n-in*k))
	all, so := int64(most), int64(n)
	// In thousandths of sqrt((in-1) most): 2.576 for the border, less 0.8416 sqrt((most-n) / n).
	short := 2576 - root(708_291*(all-so)/so)
	return short <= 0 || off*off*all*1_000_000 >= so*so*short*short*int64(in-1)
}

// root is the whole part of a square root.
func root(x int64) int64 {
	r := x
	for next := (x + 1) / 2; next < r; next = (r + x/r) / 2 {
		r = next
	}
	return r
}
