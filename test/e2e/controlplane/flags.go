package controlplane

import (
	"strings"

	"github.com/lameduck-proxy/lameduck/test/e2e/component"
	"github.com/lameduck-proxy/lameduck/test/e2e/network"
)

func (c *ControlPlane) apiServer() []string {
	return []string{
		"--etcd-servers=" + etcdURL,
		"--advertise-address=" + c.machine.Addrs[0].String(),
		"--tls-cert-file=" + c.file("serving.crt"), "--tls-private-key-file=" + c.file("serving.key"),
		"--client-ca-file=" + c.file("ca.crt"),
		"--authorization-mode=Node,RBAC",
		"--service-cluster-ip-range=" + network.ServiceCIDRs,
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.file("accounts.key"), "--service-account-signing-key-file=" + c.file("accounts.key"),
		// Pods here have no use for a token, and need not wait for the controller that makes the account.
		"--disable-admission-plugins=ServiceAccount",
	}
}

// controllers are those that have to do with pods, nodes and Services.
func controllers() []string {
	return []string{
		"deployment-controller", "replicaset-controller", "statefulset-controller", "daemonset-controller", "disruption-controller",
		"endpointslice-controller", "service-cidr-controller",
		"node-lifecycle-controller", "taint-eviction-controller", "pod-garbage-collector-controller",
		"garbage-collector-controller", "namespace-controller",
	}
}

func (c *ControlPlane) controllerManager() []string {
	kubeconfig := c.file(component.KubeControllerManager + ".kubeconfig")
	return []string{
		"--kubeconfig=" + kubeconfig, "--secure-port=0", "--leader-elect=false",
		"--use-service-account-credentials", // RBAC has a role for each controller, and none for all of them
		"--controllers=" + strings.Join(controllers(), ","),
	}
}

func (c *ControlPlane) scheduler() []string {
	return []string{"--kubeconfig=" + c.file(component.KubeScheduler+".kubeconfig"), "--secure-port=0", "--leader-elect=false"}
}
