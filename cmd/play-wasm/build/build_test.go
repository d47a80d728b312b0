package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What is squeezed says neither a name nor a time: the same module is the same bytes.
func TestSqueezed(t *testing.T) {
	t.Parallel()
	want := bytes.Repeat([]byte("module "), 1000)
	once, err := squeezed(want)
	if err != nil {
		t.Fatal(err)
	}
	again, err := squeezed(want)
	if err != nil || !bytes.Equal(once, again) {
		t.Errorf("not the same bytes twice: %v", err)
	}
	r, err := gzip.NewReader(bytes.NewReader(once))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) || r.Name != "" || !r.ModTime.IsZero() {
		t.Errorf("%d bytes, name %q, time %v, %v", len(got), r.Name, r.ModTime, err)
	}
}

// hashes prints the lengths of texts of which the other package makes another hash than Go's.
const hashes = `package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	other "example.org/m/sha256"
)

func main() {
	for n := range 300 {
		data, parts := bytes.Repeat([]byte("text "), n)[:n], other.New()
		parts.Write(data[:n/3])
		parts.Sum(nil) // changes nothing
		parts.Write(data[n/3:])
		if want := sha256.Sum256(data); other.Sum256(data) != want || !bytes.Equal(parts.Sum([]byte("before")), append([]byte("before"), want[:]...)) {
			fmt.Println(n)
		}
	}
}
`

// What stands for Go's package makes the same hashes, of texts of all lengths.
func TestTheOtherHash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text, err := instead.ReadFile("instead/sha256.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "sha256"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{"go.mod": "module example.org/m\n\ngo 1.26\n", "main.go": hashes, "sha256/sha256.go": string(text)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// alikeProgram prints what of an object with something in each of its fields is copied in another way than by generated code, or is no copy.
const alikeProgram = `package main

import (
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
)

type Object = runtime.Object

// fill puts something into all that a value has: n says what.
func fill(v reflect.Value, n, depth int) {
	if q, ok := v.Addr().Interface().(*resource.Quantity); ok {
		q.Add(resource.MustParse(fmt.Sprintf("%d.123456789012345678901Gi", n)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprint("text ", n))
	case reflect.Bool:
		v.SetBool(n%2 == 0)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(n))
	case reflect.Pointer:
		if v.IsNil() && depth > 0 {
			v.Set(reflect.New(v.Type().Elem()))
		}
		if !v.IsNil() {
			fill(v.Elem(), n, depth-1)
		}
	case reflect.Slice:
		if v.IsNil() && depth > 0 {
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		}
		for i := range v.Len() {
			fill(v.Index(i), n, depth-1)
		}
	case reflect.Map:
		if v.IsNil() && depth > 0 {
			v.Set(reflect.MakeMap(v.Type()))
		}
		if !v.IsNil() {
			value := reflect.New(v.Type().Elem()).Elem()
			fill(value, n, depth-1)
			v.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), value)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				fill(f, n, depth)
			}
		}
	}
}

func main() {
	var in, out corev1.Pod
	fill(reflect.ValueOf(&in).Elem(), 1, 12)
	want := in.DeepCopy()
	CopyInto(&in, &out)
	if !reflect.DeepEqual(&out, want) {
		fmt.Println("it is another object")
	}
	fill(reflect.ValueOf(&in).Elem(), 2, 0)
	if reflect.DeepEqual(&in, want) || !reflect.DeepEqual(&out, want) {
		fmt.Println("it changes with the first one")
	}
}
`

// Objects of the module are copied as they are elsewhere, and share nothing.
func TestTheOtherCopies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text, err := instead.ReadFile("instead/runtime.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for name, data := range map[string]string{"main.go": alikeProgram, "copy.go": strings.Replace(string(text), "\npackage runtime\n", "\npackage main\n", 1)} { // order: both are needed
		files = append(files, filepath.Join(dir, name))
		if err := os.WriteFile(files[len(files)-1], []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"run"}, files...)...) //nolint:gosec // what is run is said here
	cmd.Dir = "../../.."
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestHolds(t *testing.T) {
	t.Parallel()
	packed, err := squeezed([]byte("a module"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		packed []byte
		module string
		want   bool
	}{
		"the module":    {packed, "a module", true},
		"another":       {packed, "a modulf", false},
		"no gzip":       {[]byte("a module"), "a module", false},
		"half a module": {packed[:len(packed)-4], "a module", false},
	} {
		if got := holds(c.packed, []byte(c.module)); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// The licences in the repository are those of what is imported now. make play writes them.
func TestLicences(t *testing.T) {
	t.Parallel()
	const root = "../../.."
	want, err := licences(root)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, dist, licensed))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s/%s has %d bytes, want %d: make play (%v)", dist, licensed, len(got), len(want), err)
	}
	for _, module := range []string{"Go\n", "k8s.io/api v", "k8s.io/apimachinery v", "go.yaml.in/yaml/", "github.com/tidwall/btree v"} {
		if !bytes.HasPrefix(want, []byte(module)) && !bytes.Contains(want, []byte("\n----\n\n"+module)) {
			t.Errorf("no licence of %s", module)
		}
	}
}

