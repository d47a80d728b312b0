package apiserver

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// object is a pointer to an API object.
type object interface {
	GetNamespace() string
	GetName() string
}

// forwarder is what a reflector takes for its store: it hands on each object and keeps the names, which
// a relist is compared with. One reflector calls it, from one goroutine at a time.
type forwarder[T object] struct {
	set    func(T)
	delete func(types.NamespacedName)
	filled func() // called after each list
	known  map[types.NamespacedName]struct{}
}

func newForwarder[T object](set func(T), del func(types.NamespacedName), filled func()) *forwarder[T] {
	return &forwarder[T]{set: set, delete: del, filled: filled, known: map[types.NamespacedName]struct{}{}}
}

func nameOf(o object) types.NamespacedName {
	return types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
}

// Add hands on a new object.
func (f *forwarder[T]) Add(obj any) error { return f.Update(obj) }

// Update hands on an object.
func (f *forwarder[T]) Update(obj any) error {
	o, ok := obj.(T)
	if !ok {
		return fmt.Errorf("a %T where a %T was asked for", obj, o)
	}
	f.known[nameOf(o)] = struct{}{}
	f.set(o)
	return nil
}

// Delete hands on that an object has gone.
func (f *forwarder[T]) Delete(obj any) error {
	o, ok := obj.(T)
	if !ok {
		if gone, unknown := obj.(cache.DeletedFinalStateUnknown); unknown {
			return f.Delete(gone.Obj)
		}
		return fmt.Errorf("a %T where a %T was asked for", obj, o)
	}
	delete(f.known, nameOf(o))
	f.delete(nameOf(o))
	return nil
}

// Replace hands on a whole list, and what is not in it any more. Objects that are as they were are
// handed on again: only who reads them knows.
func (f *forwarder[T]) Replace(list []any, _ string) error {
	before := f.known
	f.known = make(map[types.NamespacedName]struct{}, len(list))
	for _, obj := range list {
		if err := f.Update(obj); err != nil {
			return err
		}
	}
	var gone []types.NamespacedName
	for name := range before { // order: sorted below
		if _, there := f.known[name]; !there {
			gone = append(gone, name)
		}
	}
	slices.SortFunc(gone, compareNames)
	for _, name := range gone {
		f.delete(name)
	}
	f.filled()
	return nil
}

// Resync has nothing to do: what was handed on has arrived.
func (f *forwarder[T]) Resync() error { return nil }

func compareNames(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}
