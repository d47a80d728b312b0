package servers

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// DefaultPort is where the program of an official image listens if nobody says another port: no command, and no file that is mounted into the
// container. It is 0 where that is not known.
func DefaultPort(c *corev1.Container) int32 {
	if len(c.Command)+len(c.Args)+len(c.VolumeMounts) > 0 {
		return 0
	}
	i := ParseImage(c.Image)
	official := i.in("library") || slices.Contains([]string{i.name, "docker.io/" + i.name}, i.path)
	switch {
	case official && i.Named("nginx", "httpd", "caddy"):
		return 80
	case i.Named("nginx-unprivileged"):
		return 8080
	default:
		return 0
	}
}
