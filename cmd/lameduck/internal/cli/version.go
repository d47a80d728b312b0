package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/explain"
)

// versionAnswer is the JSON contract of version.
type versionAnswer struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"` // "Version"
	Version    string `json:"version"`
	Revision   string `json:"revision"` // VCS revision, "" when not built from a checkout
	Go         string `json:"go"`
	// KubeProxy is the version whose behaviour is the default.
	KubeProxy string `json:"kubeProxy"`
}

// What the linker is told where there is no checkout to ask: an image is built without one (-X, Dockerfile).
var stampedVersion, stampedRevision string

func newVersion(std Streams) *cobra.Command {
	output := formatText
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print lameduck's version, and the kube-proxy version it behaves like",
		Args:  noWords,
		RunE: verb(func() error {
			v := currentVersion()
			return output.write(std.Out, v, func(w io.Writer) error {
				_, err := fmt.Fprintln(w, versionWords())
				return err
			})
		}),
	}
	cmd.Flags().VarP(&output, "output", "o", "output format")
	return cmd
}

// versionWords are what version and --version print.
func versionWords() string {
	v := currentVersion()
	return fmt.Sprintf("lameduck %s %s, behaves like kube-proxy %s", v.Version, v.Go, v.KubeProxy)
}

func currentVersion() versionAnswer {
	v := versionAnswer{
		APIVersion: explain.APIVersion, Kind: "Version", Version: "(devel)",
		Go: runtime.Version(), KubeProxy: endpoints.CurrentVersion().String(),
	}
	if stampedVersion != "" {
		v.Version, v.Revision = stampedVersion, stampedRevision
		return v
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v.Revision = s.Value
		}
	}
	return v
}
