package apiserver

import (
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Option changes how an API server is asked.
type Option func(*rest.Config)

// Rate asks no more than so often a second, with more at once after a pause. What is 0 is client-go's: 5 and 10.
func Rate(perSecond float32, atOnce int) Option {
	return func(c *rest.Config) { c.QPS, c.Burst = perSecond, atOnce }
}

// Content says as which media type objects are sent, and as which they are asked for. The empty contentType is protobuf; the
// empty accept is contentType, and JSON for a server that does not know it.
func Content(contentType, accept string) Option {
	return func(c *rest.Config) { c.ContentType, c.AcceptContentTypes = contentType, accept }
}

// Connect returns a Client of the API server that a kubeconfig file names, for the proxy of the named node. A URL in
// master wins over the file's; without either, the server is that of the cluster that this process is a pod of.
// Nothing is asked yet.
func Connect(kubeconfig, master, node string, options ...Option) (*Client, error) {
	config, err := configOf(kubeconfig, master)
	if err != nil {
		return nil, fmt.Errorf("apiserver: %w", err)
	}
	for _, change := range options {
		change(config)
	}
	return NewClient(config, node)
}

func configOf(kubeconfig, master string) (*rest.Config, error) {
	if kubeconfig == "" && master == "" {
		return rest.InClusterConfig()
	}
	return clientcmd.BuildConfigFromFlags(master, kubeconfig)
}
