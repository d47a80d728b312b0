package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-logr/logr"

	"github.com/lameduck-proxy/lameduck/proxier/source/apiserver"
	"github.com/lameduck-proxy/lameduck/proxier/source/files"
)

// objects says where a proxy that goes on watching has its objects from: files if there are any, else an API server.
func (c *proxyCommand) objects(s *settings, node string, log logr.Logger) (*apiserver.Client, *files.Options, error) {
	if len(c.input.files) > 0 {
		watched, err := c.watchedFiles(node, log)
		return nil, watched, err
	}
	client, err := c.connect(s.config, node)
	if err != nil {
		return nil, nil, fmt.Errorf("no API server to watch: give --kubeconfig or --master, or -f for files (%w)", err)
	}
	return client, nil, nil
}

// connect returns a client of the API server that flags, else the configuration, else the pod that this is, name.
func (c *proxyCommand) connect(config *proxyConfig, node string) (*apiserver.Client, error) {
	client := &config.ClientConnection
	file := c.kubeconfig
	if file == "" {
		file = client.Kubeconfig
	}
	return apiserver.Connect(file, c.master, node,
		apiserver.Rate(client.QPS, int(client.Burst)), apiserver.Content(client.ContentType, client.AcceptContentTypes))
}

func (c *proxyCommand) watchedFiles(node string, log logr.Logger) (*files.Options, error) {
	switch {
	case slices.Contains(c.input.files, "-"):
		return nil, errors.New("-f -: standard input cannot be watched; give a file or directory, or --once")
	case c.kubeconfig != "" || c.master != "":
		return nil, errors.New("-f watches files, --kubeconfig and --master name an API server to watch: give one of them")
	}
	return &files.Options{Paths: c.input.files, Namespace: c.input.namespace, Node: node, Log: log}, nil
}
