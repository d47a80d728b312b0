package facts

const (
	serving  = "cmd/lameduck/internal/agent/serve.go"
	counting = "proxier/metrics/metrics.go"
	observed = "proxier/metrics/observe.go"
)

// What a real proxy is asked over HTTP.
var servedMutants = []mutant{
	{"health-check node ports are open everywhere", []string{"kube-proxy 5.1 Listen"}, "cmd/lameduck/internal/agent", "TestWhereServicesPortsAreOpen", []edit{
		{serving, "if ranges == nil {", "if true {"},
	}},
	{"health-check node ports are closed without nodePortAddresses", []string{"kube-proxy 5.1 Listen"}, "cmd/lameduck/internal/agent", "TestWhereServicesPortsAreOpen", []edit{
		{serving, "if ranges == nil {", "if false {"},
	}},
	{"health-check node ports stay where they were", []string{"kube-proxy 5.1 Listen"}, "healthcheck/server", "TestAPortThatIsTakenIsGivenUpWithItsService", []edit{
		{"healthcheck/server/nodeports.go", "if !wanted[at] {", "if len(wanted) > 1 {"},
	}},
	{"a Service that is gone answers 200 while its port closes", []string{"kube-proxy 5.1 Status"}, "healthcheck/server", "TestAServiceThatIsGoneAnswers503WhileItsPortCloses", []edit{
		{"healthcheck/server/server.go", "	w.WriteHeader(a.Status)\n", "	w.WriteHeader(http.StatusOK)\n"},
	}},
	{"the proxy's own port answers by the node on both paths", []string{"kube-proxy 5.2 /livez"}, "healthcheck/server", "TestTheProxysOwnPort", []edit{
		{"healthcheck/server/server.go", `s.answer(w, "/livez", healthcheck.Livez(s.opts.State().Proxy, s.opts.Now(), healthcheck.Timeout))`,
			`s.answer(w, "/livez", healthcheck.Healthz(s.opts.State().Proxy, s.opts.State().Node, s.opts.Now(), healthcheck.Timeout, s.opts.Behaviour))`},
	}},
	{"buckets of syncs begin later", []string{"kube-proxy 9"}, "proxier/metrics", "TestNamesLabelsAndBucketsAreKubeProxys", []edit{
		{counting, "prometheus.ExponentialBuckets(0.001, 2, 15)", "prometheus.ExponentialBuckets(0.005, 2, 15)"},
	}},
	{"buckets of programming end earlier", []string{"kube-proxy 9"}, "proxier/metrics", "TestNamesLabelsAndBucketsAreKubeProxys", []edit{
		{counting, "prometheus.LinearBuckets(120, 30, 7),", "prometheus.LinearBuckets(120, 30, 6),"},
	}},
	{"both modes count failures of iptables", []string{"kube-proxy 9"}, "proxier/metrics", "TestNamesLabelsAndBucketsAreKubeProxys", []edit{
		{counting, "if m.mode == plan.NFTables {", "if m.mode != plan.NFTables && m.mode != plan.IPTables {"},
	}},
	{"programming is measured to the beginning of the sync", []string{"kube-proxy 9"}, "proxier/metrics", "TestProgrammingIsMeasuredFromTheTriggerOfItsFamily", []edit{
		{observed, "Observe(s.End.Sub(t.At).Seconds())", "Observe(s.Start.Sub(t.At).Seconds())"},
	}},
	{"a sync that failed is not measured", []string{"kube-proxy 9"}, "proxier/metrics", "TestDurationsOfSyncs", []edit{
		{observed, "	if s.Check() {\n", "	if s.Check() || s.Err != nil {\n"},
	}},
	{"ports without a local endpoint are forgotten with their Service only", []string{"kube-proxy 9"}, "proxier/metrics", "TestPortsThatDropForWantOfALocalEndpoint", []edit{
		{observed, "t.add(t.inForce.Service(name), -1)", "if s.Plan.Service(name) == nil {\n\t\t\t\tt.add(t.inForce.Service(name), -1)\n\t\t\t}"},
	}},
	{"metrics are served to everybody by default", []string{"kube-proxy 10"}, "cmd/lameduck/internal/cli", "TestWhereServersListen", []edit{
		{proxyConfig + "/defaults.go", `all, local := "0.0.0.0", "127.0.0.1"`, `local, all := "0.0.0.0", "127.0.0.1"`},
	}},
}
