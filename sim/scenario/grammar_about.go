package scenario

// What the fields of a Scenario are for, in the order of the grammar: the words of Fields. A field of the grammar
// without a row here fails a test, and so does a row without a field. The latencies, and what a load balancer differs in,
// have their words where they are read.

func aboutDocument() []FieldDoc {
	return []FieldDoc{
		{"apiVersion", "", "", "lameduck/v1alpha1"},
		{"kind", "", "", "Scenario"},
		{"metadata.name", "", "the file's name", "the name of the case"},
		{"metadata.namespace", "", "", "not used"},
		{"metadata.labels.NAME", "", "", "not used"},
		{"metadata.annotations.NAME", "", "", "not used"},
		{"spec.description", "", "", "for readers of the file"},
		{"spec.manifests", "", "", "files with the objects of the world, relative to this file; documents beside this one count, too, and so do all other inputs"},
		{"spec.warmup", "", "5s", "time of traffic before the first action, where no action has a time of its own"},
		{"spec.until", "", "1h", "the end of the run, even if not everything has settled"},
	}
}

func aboutWorld() []FieldDoc {
	return []FieldDoc{
		{"spec.kubernetes.version", "", "1.36", "the cluster's version, from 1.19 on: kube-proxy, the API server and the controllers behave like it"},
		{"spec.kubernetes.featureGates.NAME", "", "as in that version", "a feature gate of kube-proxy, such as ProxyTerminatingEndpoints"},
		{"spec.churn", "", "0/s, and 0.2/s for manifests", "changes of other Services' EndpointSlices: every kube-proxy syncs for each, and what changes next waits for minSyncPeriod"},
		{"spec.nodes.count", "", "as many as the pods need, at least 3", "made-up nodes; leave it out where the input has Node objects"},
		{"spec.nodes.zones", "", "[a, b, c]", "zones, given to the made-up nodes in turn"},
		{"spec.nodes.proxy.mode", "", "iptables", "kube-proxy's mode"},
		{"spec.nodes.proxy.minSyncPeriod", "", "1s", "kube-proxy's minSyncPeriod: between the end of a sync and the next one (up to 1.33: by a token bucket)"},
		{"spec.nodes.proxy.syncPeriod", "", "30s", "kube-proxy's syncPeriod: until a failed sync is tried again"},
		{"spec.nodes.proxy.masqueradeAll", "", "false", "kube-proxy's masqueradeAll"},
		{"spec.nodes.overrides[].node", "", "", "the node that is different: its name, node-1 for the first of made-up ones"},
		{"spec.nodes.overrides[].zone", "", "its own", "its zone"},
		{"spec.nodes.overrides[].proxy.mode", "", "spec.nodes.proxy.mode", "its proxy's mode"},
		{"spec.nodes.overrides[].proxy.minSyncPeriod", "", "spec.nodes.proxy.minSyncPeriod", "its proxy's minSyncPeriod"},
		{"spec.nodes.overrides[].proxy.syncPeriod", "", "spec.nodes.proxy.syncPeriod", "its proxy's syncPeriod"},
		{"spec.nodes.overrides[].proxy.masqueradeAll", "", "spec.nodes.proxy.masqueradeAll", "its proxy's masqueradeAll"},
		{"spec.nodes.overrides[].latency.watch", "", "spec.latency.watch", "the delay of its proxy's watch events"},
		{"spec.nodes.overrides[].latency.proxySync", "", "spec.latency.proxySync", "how long its proxy's syncs take"},
		{"spec.latency.readyToRules", "", "what the single delays add up to", "from a pod's Ready condition to the rules of a node, as measured by kube-proxy's network_programming_duration_seconds"},
		{"spec.init", "", "5s", "how long each init container runs, one after another, where its app does not say it; a sidecar (restartPolicy Always) only has to be started"},
		{"spec.clients.timeout", "", "30s from outside, 10s inside", "how long clients wait for the answer to a request, the connection included, where their traffic does not say it; UDP, webhook and DNS clients have timeouts of their own"},
		{"spec.clients.connectTimeout", "", "that of the request", "how long they wait for a connection, but those of gRPC"},
		{"spec.clients.dialTimeout", "", "20s", "how long gRPC's clients try to connect, whatever the deadlines of the calls that wait"},
		{"spec.clients.repeatReused", "", "true", "clients of a keep-alive pool ask again over another connection when one that they had used before is closed before any byte of the answer"},
		{"spec.deadAddress", "", "silent", "what the address of a pod answers that is gone: nothing, or ICMP host unreachable so long after the first SYN: 0s where the node has no route to it, 3s where it asks by ARP"},
		{"spec.loadBalancer.preset", "", "auto: by what the Service says", "the load balancer of Services of type LoadBalancer: the name of a preset, or none"},
		{"spec.ingress.preset", "", "by the class of the Ingress", "an ingress controller whose pods are part of the Scenario"},
	}
}

