package servers

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Profile is one row of the table of what servers do at SIGTERM.
type Profile struct {
	ID string // what --profile and apps.NAME.profile take
	// Match says in words which images and commands have it, Listener and InFlight what
	// becomes of new connections and of requests in flight.
	Match, Listener, InFlight string
	// Source is where that was read; Status says "verified" or "recalled".
	Source, Status string
	// Alternatives are other profiles the same evidence may mean, for sensitivity runs.
	Alternatives []string

	match func(*Evidence) bool // nil: only by name
	app   world.App
	// tune reads the arguments and variables that change the profile's times.
	tune func(*Evidence, *world.App)
}

// UnknownProfile is what an app does of which nothing is known.
const UnknownProfile = "closes-and-finishes"

const (
	minute  = engine.Minute
	propDoc = "docs/model/propagation.md 5"
	lbDoc   = "docs/model/load-balancers.md 5"
)

// Profiles lists the table in the order in which it is searched: the first row that matches
// a container's image, command or arguments is its profile. The last rows have no match; they
// are there to be named.
func Profiles() []Profile {
	rows := append(webServers(), runtimes()...)
	return append(rows, generalProfiles()...)
}

func webServers() []Profile {
	return []Profile{
		{ID: "ingress-nginx", Match: "ingress-nginx/controller", Listener: "closed after --shutdown-grace-period (0); readiness fails at once",
			InFlight: "finished within worker-shutdown-timeout, 240 s; then 10 s more", Source: lbDoc + ".1", Status: "verified",
			match: func(e *Evidence) bool {
				return e.image.is("ingress-nginx", "controller") || e.image.Named("nginx-ingress-controller") || e.runs("nginx-ingress-controller")
			},
			app: world.App{FinishWithin: 4 * minute, ReadinessFails: true, Linger: 10 * engine.Second, ServerIdle: 75 * engine.Second}, tune: tuneIngressNginx},
		{ID: "nginx-sigterm", Match: "nginx up to 1.17 and 1.19.4, bitnami/nginx up to 1.27.4", Listener: "closed (no STOPSIGNAL SIGQUIT)", InFlight: "cut",
			Source: propDoc, Status: "verified", match: func(e *Evidence) bool { return e.image.stopsNginxFast() },
			app: world.App{InFlight: world.InFlightCut, ServerIdle: 75 * engine.Second}},
		{ID: "nginx", Match: "nginx, nginxinc/*, nginx-unprivileged", Listener: "closed (STOPSIGNAL SIGQUIT)", InFlight: "finished, no limit",
			Source: propDoc, Status: "verified; the image's STOPSIGNAL recalled",
			match: func(e *Evidence) bool {
				return e.image.Named("nginx", "nginx-unprivileged", "openresty") || e.image.in("nginxinc") && !e.image.beside()
			},
			app: world.App{ServerIdle: 75 * engine.Second}},
		{ID: "envoy-gateway", Match: "envoy managed by Envoy Gateway", Listener: "open while draining, 60 s, connections closed with their next answer; readiness fails at once", InFlight: "finished",
			Source: lbDoc + ".2", Status: "verified",
			match: func(e *Evidence) bool {
				return e.image.of("envoy") && e.labels["gateway.envoyproxy.io/owning-gateway-name"] != ""
			},
			app: world.App{Listener: world.ListenerDrains, DrainFor: minute, ClosesAnswered: true, ReadinessFails: true, ServerIdle: engine.Hour}, tune: tuneEnvoy},
		{ID: "envoy", Match: "envoyproxy/envoy", Listener: "closed at once", InFlight: "cut", Source: propDoc, Status: "verified",
			match: func(e *Evidence) bool {
				return e.image.of("envoy") || e.runs("envoy")
			},
			app: world.App{InFlight: world.InFlightCut, ServerIdle: engine.Hour}},
		{ID: istioOld, Match: "istio/proxyv2 up to 1.7", Listener: "closed at once", InFlight: "finished within 5 s", Source: propDoc, Status: "verified",
			match: func(e *Evidence) bool { return e.image.drainsClosed() },
			app:   world.App{FinishWithin: 5 * engine.Second, ServerIdle: engine.Hour}, tune: tuneIstio},
		{ID: IstioProxy, Match: "istio/proxyv2", Listener: "open while draining, 5 s, connections closed with their next answer", InFlight: "5 s, then cut", Source: propDoc, Status: "verified",
			match: func(e *Evidence) bool { return e.image.Named("proxyv2") || e.runs("pilot-agent") },
			app:   world.App{Listener: world.ListenerDrains, DrainFor: 5 * engine.Second, ClosesAnswered: true, InFlight: world.InFlightCut, ServerIdle: engine.Hour}, tune: tuneIstio},
		{ID: "haproxy", Match: "haproxy", Listener: "closed (STOPSIGNAL SIGUSR1)", InFlight: "finished", Source: propDoc, Status: "documented; the image's STOPSIGNAL recalled",
			match: func(e *Evidence) bool { return e.image.of("haproxy") }, app: world.App{}},
		{ID: "httpd", Match: "httpd", Listener: "closed (STOPSIGNAL SIGWINCH)", InFlight: "finished", Source: propDoc, Status: "recalled",
			match: func(e *Evidence) bool { return e.image.Named("httpd") }, app: world.App{ServerIdle: 5 * engine.Second}},
		{ID: Traefik, Match: "traefik, or --entryPoints. in its arguments", Listener: "open for requestAcceptGraceTimeout (0), then closed; a readiness probe of /ping fails at once", InFlight: "finished within graceTimeOut, 10 s",
			Source: propDoc, Status: "verified",
			match: func(e *Evidence) bool {
				return e.image.Named("traefik") || e.runs("traefik") || e.takes("--entrypoints.")
			}, app: world.App{FinishWithin: 10 * engine.Second, ServerIdle: 3 * minute}, tune: tuneTraefik},
		{ID: "coredns", Match: "coredns", Listener: "open for lameduck, 5 s in the Corefile of kubeadm, then closed; readiness fails at once", InFlight: "finished", Source: coreDNSSource,
			Status: "verified; that nothing is closed meanwhile recalled", Alternatives: []string{UnknownProfile},
			match: func(e *Evidence) bool { return e.image.Named("coredns") || e.runs("coredns") },
			app:   world.App{Listener: world.ListenerDrains, DrainFor: 5 * engine.Second, ReadinessFails: true}},
		{ID: Caddy, Match: "caddy", Listener: "closed after shutdown_delay (0)", InFlight: "finished, no limit", Source: propDoc, Status: "verified",
			match: func(e *Evidence) bool { return e.image.Named("caddy") || e.runs("caddy") }, app: world.App{ServerIdle: 5 * minute}},
		{ID: "opa", Match: "opa", Listener: "open for --shutdown-wait-period (0), then closed", InFlight: "finished within --shutdown-grace-period, 10 s", Source: propDoc, Status: "verified",
			match: func(e *Evidence) bool { return e.image.Named("opa") || e.first("opa") }, app: world.App{FinishWithin: 10 * engine.Second}, tune: tuneOPA},
	}
}

