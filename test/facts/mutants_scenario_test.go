package facts

var hookMutants = []mutant{
	{"the hook of ingress-nginx does not send SIGTERM", []string{"load-balancers 5.1 Chart preStop"}, serverFacts, "TestHookOf", []edit{
		{"sim/servers/program.go", "signals: true, closes: grace == 0, failsReadiness: true, waits: true,\n\t\twhy: []string{\"/wait-shutdown", "closes: grace == 0, failsReadiness: true, waits: true,\n\t\twhy: []string{\"/wait-shutdown"},
	}},
	{"the sleep action sleeps a second more", []string{"pod-lifecycle 2.2 sleep"}, serverFacts, "TestHooksThatAreNoProgram", []edit{
		{"sim/servers/hook.go", "min(max(hook.Sleep.Seconds, 0),", "min(max(hook.Sleep.Seconds+1, 0),"},
	}},
	{"an exec hook is not read", []string{"pod-lifecycle 2.2 exec"}, serverFacts, "TestHookOf", []edit{
		{"sim/servers/hook.go", "e := interpreter{container: c}.argv(argv, 0)", "e := unknownEffect(argv[0])"},
	}},
	{"a sidecar's SIGTERM comes at the end of its hook", []string{"pod-lifecycle 2.4 The last command"}, serverFacts, "TestWhatTheHookOfASidecarDoesLast", []edit{
		{"sim/servers/hook.go", "e.alone = world.Sidecar(c)", "e.alone = c == nil"},
	}},
	{"what a script begins with does not count", []string{"pod-lifecycle 2.2 head"}, serverFacts, "TestHookOf", []edit{
		{"sim/servers/hook.go", "return total.then(in.opaqueScript(script))", "return in.opaqueScript(script)"},
	}},
	{"httpGet is answered at once", []string{"pod-lifecycle 2.2 httpGet"}, serverFacts, "TestHooksThatAreNoProgram", []edit{
		{"sim/servers/hook.go", `return unknownEffect("httpGet " + get.Path + ": how long it takes to answer is not known").hook(HookHTTP)`, `return effect{why: []string{get.Path}}.hook(HookHTTP)`},
	}},
	{"tcpSocket is a program", []string{"pod-lifecycle 2.2 tcpSocket"}, serverFacts, "TestHooksThatAreNoProgram", []edit{
		{"sim/servers/hook.go", "Kind: HookTCPSocket, Why:", "Kind: HookExec, Why:"},
	}},
	{"distroless images have a shell", []string{"pod-lifecycle 2.1 preStop failure"}, serverFacts, "TestHookOf", []edit{
		{"sim/servers/image_programs.go", "if !bare(i) || i.hasPrefix", "if bare(i) || !bare(i) || i.hasPrefix"},
	}},
	{"after && it goes on whatever happened", []string{"pod-lifecycle 2.2 exec"}, serverFacts, "TestHookOf", []edit{
		{"sim/servers/hook.go", "\t\t\t\tif failed {\n\t\t\t\t\tcontinue", "\t\t\t\tif failed && i < 0 {\n\t\t\t\t\tcontinue"},
	}},
	{"after || it goes on whatever happened", []string{"pod-lifecycle 2.2 exec"}, serverFacts, "TestHookOf", []edit{
		{"sim/servers/hook.go", "if !failed && !uncertain {", "if !failed && !uncertain && i < 0 {"},
	}},
	{"timeout cuts nothing off", []string{"pod-lifecycle 2.2 exec"}, serverFacts, "TestHookOf", []edit{
		{"sim/servers/hook.go", "e.min, e.max = min(e.min, limit), min(e.max, limit)", "e.max = max(e.max, 0*limit)"},
	}},
	{"a minute is a second", []string{"pod-lifecycle 2.2 exec"}, serverFacts, "TestHookOf", []edit{
		{"sim/servers/hook.go", "unit, number = engine.Minute, s[:len(s)-1]", "unit, number = engine.Second, s[:len(s)-1]"},
	}},
	{"a Corefile is not read", []string{"propagation 5 CoreDNS"}, "sim/scenario", "TestCorefile", []edit{
		{"sim/scenario/corefile.go", "if o == nil {\n\t\treturn\n", "if o != nil || key == \"\" {\n\t\treturn\n"},
	}},
	{"health without lameduck has one", []string{"propagation 5 CoreDNS"}, "sim/scenario", "TestCorefile", []edit{
		{"sim/scenario/corefile.go", "w.App.Listener, w.App.ReadinessFails = servers.UnknownApp().Listener, false", "w.App.ReadinessFails = servers.UnknownApp().ReadinessFails"},
	}},
	{"a hook's shell has no variables", []string{"pod-lifecycle 2.2 variables"}, serverFacts, "TestHooksWithVariables", []edit{
		{"sim/servers/variables.go", `if name == "" || !braces && !known {`, `if name == "" || !braces {`},
	}},
	{"the kubelet replaces variables of hooks", []string{"pod-lifecycle 2.2 variables"}, serverFacts, "TestHooksWithVariables", []edit{
		{"sim/servers/hook.go", `strings.HasPrefix(argv[1], "$") {`, `strings.HasPrefix(argv[1], "$$") {`},
	}},
	{"an unknown program takes no time", []string{"pod-lifecycle 2.2 exec"}, serverFacts, "TestHookOf", []edit{
		{"sim/servers/hook.go", "unknownHook = 5 * engine.Second", "unknownHook = 0 * engine.Second"},
	}},
	{"nginx -s quit leaves the listener open", []string{"propagation 5 nginx"}, serverFacts, "TestHookOf", []edit{
		{"sim/servers/program.go", `if strings.Contains(text, "quit") || strings.Contains(text, "stop") {`, `if strings.Contains(text, "stop") {`},
	}},
}