func aboutTraffic() []FieldDoc {
	rows := []FieldDoc{
		{"name", "", "traffic-1, traffic-2, ...", "the name of the stream in reports"},
		{"from", "", "external", "where the clients are: outside of the cluster, or in its pods"},
		{"to", "", "", "NAMESPACE/SERVICE:PORT; the namespace default may be left out, the port may be a name"},
		{"nodes", "", "all nodes", "with from pods: where the clients run; with from external: the nodes they connect to"},
		{"via", "", "[lb] where the Service has one", "the way: lb, nodePort, clusterIP, and the Service of an ingress controller as NAMESPACE/SERVICE:PORT, in the order in which requests pass them"},
		{"protocol", "", "that of the port", "to tell apart two ports with one number"},
		{"rate", "", "100/s", "requests a second, over all clients"},
		{"arrivals", "", "poisson", "when they ask: by chance, evenly, or each as soon as it has its answer"},
		{"clients", "", "1; 20 connections with keep-alive; 10 with http2 and session", "how many clients, or connections of a pool, there are"},
		{"connection", "", "per-request", "what requests share of a connection"},
		{"waitForReady", "", "false", "gRPC calls wait for a connection instead of failing while there is none"},
		{"sourcePorts", "", "ephemeral", "of UDP clients: a port for each question, or one for all"},
		{"idle", "", "1m", "with keep-alive: how long the client keeps an idle connection"},
		{"connectTimeout", "", "that of the request; 20s with grpc", "how long the client waits for a connection"},
		{"timeout", "", "30s from outside, 10s inside; 2s for UDP, 5s for headless Services", "how long it waits for the answer, the connection included"},
		{"repeatReused", "", "true", "with keep-alive: it asks again over another connection when one that it had used before is closed before any byte of the answer"},
		{"retries.count", "", "0; 1 for UDP and headless Services", "how often it asks again after a failure"},
		{"headline", "", "true", "the stream counts for the verdict's first line"},
	}
	for i := range rows {
		rows[i].Path = "spec.traffic[]." + rows[i].Path
	}
	return rows
}

func aboutActions() []FieldDoc {
	rows := []FieldDoc{
		{"at", "", "spec.warmup", "when, from the beginning of the run"},
		{"for", "", "for good", "when it ends by itself: setReady, dependency, apiserver, pause, component with pause, scaleDownNode"},
		{"namespace", "", "that of the only workload of the name", "of the workload"},
		{"rolloutRestart", "", "", "kubectl rollout restart: deployment/NAME"},
		{"apply", "", "", "kubectl apply of a file with a changed Deployment"},
		{"setImage.of", "", "", "kubectl set image: deployment/NAME"},
		{"setImage.container", "", "the only one", "the container"},
		{"setImage.image", "", "", "its new image"},
		{"scale.of", "", "", "kubectl scale: deployment/NAME"},
		{"scale.replicas", "", "", "to so many"},
		{"delete.of", "", "", "kubectl delete pod, of deployment/NAME"},
		{"delete.pod", "", "0", "which: 0 is the first of them"},
		{"crashPod.of", "", "", "a pod's process ends, of deployment/NAME"},
		{"crashPod.pod", "", "0", "which"},
		{"setReady.of", "", "", "a pod's own readiness changes, of deployment/NAME"},
		{"setReady.pod", "", "0", "which"},
		{"setReady.ready", "", "false", "to what"},
		{"setGate.of", "", "", "a readiness gate of a pod changes, of deployment/NAME"},
		{"setGate.pod", "", "0", "which"},
		{"setGate.type", "", "the only one", "the condition's type"},
		{"setGate.open", "", "true", "to what"},
		{"pause", "", "", "kubectl rollout pause: deployment/NAME"},
		{"resume", "", "", "kubectl rollout resume: deployment/NAME"},
		{"rollback", "", "", "kubectl rollout undo: deployment/NAME"},
		{"dependency.name", "", "", "what apps.NAME.dependsOn names"},
		{"dependency.state", "", "down", "becomes so"},
		{"apiserver", "", "", "the API server goes away, or comes back"},
		{"component.name", "", "", "a component: kube-proxy/NODE, kubelet/NODE, lb-controller, scheduler, deployment-controller, replicaset-controller or endpointslice-controller"},
		{"component.pause", "", "false", "it is paused"},
		{"component.restart", "", "false", "it is restarted"},
		{"scaleDownNode", "", "", "Cluster Autoscaler removes a node: the taint, then the machine after for"},
		{"crashNode", "", "", "a node's machine is gone at once"},
	}
	for i := range rows {
		rows[i].Path = "spec.actions[]." + rows[i].Path
	}
	return rows
}

func aboutExpect() []FieldDoc {
	rows := []FieldDoc{
		{"failed.max", "", "", "requests that fail in each run, at most"},
		{"failed.min", "", "", "at least"},
		{"lostSeconds.max", "", "", "seconds of traffic that each run loses, at most"},
		{"lostSeconds.min", "", "", "at least"},
		{"causes.only", "", "", "no other cause occurs"},
		{"causes.some", "", "", "each of these occurs"},
		{"causes.none", "", "", "none of these occurs"},
		{"verdict", "", "", "the verdict over all runs"},
		{"order", "", "", "texts that lines of the story contain, in this order"},
		{"usablePods.min", "", "", "pods that can serve, at any moment, at least"},
		{"usablePods.max", "", "", "in the worst moment at most"},
	}
	for i := range rows {
		rows[i].Path = "spec.expect." + rows[i].Path
	}
	return rows
}