const (
	// Caddy is the profile of Caddy, which closes its port at SIGTERM unless its configuration has a delay.
	Caddy = "caddy"
	// Traefik is that of Traefik, which does so, too.
	Traefik = "traefik"
)

func runtimes() []Profile {
	return []Profile{
		{ID: "database", Match: "redis, valkey, postgres, mysql, cassandra, mongo, rabbitmq, kafka and others", Listener: "closed", InFlight: "sessions cut",
			Source: "docs/model/simulator.md 5.5", Status: "recalled", match: IsDatabase, app: world.App{InFlight: world.InFlightCut}},
		{ID: shellPID1, Match: `sh -c "..." without exec, where sh is dash or a redirection keeps bash: Debian, Ubuntu and the official images built on them`, Listener: "open to SIGKILL: the shell ignores SIGTERM and does not pass it on", InFlight: "cut at SIGKILL",
			Source: "docs/model/pod-lifecycle.md 2.3", Status: "recalled", Alternatives: []string{UnknownProfile},
			match: isShellPID1, app: world.App{IgnoresSIGTERM: true, Listener: world.ListenerStays, InFlight: world.InFlightCut}},
		{ID: "gunicorn", Match: "gunicorn in command or arguments", Listener: "closed", InFlight: "finished within --graceful-timeout, 30 s", Source: propDoc, Status: "verified",
			match: func(e *Evidence) bool { return e.runs("gunicorn") }, app: world.App{FinishWithin: 30 * engine.Second, ServerIdle: 2 * engine.Second}, tune: tuneGunicorn},
		{ID: "uvicorn", Match: "uvicorn in command or arguments", Listener: "closed", InFlight: "finished, no limit unless --timeout-graceful-shutdown", Source: propDoc, Status: "verified",
			match: func(e *Evidence) bool { return e.runs("uvicorn") }, app: world.App{ServerIdle: 5 * engine.Second}, tune: tuneUvicorn},
		{ID: world.UWSGI, Match: "uwsgi as the image or in command or arguments", Listener: "open to SIGKILL: SIGTERM has it reload, and what comes waits; with --die-on-term closed", InFlight: "cut at SIGTERM", Source: propDoc,
			Status: "documented", Alternatives: []string{"exits-at-once", UnknownProfile}, match: func(e *Evidence) bool { return e.runs("uwsgi") || e.image.Named("uwsgi") },
			app: world.App{IgnoresSIGTERM: true, Listener: world.ListenerStays, InFlight: world.InFlightCut}, tune: tuneUWSGI},
		{ID: "puma", Match: "puma in command or arguments", Listener: "closed", InFlight: "finished, no limit", Source: propDoc, Status: "recalled",
			match: func(e *Evidence) bool { return e.runs("puma") }, app: world.App{ServerIdle: 20 * engine.Second}},
		{ID: PHPFPM, Match: "php-fpm in command or arguments, or without them fpm in the name or tag of an image of PHP", Listener: "closed (STOPSIGNAL SIGQUIT)",
			InFlight: "cut: process_control_timeout is 0", Source: fpmSource, Status: "verified; that the image does not set it documented", Alternatives: []string{fpmFinishes},
			match: func(e *Evidence) bool { return e.runs("php-fpm") || len(e.argv) == 0 && e.image.fpm() }, app: world.App{InFlight: world.InFlightCut}},
		{ID: "spring-3.4", Match: "java, spring, *-jre, probes of /actuator/", Listener: "closed", InFlight: "finished within 30 s", Source: propDoc, Status: "verified",
			Alternatives: []string{"spring-old"}, match: isJava, app: world.App{FinishWithin: 30 * engine.Second, ServerIdle: minute}, tune: tuneSpring},
		{ID: "yarn-start", Match: "yarn as the command", Listener: "closed: SIGTERM is passed on to node, and yarn 1 ends without waiting for it",
			InFlight: "cut, whatever the app does", Source: packageRunnerSource, Status: "verified for yarn 1; others recalled", Alternatives: []string{"ignores", UnknownProfile},
			match: func(e *Evidence) bool { return e.first("yarn", "yarnpkg") },
			app:   world.App{ServerIdle: 5 * engine.Second, InFlight: world.InFlightCut}},
		{ID: "npm-9.6-start", Match: "npm, npx as the command, with npm 9.6.7 to 10.2: node 18.17-18.19, 20.3-20.11 and 21.0-21.6 as the image", Listener: "open to SIGKILL: SIGTERM is not passed on",
			InFlight: "cut at SIGKILL", Source: packageRunnerSource, Status: "documented", Alternatives: []string{"npm-start"},
			match: func(e *Evidence) bool { return e.first("npm", "npx") && e.image.keepsSignals() },
			app:   world.App{ServerIdle: 5 * engine.Second, IgnoresSIGTERM: true, Listener: world.ListenerStays, InFlight: world.InFlightCut}},
		{ID: "npm-start", Match: "npm, pnpm, npx as the command", Listener: "closed: SIGTERM is passed on to node, which has no handler and is not PID 1",
			InFlight: "cut", Source: packageRunnerSource, Status: "recalled", Alternatives: []string{"ignores", UnknownProfile},
			match: func(e *Evidence) bool { return e.first(packageRunners()...) },
			app:   world.App{ServerIdle: 5 * engine.Second, InFlight: world.InFlightCut}},
		{ID: "behind-init", Match: "node, or a shell without exec, behind an init: " + strings.Join(inits(), ", "), Listener: "closed: the init passes SIGTERM on to what has no handler and is not PID 1",
			InFlight: "cut: the process dies at once", Source: initSource, Status: "verified", Alternatives: []string{UnknownProfile},
			match: func(e *Evidence) bool {
				argv, behind := e.program()
				return behind && (e.image.Named("node", "nodejs") || e.first("node") || isBareShell(argv))
			},
			app: world.App{InFlight: world.InFlightCut, ServerIdle: 5 * engine.Second}},
		{ID: "node-default", Match: "node", Listener: "open to SIGKILL: PID 1 ignores SIGTERM", InFlight: "cut at SIGKILL", Source: propDoc, Status: "recalled",
			Alternatives: []string{UnknownProfile},
			match: func(e *Evidence) bool {
				return e.image.Named("node", "nodejs") || e.first("node")
			},
			app: world.App{IgnoresSIGTERM: true, Listener: world.ListenerStays, InFlight: world.InFlightCut, ServerIdle: 5 * engine.Second}},
		{ID: "load-generator", Match: "load generators, Jobs", Listener: "none", InFlight: "none: not a server", Source: "docs/model/simulator.md 5.5", Status: "assumed",
			match: func(e *Evidence) bool {
				return e.image.Named("loadgenerator", "locust", "k6", "vegeta", "fortio", "hey", "wrk", "siege") && len(e.ports) == 0
			},
			app: world.App{NotAServer: true, InFlight: world.InFlightCut}},
		{ID: "waits", Match: "sleep, tail or cat as the command", Listener: "none", InFlight: "none: not a server; PID 1 ignores SIGTERM until SIGKILL",
			Source: "docs/model/pod-lifecycle.md 2.3; GNU coreutils and busybox have no handler", Status: "recalled",
			match: func(e *Evidence) bool {
				_, behind := e.program()
				return !behind && e.first("sleep", "tail", "cat")
			},
			app: world.App{NotAServer: true, IgnoresSIGTERM: true, Listener: world.ListenerStays, InFlight: world.InFlightCut}},
	}
}

