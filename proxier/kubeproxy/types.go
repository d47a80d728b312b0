package kubeproxy

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// KubeProxyConfiguration has the fields of kubeproxy.config.k8s.io/v1alpha1, under their names and in their order
// (k8s.io/kube-proxy/config/v1alpha1, 1.36; a test compares them field by field). The types are lameduck's own because
// Kubernetes' bring the packages for logs and metrics with them: 1.9 of 6.5 MB of a compressed simulator for a browser.
type KubeProxyConfiguration struct { //nolint:revive // the name of the kind in the API
	metav1.TypeMeta             `json:",inline"`
	FeatureGates                map[string]bool  `json:"featureGates,omitempty"`
	ClientConnection            ClientConnection `json:"clientConnection"`
	Logging                     Logging          `json:"logging,omitempty"`
	HostnameOverride            string           `json:"hostnameOverride"`
	BindAddress                 string           `json:"bindAddress"`
	HealthzBindAddress          string           `json:"healthzBindAddress"`
	MetricsBindAddress          string           `json:"metricsBindAddress"`
	BindAddressHardFail         bool             `json:"bindAddressHardFail"`
	EnableProfiling             bool             `json:"enableProfiling"`
	ShowHiddenMetricsForVersion string           `json:"showHiddenMetricsForVersion"`
	Mode                        ProxyMode        `json:"mode"`
	IPTables                    IPTablesSection  `json:"iptables"`
	IPVS                        IPVSSection      `json:"ipvs"`
	NFTables                    NFTablesSection  `json:"nftables"`
	Winkernel                   Winkernel        `json:"winkernel"`
	DetectLocalMode             LocalMode        `json:"detectLocalMode"`
	DetectLocal                 DetectLocal      `json:"detectLocal"`
	ClusterCIDR                 string           `json:"clusterCIDR"`
	NodePortAddresses           []string         `json:"nodePortAddresses"`
	OOMScoreAdj                 *int32           `json:"oomScoreAdj"`
	Conntrack                   Conntrack        `json:"conntrack"`
	ConfigSyncPeriod            metav1.Duration  `json:"configSyncPeriod"`
	PortRange                   string           `json:"portRange"`
	WindowsRunAsService         bool             `json:"windowsRunAsService,omitempty"`
}

// ProxyMode is a value of mode.
type ProxyMode string

// LocalMode is a value of detectLocalMode.
type LocalMode string

// ClientConnection is how the API server is asked.
type ClientConnection struct {
	Kubeconfig         string  `json:"kubeconfig"`
	AcceptContentTypes string  `json:"acceptContentTypes"`
	ContentType        string  `json:"contentType"`
	QPS                float32 `json:"qps"`
	Burst              int32   `json:"burst"`
}

// Logging is what is logged, and how (k8s.io/component-base/logs/api/v1, LoggingConfiguration).
type Logging struct {
	Format         string         `json:"format,omitempty"`
	FlushFrequency FlushFrequency `json:"flushFrequency"`
	Verbosity      uint32         `json:"verbosity"`
	VModule        []VModule      `json:"vmodule,omitempty"`
	Options        LogOptions     `json:"options,omitempty"`
}

// VModule is the verbosity of some source files.
type VModule struct {
	FilePattern string `json:"filePattern"`
	Verbosity   uint32 `json:"verbosity"`
}

// LogOptions are those of the formats.
type LogOptions struct {
	Text LogOutput `json:"text,omitempty"`
	JSON LogOutput `json:"json,omitempty"`
}

// LogOutput is where a format's lines go.
type LogOutput struct {
	SplitStream    bool                   `json:"splitStream,omitempty"`
	InfoBufferSize resource.QuantityValue `json:"infoBufferSize,omitempty"`
}

// FlushFrequency is a duration that may be written as a number of nanoseconds, as it was in older files.
type FlushFrequency struct{ metav1.Duration }

// UnmarshalJSON reads a text such as 5s, or a number.
func (f *FlushFrequency) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return f.Duration.UnmarshalJSON(data)
	}
	if err := json.Unmarshal(data, &f.Duration.Duration); err != nil {
		return fmt.Errorf("duration %s: %w", data, err)
	}
	return nil
}

