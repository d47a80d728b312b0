package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/pager"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// pageSize is kubectl's chunk size.
const pageSize = 500

// list reads one resource in one namespace, "" for all.
func (r *reader) list(ctx context.Context, j *job, what resource, namespace string) error {
	at, ok := r.served(what)
	if !ok {
		return r.absent(what)
	}
	var items []unstructured.Unstructured
	var err error
	if what.alone {
		more := 0
		if items, more, err = r.alone(ctx, at, namespace); more > 0 {
			j.warning = fmt.Sprintf("%s: %d %s of no controller are read, and %d more are not: the answer lacks %s", r.cluster.Name, len(items), what.qualified(), more, what.lacks)
		}
	} else {
		items, err = r.items(ctx, r.objects.Resource(at), what, namespace)
	}
	if err != nil {
		j.warning, err = r.refused(what, namespace, r.explain(err))
		return err
	}
	for i := range items {
		o, err := r.object(&items[i])
		if err != nil {
			return err
		}
		if r.bytes.Add(int64(len(o.Data))) > r.cluster.limit {
			return fmt.Errorf("its objects have more than %d MiB: ask for one namespace (-n)", r.cluster.limit>>20)
		}
		j.objects = append(j.objects, o)
	}
	return nil
}

// served is the resource in the newest version that the server has.
func (r *reader) served(what resource) (schema.GroupVersionResource, bool) {
	if what.group == "" || r.groups == nil {
		return what.at(what.versions[0]), true
	}
	for _, v := range what.versions {
		if slices.Contains(r.groups[what.group], v) {
			return what.at(v), true
		}
	}
	return schema.GroupVersionResource{}, false
}

// absent is what becomes of a resource that the server does not have.
func (r *reader) absent(what resource) error {
	if what.lacks != "" {
		return nil
	}
	return missing{fmt.Errorf("the server has no %s of version %s", what.qualified(), strings.Join(what.versions, " or "))}
}

// refused is what becomes of a resource that was not read: a warning, or an error.
func (r *reader) refused(what resource, namespace string, err error) (string, error) {
	verb, where := "list", ""
	if errors.As(err, &notGotten{}) {
		verb = "get"
	}
	switch {
	case what.scope == itsNamespaces && namespace != "" && apierrors.IsNotFound(err):
		return "", missing{fmt.Errorf("there is no namespace %s", namespace)}
	case apierrors.IsNotFound(err):
		return "", r.absent(what) // the group is there without the resource: a CustomResourceDefinition less
	case !answered(err):
		return "", err
	case what.scope == itsNamespaces && namespace != "":
		verb, where = "get", " "+namespace
	case namespace != "":
		where = " in namespace " + namespace
	case what.scope == inNamespaces || what.scope == inAll:
		where = " in all namespaces"
	}
	said := err.Error()
	if apierrors.IsForbidden(err) || apierrors.IsForbidden(errors.Unwrap(err)) {
		said = fmt.Sprintf("forbidden (RBAC: verb %s, resource %s, API group %q)", verb, what.name, what.group)
	}
	if what.lacks == "" {
		return "", missing{fmt.Errorf("cannot %s %s%s, and there is no answer without: %s", verb, what.qualified(), where, said)}
	}
	return fmt.Sprintf("%s: cannot %s %s%s: %s; the answer lacks %s", r.cluster.Name, verb, what.qualified(), where, said, what.lacks), nil
}

// items reads a list in pages; one that has expired meanwhile is begun again, in one piece.
func (r *reader) items(ctx context.Context, client dynamic.NamespaceableResourceInterface, what resource, namespace string) ([]unstructured.Unstructured, error) {
	if what.scope == itsNamespaces && namespace != "" {
		o, err := client.Get(ctx, namespace, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		return []unstructured.Unstructured{*o}, nil
	}
	pages := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return client.Namespace(namespace).List(ctx, o)
	})
	pages.PageSize = pageSize
	list, _, err := pages.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var items []unstructured.Unstructured
	err = meta.EachListItem(list, func(o runtime.Object) error {
		u, ok := o.(*unstructured.Unstructured)
		if !ok {
			return fmt.Errorf("list of %s: unexpected %T", what.qualified(), o)
		}
		items = append(items, *u)
		return nil
	})
	return items, err
}

// object is the file that an object makes: what kubectl get -o yaml prints of it.
func (r *reader) object(u *unstructured.Unstructured) (Object, error) {
	o := Object{Kind: KindOf(u.GetAPIVersion(), u.GetKind()), Namespace: u.GetNamespace(), Name: u.GetName()}
	u.SetManagedFields(nil) // kubectl leaves them out, too
	forget(u)
	data, err := yaml.Marshal(u.Object) // the library of kubectl, so that lines break alike
	if err != nil {
		return o, fmt.Errorf("%s %s: %w", o.Kind, o.Name, err)
	}
	o.File = manifest.File{Name: r.fileName(o.Kind, o.Namespace, o.Name), Data: data}
	return o, nil
}

// forget empties the annotation that holds the object a second time. Its two lines stay, so that
// what follows stands where kubectl shows it.
func forget(u *unstructured.Unstructured) {
	annotations := u.GetAnnotations()
	if _, ok := annotations[corev1.LastAppliedConfigAnnotation]; ok {
		annotations[corev1.LastAppliedConfigAnnotation] = "{}\n"
		u.SetAnnotations(annotations)
	}
}

// fileName is what messages call an object: "kind-kind: deployment shop/web".
func (r *reader) fileName(kind, namespace, name string) string {
	if namespace != "" {
		name = namespace + "/" + name
	}
	return r.cluster.Name + ": " + strings.ToLower(kind) + " " + name
}

// proxyConfigMaps are where installers keep the KubeProxyConfiguration of every node: kubeadm and kind, and EKS
// (its add-on's kube-proxy holds a kubeconfig). Recalled.
func proxyConfigMaps() []struct{ name, key string } {
	return []struct{ name, key string }{{"kube-proxy", "config.conf"}, {"kube-proxy-config", "config"}}
}

// proxyConfiguration reads the configuration of the cluster's kube-proxy where its installer left it.
func (r *reader) proxyConfiguration(ctx context.Context, j *job) error {
	client := r.objects.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace(metav1.NamespaceSystem)
	for _, m := range proxyConfigMaps() {
		u, err := client.Get(ctx, m.name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			continue
		case err != nil && answered(err):
			j.warning = fmt.Sprintf("%s: cannot get configmap %s/%s: %s; the answer lacks the settings of the cluster's kube-proxy (a KubeProxyConfiguration given by -f has them)",
				r.cluster.Name, metav1.NamespaceSystem, m.name, brief(err))
			return nil
		case err != nil:
			return r.explain(err)
		}
		text, ok, err := unstructured.NestedString(u.Object, "data", m.key)
		if !ok || err != nil {
			continue
		}
		name := r.fileName(u.GetKind(), u.GetNamespace(), u.GetName()) + " " + m.key
		j.objects = []Object{{File: manifest.File{Name: name, Data: []byte(text)}, Kind: "KubeProxyConfiguration"}}
		return nil
	}
	return nil
}

// brief is a refusal in few words.
func brief(err error) string {
	if apierrors.IsForbidden(err) {
		return `forbidden (RBAC: verb get, resource configmaps, API group "")`
	}
	return err.Error()
}
