package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lameduck-proxy/lameduck/proxier/source/apiserver"
	"github.com/lameduck-proxy/lameduck/proxier/source/files"
)

// objects says where a proxy that goes on watching has its objects from: files if there are any, else an API server.
func (c *proxyCommand) objects(s *settings, node string) (*apiserver.Client, *files.Options, error) {
	if len(c.input.files) > 0 {
		watched, err := c.watchedFiles(node)
		return nil, watched, err
	}
	if c.kubeconfig == "" {
		c.kubeconfig = s.config.ClientConnection.Kubeconfig
	}
	client, err := apiserver.Connect(c.kubeconfig, c.master, node)
	if err != nil {
		return nil, nil, fmt.Errorf("no API server to watch: give --kubeconfig or --master, or -f for files (%w)", err)
	}
	return client, nil, nil
}

func (c *proxyCommand) watchedFiles(node string) (*files.Options, error) {
	switch {
	case slices.Contains(c.input.files, "-"):
		return nil, errors.New("-f -: standard input cannot be watched; give a file or directory, or --once")
	case c.kubeconfig != "" || c.master != "":
		return nil, errors.New("-f watches files, --kubeconfig and --master name an API server to watch: give one of them")
	}
	return &files.Options{Paths: c.input.files, Namespace: c.input.namespace, Node: node, Log: c.logger()}, nil
}
