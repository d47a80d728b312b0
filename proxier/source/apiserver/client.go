package apiserver

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// selector leaves out what a service proxy does not handle: what is another proxy's, and the slices of headless
// Services (docs/model/kube-proxy.md 1; verified).
const selector = "!" + corev1.IsHeadlessService + ",!" + endpoints.ServiceProxyNameLabel

// Client lists and watches what a proxy needs, and writes Events.
type Client struct {
	Services, Slices, Nodes, ServiceCIDRs cache.ListerWatcher

	events rest.Interface
}

// CreateEvent writes a new Event.
func (c *Client) CreateEvent(ctx context.Context, e *eventsv1.Event) error {
	return c.events.Post().Namespace(e.Namespace).Resource("events").Body(e).Do(ctx).Error()
}

// PatchEvent changes an Event by a JSON merge patch.
func (c *Client) PatchEvent(ctx context.Context, namespace, name string, patch []byte) error {
	return c.events.Patch(types.MergePatchType).Namespace(namespace).Resource("events").Name(name).Body(patch).Do(ctx).Error()
}

// NewClient returns a Client of an API server for the proxy of the named node. The config says where the server is and
// who asks; what is asked for is protobuf, which both sides code fastest, unless the config says otherwise.
func NewClient(config *rest.Config, node string) (*Client, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, discoveryv1.AddToScheme, networkingv1.AddToScheme, eventsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("apiserver: %w", err)
		}
	}
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	d := clients{config: config, codecs: serializer.NewCodecFactory(scheme).WithoutConversion()}
	core := d.group("/api", corev1.SchemeGroupVersion)
	discovery := d.group("/apis", discoveryv1.SchemeGroupVersion)
	networking := d.group("/apis", networkingv1.SchemeGroupVersion)
	events := d.group("/apis", eventsv1.SchemeGroupVersion)
	if d.err != nil {
		return nil, fmt.Errorf("apiserver: %w", d.err)
	}
	selected := func(o *metav1.ListOptions) { o.LabelSelector = selector }
	this := func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, node).String()
	}
	all := func(*metav1.ListOptions) {}
	return &Client{
		Services:     resource(core, "services", selected),
		Slices:       resource(discovery, "endpointslices", selected),
		Nodes:        resource(core, "nodes", this),
		ServiceCIDRs: resource(networking, "servicecidrs", all),
		events:       events,
	}, nil
}

// clients makes clients of a server's API groups, and keeps the first error.
type clients struct {
	config *rest.Config
	codecs runtime.NegotiatedSerializer
	err    error
}

func (d *clients) group(path string, gv schema.GroupVersion) rest.Interface {
	config := rest.CopyConfig(d.config)
	config.APIPath, config.GroupVersion, config.NegotiatedSerializer = path, &gv, d.codecs
	if config.ContentType == "" {
		config.ContentType = runtime.ContentTypeProtobuf
	}
	if config.AcceptContentTypes == "" {
		config.AcceptContentTypes = config.ContentType
		if config.ContentType != runtime.ContentTypeJSON {
			config.AcceptContentTypes += "," + runtime.ContentTypeJSON
		}
	}
	if config.UserAgent == "" {
		config.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	c, err := rest.RESTClientFor(config)
	if err != nil && d.err == nil {
		d.err = err
	}
	return c
}

// resource lists and watches one resource in all namespaces.
func resource(c rest.Interface, name string, choose func(*metav1.ListOptions)) cache.ListerWatcher {
	ask := func(o metav1.ListOptions) *rest.Request {
		choose(&o)
		return c.Get().Resource(name).VersionedParams(&o, metav1.ParameterCodec)
	}
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return ask(o).Do(ctx).Get()
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.Watch = true
			return ask(o).Watch(ctx)
		},
	}
}
