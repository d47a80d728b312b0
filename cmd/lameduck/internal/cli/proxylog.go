package cli

import (
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2/textlogger"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// proxyLog is what a proxy logs to: lines as Kubernetes' own programs write them.
type proxyLog struct {
	logr.Logger
	// setVerbosity changes how much is logged from now on.
	setVerbosity func(level int)
}

// newProxyLog returns the log that a configuration asks for.
func newProxyLog(c *proxyConfig, out io.Writer) (*proxyLog, error) {
	level, out := int(c.Logging.Verbosity), io.Writer(&screen{to: out})
	if c.Logging.Format == "json" {
		return jsonLog(level, out), nil
	}
	text := textlogger.NewConfig(textlogger.Output(out), textlogger.Verbosity(level))
	var modules []string
	for _, m := range c.Logging.VModule {
		modules = append(modules, fmt.Sprintf("%s=%d", m.FilePattern, m.Verbosity))
	}
	if err := text.VModule().Set(strings.Join(modules, ",")); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Where("logging.vmodule"), err)
	}
	return &proxyLog{shownLog(textlogger.NewLogger(text)), func(level int) {
		_ = text.Verbosity().Set(strconv.Itoa(level)) // a number
	}}, nil
}

// jsonLog writes lines with the keys that Kubernetes' programs write: ts, caller, msg, v, err
// (component-base/logs/json, 1.36; verified).
func jsonLog(level int, out io.Writer) *proxyLog {
	threshold := &slog.LevelVar{}
	set := func(level int) { threshold.Set(slog.Level(-level)) } // as logr has it
	set(level)
	options := &slog.HandlerOptions{AddSource: true, Level: threshold, ReplaceAttr: kubernetesKey}
	return &proxyLog{shownLog(logr.FromSlogHandler(slog.NewJSONHandler(out, options))), set}
}

func kubernetesKey(groups []string, a slog.Attr) slog.Attr {
	if len(groups) > 0 {
		return a
	}
	switch a.Key {
	case slog.TimeKey:
		const perMilli = 1e3
		return slog.Float64("ts", float64(a.Value.Time().UnixMicro())/perMilli)
	case slog.LevelKey:
		level, _ := a.Value.Any().(slog.Level)
		if level > 0 {
			return slog.Attr{} // an error has no verbosity
		}
		return slog.Int("v", -int(level))
	case slog.SourceKey:
		if s, ok := a.Value.Any().(*slog.Source); ok {
			return slog.String("caller", filepath.Base(filepath.Dir(s.File))+"/"+filepath.Base(s.File)+":"+strconv.Itoa(s.Line))
		}
	case "err":
		if err, ok := a.Value.Any().(error); ok {
			return slog.String("err", err.Error())
		}
	}
	return a
}

// important are the settings whose origin is logged when a proxy starts: those that it is most often asked about.
func important() []string {
	return []string{
		"mode", "clientConnection.kubeconfig", "bindAddress", "healthzBindAddress", "metricsBindAddress", "detectLocalMode", "clusterCIDR", "nodePortAddresses",
		"iptables.masqueradeAll", "iptables.masqueradeBit", "iptables.localhostNodePorts", "iptables.syncPeriod", "iptables.minSyncPeriod",
		"nftables.masqueradeAll", "nftables.masqueradeBit", "nftables.syncPeriod", "nftables.minSyncPeriod",
		"conntrack.maxPerCore", "conntrack.min", "featureGates", "logging.verbosity",
	}
}

// introduce logs who starts, as what, and where its settings come from.
func introduce(log logr.Logger, s *settings, node string) {
	v := currentVersion()
	log.Info("Starting", "version", v.Version, "revision", v.Revision, "goVersion", v.Go, "kubernetesVersion", s.profile.Version.String(), "platform", runtime.GOOS+"/"+runtime.GOARCH,
		"node", node, "mode", s.config.Dialect().String(), "config", s.config.Name())
	for _, p := range s.warnings {
		noEffect(log, p)
	}
	for _, path := range important() {
		section, _, _ := strings.Cut(path, ".")
		if (section == "iptables" || section == "nftables") && section != s.config.Dialect().String() {
			continue
		}
		log.V(2).Info("Setting", "name", path, "value", plain(s.config.Text(path)), "from", s.config.From(path))
	}
}

// plain is a value without the quotes that JSON puts around a text.
func plain(value string) string {
	if text, err := strconv.Unquote(value); err == nil {
		return text
	}
	return value
}

// noEffect logs that a setting has none.
func noEffect(log logr.Logger, p manifest.Problem) {
	log.Info("Setting has no effect", "setting", settingOf(p), "reason", p.Message)
}

// settingOf is where a setting stands: a flag, or a place and a field.
func settingOf(p manifest.Problem) string {
	if p.Field == "" {
		return p.Position.String()
	}
	return p.Position.String() + ": " + p.Field
}