// packageRunners start an app's script as a child of theirs, and wait for it. npm 6, npm 7 to 9.6.6 and npm 10.3 and later pass SIGTERM on to it,
// as pnpm does; by the shell between them and the app it was also seen to be swallowed, so that all wait for SIGKILL. An app that handles it
// finishes what it has begun. The three are alternatives (docs/model/propagation.md 5 npm, yarn and pnpm).
func packageRunners() []string { return []string{"npm", "npx", "pnpm", "pnpx"} }

// PHPFPM is the profile of php-fpm. At SIGQUIT its master passes that on to the workers, and after process_control_timeout SIGTERM: at
// once, where nobody sets that (docs/model/propagation.md 5 PHP-FPM). fpmFinishes is what it does where it is set.
const (
	PHPFPM      = "php-fpm"
	fpmFinishes = "php-fpm-finishes"
	fpmSource   = propDoc + "; php-src sapi/fpm/fpm/fpm_process_ctl.c"
)

const (
	// IstioProxy is the profile of Istio's proxy (docs/model/propagation.md 5 istio-proxy).
	IstioProxy = "istio-proxy"
	// IstioExitsOnZero is that of one which waits for its connections to end.
	IstioExitsOnZero = "istio-proxy-waits"
	istioOld         = "istio-proxy-1.7" // up to which it takes no new connections while it drains
)