// What servers do at SIGTERM.
var profileMutants = []mutant{
	{"nginx cuts", []string{"propagation 5 nginx", "pod-lifecycle 2.3 nginx"}, serverFacts, "TestProfileByImageAndCommand", []edit{
		{"sim/servers/profile.go", "app: world.App{ServerIdle: 75 * engine.Second}},", "app: world.App{InFlight: world.InFlightCut, ServerIdle: 75 * engine.Second}},"},
	}},
	{"ingress-nginx stays ready", []string{"propagation 5 ingress-nginx", "load-balancers 5.1 On SIGTERM"}, serverFacts, "TestProfileByImageAndCommand", []edit{
		{"sim/servers/profile.go", "app: world.App{FinishWithin: 4 * minute, ReadinessFails: true, Linger", "app: world.App{FinishWithin: 4 * minute, Linger"},
	}},
	{"ingress-nginx waits for its workers for a minute", []string{"load-balancers 5.1 worker-shutdown-timeout"}, serverFacts, "TestProfileByImageAndCommand", []edit{
		{"sim/servers/profile.go", "app: world.App{FinishWithin: 4 * minute, ReadinessFails: true, Linger", "app: world.App{FinishWithin: minute, ReadinessFails: true, Linger"},
	}},
	{"ingress-nginx does not linger", []string{"propagation 5 ingress-nginx"}, serverFacts, "TestProfileByImageAndCommand", []edit{
		{"sim/servers/profile.go", "Linger: 10 * engine.Second,", ""},
	}},
	{"envoy finishes", []string{"propagation 5 Envoy"}, serverFacts, "TestProfileByImageAndCommand", []edit{
		{"sim/servers/profile.go", "app: world.App{InFlight: world.InFlightCut, ServerIdle: engine.Hour}},", "app: world.App{ServerIdle: engine.Hour}},"},
	}},
	{"istio drains for 50 s", []string{"propagation 5 istio-proxy"}, serverFacts, "TestProfileByImageAndCommand", []edit{
		{"sim/servers/profile.go", "DrainFor: 5 * engine.Second, ClosesAnswered: true, InFlight: world.InFlightCut", "DrainFor: 50 * engine.Second, ClosesAnswered: true, InFlight: world.InFlightCut"},
	}},
	{"an old istio takes new connections", []string{"propagation 5 istio-proxy up to 1.7"}, serverFacts, "TestProfileByImageAndCommand", []edit{
		{"sim/servers/image.go", "return ok && minor < 8", "return ok && minor < 6"},
	}},
	{"connections of an Envoy that drains stay", []string{"propagation 5 istio-proxy", "propagation 5 Envoy Gateway"}, "sim", "TestConnectionsLeaveAnEnvoyThatDrains", []edit{
		{"sim/world/app.go", "return a.ClosesAnswered && !", "return false && !"},
	}},
	{"new connections of an Envoy that drains stay", []string{"propagation 5 istio-proxy"}, "sim/traffic", "TestADrainingServerClosesConnectionsWithTheirNextAnswer", []edit{
		{"sim/traffic/link.go", "l.tells = l.stream.spec.Kind == HTTP2 && l", "l.tells = l.stream.spec.Kind != HTTP2 && l"},
	}},
	{"istio's variable is not read", []string{"propagation 5 istio-proxy"}, serverFacts, "TestProfileByLabelsAndVariables", []edit{
		{"sim/servers/servers.go", `e.variable("EXIT_ON_ZERO_ACTIVE_CONNECTIONS"), "true"`, `e.variable("EXIT_ON_ZERO_ACTIVE_CONNECTIONS"), "yes"`},
	}},
	{"Envoy Gateway closes at once", []string{"propagation 5 Envoy Gateway", "load-balancers 5.2 First action"}, serverFacts, "TestProfileByLabelsAndVariables", []edit{
		{"sim/servers/profile.go", "app: world.App{Listener: world.ListenerDrains, DrainFor: minute, ClosesAnswered: true, ReadinessFails: true", "app: world.App{ReadinessFails: true"},
	}},
	{"traefik has no limit", []string{"propagation 5 Traefik"}, serverFacts, "TestProfileByImageAndCommand", []edit{
		{"sim/servers/profile.go", "app: world.App{FinishWithin: 10 * engine.Second, ServerIdle: 3 * minute}", "app: world.App{ServerIdle: 3 * minute}"},
	}},
	{"traefik accepts for the longest time of its entry points", []string{"propagation 5 Traefik"}, serverFacts, "TestTraefik", []edit{
		{"sim/servers/traefik.go", "d < app.DrainFor)", "d > app.DrainFor)"},
	}},
	{"traefik's ping answers well until the end", []string{"propagation 5 Traefik's ping"}, serverFacts, "TestTraefik", []edit{
		{"sim/servers/traefik.go", `ping, code := traefikInternal, "503"`, `ping, code := traefikInternal, "200"`},
	}},
	{"traefik's ping answers well at an entry point that is closed", []string{"propagation 5 Traefik's ping"}, serverFacts, "TestTraefik", []edit{
		{"sim/servers/traefik.go", "accepts[ping] >= app.DrainFor", "accepts[ping] >= 0"},
	}},
	{"OPA closes at once", []string{"propagation 5 OPA"}, serverFacts, "TestProfileByImageAndCommand", []edit{
		{"sim/servers/servers.go", `e.grace("--shutdown-wait-period")`, `e.grace("--shutdown-wait")`},
	}},
	{"a Caddyfile is not read", []string{"propagation 5 Caddy"}, "sim/scenario", "TestCaddyfile", []edit{
		{"sim/scenario/caddyfile.go", "if o == nil {\n\t\treturn\n", "if o != nil || key == \"\" {\n\t\treturn\n"},
	}},
	{"gunicorn has 10 s", []string{"propagation 5 gunicorn"}, serverFacts, "TestProfileByImageAndCommand", []edit{
		{"sim/servers/profile.go", "app: world.App{FinishWithin: 30 * engine.Second, ServerIdle: 2 * engine.Second}", "app: world.App{FinishWithin: 10 * engine.Second, ServerIdle: 2 * engine.Second}"},
	}},
	{"uvicorn's flag is not read", []string{"propagation 5 uvicorn"}, serverFacts, "TestProfileByImageAndCommand", []edit{
		{"sim/servers/servers.go", `e.grace("--timeout-graceful-shutdown")`, `e.grace("--timeout-Graceful")`},
	}},
	{"Spring has no limit", []string{"propagation 5 Spring Boot"}, serverFacts, "TestProfileByImageAndCommand", []edit{
		{"sim/servers/profile.go", "app: world.App{FinishWithin: 30 * engine.Second, ServerIdle: minute}", "app: world.App{ServerIdle: minute}"},
	}},
	{"node obeys SIGTERM as PID 1", []string{"propagation 5 Node.js", "pod-lifecycle 2.3 PID 1"}, serverFacts, "TestProfileByImageAndCommand", []edit{
		{"sim/servers/profile.go", "app: world.App{IgnoresSIGTERM: true, Listener: world.ListenerStays, InFlight: world.InFlightCut, ServerIdle: 5 * engine.Second}", "app: world.App{InFlight: world.InFlightCut, ServerIdle: 5 * engine.Second}"},
	}},
	{"a shell passes SIGTERM on", []string{"pod-lifecycle 2.3 PID 1"}, serverFacts, "TestShellsThatStay", []edit{
		{"sim/servers/profile.go", "match: isShellPID1, app: world.App{IgnoresSIGTERM: true, Listener: world.ListenerStays, InFlight: world.InFlightCut}", "match: isShellPID1, app: world.App{}"},
	}},
	{"dash replaces itself", []string{"pod-lifecycle 2.3 PID 1"}, serverFacts, "TestShellsThatStay", []edit{
		{"sim/servers/shell.go", `, shell == "dash":`, ":"},
	}},
	{"bash stays PID 1", []string{"pod-lifecycle 2.3 PID 1"}, serverFacts, "TestShellsThatStay", []edit{
		{"sim/servers/shell.go", `strings.ContainsAny(script, "<>"), true`, "true, true"},
	}},
	{"caddy is not known", []string{"propagation 5 Caddy"}, serverFacts, "TestProfileByImageAndCommand", []edit{
		{"sim/servers/profile.go", `e.image.Named("caddy") || e.runs("caddy")`, `e.image.Named("caddyserver")`},
	}},
	{"npm always passes SIGTERM on", []string{"simulator 5.5", "propagation 5 npm, yarn and pnpm"}, scenario, "TestWhatAPackageRunnerDoesIsAnAssumption", []edit{
		{"sim/servers/profile.go", "Status: \"recalled\", Alternatives: []string{\"ignores\", UnknownProfile},", "Status: \"recalled\", Alternatives: nil,"},
	}},
	{"every npm passes SIGTERM on", []string{"propagation 5 npm, yarn and pnpm"}, serverFacts, "TestProfileByImageAndCommand", []edit{
		{"sim/servers/profile.go", `e.first("npm", "npx") && e.image.keepsSignals()`, `e.first("npm9") && e.image.keepsSignals()`},
	}},
	{"uWSGI ends at SIGTERM", []string{"propagation 5 uWSGI"}, serverFacts, "TestProfileByImageAndCommand", []edit{
		{"sim/servers/servers.go", "\tdefault:\n\t\treturn\n\t}\n\tapp.IgnoresSIGTERM, app", "\tdefault:\n\t}\n\tapp.IgnoresSIGTERM, app"},
	}},
	{"a JVM starts as anything else", []string{"simulator 5.3"}, scenario, "TestAJVMStartsLater", []edit{
		{"sim/servers/servers.go", "if app.JVM = isJVM(e); app.JVM {", "if app.JVM = false; app.JVM {"},
	}},
	{"every image has a shell", []string{"simulator 5.5"}, serverFacts, "TestWhatAHookTakesForGranted", []edit{
		{"sim/servers/hook.go", "program != \"\" && !HasShell(c)", "program != \"\" && false"},
	}},
	{"what is beside a server is the server", []string{"simulator 5.5"}, serverFacts, "TestImagesAreKnownByWholeWords", []edit{
		{"sim/servers/image.go", "slices.Contains(servers, w) }) && !i.beside()", "slices.Contains(servers, w) })"},
	}},
	{"a part of a word names a server", []string{"simulator 5.5"}, serverFacts, "TestImagesAreKnownByWholeWords", []edit{
		{"sim/servers/image.go", "return slices.Contains(servers, w) })", "return slices.ContainsFunc(servers, func(s string) bool { return strings.HasPrefix(w, s) }) })"},
	}},
	{"haproxy is not known", []string{"propagation 5 HAProxy"}, serverFacts, "TestProfileByImageAndCommand", []edit{
		{"sim/servers/profile.go", `e.image.of("haproxy")`, `e.image.of("ha-proxy")`},
	}},
	{"httpd is not known", []string{"propagation 5 Apache httpd"}, serverFacts, "TestProfileByImageAndCommand", []edit{
		{"sim/servers/profile.go", `e.image.Named("httpd")`, `e.image.Named("apache")`},
	}},
	{"puma is not known", []string{"propagation 5 Puma"}, serverFacts, "TestProfileByImageAndCommand", []edit{
		{"sim/servers/profile.go", `e.runs("puma")`, `e.runs("pumas")`},
	}},
	{"php-fpm is not known", []string{"propagation 5 PHP-FPM"}, serverFacts, "TestProfileByImageAndCommand", []edit{
		{"sim/servers/profile.go", `e.runs("php-fpm") || len(e.argv) == 0`, `len(e.argv) == 0`},
	}},
	{"php-fpm finishes at SIGQUIT", []string{"propagation 5 PHP-FPM"}, serverFacts, "TestProfileByImageAndCommand", []edit{
		{"sim/servers/profile.go", "len(e.argv) == 0 && e.image.fpm() }, app: world.App{InFlight: world.InFlightCut}}", "len(e.argv) == 0 && e.image.fpm() }}"},
	}},
	{"php-fpm's configuration is not read", []string{"propagation 5 PHP-FPM"}, scenario, "TestFPMFinishesForAsLongAsItsConfigurationSays", []edit{
		{"sim/scenario/fpm.go", "app.InFlight, app.FinishWithin = world.InFlightFinish, lasts", "app.FinishWithin = lasts"},
	}},
}