// IPTablesSection has the settings of mode iptables.
type IPTablesSection struct {
	MasqueradeBit      *int32          `json:"masqueradeBit"`
	MasqueradeAll      bool            `json:"masqueradeAll"`
	LocalhostNodePorts *bool           `json:"localhostNodePorts"`
	SyncPeriod         metav1.Duration `json:"syncPeriod"`
	MinSyncPeriod      metav1.Duration `json:"minSyncPeriod"`
}

// NFTablesSection has the settings of mode nftables.
type NFTablesSection struct {
	MasqueradeBit *int32          `json:"masqueradeBit"`
	MasqueradeAll bool            `json:"masqueradeAll"`
	SyncPeriod    metav1.Duration `json:"syncPeriod"`
	MinSyncPeriod metav1.Duration `json:"minSyncPeriod"`
}

// IPVSSection has the settings of mode ipvs, which lameduck does not have.
type IPVSSection struct {
	SyncPeriod    metav1.Duration `json:"syncPeriod"`
	MinSyncPeriod metav1.Duration `json:"minSyncPeriod"`
	Scheduler     string          `json:"scheduler"`
	ExcludeCIDRs  []string        `json:"excludeCIDRs"`
	StrictARP     bool            `json:"strictARP"`
	TCPTimeout    metav1.Duration `json:"tcpTimeout"`
	TCPFinTimeout metav1.Duration `json:"tcpFinTimeout"`
	UDPTimeout    metav1.Duration `json:"udpTimeout"`
}

// Winkernel has the settings of Windows nodes.
type Winkernel struct {
	NetworkName           string `json:"networkName"`
	SourceVip             string `json:"sourceVip"`
	EnableDSR             bool   `json:"enableDSR"`
	RootHnsEndpointName   string `json:"rootHnsEndpointName"`
	ForwardHealthCheckVip bool   `json:"forwardHealthCheckVip"`
}

// DetectLocal has the interfaces that tell pods' packets from others.
type DetectLocal struct {
	BridgeInterface     string `json:"bridgeInterface"`
	InterfaceNamePrefix string `json:"interfaceNamePrefix"`
}

// Conntrack has the limits of the kernel's connection tracking.
type Conntrack struct {
	MaxPerCore            *int32           `json:"maxPerCore"`
	Min                   *int32           `json:"min"`
	TCPEstablishedTimeout *metav1.Duration `json:"tcpEstablishedTimeout"`
	TCPCloseWaitTimeout   *metav1.Duration `json:"tcpCloseWaitTimeout"`
	TCPBeLiberal          bool             `json:"tcpBeLiberal"`
	UDPTimeout            metav1.Duration  `json:"udpTimeout"`
	UDPStreamTimeout      metav1.Duration  `json:"udpStreamTimeout"`
}

// DeepCopy returns a configuration that shares nothing with c.
func (c *KubeProxyConfiguration) DeepCopy() *KubeProxyConfiguration {
	out := *c
	out.FeatureGates = maps.Clone(c.FeatureGates)
	out.Logging.VModule = slices.Clone(c.Logging.VModule)
	out.NodePortAddresses = slices.Clone(c.NodePortAddresses)
	out.IPVS.ExcludeCIDRs = slices.Clone(c.IPVS.ExcludeCIDRs)
	out.OOMScoreAdj = clone(c.OOMScoreAdj)
	out.IPTables.MasqueradeBit = clone(c.IPTables.MasqueradeBit)
	out.IPTables.LocalhostNodePorts = clone(c.IPTables.LocalhostNodePorts)
	out.NFTables.MasqueradeBit = clone(c.NFTables.MasqueradeBit)
	out.Conntrack.MaxPerCore = clone(c.Conntrack.MaxPerCore)
	out.Conntrack.Min = clone(c.Conntrack.Min)
	out.Conntrack.TCPEstablishedTimeout = clone(c.Conntrack.TCPEstablishedTimeout)
	out.Conntrack.TCPCloseWaitTimeout = clone(c.Conntrack.TCPCloseWaitTimeout)
	return &out
}

// clone copies what a pointer leads to.
func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// TypeMeta is what a file begins with that holds a configuration.
func TypeMeta() metav1.TypeMeta { return metav1.TypeMeta{APIVersion: APIVersion, Kind: kind} }
