package scenario

import (
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// fileOf is the configuration of a server that may have it serve on after SIGTERM, by which setting, where it is not read: Caddy's where the input
// does not have it or it cannot be understood, and Traefik's in any case. "" for none.
func fileOf(w *world.Workload, c *corev1.Container) (file, setting string) {
	switch argv := append(slices.Clone(c.Command), c.Args...); {
	case isCaddy(w) && !strings.Contains(w.App.Evidence, shutdownDelay):
		return caddyConfig(c), shutdownDelay + " of Caddy"
	case w.App.Profile == servers.Traefik && w.App.Basis == inferred:
		return traefikConfig(argv), "requestAcceptGraceTimeout of Traefik"
	default:
		return "", ""
	}
}

// traefikConfig is the file that Traefik reads: the one that it is told to, or without arguments one of /etc/traefik. With others it reads none
// (https://doc.traefik.io/traefik/getting-started/configuration-overview/).
func traefikConfig(argv []string) string {
	flags := false
	for i, word := range argv {
		flag, value, joined := strings.Cut(word, "=")
		switch {
		case !strings.EqualFold(flag, "--configFile"):
			flags = flags || strings.HasPrefix(flag, "--")
		case joined:
			return value
		case i+1 < len(argv):
			return argv[i+1]
		}
	}
	if flags {
		return ""
	}
	return "/etc/traefik/traefik.yml"
}

// unreadFile names such a configuration where it is mounted into the container: what is in an image nobody can read.
func (b *builder) unreadFile(w *world.Workload) {
	containers := w.Template().Spec.Containers
	i := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == w.Server })
	if i < 0 || w.Aside {
		return
	}
	file, setting := fileOf(w, &containers[i])
	for k := range containers[i].VolumeMounts {
		if _, has := fileIn(&containers[i].VolumeMounts[k], file); !has || !path.IsAbs(file) {
			continue
		}
		at := where(w.Object, fmt.Sprintf("spec.template.spec.containers[%d].volumeMounts[%d]", i, k))
		b.notModelled("server-file", fmt.Sprintf("%s, if %s has one: that file is mounted into container %s (%s) and is not read; %s stands for one of 10 s",
			setting, file, w.Server, at, b.opts.Wording.Field("apps."+w.ObjectName()+".profile", "drains")), w.Kind()+" "+w.Name(), "fewer")
	}
}