var namedMutants = []mutant{
	{"Go without a handler finishes", []string{"propagation 5 Go net/http"}, serverFacts, "TestGeneralProfiles", []edit{
		{"sim/servers/profile.go", "app: world.App{InFlight: world.InFlightCut}},\n\t\t{ID: \"spring-old\"", "app: world.App{}},\n\t\t{ID: \"spring-old\""},
	}},
	{"old Spring finishes", []string{"propagation 5 Spring Boot"}, serverFacts, "TestGeneralProfiles", []edit{
		{"sim/servers/profile.go", "app: world.App{InFlight: world.InFlightCut, ServerIdle: minute}},", "app: world.App{ServerIdle: minute}},"},
	}},
}

// What the API server fills in.
var defaultMutants = []mutant{
	{"probes every 5 s", []string{"pod-lifecycle 3.1"}, manifest, "TestDefaults", []edit{
		{"endpoints/manifest/defaults_pod.go", "setDefault(&p.PeriodSeconds, 10)", "setDefault(&p.PeriodSeconds, 5)"},
	}},
	{"probes time out after 5 s", []string{"pod-lifecycle 3.1"}, manifest, "TestDefaults", []edit{
		{"endpoints/manifest/defaults_pod.go", "setDefault(&p.TimeoutSeconds, 1)", "setDefault(&p.TimeoutSeconds, 5)"},
	}},
	{"two successes", []string{"pod-lifecycle 3.1"}, manifest, "TestDefaults", []edit{
		{"endpoints/manifest/defaults_pod.go", "setDefault(&p.SuccessThreshold, 1)", "setDefault(&p.SuccessThreshold, 2)"},
	}},
	{"one failure", []string{"pod-lifecycle 3.1"}, manifest, "TestDefaults", []edit{
		{"endpoints/manifest/defaults_pod.go", "setDefault(&p.FailureThreshold, 3)", "setDefault(&p.FailureThreshold, 1)"},
	}},
	{"no grace period", []string{"pod-lifecycle 1.2"}, manifest, "TestDefaults", []edit{
		{"endpoints/manifest/defaults_pod.go", "corev1.DefaultTerminationGracePeriodSeconds)", "0*corev1.DefaultTerminationGracePeriodSeconds)"},
	}},
	{"maxSurge 1", []string{"controllers 1 Deployment"}, manifest, "TestDefaults", []edit{
		{"endpoints/manifest/defaults_workload.go", `RollingUpdate.MaxSurge, intstr.FromString("25%")`, `RollingUpdate.MaxSurge, intstr.FromInt32(1)`},
	}},
	{"maxUnavailable 0", []string{"controllers 1 Deployment"}, manifest, "TestDefaults", []edit{
		{"endpoints/manifest/defaults_workload.go", `RollingUpdate.MaxUnavailable, intstr.FromString("25%")`, `RollingUpdate.MaxUnavailable, intstr.FromInt32(0)`},
	}},
	{"a Deployment has no deadline", []string{"controllers 1 Deployment"}, manifest, "TestDefaults", []edit{
		{"endpoints/manifest/defaults_workload.go", "setPointer(&spec.ProgressDeadlineSeconds, 600)\n", ""},
	}},
}

