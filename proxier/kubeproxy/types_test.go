package kubeproxy

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	upstream "k8s.io/kube-proxy/config/v1alpha1"
)

// shape lists the fields of a type as JSON has them, with what each holds.
func shape(path string, typ reflect.Type) []string {
	if typ.Kind() == reflect.Pointer {
		return shape(path+"*", typ.Elem())
	}
	if typ.Kind() == reflect.Slice {
		return shape(path+"[]", typ.Elem())
	}
	text := typ.Implements(reflect.TypeFor[json.Marshaler]()) || reflect.PointerTo(typ).Implements(reflect.TypeFor[json.Unmarshaler]())
	if typ.Kind() != reflect.Struct || text {
		kind := typ.Kind().String()
		if text {
			kind = "text"
		}
		return []string{path + " " + kind}
	}
	var out []string
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			out = append(out, shape(path, f.Type)...)
			continue
		}
		out = append(out, shape(strings.Trim(path+"."+name, "."), f.Type)...)
		out[len(out)-1] += strings.TrimRight(" "+options, " ")
	}
	return out
}

// The fields, their order and what they hold are the API's.
func TestTheTypesAreKubernetes(t *testing.T) {
	t.Parallel()
	want := shape("", reflect.TypeFor[upstream.KubeProxyConfiguration]())
	got := shape("", reflect.TypeFor[KubeProxyConfiguration]())
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-Kubernetes +lameduck):\n%s", diff)
	}
	if len(want) < 60 {
		t.Errorf("%d fields were compared", len(want))
	}
}

// What is written is read by kube-proxy as what it was.
func TestKubernetesReadsWhatIsWritten(t *testing.T) {
	t.Parallel()
	c := Defaults()
	c.Logging.VModule = []VModule{{"owner", 4}}
	c.FeatureGates = map[string]bool{"TopologyAwareHints": true}
	written, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var read upstream.KubeProxyConfiguration
	if err := json.Unmarshal(written, &read); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(read)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(written), string(again)); diff != "" {
		t.Errorf("(-lameduck +Kubernetes):\n%s", diff)
	}
}

// A copy shares nothing: whatever holds a pointer, a list or a map is another one.
func TestACopySharesNothing(t *testing.T) {
	t.Parallel()
	c := Defaults()
	c.FeatureGates, c.NodePortAddresses = map[string]bool{"A": true}, []string{Primary}
	c.Logging.VModule, c.IPVS.ExcludeCIDRs = []VModule{{"owner", 4}}, []string{"10.0.0.0/8"}
	other := c.DeepCopy()
	if diff := cmp.Diff(values(c), values(other)); diff != "" {
		t.Fatalf("(-was +copy):\n%s", diff)
	}
	var mine []field
	eachField(c, func(f field) { mine = append(mine, f) })
	compared := 0
	eachField(other, func(f field) {
		if k := f.value.Kind(); k == reflect.Pointer || k == reflect.Slice || k == reflect.Map {
			compared++
			if f.value.Pointer() == mine[0].value.Pointer() {
				t.Errorf("%s is shared", f.path)
			}
		}
		mine = mine[1:]
	})
	if compared < 12 {
		t.Errorf("%d fields were compared", compared)
	}
}
