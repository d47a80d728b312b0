package apiserver

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// An object whose last state a reflector has missed is deleted as any other; what is no such object is an error, however it is
// wrapped, and nothing is handed on.
func TestWhatAReflectorDeletes(t *testing.T) {
	t.Parallel()
	var deleted []string
	f := newForwarder(func(*corev1.Service) {}, func(n types.NamespacedName) { deleted = append(deleted, n.Name) }, func() {})
	svc := func(name string) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	}
	for _, name := range []string{"a", "b"} {
		if err := f.Add(svc(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		obj any
		ok  bool
	}{
		{svc("a"), true}, {cache.DeletedFinalStateUnknown{Key: "default/b", Obj: svc("b")}, true},
		{&corev1.Pod{}, false}, {cache.DeletedFinalStateUnknown{Key: "default/c", Obj: &corev1.Pod{}}, false}, {cache.DeletedFinalStateUnknown{Key: "default/c"}, false},
	} {
		if err := f.Delete(c.obj); (err == nil) != c.ok {
			t.Errorf("%T: %v", c.obj, err)
		}
	}
	if !slices.Equal(deleted, []string{"a", "b"}) || len(f.known) > 0 {
		t.Errorf("deleted %v, %d are known", deleted, len(f.known))
	}
	if f.Update(&corev1.Pod{}) == nil {
		t.Error("a Pod is taken for a Service")
	}
}