// What clients see.
var clientMutants = []mutant{
	{"a SYN is repeated every second", []string{"kube-proxy 3 Repeated SYN"}, "sim/traffic", "TestRetransmissionTimes", []edit{
		{client, "engine.Time(s.LinearSYNs+1<<(n-s.LinearSYNs)-1)", "engine.Time(n)"},
	}},
	{"Linux since 6.5 repeats no SYN each second", []string{"kube-proxy 3 Repeated SYN"}, "sim/traffic", "TestRetransmissionTimes", []edit{
		{client, "if n <= s.LinearSYNs {", "if n > s.LinearSYNs && n < 0 {"},
	}},
	{"tcp_syn_retries counts the SYNs that are sent each second", []string{"kube-proxy 3 Repeated SYN"}, "sim/traffic", "TestRetransmissionTimes", []edit{
		{client, "s.retransmission(s.LinearSYNs + 7)", "s.retransmission(7)"},
	}},
	{"newer kernels are not tried", []string{"kube-proxy 3 Repeated SYN"}, "sim/scenario", "TestWhatClientsMightDoInstead", []edit{
		{"sim/scenario/alternatives.go", "const sinceLinux65 = 4", "const sinceLinux65 = 0"},
	}},
	{"REJECT is met with silence", []string{"kube-proxy 3", "kube-proxy 7 New SYN"}, "sim/traffic", "TestFaultsBecomeOutcomes", []edit{
		{client, "return ledger.FaultRejected\n", "return ledger.FaultDropped\n"},
	}},
	{"a closed listener is met with silence", []string{"kube-proxy 7 New SYN", "propagation 5 after SIGTERM, graceful server", "propagation 5 SIGKILL"}, "sim/traffic", "TestFaultsBecomeOutcomes", []edit{
		{client, "return ledger.FaultNoListener, false", "return ledger.FaultNoAnswer, false"},
	}},
	{"a sandbox that is gone refuses", []string{"kube-proxy 7 New SYN", "kube-proxy 7 Pod sandbox gone", "propagation 5 sandbox removed"}, "sim/traffic", "TestFaultsBecomeOutcomes", []edit{
		{client, "return ledger.FaultNoAnswer, false", "return ledger.FaultNoListener, false"},
	}},
	{"flows over UDP of a Service without endpoints are cleaned up", []string{"kube-proxy 7 UDP service"}, "sim/traffic", "TestAPinnedFlow", []edit{
		{"sim/traffic/udp.go", "\tif len(serving) == 0 {\n\t\treturn\n\t}\n", ""},
	}},
	{"an idle connection is never used again", []string{"kube-proxy 7 Endpoint removed", "propagation 1.11"}, "sim/traffic", "TestAPoolKeepsItsConnection", []edit{
		{pool, "\treturn c.pool.spec.ClientIdle\n", "\treturn max(c.pool.spec.ClientIdle, 1)\n"},
	}},
	{"a server that ends closes nothing", []string{"kube-proxy 7 Process exits"}, "sim/traffic", "TestAServerClosingIdleConnections", []edit{
		{pool, "case c.free <= now || all:\n\t\tc.closed = now", "case c.free <= now || all:\n\t\t\t\tc.closed = engine.Never"},
	}},
	{"what is in flight survives its server", []string{"kube-proxy 7 Process exits", "propagation 5 SIGKILL"}, "sim/traffic", "TestWhatIsInFlightFailsWhenItIsCut", []edit{
		{"sim/traffic/pending.go", "\tlist := f.list\n", "\tlist := f.list[:0]\n"},
	}},
	{"a node says at once that nothing is at an address", []string{"kube-proxy 7 New SYN"}, "sim/traffic", "TestWhatAnAddressAnswersWhereNothingIs", []edit{
		{client, "return a.silent + s.UnreachableAfter + a.rtt()", "return now + a.rtt()"},
	}},
	{"ICMP unreachable comes through a load balancer", []string{"kube-proxy 7 New SYN"}, "sim/traffic", "TestWhatAnAddressAnswersWhereNothingIs", []edit{
		{client, "!s.Unreachable || s.ICMPFiltered && a.proxy == nil || t.muted", "!s.Unreachable || t.muted"},
	}},
	{"ICMP unreachable does not reach a proxy behind a load balancer", []string{"kube-proxy 7 New SYN"}, "sim/traffic", "TestAProxyHearsOfAnAddressWhereNothingIs", []edit{
		{client, "s.ICMPFiltered && a.proxy == nil || t.muted", "s.ICMPFiltered || t.muted"},
	}},
	{"a dial goes on after ICMP unreachable", []string{"kube-proxy 7 New SYN"}, "sim/traffic", "TestADialHearsOfAnAddressWhereNothingIs", []edit{
		{"sim/traffic/link.go", "if at := t.unreachable(a, now, fault); at < limit {", "if at := t.unreachable(a, now, fault); at < 0 {"},
	}},
	{"a repeated SYN chooses again", []string{"kube-proxy 7 NAT decision"}, "sim/traffic", "TestRetransmissions", []edit{
		{client, "if a.target == nil {", "if a.tries > 0 || a.target == nil {"},
		{"sim/traffic/silence.go", "\tcase target != nil:\n", "\tcase target != nil && s == nil:\n"},
	}},
}

