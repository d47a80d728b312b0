package live

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	_ "k8s.io/client-go/plugin/pkg/client/auth" // every way to authenticate that client-go has, as in kubectl
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// ErrNoCluster means that no kubeconfig was found, and that this process is not a pod either. What wraps it says where
// one was looked for.
var ErrNoCluster = errors.New("no kubeconfig")

// inCluster is what the cluster that this process is a pod of is called: it has no context.
const inCluster = "in-cluster"

// maxBytes is what the objects may have together: 1 GiB, some 500,000 of them.
const maxBytes = 1 << 30

// Options say which cluster, in the words of kubectl's flags. The zero value is what kubectl takes without any flag.
type Options struct {
	Kubeconfig, Context, Cluster, User, Namespace string
	// Timeout of one request; 0 is none.
	Timeout time.Duration
	// StdinTaken says that a plugin that asks for credentials cannot ask the user.
	StdinTaken bool
}

// Cluster is an API server and who asks it. Nothing was asked yet.
type Cluster struct {
	Name      string // for messages: the context, else "in-cluster" in a pod, else the URL
	Context   string // "" for none
	Server    string // URL
	Namespace string // the one asked for, else the context's, else "default"

	config *rest.Config
	limit  int64 // bytes of YAML
}

// Connect finds the cluster as kubectl does: the kubeconfig of the Options, else those of $KUBECONFIG, else
// ~/.kube/config, else the pod's own (client-go, tools/clientcmd).
func Connect(o Options) (*Cluster, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.Kubeconfig
	rules.WarnIfAllMissing = false // said below, once
	overrides := &clientcmd.ConfigOverrides{
		CurrentContext: o.Context,
		Context:        api.Context{Cluster: o.Cluster, AuthInfo: o.User, Namespace: o.Namespace},
	}
	deferred := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	raw, err := deferred.RawConfig()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	name := o.Context
	if name == "" {
		name = raw.CurrentContext
	}
	if name != "" && raw.Contexts[name] == nil {
		return nil, fmt.Errorf("kubeconfig: no context %q; %s", name, contexts(raw))
	}
	config, err := deferred.ClientConfig()
	switch {
	case clientcmd.IsEmptyConfig(err) && len(raw.Contexts) > 0:
		return nil, fmt.Errorf("%w with a current context: give --context NAME; %s", ErrNoCluster, contexts(raw))
	case clientcmd.IsEmptyConfig(err):
		return nil, fmt.Errorf("%w in %s", ErrNoCluster, strings.Join(rules.GetLoadingPrecedence(), ", "))
	case err != nil:
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	namespace, _, err := deferred.Namespace()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	return &Cluster{
		Name: nameOf(name, config, raw), Context: name, Server: config.Host, Namespace: namespace,
		config: settle(config, o), limit: maxBytes,
	}, nil
}

// nameOf is the name that messages have for the cluster.
func nameOf(name string, config *rest.Config, raw api.Config) string {
	switch {
	case name != "":
		return name
	case len(raw.Clusters) == 0:
		return inCluster
	default: // --cluster and no context
		return config.Host
	}
}

// contexts lists what could be chosen.
func contexts(raw api.Config) string {
	names := slices.Sorted(maps.Keys(raw.Contexts))
	if len(names) == 0 {
		return "there are none"
	}
	return "there are " + strings.Join(names, ", ")
}

// settle sets what is this reader's business rather than the kubeconfig's.
func settle(config *rest.Config, o Options) *rest.Config {
	const qps, burst = 50, 100 // kubectl's order of magnitude: a whole read is some twenty requests and the further pages
	config.QPS, config.Burst = qps, burst
	config.Timeout = o.Timeout
	config.WarningHandler = rest.NoWarnings{} // of deprecated versions: only current ones are asked for
	if o.StdinTaken && config.ExecProvider != nil {
		config.ExecProvider.StdinUnavailable = true
		config.ExecProvider.StdinUnavailableMessage = "-f - reads it"
	}
	return config
}

// Contexts lists the contexts that a kubeconfig has, the default ones if path is "". It is for completion: what cannot be
// read has none.
func Contexts(path string) []string {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = path
	rules.WarnIfAllMissing = false
	raw, err := rules.Load()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(raw.Contexts))
}