// IstioDrain is how long Istio's proxy drains, nil where it is none.
func IstioDrain(a *world.App) *engine.Time {
	switch a.Profile {
	case IstioProxy:
		return &a.DrainFor
	case istioOld:
		return &a.FinishWithin
	default:
		return nil
	}
}

// coreDNSSource is where the lameduck of most clusters' DNS stands. Another Corefile may have none: that is the alternative.
const coreDNSSource = "Kubernetes 1.36.3 cmd/kubeadm/app/phases/addons/dns/manifests.go, health; https://coredns.io/plugins/health/"

const packageRunnerSource = "docs/model/propagation.md 5; npm/run-script pull requests 9, 142 and 188; yarn 1 src/util/signal-handler.js"

// inits are programs that are PID 1 and have what follows them as their child. Each sends SIGTERM on and ends when the child has ended, and
// with PID 1 all processes of the container end: also an app whose shell had no handler.
func inits() []string {
	return []string{"tini", "tini-static", "dumb-init", "docker-init", "catatonit", "s6-svscan", "init"}
}

const initSource = "https://github.com/krallin/tini, https://github.com/Yelp/dumb-init (READMEs)"

func generalProfiles() []Profile {
	return []Profile{
		{ID: UnknownProfile, Match: "anything else", Listener: "closed", InFlight: "finished within the grace period", Source: "docs/model/simulator.md 5.5", Status: "assumed",
			Alternatives: []string{"exits-at-once", "ignores"}, match: func(*Evidence) bool { return true }},
		{ID: "exits-at-once", Match: "by name only", Listener: "closed", InFlight: "cut", Source: "a process without a handler that is not PID 1", Status: "recalled",
			app: world.App{InFlight: world.InFlightCut}},
		{ID: "ignores", Match: "by name only", Listener: "open to SIGKILL", InFlight: "cut at SIGKILL", Source: "docs/model/pod-lifecycle.md 2.3", Status: "recalled",
			app: world.App{IgnoresSIGTERM: true, Listener: world.ListenerStays, InFlight: world.InFlightCut}},
		{ID: "go-http-shutdown", Match: "by name only", Listener: "closed", InFlight: "finished, no limit", Source: propDoc, Status: "verified"},
		{ID: "go-default", Match: "by name only", Listener: "closed", InFlight: "cut: no handler, the process dies at once", Source: propDoc, Status: "verified",
			app: world.App{InFlight: world.InFlightCut}},
		{ID: "spring-old", Match: "by name only", Listener: "closed", InFlight: "cut", Source: propDoc, Status: "verified",
			app: world.App{InFlight: world.InFlightCut, ServerIdle: minute}},
		{ID: fpmFinishes, Match: "by name only", Listener: "closed (STOPSIGNAL SIGQUIT)", InFlight: "finished within process_control_timeout", Source: fpmSource, Status: "verified"},
		{ID: IstioExitsOnZero, Match: "by name only", Listener: "open while draining, 5 s, connections closed with their next answer", InFlight: "finished (EXIT_ON_ZERO_ACTIVE_CONNECTIONS)", Source: propDoc,
			Status: "verified", app: world.App{Listener: world.ListenerDrains, DrainFor: 5 * engine.Second, ClosesAnswered: true, ServerIdle: engine.Hour}},
		{ID: "drains", Match: "by name only", Listener: "open for 10 s, still serving", InFlight: "finished", Source: "an app that sleeps in its handler", Status: "assumed",
			app: world.App{Listener: world.ListenerDrains, DrainFor: 10 * engine.Second}},
	}
}

