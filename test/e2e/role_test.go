package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/lameduck-proxy/lameduck/test/e2e/controlplane"
)

// roleFile is what users give lameduck: whatever it asks for beyond that is refused here.
const roleFile = "../../manifests/base/rbac.yaml"

// grant gives lameduck's user the role of the manifests, and nothing else.
func (c *cluster) grant(ctx context.Context) error {
	role, err := readRole()
	if err != nil {
		return err
	}
	rbac := c.admin.RbacV1()
	if _, err := rbac.ClusterRoles().Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return err
	}
	_, err = rbac.ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: controlplane.LameduckUser().Name}},
	}, metav1.CreateOptions{})
	return err
}

func readRole() (*rbacv1.ClusterRole, error) {
	data, err := os.ReadFile(roleFile)
	if err != nil {
		return nil, err
	}
	documents := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), len(data))
	for {
		role := &rbacv1.ClusterRole{}
		if err := documents.Decode(role); errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: no ClusterRole in it", roleFile)
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", roleFile, err)
		}
		if role.Kind == "ClusterRole" {
			return role, nil
		}
	}
}

// TestUsersAreTold has Events arrive that kubectl describe shows: that a proxy has started, on its
// Node, and what of a Service it cannot serve, on the Service.
func TestUsersAreTold(t *testing.T) {
	t.Parallel()
	c := useCluster(t)
	namespace := c.namespace(t)
	first := c.service(t, namespace, "first", corev1.ServiceTypeClusterIP)
	second := c.service(t, namespace, "second", corev1.ServiceTypeClusterIP)
	for _, s := range []*corev1.Service{first, second} {
		s.Spec.ExternalIPs = []string{"192.0.2.77"}
		if _, err := c.admin.CoreV1().Services(namespace).Update(t.Context(), s, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, members := range c.nodes {
		for _, m := range members {
			if m.proxy.Program == "" {
				continue // kube-proxy says less
			}
			c.told(t, "default", "Starting", m.Name, m.Name)
			c.told(t, namespace, "AddressConflict", "second", m.Name)
		}
	}
}

// told waits for an Event about an object, from a node's proxy.
func (c *cluster) told(t *testing.T, namespace, reason, object, node string) {
	t.Helper()
	until(t, fmt.Sprintf("the proxy of %s says %s of %s", node, reason, object), func(ctx context.Context) error {
		list, err := c.admin.EventsV1().Events(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range list.Items {
			e := &list.Items[i]
			if e.Reason == reason && e.Regarding.Name == object && e.ReportingInstance == "lameduck-"+node {
				return nil
			}
		}
		return fmt.Errorf("no such Event among %d", len(list.Items))
	})
}
