package api

import (
	"cmp"
	"slices"
)

// PodList is pods in order of ID.
type PodList []*Pod

func (l PodList) find(id PodID) (int, bool) {
	if n := len(l); n == 0 || l[n-1].ID < id {
		return n, false
	}
	return slices.BinarySearchFunc(l, id, func(p *Pod, id PodID) int { return cmp.Compare(p.ID, id) })
}

// Set puts a version of a pod in the place of the one before, which it returns; nil is none.
// The last version takes the pod off the list.
func (l *PodList) Set(p *Pod) (old *Pod) {
	i, found := l.find(p.ID)
	if found {
		old = (*l)[i]
	}
	switch {
	case p.Gone && found:
		*l = slices.Delete(*l, i, i+1)
	case p.Gone:
	case found:
		(*l)[i] = p
	default:
		*l = slices.Insert(*l, i, p)
	}
	return old
}

// Terminating counts the pods that are deleted and not done.
func (l PodList) Terminating() int {
	n := 0
	for _, p := range l {
		if p.Deleting() && !p.Phase.Terminal() {
			n++
		}
	}
	return n
}

// Active appends the active pods.
func (l PodList) Active(out []*Pod) []*Pod {
	for _, p := range l {
		if p.Active() {
			out = append(out, p)
		}
	}
	return out
}