// Who closes an idle connection, who writes into the closing, and who asks again then.
var idleMutants = []mutant{
	{"what a new connection lost is repeated", []string{"simulator 9"}, "sim/traffic", "TestWhatANewConnectionLostIsNotRepeated", []edit{
		{pool, "if !s.spec.RepeatReused || !a.reused ||", "if !s.spec.RepeatReused ||"},
	}},
	{"nothing is repeated", []string{"simulator 9"}, "sim/traffic", "TestAClientRepeatsWhatAReusedConnectionLost", []edit{
		{pool, "if !s.spec.RepeatReused ||", "if true ||"},
	}},
	{"everybody repeats", []string{"simulator 9"}, "sim/traffic", "TestAClientRepeatsWhatAReusedConnectionLost", []edit{
		{pool, "if !s.spec.RepeatReused || !a.reused", "if !a.reused"},
	}},
	{"a request is repeated once", []string{"simulator 9"}, "sim/traffic", "TestARequestIsRepeatedUntilAConnectionIsNew", []edit{
		{pool, "if int(r.repeats) >= s.spec.Clients {", "if r.repeats >= 1 {"},
	}},
	{"a repetition has a timeout of its own", []string{"simulator 9"}, "sim/traffic", "TestARepetitionHasWhatIsLeftOfTheTimeout", []edit{
		{client, "\t\tp.attempt.fresh()\n", "\t\tp.attempt.fresh()\n\t\tp.attempt.began = p.at\n"},
	}},
	{"what is counted is never in flight", []string{"simulator 2"}, "sim/traffic", "TestCountedAndFollowedRequestsAreLostAlike", []edit{
		{"sim/traffic/calm.go", "s.passUntil(now - c.longest)", "s.passUntil(now)"},
	}},
	{"a stream that was calm stays so", []string{"simulator 2"}, "sim/traffic", "TestCountedAndFollowedRequestsAreLostAlike", []edit{
		{"sim/traffic/calm.go", "\ts.calm.on = false\n", "\t_ = s.calm.on\n"},
	}},
	{"clients do not hear that a load balancer sends them elsewhere", []string{"simulator 2"}, "sim", "TestCountedRequestsComeToTheSameInEveryExample", []edit{
		{"sim/forwarders.go", "\tf.redirect()\n", ""},
	}},
	{"a stream stays calm when a connection that it shares is closed", []string{"simulator 2"}, "sim/traffic", "TestCountedAndFollowedRequestsAreLostAlike", []edit{
		{"sim/traffic/link.go", "\tt.stir(l.stream, now)\n", ""},
		{"sim/traffic/calm.go", "\ts.calm.on = false\n", "\ts.calm.on = s.calm.on && len(s.links) > 0\n"},
	}},
	{"plain requests outlive their server", []string{"simulator 2"}, "sim/traffic", "TestCountedAndFollowedRequestsAreLostAlike", []edit{
		{"sim/traffic/plain.go", "\t\tif f.plain[i].end > now {", "\t\tif f.plain[i].end < 0 {"},
	}},
	{"requests that are sure to be answered outlive their server", []string{"simulator 2"}, "sim/traffic", "TestCountedAndFollowedRequestsAreLostAlike", []edit{
		{"sim/traffic/plain.go", "\tt.keepSure(server, now)\n", ""},
	}},
	{"a server does not wait for requests that are sure to be answered", []string{"simulator 2"}, "sim/traffic", "TestCountedAndFollowedRequestsAreLostAlike", []edit{
		{"sim/traffic/pending.go", "\tt.keepSure(server, now)\n", ""},
	}},
	{"a pod that was sure to answer stays so", []string{"simulator 2"}, "sim/traffic", "TestCountedAndFollowedRequestsAreLostAlike", []edit{
		{"sim/traffic/calm.go", "\tt.age++\n", ""},
	}},
	{"a server does not wait for plain requests", []string{"simulator 2"}, "sim/traffic", "TestCountedAndFollowedRequestsAreLostAlike", []edit{
		{"sim/traffic/pending.go", "\t\tuntil = max(until, f.plain[i].end)\n", "\t\t_ = f.plain[i].end\n"},
	}},
	{"counted requests of a pool outlive their server", []string{"simulator 2"}, "sim/traffic", "TestCountedAndFollowedRequestsAreLostAlike", []edit{
		{"sim/traffic/plain.go", "if c.counted && c.free > now &&", "if c.counted && c.free < 0 &&"},
	}},
	{"a server does not wait for counted requests of a pool", []string{"simulator 2"}, "sim/traffic", "TestCountedAndFollowedRequestsAreLostAlike", []edit{
		{"sim/traffic/pending.go", "\t\tuntil = max(until, c.free)\n", "\t\t_ = c.free\n"},
	}},
	{"a pool stays calm when a server closes connections of it", []string{"simulator 2"}, "sim/traffic", "TestAPoolThatIsCalmIsAsOneThatIsFollowed", []edit{
		{pool, "\t\t\t\ts.calm.on = false\n", ""},
	}},
	{"a pool stays calm when a load balancer cuts connections of it", []string{"simulator 2"}, "sim/traffic", "TestAPoolThatIsCalmIsAsOneThatIsFollowed", []edit{
		{"sim/traffic/cut.go", "\tt.streams[leg.Stream].calm.on = false\n", ""},
	}},
	{"a pool is calm whose connections may be closed by others", []string{"simulator 2"}, "sim/traffic", "TestAPoolThatIsCalmIsAsOneThatIsFollowed", []edit{
		{calmPool, " || !conn.clientCloses()", ""},
	}},
	{"who asks again takes a connection of a calm pool before others", []string{"simulator 2"}, "sim/traffic", "TestAPoolThatIsCalmIsAsOneThatIsFollowed", []edit{
		{client, "\t\tt.catchUp(s, p.at+1) ", "\t\t_ = s "},
	}},
	{"every pool has enough room", []string{"simulator 2"}, "sim/traffic", "TestAPoolWithMoreThanEnoughRoomNeverHasARequestWait", []edit{
		{calmPool, "return over > 0 && ", "return over > -1000 || "},
	}},
	{"what was in flight at the end of a run is so in the next", []string{"simulator 2"}, "sim", "TestARunDoesNotKnowWhatItsMemoryWasUsedForBefore", []edit{
		{"sim/traffic/memory.go", "plain: f.plain[:0], targets", "plain: f.plain, targets"},
	}},
	{"requests are counted over connections that are closed", []string{"simulator 2"}, "sim", "TestCountedRequestsComeToTheSameInEveryExample", []edit{
		{"sim/traffic/plain.go", "if !c.asItWas(now) || c.takes == nil {", "if c.takes == nil {"},
	}},
	{"who hears no answer hears no news either", []string{"simulator 2"}, "sim/traffic", "TestRequestsThatNobodyHearsAreLostAlike", []edit{
		{"sim/traffic/silence.go", "if u.news != s.news && !t.stillSilent(s, u) {", "if u.news > s.news && !t.stillSilent(s, u) {"},
	}},
	{"a SYN that the rules drop is judged once", []string{"simulator 2"}, "sim/traffic", "TestRequestsThatNobodyHearsAreLostAlike", []edit{
		{"sim/traffic/silence.go", "if u.fault != ledger.FaultNoAnswer { // see repeat", "if u.fault == ledger.FaultErred { // see repeat"},
	}},
	{"of two SYNs at one moment the later one is the first", []string{"simulator 2"}, "sim/traffic", "TestRequestsThatNobodyHearsAreLostAlike", []edit{
		{"sim/traffic/silence.go", "w.due == next.at && w.seq < next.seq", "w.due == next.at && w.seq > next.seq"},
	}},
	{"a SYN that was passed over is not sent again after news", []string{"simulator 2"}, "sim/traffic", "TestRequestsThatNobodyHearsAreLostAlike", []edit{
		{"sim/traffic/silence.go", "q.turns[step].at = min(q.turns[step].at, done+first)", "q.turns[step].at = max(q.turns[step].at, done+first)"},
	}},
	{"who is kept ahead of time is judged by what is known now", []string{"simulator 2"}, "sim/traffic", "TestRequestsThatNobodyHearsAreLostAlike", []edit{
		{"sim/traffic/silence.go", "\tt.clock = s.next\n", ""},
	}},
	{"slow is what takes long", []string{"simulator 2"}, "sim/traffic", "TestSlowIsLaterThanItWouldHaveBeen", []edit{
		{client, "work.late = now-r.arrival >= engine.Second", "work.late = end-r.arrival >= engine.Second"},
	}},
	{"slow counts from the last attempt", []string{"simulator 2"}, "sim/traffic", "TestSlowIsLaterThanItWouldHaveBeen", []edit{
		{client, "work.late = now-r.arrival >= engine.Second", "work.late = now-a.began >= engine.Second"},
	}},
	{"who waits for a connection that hangs waits until it is given up", []string{"simulator 1"}, "sim/traffic", "TestWhoWaitsForAConnectionThatHangsFollowsWhenItStands", []edit{
		{pool, "\tc.busyUntil(end)\n", "\tc.busyUntil(engine.Never)\n"},
	}},
	{"a session that waits is not dark", []string{"simulator 9"}, "sim/traffic", "TestASessionWithoutAServerIsDarkWhoeverWaited", []edit{
		{"sim/traffic/dark.go", "d.add(now - l.dark)", "d.add(now - now)"},
	}},
	{"a session loses what fails only", []string{"simulator 9"}, "sim", "TestASessionLosesTheTimeWithoutAServer", []edit{
		{"sim/run.go", "max(s.LostSeconds, dark.Mean), max(s.LongestOutage, dark.All)", "max(s.LostSeconds, 0*dark.Mean), max(s.LongestOutage, dark.All)"},
	}},
	{"calls that wait for a connection are lost", []string{"simulator 9"}, "sim", "TestASessionLosesTheTimeWithoutAServer", []edit{
		{"sim/run.go", "if t.Connection == world.ConnectionSession {", "if t.Connection != world.ConnectionOwn {"},
	}},
	{"clients inside wait as long as those outside", []string{"simulator 9"}, scenario, "TestHowLongClientsWait", []edit{
		{habits, "case t.FromOutside():", `case t.FromOutside() || t.Service != "":`},
	}},
	{"webhooks and UDP wait as long as others", []string{"simulator 9"}, scenario, "TestHowLongClientsWait", []edit{
		{habits, "return t.Protocol == endpoints.UDP || t.Named || t.Class == ClassWebhook", "return t.Named"},
	}},
	{"a default of the clients stands over what their stream says", []string{"simulator 9"}, scenario, "TestWhatAStreamSaysOfItsClients", []edit{
		{habits, "(b.opts.Timeout != \"\" || !c.present())", "(b.opts.Timeout != \"\" || c.present() || !c.present())"},
	}},
	{"gRPC dials as long as a request may take", []string{"simulator 9"}, scenario, "TestHowLongClientsWait", []edit{
		{habits, "\t\tdef = dialTimeout\n", "\t\tdef = t.Timeout\n"},
	}},
	{"pools do not repeat by default", []string{"simulator 9"}, scenario, "TestHowLongClientsWait", []edit{
		{habits, "repeats.flag(true)", "repeats.flag(false)"},
	}},
	{"a slower app is tried on clients that do not wait for it", []string{"simulator 9"}, scenario, "TestASlowerAppHasTheSameClients", []edit{
		{"sim/scenario/alternatives.go", "limit > 0 && limit <= median", "limit > 0 && limit < 0*median"},
	}},
	{"addresses answer behind a filter", []string{"simulator 9"}, scenario, "TestWhatAnAddressAnswersIsNoMatterBehindAFilter", []edit{
		{habits, "!t.LB.ICMPFiltered ||", "t.LB.ICMPFiltered || !t.LB.ICMPFiltered ||"},
	}},
	{"darkness ends with the run only", []string{"simulator 9"}, "sim/traffic", "TestDarknessHasAnEnd", []edit{
		{"sim/traffic/dark.go", "end = min(end, t.stopped)", "end = max(end, engine.Second)"},
	}},
	{"a server that shuts down leaves idle connections open", []string{"propagation 5 after SIGTERM, graceful server"}, "sim", "TestAServerThatShutsDownClosesIdleConnections", []edit{
		{network, "o.traffic.CloseIdle(uint64(i.Pod), o.eng.Now(), false)", "o.traffic.Until(uint64(i.Pod), o.eng.Now())"},
	}},
	{"what is on its way when the server closes is served", []string{"propagation 5 after SIGTERM, graceful server"}, "sim/traffic", "TestTheRaceForAnIdleConnectionIsARoundTripWide", []edit{
		{pool, "case c.sent+c.rtt()/2 > now:", "case c.sent > now:"},
	}},
	{"the client knows at once that the server has closed", []string{"propagation 5 after SIGTERM, graceful server"}, "sim/traffic", "TestTheRaceForAnIdleConnectionIsARoundTripWide|TestAServerClosingIdle", []edit{
		{pool, "now >= c.closed+c.rtt()/2", "now >= c.closed"},
	}},
	{"a busy connection stays open after its answer", []string{"propagation 5 after SIGTERM, graceful server"}, "sim/traffic", "TestABusyConnectionIsClosedAfterItsAnswer", []edit{
		{pool, "c.closed = c.free - c.rtt()/2", "c.closed = engine.Never"},
	}},
	{"the race for a connection that was idle too long is half a round trip wide", []string{"propagation 5 after SIGTERM, graceful server"}, "sim/traffic", "TestAServerClosesWhatIsIdleTooLong", []edit{
		{pool, "now > c.expires()-c.rtt()", "now > c.expires()-c.rtt()/2"},
	}},
	{"servers keep idle connections for ever", []string{"propagation 5 uvicorn", "propagation 5 Node.js"}, "sim/traffic", "TestAServerClosesWhatIsIdleTooLong", []edit{
		{pool, "limit := c.target.Server.IdleLimit()", "limit := c.target.Server.IdleLimit() &^ c.target.Server.IdleLimit()"},
	}},
	{"node keeps idle connections for 50 s", []string{"propagation 5 Node.js"}, serverFacts, "TestHowLongServersKeepIdleConnections", []edit{
		{"sim/servers/profile.go", "Listener: world.ListenerStays, InFlight: world.InFlightCut, ServerIdle: 5 * engine.Second}},", "Listener: world.ListenerStays, InFlight: world.InFlightCut, ServerIdle: 50 * engine.Second}},"},
	}},
	{"an init is PID 1 in name only", []string{"propagation 5 An init as PID 1"}, serverFacts, "TestProfileByImageAndCommand", []edit{
		{"sim/servers/profile.go", "argv, behind = pastOptions(argv[1:]), true", "argv = pastOptions(argv[1:])"},
	}},
	{"nats-server accepts in lame duck mode", []string{"propagation 5 NATS"}, serverFacts, "TestHookOf", []edit{
		{"sim/servers/program.go", `closes: true, why: []string{strings.Join(argv, " ") + " has it stop`, `why: []string{strings.Join(argv, " ") + " has it stop`},
	}},
}

