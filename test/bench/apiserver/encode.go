package apiserver

import (
	"bytes"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
)

// Format is how objects are encoded.
type Format uint8

// The formats.
const (
	Protobuf Format = iota
	JSON
	formats
)

// Content types of answers and, with a parameter, of watches.
func (f Format) contentType() string {
	if f == JSON {
		return "application/json"
	}
	return runtime.ContentTypeProtobuf
}

// Object is any that a proxy reads.
type Object interface {
	runtime.Object
	metav1.Object
}

// message is what the generated types can do.
type message interface {
	Marshal() ([]byte, error)
}

// encoded is an object in one format: as an entry of a list, and as an event.
type encoded struct {
	item  []byte
	event []byte // of type ADDED
}

func encode(f Format, o Object) (encoded, error) {
	item, err := encodeItem(f, o)
	if err != nil {
		return encoded{}, err
	}
	event, err := encodeEvent(f, watch.Added, o)
	return encoded{item, event}, err
}

func encodeItem(f Format, o Object) ([]byte, error) {
	if f == JSON {
		return encodeJSON(o)
	}
	m, ok := o.(message)
	if !ok {
		return nil, fmt.Errorf("encode %T: it is not one of the generated types", o)
	}
	return m.Marshal()
}

func encodeJSON(o any) ([]byte, error) {
	b, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", o, err)
	}
	return b, nil
}

// encodeObject encodes an object that stands by itself.
func encodeObject(f Format, o runtime.Object) ([]byte, error) {
	if f == JSON {
		return encodeJSON(o)
	}
	var b bytes.Buffer
	if err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(o, &b); err != nil {
		return nil, fmt.Errorf("encode %T: %w", o, err)
	}
	return b.Bytes(), nil
}

// encodeEvent encodes what a watch says of an object: a line of JSON, or a message of protobuf
// behind its length.
func encodeEvent(f Format, kind watch.EventType, o runtime.Object) ([]byte, error) {
	object, err := encodeObject(f, o)
	if err != nil {
		return nil, err
	}
	event := &metav1.WatchEvent{Type: string(kind), Object: runtime.RawExtension{Raw: object}}
	if f == JSON {
		line, err := encodeJSON(event)
		return append(line, '\n'), err
	}
	var b bytes.Buffer
	w := protobuf.LengthDelimitedFramer.NewFrameWriter(&b)
	if err := protobuf.NewRawSerializer(scheme.Scheme, scheme.Scheme).Encode(event, w); err != nil {
		return nil, fmt.Errorf("encode an event: %w", err)
	}
	return b.Bytes(), nil
}

// encodeList puts a list together from its entries.
func encodeList(f Format, kind schema.GroupVersionKind, version string, items [][]byte) ([]byte, error) {
	if f == JSON {
		head := fmt.Sprintf(`{"kind":%q,"apiVersion":%q,"metadata":{"resourceVersion":%q},"items":[`, kind.Kind+"List", kind.GroupVersion(), version)
		return append(append([]byte(head), bytes.Join(items, []byte(","))...), "]}"...), nil
	}
	listMeta := metav1.ListMeta{ResourceVersion: version}
	m, err := listMeta.Marshal()
	if err != nil {
		return nil, fmt.Errorf("encode a list: %w", err)
	}
	size := len(m) + 16
	for _, item := range items {
		size += len(item) + 8
	}
	// Fields 1 and 2 of every list type are its metadata and its items.
	raw := appendField(make([]byte, 0, size), 1, m)
	for _, item := range items {
		raw = appendField(raw, 2, item)
	}
	return encodeUnknown(kind.GroupVersion().String(), kind.Kind+"List", raw)
}

// encodeUnknown wraps a message as every object that stands by itself is wrapped.
func encodeUnknown(apiVersion, kind string, raw []byte) ([]byte, error) {
	u := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: raw, ContentType: ""}
	b, err := u.Marshal()
	if err != nil {
		return nil, fmt.Errorf("encode a list: %w", err)
	}
	return append([]byte("k8s\x00"), b...), nil
}

// appendField appends a field of protobuf that has a length (wire type 2).
func appendField(b []byte, number byte, content []byte) []byte {
	b = append(b, number<<3|2)
	n := len(content)
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	b = append(b, byte(n))
	return append(b, content...)
}

// bookmark is an empty object of a kind that only says which version the watch has reached.
func bookmark(kind schema.GroupVersionKind, version string, initialEventsEnd bool) (runtime.Object, error) {
	o, err := scheme.Scheme.New(kind)
	if err != nil {
		return nil, fmt.Errorf("make a bookmark: %w", err)
	}
	o.GetObjectKind().SetGroupVersionKind(kind)
	m, err := meta.Accessor(o)
	if err != nil {
		return nil, fmt.Errorf("make a bookmark: %w", err)
	}
	m.SetResourceVersion(version)
	if initialEventsEnd {
		m.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	return o, nil
}

// kinds returns what is served where.
func kinds() map[string]schema.GroupVersionKind {
	return map[string]schema.GroupVersionKind{
		"/api/v1/services": corev1.SchemeGroupVersion.WithKind("Service"),
		"/api/v1/nodes":    corev1.SchemeGroupVersion.WithKind("Node"),
		"/apis/discovery.k8s.io/v1/endpointslices": discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice"),
		"/apis/networking.k8s.io/v1/servicecidrs":  networkingv1.SchemeGroupVersion.WithKind("ServiceCIDR"),
	}
}