// Named returns the row of that id.
func Named(id string) (Profile, bool) {
	for _, p := range Profiles() {
		if p.ID == id {
			return p, true
		}
	}
	return Profile{}, false
}

// ProfileIDs lists the names of all profiles, in the order of the table.
func ProfileIDs() []string {
	var ids []string
	for _, p := range Profiles() {
		ids = append(ids, p.ID)
	}
	return ids
}

// Evidence is what a container says about the program in it.
type Evidence struct {
	image  Image
	labels map[string]string // of the pod
	ports  []corev1.ContainerPort
	// words are the command's and the arguments' words, those of a shell string included.
	words []string
	argv  []string // command and args as they are
	env   []corev1.EnvVar
	paths []string // that the HTTP probes ask for, each once
	ready string   // that of the readiness probe
}

// EvidenceOf collects what a container, in a pod with these labels, says about the program in it.
func EvidenceOf(c *corev1.Container, labels map[string]string) *Evidence {
	e := &Evidence{image: ParseImage(c.Image), labels: labels, ports: c.Ports, env: c.Env}
	e.argv = append(append(e.argv, c.Command...), c.Args...)
	for _, arg := range e.argv {
		e.words = append(e.words, strings.Fields(arg)...)
	}
	for _, probe := range []*corev1.Probe{c.ReadinessProbe, c.LivenessProbe, c.StartupProbe} {
		if probe != nil && probe.HTTPGet != nil && !slices.Contains(e.paths, probe.HTTPGet.Path) {
			e.paths = append(e.paths, probe.HTTPGet.Path)
		}
	}
	if p := c.ReadinessProbe; p != nil && p.HTTPGet != nil {
		e.ready = p.HTTPGet.Path
	}
	return e
}

