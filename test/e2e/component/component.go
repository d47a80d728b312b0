// Package component is the programs of a control plane within this one: a process that is started
// with a component's name in its environment is that component, and nothing else.
//
// So there is one program to link for five, which is most of what it takes to build them, and
// a machine that runs it has exactly the versions that go.mod names.
package component

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	kubeapiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	kubecontrollermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	kubeproxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	kubescheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// The components.
const (
	Etcd                  = "etcd"
	KubeAPIServer         = "kube-apiserver"
	KubeControllerManager = "kube-controller-manager"
	KubeScheduler         = "kube-scheduler"
	KubeProxy             = "kube-proxy"
)

// variable names the component that a process is.
const variable = "LAMEDUCK_E2E_COMPONENT"

// Main runs the component that this process was started as, and ends the process with it. It
// returns if it was started as none.
func Main() {
	name := os.Getenv(variable)
	if name == "" {
		return
	}
	os.Args[0] = name
	os.Exit(run(name))
}

func run(name string) int {
	var command *cobra.Command
	switch name {
	case Etcd:
		if err := etcd(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, "etcd:", err)
			return 1
		}
		return 0
	case KubeAPIServer:
		command = kubeapiserver.NewAPIServerCommand()
	case KubeControllerManager:
		command = kubecontrollermanager.NewControllerManagerCommand()
	case KubeScheduler:
		command = kubescheduler.NewSchedulerCommand()
	case KubeProxy:
		command = kubeproxy.NewProxyCommand()
	default:
		fmt.Fprintf(os.Stderr, "%s=%s: no such component\n", variable, name)
		return 2
	}
	return cli.Run(command)
}

// Command is how to start a component: its arguments, and what its environment needs besides.
func Command(name string, flags ...string) (argv, env []string, err error) {
	own, err := os.Executable()
	if err != nil {
		return nil, nil, errors.Join(errors.New("which program is this"), err)
	}
	return append([]string{own}, flags...), []string{variable + "=" + name}, nil
}
