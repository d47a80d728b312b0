package endpoints

import "slices"

// A Service of many endpoints has many slices, and a rollout changes one of them at a time. So a group is
// made of the one before: of its endpoints those of the changed slices are replaced, the others are copied
// as they stand. What that cannot be used for, such as addresses that occur twice, is built from all slices.

// mostEdited is how many groups are made from those before: each looks at all ports of the changed slices.
const mostEdited = 16

// mark is what has happened to a Service since the last Snapshot.
type mark struct {
	whole bool   // more than edits say: it is to be built from all slices
	edits []edit // one for a slice
}

// edit is a slice before and after, which have the same ports.
type edit struct{ before, after *Slice }

// differing returns the entries before and after without those at both ends that are the very same: a Slice made
// from another (With) has most of them in common.
func (e edit) differing() (gone, come []SliceEndpoint) {
	gone, come = e.before.entries, e.after.entries
	for len(gone) > 0 && len(come) > 0 && gone[0] == come[0] {
		gone, come = gone[1:], come[1:]
	}
	for len(gone) > 0 && len(come) > 0 && gone[len(gone)-1] == come[len(come)-1] {
		gone, come = gone[:len(gone)-1], come[:len(come)-1]
	}
	return gone, come
}

// changed marks the Service of a slice that becomes another.
func (c *Cache) changed(before, after *Slice) {
	m := c.dirty[after.service]
	if m.whole || before.family != after.family || !slices.Equal(before.ports, after.ports) {
		c.dirty[after.service] = mark{whole: true}
		return
	}
	if i := slices.IndexFunc(m.edits, func(e edit) bool { return e.after == before }); i >= 0 {
		m.edits[i].after = after
	} else {
		m.edits = append(m.edits, edit{before, after})
	}
	c.dirty[after.service] = m
}

// editGroups returns groups as they are after some edits, ok false where only all slices together tell. The
// groups it is given stay as they are, unless it may edit in place.
func editGroups(groups []group, edits []edit, inPlace bool) (out []group, ok bool) {
	if len(groups) > mostEdited {
		return nil, false
	}
	n := 0
	for _, e := range edits {
		gone, come := e.differing()
		n += len(gone) + len(come)
	}
	out = slices.Clone(groups)
	for i := range out {
		g := &out[i]
		if g.counts.duplicates > 0 || 2*n > len(g.endpoints) {
			return nil, false
		}
		gone, come := touched(g.key, edits)
		if inPlace {
			ok = g.edit(gone, come)
		} else {
			ok = g.replace(gone, come)
		}
		if !ok {
			return nil, false
		}
	}
	return out, true
}

// touched lists what a group loses and gets by some edits, each in the order of addresses.
func touched(key portKey, edits []edit) (gone, come []Endpoint) {
	for _, e := range edits {
		before, after := e.differing()
		gone, come = e.before.appendTo(gone, before, key), e.after.appendTo(come, after, key)
	}
	slices.SortStableFunc(gone, byAddr) // as the sort that there is already: another one makes the module of play larger
	slices.SortStableFunc(come, byAddr)
	return gone, come
}

// replace takes endpoints out of a group that has them and puts others in, ok false if there are two of one
// address then. All are in the order of addresses.
func (g *group) replace(gone, come []Endpoint) (ok bool) {
	if len(gone)+len(come) == 0 {
		return true
	}
	old := g.endpoints
	list := make([]Endpoint, 0, len(old)-len(gone)+len(come))
	for len(gone)+len(come) > 0 {
		if len(come) == 0 || len(gone) > 0 && gone[0].Addr.Compare(come[0].Addr) <= 0 {
			at, _ := slices.BinarySearchFunc(old, gone[0], byAddr)
			list = append(list, old[:at]...)
			g.counts.add(&old[at], -1)
			old, gone = old[at+1:], gone[1:]
			continue
		}
		at, found := slices.BinarySearchFunc(old, come[0], byAddr)
		list = append(list, old[:at]...)
		if n := len(list); found || n > 0 && list[n-1].Addr == come[0].Addr {
			return false
		}
		g.counts.add(&come[0], 1)
		list = append(list, come[0])
		old, come = old[at:], come[1:]
	}
	list = append(list, old...)
	g.endpoints = list
	g.learn()
	return true
}

// edit is replace in the memory of the group's list.
func (g *group) edit(gone, come []Endpoint) (ok bool) {
	for len(gone)+len(come) > 0 {
		if len(come) == 0 || len(gone) > 0 && gone[0].Addr.Compare(come[0].Addr) < 0 {
			at, _ := slices.BinarySearchFunc(g.endpoints, gone[0], byAddr)
			g.counts.add(&g.endpoints[at], -1)
			g.endpoints, gone = slices.Delete(g.endpoints, at, at+1), gone[1:]
			continue
		}
		at, found := slices.BinarySearchFunc(g.endpoints, come[0], byAddr)
		switch {
		case !found:
			g.endpoints = slices.Insert(g.endpoints, at, come[0])
		case len(gone) > 0 && gone[0].Addr == come[0].Addr:
			g.counts.add(&g.endpoints[at], -1)
			g.endpoints[at], gone = come[0], gone[1:]
		default:
			return false
		}
		g.counts.add(&come[0], 1)
		come = come[1:]
	}
	g.learn()
	return true
}