// decisive says in words which part of the evidence is enough for a match: "image nginx:1.29", "command npm start".
func (e *Evidence) decisive(match func(*Evidence) bool) string {
	variables := slices.IndexFunc(e.env, func(v corev1.EnvVar) bool { return match(&Evidence{env: []corev1.EnvVar{v}}) })
	switch {
	case match(&Evidence{image: e.image}):
		return "image " + e.image.full
	case match(&Evidence{argv: e.argv, words: e.words}):
		const most = 40
		command := []rune(strings.Join(e.words, " "))
		if len(command) > most {
			command = append(command[:most], '.', '.', '.')
		}
		return "command " + string(command)
	case match(&Evidence{paths: e.paths}):
		return "probe of " + strings.Join(e.paths, ", ")
	case variables >= 0:
		return "variable " + e.env[variables].Name
	case match(&Evidence{labels: e.labels}):
		return "labels"
	default:
		return "image and command"
	}
}

// runs says whether one of the words is that program.
func (e *Evidence) runs(program string) bool {
	for _, w := range e.words {
		if Base(w) == program {
			return true
		}
	}
	return false
}

// takes says whether one of the words begins so, whatever its case: a flag that only one program has.
func (e *Evidence) takes(prefix string) bool {
	return slices.ContainsFunc(e.words, func(w string) bool { return strings.HasPrefix(strings.ToLower(w), prefix) })
}

// first says whether the command begins with one of the programs, past wrappers that replace
// themselves by what they run, and inits.
func (e *Evidence) first(programs ...string) bool {
	argv, _ := e.program()
	return len(argv) > 0 && slices.Contains(programs, Base(argv[0]))
}

// program is the command line past wrappers, shells that replace themselves or may, and inits with their own options, and whether an init was
// among them: then it is not PID 1.
func (e *Evidence) program() (argv []string, behind bool) {
	argv, behind, _ = e.start()
	return argv, behind
}

