package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/pager"
)

// mostAlone is how many objects without a controller are read of one resource: a cluster has a few, and each is a request.
const mostAlone = 200

// onlyMetadata has the server leave everything but the metadata out of a list (Kubernetes 1.15 and later); an older one sends whole
// objects, which is more to read and nothing else.
const onlyMetadata = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

// alone reads the objects of a resource that no controller has made: ReplicaSets of no Deployment, Jobs of no
// CronJob. API servers cannot be asked for these, so their metadata are listed and they are read one by one. more is how many there are
// besides.
func (r *reader) alone(ctx context.Context, at schema.GroupVersionResource, namespace string) (items []unstructured.Unstructured, more int, err error) {
	var names []metav1.ObjectMeta
	pages := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return r.metadata(ctx, at, namespace, &o)
	})
	pages.PageSize = pageSize
	list, _, err := pages.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, 0, err
	}
	err = meta.EachListItem(list, func(o runtime.Object) error {
		m, ok := o.(*metav1.PartialObjectMetadata)
		if !ok {
			return fmt.Errorf("list of %s: unexpected %T", at.Resource, o)
		}
		if metav1.GetControllerOfNoCopy(m) == nil {
			names = append(names, metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name})
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	read := names[:min(mostAlone, len(names))]
	for i := range read {
		u, err := r.objects.Resource(at).Namespace(read[i].Namespace).Get(ctx, read[i].Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err): // gone since
		case err != nil:
			return nil, 0, notGotten{err}
		default:
			items = append(items, *u)
		}
	}
	return items, len(names) - len(read), nil
}

// notGotten is the refusal of a single object of a list.
type notGotten struct{ error }

func (n notGotten) Unwrap() error { return n.error }

// metadata reads one page of the metadata of a resource.
func (r *reader) metadata(ctx context.Context, at schema.GroupVersionResource, namespace string, o *metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	path := []string{"/api", at.Version}
	if at.Group != "" {
		path = []string{"/apis", at.Group, at.Version}
	}
	if namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	request := r.server.Get().AbsPath(append(path, at.Resource)...).SetHeader("Accept", onlyMetadata)
	if o.Limit > 0 {
		request = request.Param("limit", fmt.Sprint(o.Limit))
	}
	if o.Continue != "" {
		request = request.Param("continue", o.Continue)
	}
	data, err := request.Do(ctx).Raw()
	if status := apierrors.APIStatus(nil); errors.As(err, &status) && status.Status().Code == http.StatusGone {
		return nil, apierrors.NewResourceExpired(err.Error()) // a further page came too late: the list is begun again
	}
	if err != nil {
		return nil, err
	}
	list := &metav1.PartialObjectMetadataList{}
	if err := json.Unmarshal(data, list); err != nil {
		return nil, fmt.Errorf("%s: not what an API server answers: %w", strings.Join(path, "/"), err)
	}
	return list, nil
}