// What stands before the pods that an Ingress leads to.
var ingressMutants = []mutant{
	{"ingress-nginx syncs whenever it likes", []string{"propagation 1.9"}, scenario, "TestPresets", []edit{
		{ingressPreset, "controllerHold: 3.333s", "controllerHold: 0s"},
	}},
	{"ingress-nginx keeps pods that are not ready", []string{"propagation 1.9"}, scenario, "TestProxiesInside", []edit{
		{ingressPreset, "members: ready-pods, nodesLeave: deleted", "members: live-pods, nodesLeave: deleted"},
	}},
	{"a controller never holds back", []string{"propagation 1.9"}, "sim/balancer", "TestAControllerThatHoldsBack", []edit{
		{"sim/balancer/balancer.go", "b.acted+b.spec.ControllerHold)", "b.acted)"},
	}},
	{"pods that are published before they serve get requests", []string{"propagation 1.9"}, "sim/balancer", "TestMembership", []edit{
		{"sim/balancer/balancer.go", "world.MembersServingPods: e.Serving && !e.Terminating,", "world.MembersServingPods: !e.Terminating,"},
	}},
	{"an Ingress goes by the name of its class alone", []string{"simulator 5.2"}, scenario, "TestEvidenceOfAnIngress", []edit{
		{"sim/scenario/route.go", "switch c := r.Controller; {", "switch c := r.Controller[:0]; {"},
	}},
	{"annotations of several controllers are the first one's", []string{"simulator 5.2"}, scenario, "TestAnAnnotationOfAnIngressIsNamed", []edit{
		{"sim/scenario/route_annotation.go", "if len(all) != 1 {", "if len(all) == 0 {"},
	}},
	{"service-upstream is for classes called nginx", []string{"simulator 5.2"}, scenario, "TestServiceUpstreamCountsWhereverNginxIsSimulated", []edit{
		{"sim/scenario/lb.go", "found.bypass = nginxBypass(t.Route)", "_ = nginxBypass(t.Route)"},
	}},
	{"one entrance stands for all", []string{"simulator 5.2 Entrances"}, scenario, "TestEachKindOfEntranceIsACase", []edit{
		{"sim/scenario/entrance.go", "const mostEntrances = 4", "const mostEntrances = 1"},
	}},
	{"an Ingress of another class is of the same kind", []string{"simulator 5.2 Entrances"}, scenario, "TestPortsOfOneEntranceAreOneEntry", []edit{
		{"sim/scenario/infer.go", "b.kindOf(&e.subject) == b.kindOf(s)", "true"},
	}},
	{"instances need no node port", []string{"simulator 5.2"}, scenario, "TestEvidenceOfAnIngress", []edit{
		{"sim/scenario/lb.go", "(t.LB == nil || t.LB.Target != world.TargetPods) &&", "t.LB == nil &&"},
	}},
	{"an unknown load balancer is the first that it might be", []string{"simulator 5.2"}, scenario, "TestACaseIsMadeForEachLoadBalancerThatItMightBe", []edit{
		{"sim/scenario/lb_families.go", "found.name = b.family", "_ = b.family"},
	}},
	{"what sends to nodes is tried without node ports", []string{"simulator 5.2"}, scenario, "TestACaseIsMadeForEachLoadBalancerThatItMightBe", []edit{
		{"sim/scenario/lb_families.go", "p.LoadBalancer.Target == world.TargetPods || hasNodePort", "true || p.LoadBalancer.Target == world.TargetPods || hasNodePort"},
	}},
	{"the first try is none", []string{"simulator 1"}, scenario, "TestAnnotationsOfAProxy", []edit{
		{"sim/scenario/lb_proxies.go", "l.Layer7.Retries = int(n) - 1 //", "l.Layer7.Retries = int(n) //"},
	}},
}