// start is that, and whether there was a shell of which nothing says whether it replaces itself.
func (e *Evidence) start() (argv []string, behind, unsure bool) {
	argv = e.argv
	for len(argv) > 0 {
		name := Base(argv[0])
		script, shell := shellScript(argv)
		switch {
		case slices.Contains(inits(), name):
			argv, behind = pastOptions(argv[1:]), true
		case name == "env", name == "exec", name == "--":
			argv = argv[1:]
		case shell:
			last := lastCommand(script)
			stays, known := last.leaves(script, e.image.shell(name))
			if stays && (known || behind) {
				return argv, behind, unsure
			}
			argv, unsure = last.program(), unsure || !known
		default:
			return argv, behind, unsure
		}
	}
	return nil, behind, unsure
}

// pastOptions leaves out the options of an init: of tini (-p SIGNAL, -e CODE) and dumb-init (-r FROM:TO, --rewrite FROM:TO) some take a word.
func pastOptions(argv []string) []string {
	for len(argv) > 0 && strings.HasPrefix(argv[0], "-") && argv[0] != "--" {
		takes := slices.Contains([]string{"-p", "-e", "-r", "--rewrite"}, argv[0])
		argv = argv[1:]
		if takes && len(argv) > 0 {
			argv = argv[1:]
		}
	}
	return argv
}

// variable returns the value of an environment variable that is written out.
func (e *Evidence) variable(name string) string {
	for _, v := range e.env {
		if v.Name == name {
			return v.Value
		}
	}
	return ""
}

// option returns the value of a flag, written --name=value or --name value.
func (e *Evidence) option(name string) (string, bool) {
	for i, w := range e.words {
		if key, value, ok := strings.Cut(w, "="); ok && key == name {
			return value, true
		}
		if w == name && i+1 < len(e.words) {
			return e.words[i+1], true
		}
	}
	return "", false
}

// Base is what follows the last slash of a path, the whole word where it has none.
func Base(word string) string { return word[strings.LastIndexByte(word, '/')+1:] }

func isJava(e *Evidence) bool {
	return e.image.Named("java", "openjdk", "eclipse-temurin", "amazoncorretto") || e.image.hasPrefix("spring") ||
		strings.HasSuffix(e.image.name, "-jre") || e.first("java") || e.variable("SPRING_PROFILES_ACTIVE") != "" || e.actuator()
}

// actuator says that a probe asks what Spring Boot's Actuator answers (management.endpoints.web.base-path, its default; recalled).
func (e *Evidence) actuator() bool {
	return slices.ContainsFunc(e.paths, func(path string) bool { return strings.HasPrefix(path, "/actuator/") })
}

// shellPID1 is the profile of a shell that stays PID 1.
const shellPID1 = "shell-pid1"

// isShellPID1 finds a shell that is known to stay PID 1.
func isShellPID1(e *Evidence) bool {
	stays, known := e.shellStays()
	return stays && known
}

// shellStays says whether a shell that is PID 1 may stay that, and whether it is known to.
func (e *Evidence) shellStays() (may, known bool) {
	argv, behind, unsure := e.start()
	known = isBareShell(argv)
	return !behind && (unsure || known), known
}

// isBareShell finds a shell that runs a string in which nothing is replaced by exec.
func isBareShell(argv []string) bool {
	script, ok := shellScript(argv)
	if !ok {
		return false
	}
	for _, w := range strings.FieldsFunc(script, func(r rune) bool { return strings.ContainsRune(" \t\n;&|", r) }) {
		if w == "exec" {
			return false
		}
	}
	return true
}

// shellScript returns the string of sh -c STRING.
func shellScript(argv []string) (string, bool) {
	if len(argv) < 3 || !isShell(Base(argv[0])) {
		return "", false
	}
	for i, a := range argv[1 : len(argv)-1] {
		if !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "+") {
			return "", false
		}
		if strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "c") {
			return argv[i+2], true
		}
	}
	return "", false
}

func isShell(name string) bool {
	switch name {
	case "sh", "bash", "ash", "dash", "ksh", "zsh":
		return true
	}
	return false
}
