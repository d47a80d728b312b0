package kubeproxy

import (
	"math"
	"net"
	"net/netip"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	netutils "k8s.io/utils/net"
)

// What kube-proxy 1.36 takes for granted (pkg/proxy/apis/config/v1alpha1/defaults.go; verified;
// docs/model/kube-proxy.md 10).
const (
	healthzPort   = 10256 // pkg/cluster/ports
	metricsPort   = 10249 // pkg/cluster/ports
	oomScoreAdj   = -999  // pkg/kubelet/qos, KubeProxyOOMScoreAdj
	syncPeriod    = 30 * time.Second
	minSyncPeriod = time.Second // of iptables and nftables; ipvs has none
	masqueradeBit = 14
	maxPerCore    = 32 * 1024
	conntrackMin  = 128 * 1024
	established   = 24 * time.Hour
	closeWait     = time.Hour
	configSync    = 15 * time.Minute
	contentType   = "application/vnd.kubernetes.protobuf"
	qps           = 5
	burst         = 10
	flushEvery    = 5 * time.Second // component-base/logs/api/v1, LogFlushFreqDefault
)

// Modes are those that lameduck has, under kube-proxy's names.
const (
	IPTables ProxyMode = "iptables"
	NFTables ProxyMode = "nftables"
)

// Ways to tell pods' packets from others (pkg/proxy/apis/config/types.go, 1.36; verified).
const (
	ClusterCIDR         LocalMode = "ClusterCIDR"
	NodeCIDR            LocalMode = "NodeCIDR"
	BridgeInterface     LocalMode = "BridgeInterface"
	InterfaceNamePrefix LocalMode = "InterfaceNamePrefix"
)

// Primary in nodePortAddresses stands for the node's primary addresses.
const Primary = "primary"

// Defaults is the configuration that kube-proxy has when nothing is said.
func Defaults() *KubeProxyConfiguration {
	c := &KubeProxyConfiguration{}
	setDefaults(c)
	return c
}

// setDefaults fills in what was left out. A zero counts as left out, unless the field can be nil, as in kube-proxy.
func setDefaults(c *KubeProxyConfiguration) {
	orDefault(&c.BindAddress, "0.0.0.0")
	setServerDefaults(c)
	orDefaultPointer(&c.OOMScoreAdj, oomScoreAdj)

	orDefault(&c.IPTables.SyncPeriod.Duration, syncPeriod)
	orDefault(&c.IPTables.MinSyncPeriod.Duration, minSyncPeriod)
	orDefaultPointer(&c.IPTables.MasqueradeBit, masqueradeBit)
	orDefaultPointer(&c.IPTables.LocalhostNodePorts, true)
	orDefault(&c.NFTables.SyncPeriod.Duration, syncPeriod)
	orDefault(&c.NFTables.MinSyncPeriod.Duration, minSyncPeriod)
	orDefaultPointer(&c.NFTables.MasqueradeBit, masqueradeBit)
	orDefault(&c.IPVS.SyncPeriod.Duration, syncPeriod)

	orDefaultPointer(&c.Conntrack.MaxPerCore, maxPerCore)
	orDefaultPointer(&c.Conntrack.Min, conntrackMin)
	orDefaultPointer(&c.Conntrack.TCPEstablishedTimeout, metav1.Duration{Duration: established})
	orDefaultPointer(&c.Conntrack.TCPCloseWaitTimeout, metav1.Duration{Duration: closeWait})
	orDefault(&c.ConfigSyncPeriod.Duration, configSync)

	orDefault(&c.ClientConnection.ContentType, contentType)
	orDefault(&c.ClientConnection.QPS, qps)
	orDefault(&c.ClientConnection.Burst, burst)
	orDefault(&c.Logging.Format, "text")
	orDefault(&c.Logging.FlushFrequency.Duration.Duration, flushEvery)

	// cmd/kube-proxy/app/server_linux.go, platformApplyDefaults (1.36; verified)
	orDefault(&c.Mode, IPTables)
	orDefault(&c.DetectLocalMode, ClusterCIDR)
	if c.Mode == NFTables && len(c.NodePortAddresses) == 0 {
		c.NodePortAddresses = []string{Primary}
	}
}

// setServerDefaults: an IPv6 bindAddress has servers listen on IPv6 addresses, whatever the address is.
func setServerDefaults(c *KubeProxyConfiguration) {
	all, local := "0.0.0.0", "127.0.0.1"
	if a, _ := parseAddr(c.BindAddress); a.Is6() { // what is no address is of no family
		all, local = "::", "::1"
	}
	orDefault(&c.HealthzBindAddress, all)
	orDefault(&c.MetricsBindAddress, local)
	c.HealthzBindAddress = withPort(c.HealthzBindAddress, healthzPort)
	c.MetricsBindAddress = withPort(c.MetricsBindAddress, metricsPort)
}

// withPort adds a port to an address without one, and leaves alone what is no address: the checks find that.
func withPort(text string, port int) string {
	if a, ok := parseAddr(text); ok {
		return net.JoinHostPort(a.String(), strconv.Itoa(port))
	}
	return text
}

func orDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func orDefaultPointer[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

// parseAddr reads an address as kube-proxy does, which takes 010.0.0.1 for 10.0.0.1.
func parseAddr(text string) (netip.Addr, bool) {
	a, ok := netip.AddrFromSlice(netutils.ParseIPSloppy(text))
	return a.Unmap(), ok
}

// parseCIDR reads a range as kube-proxy does, and around which there may be spaces.
func parseCIDR(text string) (netip.Prefix, bool) {
	_, n, err := netutils.ParseCIDRSloppy(text)
	if err != nil {
		return netip.Prefix{}, false
	}
	a, _ := netip.AddrFromSlice(n.IP)
	ones, _ := n.Mask.Size()
	return netip.PrefixFrom(a, ones), true
}

// parseAddrPort reads an address with a port that can be listened on.
func parseAddrPort(text string) (netip.AddrPort, bool) {
	host, service, err := net.SplitHostPort(text)
	if err != nil {
		return netip.AddrPort{}, false
	}
	a, ok := parseAddr(host)
	port, err := strconv.Atoi(service)
	if !ok || err != nil || port < 1 || port > math.MaxUint16 {
		return netip.AddrPort{}, false
	}
	return netip.AddrPortFrom(a, uint16(port)), true
}