const darkPods = "sim/cluster/dark.go"

// What is no fact of Kubernetes, but specified with the simulator: scenarios ask for it.
var ownMutants = []mutant{
	{"ten times as many errors", []string{"simulator 2"}, "sim", "TestAppErrorsAreThePartAskedFor", []edit{
		{"sim/kubelet/requests.go", "engine.Below(engine.Another(draw), 1000) < app.Errors", "engine.Below(engine.Another(draw), 100) < app.Errors"},
	}},
	{"an app's error is put down to overload", []string{"simulator 2"}, "sim", "TestCauses", []edit{
		{"sim/cluster/blame.go", "return ledger.AppError, ledger.App", "return ledger.Overloaded, ledger.App"},
	}},
	{"a pod that answers everything with an error would do", []string{"simulator 2"}, "sim", "TestPairsOfAnswers", []edit{
		{"sim/cluster/blame.go", "i.App.Errors >= everyRequest", "i.App.Errors > everyRequest"},
	}},
	{"a pod that is deleted would have been another one", []string{"simulator 2"}, "sim/cluster", "TestWhoElseCouldHaveAnswered", []edit{
		{"sim/cluster/blame.go", "ok && !p.Deleting() {", "ok && !p.Gone {"},
	}},
	{"an error comes at once", []string{"simulator 2"}, "sim/traffic", "TestFaultsBecomeOutcomes", []edit{
		{client, "t.later(end, step{attempt: *a, fault: ledger.FaultErred", "t.later(now+s.spec.RTT, step{attempt: *a, fault: ledger.FaultErred"},
	}},
	{"an error that is cut comes all the same", []string{"simulator 2"}, "sim/traffic", "TestAnErrorThatIsOnItsWayIsCut", []edit{
		{"sim/traffic/pending.go", "*s.cut = true", "*s.cut = false"},
	}},
	{"the pod that went last is replaced first", []string{"simulator 5.1"}, cluster, "TestThePodThatIsDarkLongestIsReplacedFirst", []edit{
		{darkPods, "for i := range d.gone {", "for i := len(d.gone) - 1; i >= 0; i-- {"},
	}},
	{"a successor that is there before is none", []string{"simulator 5.1"}, cluster, "TestThePodThatIsDarkLongestIsReplacedFirst|TestDarkPodsOfARollOut", []edit{
		{darkPods, "if d.spare > 0 {", "if d.spare > 1000 {"},
	}},
	{"a pod is dark 10 % less", []string{"simulator 5.1"}, cluster, "TestDarkPodsOfARollOut", []edit{
		{darkPods, "p.until-p.from)", "(p.until-p.from)*9/10)"},
	}},
	{"a rollout takes until the end of the run", []string{"simulator 5.1"}, cluster, "TestLengthOfARollOut", []edit{
		{darkPods, "d.last-d.begun", "w.eng.Now()-d.begun"},
	}},
	{"a rollout begins with any pod that goes", []string{"simulator 5.1"}, cluster, "TestLengthOfARollOut", []edit{
		{darkPods, "\td.last = now\n", "\td.last = now\n\td.rollOut(now)\n"},
	}},
	{"where clients choose the pod, there is a verdict", []string{"simulator 5.1"}, "sim/sweep", "TestDarkPodsOfAHeadlessService", []edit{
		{"sim/record/judge.go", "\t\tc.darken()\n\t\treturn\n", "\t\tif c.darken(); len(c.Runs) == 0 {\n\t\t\treturn\n\t\t}\n"},
	}},
}

