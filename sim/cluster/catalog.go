package cluster

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/endpointslice"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// catalog is what the manifests say, worked out once.
type catalog struct {
	workloads   []workloadInfo
	services    []serviceInfo
	repoints    bool // a Service leads to other ports of its pods
	relabels    bool // which Service selects which pods is not said by their templates
	zonesDiffer bool // by hints
	nodesDiffer bool // even in one zone
}

// workloadInfo is derived from the manifest once.
type workloadInfo struct {
	spec     *corev1.PodTemplateSpec
	main     int
	services []int
	hooks    map[string]world.Hook
	apps     [2]*world.App // of the first revision, and of the others
}

type serviceInfo struct {
	members    []int // the workloads whose pods it selects, or may at another time
	ports      []discoveryv1.EndpointPort
	form       sliceForm
	publishAll bool
	headless   bool
	hints      endpointslice.Hinting
	changed    *changedPorts // nil where no action changes them
	derived    derived
}

// resolve finds which workloads each Service selects and at which ports.
func (w *World) resolve() {
	w.workloads = make([]workloadInfo, len(w.sc.Workloads))
	w.services = make([]serviceInfo, len(w.sc.Services))
	w.relabels, w.repoints = w.sc.Relabels(), w.sc.Repoints()
	for i := range w.sc.Workloads {
		wl := &w.sc.Workloads[i]
		w.workloads[i] = workloadInfo{spec: wl.Template(), hooks: wl.Hooks, apps: appsOf(wl)}
	}
	for s := range w.sc.Services {
		svc := w.sc.Services[s].Service
		info := &w.services[s]
		info.headless = isHeadless(svc)
		info.publishAll = svc.Spec.PublishNotReadyAddresses
		info.hints = endpointslice.HintingOf(svc, w.sc.Kubernetes, w.sc.Nodes)
		for i := range w.workloads {
			if w.sc.MaySelect(svc, &w.sc.Workloads[i]) {
				info.members = append(info.members, i)
				w.workloads[i].services = append(w.workloads[i].services, s)
				w.workloads[i].main = mainContainer(w.workloads[i].spec, svc, w.sc.Workloads[i].Server)
				if info.ports == nil {
					info.ports = endpointPorts(svc, w.workloads[i].spec)
				}
			}
		}
		info.form = newSliceForm(svc, info.ports)
		w.zonesDiffer = w.zonesDiffer || info.hints.Mode != world.HintsNone
		w.nodesDiffer = w.nodesDiffer || endpointslice.NodesDiffer(svc, info.hints)
		w.cache.SetService(svc)
		w.settledCache.SetService(svc)
	}
}

// endpointPorts resolves a Service's target ports in a pod template.
func endpointPorts(svc *corev1.Service, spec *corev1.PodTemplateSpec) []discoveryv1.EndpointPort {
	var out []discoveryv1.EndpointPort
	for _, p := range svc.Spec.Ports {
		number, ok := world.TargetPort(p.TargetPort, spec)
		if !ok {
			continue
		}
		name, protocol := p.Name, p.Protocol
		out = append(out, discoveryv1.EndpointPort{Name: &name, Port: &number, Protocol: &protocol})
	}
	return out
}

// mainContainer finds the container, of world.Serving, that serves a Service's first port: the one the scenario
// names, else by container port, else the first one.
func mainContainer(spec *corev1.PodTemplateSpec, svc *corev1.Service, server string) int {
	containers := world.Serving(&spec.Spec)
	for i, c := range containers {
		if server != "" && c.Name == server {
			return i
		}
	}
	if len(svc.Spec.Ports) == 0 {
		return 0
	}
	want, ok := world.TargetPort(svc.Spec.Ports[0].TargetPort, spec)
	for i, c := range containers {
		for _, p := range c.Ports {
			if ok && p.ContainerPort == want {
				return i
			}
		}
	}
	return 0
}

// ServicesOf lists the Services that select the pods of a workload.
func (w *World) ServicesOf(workload int) []int { return w.workloads[workload].services }
func (w *World) selects(service, workload int) bool {
	return slices.Contains(w.services[service].members, workload)
}

// ResourceOf is the object of a workload that is in force for a revision: the one applied with it, or the
// newest one before.
func (w *World) ResourceOf(id api.ReplicaSetID) world.Resource {
	for rev := id.Revision; rev > 0; rev-- {
		if r := w.applied[api.ReplicaSetID{Workload: id.Workload, Revision: rev}]; r != nil {
			return r
		}
	}
	return w.sc.Workloads[id.Workload].Resource
}

// SettingsOf is the object of a workload as it was last applied: what it says beside its template. Nobody changes it.
func (w *World) SettingsOf(workload int) world.Resource {
	if r := w.settings[workload]; r != nil {
		return r
	}
	return w.sc.Workloads[workload].Resource
}

// PodSpec is the spec of the pods of a ReplicaSet. Nobody changes it.
func (w *World) PodSpec(id api.ReplicaSetID) *corev1.PodSpec {
	return &world.TemplateOf(w.ResourceOf(id)).Spec
}

// latest identifies a workload's template of the moment.
func (w *World) latest(workload int) api.ReplicaSetID {
	if d, ok := w.store.Get(w.keyOf(workload)).(*api.Workload); ok {
		return api.ReplicaSetID{Workload: workload, Revision: d.Revision}
	}
	return api.ReplicaSetID{Workload: workload}
}

// Server is the number of the container of a workload that traffic goes to.
func (w *World) Server(workload int) int { return w.workloads[workload].main }

// PassesTo are the containers that the server of a workload passes its requests on to.
func (w *World) PassesTo(workload int) []string { return w.sc.Workloads[workload].Behind }

// Hook is what the preStop hook of a container does.
func (w *World) Hook(id api.ReplicaSetID, c *corev1.Container) world.Hook {
	if w.ResourceOf(id) != w.sc.Workloads[id.Workload].Resource {
		return servers.HookOf(c, world.Overrides{})
	}
	return w.workloads[id.Workload].hooks[c.Name]
}

// Lacks says whether the program of a probe is known not to be there.
func (w *World) Lacks(c *corev1.Container, exec *corev1.ExecAction) bool {
	return servers.Lacks(c, exec) != ""
}

// grace is a workload's terminationGracePeriodSeconds.
func (w *World) grace(id api.ReplicaSetID) engine.Time {
	return world.GraceOf(w.PodSpec(id))
}

// MinReady is the minReadySeconds of a workload's template of the moment.
func (w *World) MinReady(workload int) engine.Time {
	return engine.Time(world.MinReadySecondsOf(w.ResourceOf(w.latest(workload)))) * engine.Second
}

func (w *World) replicas(workload int) int { return w.sc.Workloads[workload].Replicas() }

// App is how the process of a pod behaves: the workload's app, or its revision's. Nobody changes it.
func (w *World) App(p *api.Pod) *world.App {
	return w.workloads[p.Workload].apps[min(p.Revision, 1)]
}

// appsOf returns the app of a workload's first revision, and that of the others.
func appsOf(wl *world.Workload) (apps [2]*world.App) {
	for i, revision := range [...]string{"old", "new"} {
		apps[i] = &wl.App
		if a, ok := wl.Revisions[revision]; ok {
			apps[i] = &a
		}
	}
	return apps
}

// server is the container of a pod that serves, serverPath where it stands.
func (w *World) server(p *api.Pod) *corev1.Container {
	return world.Serving(w.PodSpec(setOf(p)))[w.Server(p.Workload)]
}

func (w *World) serverPath(p *api.Pod) string {
	return world.ServingPath(w.PodSpec(setOf(p)), w.server(p).Name)
}