func TestAModuleWithoutALicenceIsAnError(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	if _, err := licencesIn("example.org/m v1.0.0", top, map[string]bool{top: true}); err == nil {
		t.Error("no error")
	}
	below := filepath.Join(top, "third_party")
	if err := os.Mkdir(below, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{filepath.Join(top, "LICENSE.txt"): "mine\n", filepath.Join(below, "COPYING"): "theirs", filepath.Join(top, "m.go"): "package m"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := licencesIn("example.org/m v1.0.0", top, map[string]bool{top: true, below: true})
	if want := "example.org/m v1.0.0\n\nmine\n\nthird_party\n\ntheirs\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

func TestLeaves(t *testing.T) {
	t.Parallel()
	m := module{without: []string{"*/*/register.go", "pkg/runtime/codec*.go"}}
	for name, want := range map[string]bool{
		"core/v1/register.go": true, "core/v1/types.go": false, "pkg/runtime/codec_check.go": true, "register.go": false, "a/b/c/register.go": false,
	} {
		if got := m.leaves(name, make([]bool, 2)); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A module is copied as it is, but for what is no Go of its own, what is left out, and what stands for that.
func TestAModuleIsCopiedWithoutWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	const path = "k8s.io/klog/v2"
	from, err := goSays("list", "-m", "-f", "{{.Dir}}", path)
	if err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	m := module{path: path, without: []string{"klog_*.go", "*/*/*.go"}, with: map[string]string{"play.go": "klog.go.txt"}}
	if err := m.copy(to); err != nil {
		t.Fatal(err)
	}
	for name, there := range map[string]bool{
		"klog.go": true, "go.mod": true, "play.go": true, "klog_file.go": false, "README.md": false, "klog_test.go": false, "internal/clock/clock.go": false,
	} {
		if _, err := os.Stat(filepath.Join(to, name)); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
	for copied, original := range map[string]string{"klog.go": filepath.Join(from, "klog.go"), "play.go": "instead/klog.go.txt"} {
		want, err1 := os.ReadFile(original)
		got, err2 := os.ReadFile(filepath.Join(to, copied))
		if err1 != nil || err2 != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not %s: %v, %v", copied, original, err1, err2)
		}
	}
	for name, wrong := range map[string]module{
		"of which a file that is left out is not there": {path: path, without: []string{"klog.go", "no_such.go"}},
		"with a file that is not there":                 {path: path, with: map[string]string{"play.go": "no_such.txt"}},
		"that is none":                                  {path: "example.org/no/such"},
	} {
		if err := wrong.copy(t.TempDir()); err == nil {
			t.Errorf("a module %s: no error", name)
		}
	}
}

// A Go whose files have other words is an error, not a module that is larger again.
func TestPatchesAreApplied(t *testing.T) {
	t.Parallel()
	for path := range patches { // order: each for itself
		p := patches[path]
		all := strings.Join(slices.Collect(maps.Keys(p.instead)), "x] + ")
		got, err := p.applied(path, []byte(all))
		if err != nil || !strings.HasSuffix(string(got), p.more) {
			t.Errorf("%s: %v: %s", path, err, got)
		}
		for old := range p.instead { // order: each for itself
			if strings.Contains(string(got), old) {
				t.Errorf("%s: %s", path, got)
			}
			if _, err := p.applied(path, []byte(strings.Replace(all, old, "other", 1))); err == nil || err.Error() != path+": there is no "+old {
				t.Error(err)
			}
		}
	}
}