// When behaviour changed.
var versionMutants = []mutant{
	{"terminating endpoints in slices from 1.21", []string{"kube-proxy 11 EndpointSliceTerminatingCondition"}, "endpoints", "TestDefaultsOfEachVersion", []edit{
		{versions, "Alpha: 20, On: 22, GA: 26", "Alpha: 20, On: 21, GA: 26"},
	}},
	{"internalTrafficPolicy from 1.23", []string{"kube-proxy 11 ServiceInternalTrafficPolicy"}, "endpoints", "TestDefaultsOfEachVersion", []edit{
		{versions, "Alpha: 21, On: 22, GA: 26", "Alpha: 21, On: 23, GA: 26"},
	}},
	{"zone hints from 1.23", []string{"kube-proxy 11 TopologyAwareHints"}, "endpoints", "TestDefaultsOfEachVersion", []edit{
		{versions, "Alpha: 21, On: 24, GA: 33", "Alpha: 21, On: 23, GA: 33"},
	}},
	{"the fallback from 1.25", []string{"kube-proxy 11 ProxyTerminatingEndpoints"}, "endpoints", "TestDefaultsOfEachVersion", []edit{
		{versions, "Alpha: 22, On: 26, GA: 28", "Alpha: 22, On: 25, GA: 28"},
	}},
	{"the proxy's health counts from 1.26", []string{"kube-proxy 11 healthCheckNodePort also"}, "endpoints", "TestDefaultsOfEachVersion", []edit{
		{versions, "On: 27, Source:", "On: 26, Source:"},
	}},
	{"node eligibility from 1.31", []string{"kube-proxy 11 KubeProxyDrainingTerminatingNodes"}, "endpoints", "TestDefaultsOfEachVersion", []edit{
		{versions, "Alpha: 28, On: 30, GA: 31", "Alpha: 28, On: 31, GA: 31"},
	}},
	{"ipMode from 1.29", []string{"kube-proxy 11 LoadBalancerIPMode"}, "endpoints", "TestDefaultsOfEachVersion", []edit{
		{versions, "Alpha: 29, On: 30, GA: 32", "Alpha: 29, On: 29, GA: 32"},
	}},
	{"the weight from 1.30", []string{"kube-proxy 11 X-Load-Balancing"}, "endpoints", "TestDefaultsOfEachVersion", []edit{
		{versions, "On: 31, Source:", "On: 30, Source:"},
	}},
	{"trafficDistribution from 1.30", []string{"kube-proxy 11 ServiceTrafficDistribution"}, cluster, "TestHintsOfEachEndpoint", []edit{
		{"sim/world/hints.go", "Minor: 31}", "Minor: 30}"},
	}},
	{"node hints from 1.35", []string{"kube-proxy 11 PreferSameTrafficDistribution"}, "endpoints", "TestDefaultsOfEachVersion", []edit{
		{versions, "Alpha: 33, On: 34, GA: 35", "Alpha: 33, On: 35, GA: 35"},
	}},
}
