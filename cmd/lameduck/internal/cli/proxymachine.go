package cli

import (
	"github.com/go-logr/logr"

	"github.com/lameduck-proxy/lameduck/proxier/host"
)

// conntrackLimits are those of a configuration.
func conntrackLimits(c *proxyConfig) host.Limits {
	k := &c.Conntrack
	return host.Limits{
		MaxPerCore: int(*k.MaxPerCore), Min: int(*k.Min),
		TCPEstablished: k.TCPEstablishedTimeout.Duration, TCPCloseWait: k.TCPCloseWaitTimeout.Duration,
		UDP: k.UDPTimeout.Duration, UDPStream: k.UDPStreamTimeout.Duration,
		TCPBeLiberal: k.TCPBeLiberal,
	}
}

// prepare sets what a configuration wants of the machine and of this process. Where it lacks the rights, as with a
// read-only /proc, kube-proxy ends; a proxy does its work without.
func prepare(c *proxyConfig, log logr.Logger) {
	changed, err := conntrackLimits(c).Apply()
	for _, s := range changed {
		log.Info("Set limit of connection tracking", "file", "/"+s.Name, "value", s.Value)
	}
	if err != nil {
		log.Error(err, "Some limits of connection tracking are as they were")
	}
	if err := host.SetOOMScoreAdj(int(*c.OOMScoreAdj)); err != nil {
		log.V(2).Info("The OOM score is as it was", "reason", err.Error())
	}
}
