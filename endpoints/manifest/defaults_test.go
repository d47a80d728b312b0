package manifest

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// field returns what stands at a path in an object's JSON, as JSON; "absent"
// when nothing does.
func field(t *testing.T, o *Object, path string) string {
	t.Helper()
	data, err := json.Marshal(o.Value)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	for _, s := range parsePath(path) {
		switch at := v.(type) {
		case map[string]any:
			v = at[s.name]
		case []any:
			if s.index >= len(at) {
				return "absent"
			}
			v = at[s.index]
		default:
			return "absent"
		}
	}
	if v == nil {
		return "absent"
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func loadOne(t *testing.T, text string) *Object {
	t.Helper()
	objects, problems := Load([]File{{"in.yaml", []byte(text)}}, Options{})
	if len(problems) != 0 || len(objects.All) != 1 {
		t.Fatalf("%d objects, problems %v, in\n%s", len(objects.All), problems, text)
	}
	return objects.All[0]
}

// SetDefaults_Pod copies limits (pkg/apis/core/v1/defaults.go, 1.36.3): without any there is nothing that a container asks for.
func TestWithoutLimitsNothingIsRequested(t *testing.T) {
	t.Parallel()
	for resources, want := range map[string]string{
		"":                                   "absent",
		", resources: {limits: {cpu: 100m}}": `{"cpu":"100m"}`,
	} {
		pod := "containers: [{name: c" + resources + "}]"
		o := loadOne(t, "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {"+pod+"}}")
		if got := field(t, o, "spec.containers[0].resources.requests"); got != want {
			t.Errorf("%s: requests %s, want %s", pod, got, want)
		}
		if p, ok := o.Value.(*corev1.Pod); !ok || (p.Spec.Containers[0].Resources.Requests == nil) != (want == "absent") {
			t.Errorf("%s: an empty list is not none", pod)
		}
	}
}

func service(spec string) string {
	return "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80}], " + spec + "}}"
}

func workload(kind, spec, pod string) string {
	return "{apiVersion: apps/v1, kind: " + kind + ", metadata: {name: a}, spec: {selector: {matchLabels: {a: b}}, " + spec +
		" template: {metadata: {labels: {a: b}}, spec: {" + pod + "}}}}"
}

func scaled(behavior string) string {
	return "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a}, spec: {maxReplicas: 9, scaleTargetRef: {kind: Deployment, name: a}, behavior: {" + behavior + "}}}"
}

const oneContainer = "containers: [{name: c}]"

func TestDefaults(t *testing.T) {
	t.Parallel()
	const spec, template = "spec.", "spec.template.spec."
	for _, tt := range []struct{ name, object, path, want string }{
		// Service
		{"a Service is of type ClusterIP", service(""), spec + "type", `"ClusterIP"`},
		{"a Service has no affinity", service(""), spec + "sessionAffinity", `"None"`},
		{"without affinity there is no affinity config", service(""), spec + "sessionAffinityConfig", "absent"},
		{"ClientIP affinity lasts three hours", service("sessionAffinity: ClientIP"), spec + "sessionAffinityConfig.clientIP.timeoutSeconds", "10800"},
		{"an empty affinity config counts as none", service("sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {}}"), spec + "sessionAffinityConfig.clientIP.timeoutSeconds", "10800"},
		{"a given affinity timeout stays", service("sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: 60}}"), spec + "sessionAffinityConfig.clientIP.timeoutSeconds", "60"},
		{"a port is TCP", service(""), spec + "ports[0].protocol", `"TCP"`},
		{"the target port is the port", service(""), spec + "ports[0].targetPort", "80"},
		{"a target port of 0 counts as none", "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80, targetPort: 0}]}}", spec + "ports[0].targetPort", "80"},
		{"an empty target port counts as none", "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80, targetPort: \"\"}]}}", spec + "ports[0].targetPort", "80"},
		{"a named target port stays", "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80, targetPort: http}]}}", spec + "ports[0].targetPort", `"http"`},
		{"a ClusterIP Service has no externalTrafficPolicy", service(""), spec + "externalTrafficPolicy", "absent"},
		{"with externalIPs it has", service("externalIPs: [203.0.113.1]"), spec + "externalTrafficPolicy", `"Cluster"`},
		{"a NodePort Service has", service("type: NodePort"), spec + "externalTrafficPolicy", `"Cluster"`},
		{"a LoadBalancer Service has", service("type: LoadBalancer"), spec + "externalTrafficPolicy", `"Cluster"`},
		{"Local stays", service("type: LoadBalancer, externalTrafficPolicy: Local"), spec + "externalTrafficPolicy", `"Local"`},
		{"internalTrafficPolicy of ClusterIP is Cluster", service(""), spec + "internalTrafficPolicy", `"Cluster"`},
		{"internalTrafficPolicy of LoadBalancer is Cluster", service("type: LoadBalancer"), spec + "internalTrafficPolicy", `"Cluster"`},
		{"ExternalName has no internalTrafficPolicy", service("type: ExternalName, externalName: a.b"), spec + "internalTrafficPolicy", "absent"},
		{"a load balancer gets node ports", service("type: LoadBalancer"), spec + "allocateLoadBalancerNodePorts", "true"},
		{"unless it says no", service("type: LoadBalancer, allocateLoadBalancerNodePorts: false"), spec + "allocateLoadBalancerNodePorts", "false"},
		{"others have no say", service("type: NodePort"), spec + "allocateLoadBalancerNodePorts", "absent"},
		{"clusterIPs come from clusterIP", service("clusterIP: 10.0.0.1"), spec + "clusterIPs", `["10.0.0.1"]`},
		{"clusterIP comes from clusterIPs", service("clusterIPs: [10.0.0.1]"), spec + "clusterIP", `"10.0.0.1"`},
		{"None is one of clusterIPs", service("clusterIP: None"), spec + "clusterIPs", `["None"]`},
		{"ipFamilies come from the cluster IPs", service("clusterIPs: [\"2001:db8::1\", 10.0.0.1], ipFamilyPolicy: RequireDualStack"), spec + "ipFamilies", `["IPv6","IPv4"]`},
		{"without a cluster IP the families depend on the cluster", service(""), spec + "ipFamilies", "absent"},
		{"a Service is single-stack", service(""), spec + "ipFamilyPolicy", `"SingleStack"`},
		{"a headless one with a selector, too", service("clusterIP: None, selector: {a: b}"), spec + "ipFamilyPolicy", `"SingleStack"`},
		{"headless without a selector is dual-stack", service("clusterIP: None"), spec + "ipFamilyPolicy", `"RequireDualStack"`},
		{"ExternalName has no family policy", service("type: ExternalName, externalName: a.b"), spec + "ipFamilyPolicy", "absent"},
		{"a load balancer's IP is a VIP", service("type: LoadBalancer}, status: {loadBalancer: {ingress: [{ip: 1.2.3.4}]}"), "status.loadBalancer.ingress[0].ipMode", `"VIP"`},
		{"its host name has no mode", service("type: LoadBalancer}, status: {loadBalancer: {ingress: [{hostname: a.b}]}"), "status.loadBalancer.ingress[0].ipMode", "absent"},

		// EndpointSlice
		{"an endpoint port's name is empty, not nil", "{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, addressType: IPv4, metadata: {name: a, labels: {kubernetes.io/service-name: w}}, endpoints: [], ports: [{port: 80}]}", "ports[0].name", `""`},
		{"an endpoint port is TCP", "{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, addressType: IPv4, metadata: {name: a, labels: {kubernetes.io/service-name: w}}, endpoints: [], ports: [{port: 80}]}", "ports[0].protocol", `"TCP"`},
		{"conditions stay nil", "{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, addressType: IPv4, metadata: {name: a, labels: {kubernetes.io/service-name: w}}, endpoints: [{addresses: [10.0.0.1]}]}", "endpoints[0].conditions", "{}"},

		// HorizontalPodAutoscaler
		{"up by four pods", scaled("scaleUp: {}"), spec + "behavior.scaleUp.policies", `[{"periodSeconds":15,"type":"Pods","value":4},{"periodSeconds":15,"type":"Percent","value":100}]`},
		{"down by all of them", scaled("scaleUp: {}"), spec + "behavior.scaleDown.policies", `[{"periodSeconds":15,"type":"Percent","value":100}]`},
		{"a given policy stays", scaled("scaleDown: {policies: [{type: Pods, value: 1, periodSeconds: 60}]}"), spec + "behavior.scaleDown.policies", `[{"periodSeconds":60,"type":"Pods","value":1}]`},
		{"the larger change counts", scaled("scaleDown: {}"), spec + "behavior.scaleDown.selectPolicy", `"Max"`},
		{"up at once", scaled("scaleDown: {}"), spec + "behavior.scaleUp.stabilizationWindowSeconds", "0"},
		{"without a behavior there is none", "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a}, spec: {maxReplicas: 9, scaleTargetRef: {kind: Deployment, name: a}}}", spec + "behavior", "absent"},

		// Node
		{"allocatable is the capacity", "{apiVersion: v1, kind: Node, metadata: {name: a}, status: {capacity: {cpu: 2}}}", "status.allocatable.cpu", `"2"`},
		{"a given allocatable stays", "{apiVersion: v1, kind: Node, metadata: {name: a}, status: {capacity: {cpu: 2}, allocatable: {cpu: 1}}}", "status.allocatable.cpu", `"1"`},
		{"without a capacity there is none", "{apiVersion: v1, kind: Node, metadata: {name: a}, status: {}}", "status.allocatable", "absent"},
		{"podCIDRs come from podCIDR", "{apiVersion: v1, kind: Node, metadata: {name: a}, spec: {podCIDR: 10.0.0.0/24}}", "spec.podCIDRs", `["10.0.0.0/24"]`},

		// Deployment
		{"a Deployment has one replica", workload("Deployment", "", oneContainer), spec + "replicas", "1"},
		{"replicas 0 stays", workload("Deployment", "replicas: 0,", oneContainer), spec + "replicas", "0"},
		{"it rolls", workload("Deployment", "", oneContainer), spec + "strategy.type", `"RollingUpdate"`},
		{"maxSurge is 25%", workload("Deployment", "", oneContainer), spec + "strategy.rollingUpdate.maxSurge", `"25%"`},
		{"maxUnavailable is 25%", workload("Deployment", "strategy: {rollingUpdate: {maxSurge: 1}},", oneContainer), spec + "strategy.rollingUpdate.maxUnavailable", `"25%"`},
		{"Recreate has no bounds", workload("Deployment", "strategy: {type: Recreate},", oneContainer), spec + "strategy.rollingUpdate", "absent"},
		{"ten old revisions are kept", workload("Deployment", "", oneContainer), spec + "revisionHistoryLimit", "10"},
		{"a rollout may take ten minutes between steps", workload("Deployment", "", oneContainer), spec + "progressDeadlineSeconds", "600"},
		{"a pod is available when ready", workload("Deployment", "", oneContainer), spec + "minReadySeconds", "absent"},

		// ReplicaSet, StatefulSet, DaemonSet
		{"a ReplicaSet has one replica", workload("ReplicaSet", "", oneContainer), spec + "replicas", "1"},
		{"a StatefulSet has one replica", workload("StatefulSet", "", oneContainer), spec + "replicas", "1"},
		{"its pods start in order", workload("StatefulSet", "", oneContainer), spec + "podManagementPolicy", `"OrderedReady"`},
		{"it rolls", workload("StatefulSet", "", oneContainer), spec + "updateStrategy.type", `"RollingUpdate"`},
		{"its partition is 0", workload("StatefulSet", "", oneContainer), spec + "updateStrategy.rollingUpdate.partition", "0"},
		{"its maxUnavailable stays unset", workload("StatefulSet", "", oneContainer), spec + "updateStrategy.rollingUpdate.maxUnavailable", "absent"},
		{"with the type spelled out there is no partition", workload("StatefulSet", "updateStrategy: {type: RollingUpdate},", oneContainer), spec + "updateStrategy.rollingUpdate", "absent"},
		{"ten old revisions are kept", workload("StatefulSet", "", oneContainer), spec + "revisionHistoryLimit", "10"},
		{"claims are retained on deletion", workload("StatefulSet", "", oneContainer), spec + "persistentVolumeClaimRetentionPolicy.whenDeleted", `"Retain"`},
		{"claims are retained on scaling", workload("StatefulSet", "", oneContainer), spec + "persistentVolumeClaimRetentionPolicy.whenScaled", `"Retain"`},
		{"a DaemonSet rolls", workload("DaemonSet", "", oneContainer), spec + "updateStrategy.type", `"RollingUpdate"`},
		{"its maxUnavailable is 1", workload("DaemonSet", "", oneContainer), spec + "updateStrategy.rollingUpdate.maxUnavailable", "1"},
		{"its maxSurge is 0", workload("DaemonSet", "", oneContainer), spec + "updateStrategy.rollingUpdate.maxSurge", "0"},
		{"OnDelete has no bounds", workload("DaemonSet", "updateStrategy: {type: OnDelete},", oneContainer), spec + "updateStrategy.rollingUpdate", "absent"},
		{"ten old revisions are kept", workload("DaemonSet", "", oneContainer), spec + "revisionHistoryLimit", "10"},

		// Pod template
		{"the grace period is 30 s", workload("Deployment", "", oneContainer), template + "terminationGracePeriodSeconds", "30"},
		{"a grace period of 0 stays", workload("Deployment", "", "terminationGracePeriodSeconds: 0, "+oneContainer), template + "terminationGracePeriodSeconds", "0"},
		{"containers restart", workload("Deployment", "", oneContainer), template + "restartPolicy", `"Always"`},
		{"the scheduler has a name", workload("StatefulSet", "", oneContainer), template + "schedulerName", `"default-scheduler"`},
		{"a container port is TCP", workload("DaemonSet", "", "containers: [{name: c, ports: [{containerPort: 80}]}]"), template + "containers[0].ports[0].protocol", `"TCP"`},
		{"a template's host ports stay unset", workload("DaemonSet", "", "hostNetwork: true, containers: [{name: c, ports: [{containerPort: 80}]}]"), template + "containers[0].ports[0].hostPort", "absent"},
		{"a probe runs every 10 s", workload("Deployment", "", "containers: [{name: c, readinessProbe: {httpGet: {port: 80}}}]"), template + "containers[0].readinessProbe.periodSeconds", "10"},
		{"a probe times out after 1 s", workload("Deployment", "", "containers: [{name: c, readinessProbe: {httpGet: {port: 80}}}]"), template + "containers[0].readinessProbe.timeoutSeconds", "1"},
		{"one success is enough", workload("Deployment", "", "containers: [{name: c, livenessProbe: {httpGet: {port: 80}}}]"), template + "containers[0].livenessProbe.successThreshold", "1"},
		{"three failures are one", workload("Deployment", "", "containers: [{name: c, startupProbe: {httpGet: {port: 80}}}]"), template + "containers[0].startupProbe.failureThreshold", "3"},
		{"a probe starts at once", workload("Deployment", "", "containers: [{name: c, startupProbe: {httpGet: {port: 80}}}]"), template + "containers[0].startupProbe.initialDelaySeconds", "absent"},
		{"a probe asks for /", workload("Deployment", "", "containers: [{name: c, readinessProbe: {httpGet: {port: 80}}}]"), template + "containers[0].readinessProbe.httpGet.path", `"/"`},
		{"a probe speaks HTTP", workload("Deployment", "", "containers: [{name: c, readinessProbe: {httpGet: {port: 80}}}]"), template + "containers[0].readinessProbe.httpGet.scheme", `"HTTP"`},
		{"a gRPC probe asks for no service", workload("Deployment", "", "containers: [{name: c, readinessProbe: {grpc: {port: 80}}}]"), template + "containers[0].readinessProbe.grpc.service", `""`},
		{"init containers have the same defaults", workload("Deployment", "", "initContainers: [{name: i, restartPolicy: Always, startupProbe: {tcpSocket: {port: 80}}}], "+oneContainer), template + "initContainers[0].startupProbe.periodSeconds", "10"},
		{"a hook speaks HTTP", workload("Deployment", "", "containers: [{name: c, lifecycle: {preStop: {httpGet: {port: 80}}}}]"), template + "containers[0].lifecycle.preStop.httpGet.scheme", `"HTTP"`},
		{"a hook asks for /", workload("Deployment", "", "containers: [{name: c, lifecycle: {postStart: {httpGet: {port: 80}}}}]"), template + "containers[0].lifecycle.postStart.httpGet.path", `"/"`},

		// Pod
		{"a Pod has the same defaults", "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c}]}}", "spec.terminationGracePeriodSeconds", "30"},
		{"a Pod's host ports are its ports", "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {hostNetwork: true, containers: [{name: c, ports: [{containerPort: 80}]}]}}", "spec.containers[0].ports[0].hostPort", "80"},
		{"a Pod requests what it is limited to", "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, resources: {limits: {cpu: 500m}}}]}}", "spec.containers[0].resources.requests.cpu", `"500m"`},

		// HorizontalPodAutoscaler
		{"an autoscaler keeps one pod", "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a}, spec: {maxReplicas: 3, scaleTargetRef: {kind: Deployment, name: d}}}", "spec.minReplicas", "1"},
		{"it aims at 80 % CPU", "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a}, spec: {maxReplicas: 3, scaleTargetRef: {kind: Deployment, name: d}}}", "spec.metrics[0].resource.target.averageUtilization", "80"},
		{"one of v1 keeps its CPU target", "{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: a}, spec: {maxReplicas: 3, targetCPUUtilizationPercentage: 60, scaleTargetRef: {kind: Deployment, name: d}}}", "spec.metrics[0].resource.target.averageUtilization", "60"},
		{"one of v1 becomes v2", "{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: a}, spec: {maxReplicas: 3, scaleTargetRef: {kind: Deployment, name: d}}}", "apiVersion", `"autoscaling/v2"`},
		{"a behavior is completed upwards", "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a}, spec: {maxReplicas: 3, behavior: {}, scaleTargetRef: {kind: Deployment, name: d}}}", "spec.behavior.scaleUp.stabilizationWindowSeconds", "0"},
		{"and downwards, without a window", "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a}, spec: {maxReplicas: 3, behavior: {}, scaleTargetRef: {kind: Deployment, name: d}}}", "spec.behavior.scaleDown", `{"policies":[{"periodSeconds":15,"type":"Percent","value":100}],"selectPolicy":"Max"}`},

		// PodDisruptionBudget, Ingress: nothing to fill in
		{"a budget's eviction policy stays unset", "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: {minAvailable: 1}}", "spec.unhealthyPodEvictionPolicy", "absent"},

		// Webhook configurations
		{"a failing webhook fails the request", "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: a}, webhooks: [{name: a.b.c, clientConfig: {service: {name: s, namespace: ns}}}]}", "webhooks[0].failurePolicy", `"Fail"`},
		{"a webhook times out after 10 s", "{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: a}, webhooks: [{name: a.b.c, clientConfig: {service: {name: s, namespace: ns}}}]}", "webhooks[0].timeoutSeconds", "10"},
		{"a webhook's Service port is 443", "{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: a}, webhooks: [{name: a.b.c, clientConfig: {service: {name: s, namespace: ns}}}]}", "webhooks[0].clientConfig.service.port", "443"},

		// Metadata
		{"a namespaced object is in default", service(""), "metadata.namespace", `"default"`},
		{"a Node is in no namespace", "{apiVersion: v1, kind: Node, metadata: {name: a, namespace: b}}", "metadata.namespace", "absent"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := field(t, loadOne(t, tt.object), tt.path); got != tt.want {
				t.Errorf("%s is %s, want %s, in\n%s", tt.path, got, tt.want, tt.object)
			}
		})
	}
}
