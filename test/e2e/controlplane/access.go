package controlplane

import (
	"fmt"
	"path/filepath"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/lameduck-proxy/lameduck/test/e2e/network"
)

// User is an account that asks the API server.
type User struct {
	Name   string
	Groups []string
}

// Admin may do everything.
func Admin() User { return User{Name: "kubernetes-admin", Groups: []string{"system:masters"}} }

// NodeUser is the kubelet of a node, to the node authorizer.
func NodeUser(node string) User {
	return User{Name: "system:node:" + node, Groups: []string{"system:nodes"}}
}

// ProxyUser has the role system:node-proxier, which every API server makes for kube-proxy.
func ProxyUser() User { return User{Name: "system:kube-proxy"} }

// LameduckUser has no role but those that it is given.
func LameduckUser() User { return User{Name: "lameduck-proxy"} }

// Client is a client of the API server for a user, connecting from a place.
func (c *ControlPlane) Client(u User, from *network.Place) (*kubernetes.Clientset, error) {
	p, err := c.authority.client(u.Name, u.Groups...)
	if err != nil {
		return nil, fmt.Errorf("control plane: %w", err)
	}
	client, err := kubernetes.NewForConfig(&rest.Config{
		Host: c.url(), Dial: from.Dial, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{CAData: c.authority.pem, CertData: p.certificate, KeyData: p.key},
	})
	if err != nil {
		return nil, fmt.Errorf("control plane: a client for %s: %w", u.Name, err)
	}
	return client, nil
}

// Kubeconfig writes a file for a user, and returns its path.
func (c *ControlPlane) Kubeconfig(u User, name string) (string, error) {
	p, err := c.authority.client(u.Name, u.Groups...)
	if err != nil {
		return "", fmt.Errorf("control plane: %w", err)
	}
	const cluster = "e2e"
	config := clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{cluster: {Server: c.url(), CertificateAuthorityData: c.authority.pem}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{u.Name: {ClientCertificateData: p.certificate, ClientKeyData: p.key}},
		Contexts:       map[string]*clientcmdapi.Context{cluster: {Cluster: cluster, AuthInfo: u.Name}},
		CurrentContext: cluster,
	}
	path := filepath.Join(c.dir, name+".kubeconfig")
	if err := clientcmd.WriteToFile(config, path); err != nil {
		return "", fmt.Errorf("control plane: kubeconfig of %s: %w", u.Name, err)
	}
	return path, nil
}
