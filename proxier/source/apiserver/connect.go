package apiserver

import (
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Connect returns a Client of the API server that a kubeconfig file names, for the proxy of the named node. A URL in
// master wins over the file's; without either, the server is that of the cluster that this process is a pod of.
// Nothing is asked yet.
func Connect(kubeconfig, master, node string) (*Client, error) {
	config, err := configOf(kubeconfig, master)
	if err != nil {
		return nil, fmt.Errorf("apiserver: %w", err)
	}
	return NewClient(config, node)
}

func configOf(kubeconfig, master string) (*rest.Config, error) {
	if kubeconfig == "" && master == "" {
		return rest.InClusterConfig()
	}
	return clientcmd.BuildConfigFromFlags(master, kubeconfig)
}
