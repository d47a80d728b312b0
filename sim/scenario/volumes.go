package scenario

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// moving is how long a volume takes from one node to another where nothing says so: the old node says up to 10 s later that it has
// unmounted it (docs/model/pod-lifecycle.md 8), then a disk of a cloud is detached and attached.
func moving() engine.Dist {
	const least, most = 10 * engine.Second, 25 * engine.Second
	return engine.Must(engine.Uniform(least, most))
}

// volumesShape is what is said of all volumes.
func volumesShape() shape {
	return fieldsOf(
		field{"access", word(accessModes()...).doc(world.ReadWriteOnce.String(), "the access mode of claims that pods name and that are not in the input: who may have such a volume at a time")},
		field{"move", of(dist).doc(moving().String(), "from the end of the last pod on a node that has a volume until another node has it: unmounted, detached, attached, mounted")},
	)
}

// specVolumes is that, among the fields of a Scenario. It is printed where somebody may have to wait for a volume.
func specVolumes() fieldOf[making] {
	return fieldOf[making]{
		field: field{"volumes", volumesShape()},
		read:  func(c cursor, s *making) { s.Volumes = s.b.volumes(c) },
		write: func(w *printer, s *making) {
			if slices.ContainsFunc(s.Workloads, func(x world.Workload) bool { return len(x.Exclusive()) > 0 }) {
				w.nested("volumes", func() { w.dist("move", s.Volumes.Move) })
			}
		},
	}
}

func accessModes() []string {
	return []string{world.ReadWriteOnce.String(), world.ReadWriteOncePod.String(), world.ReadWriteMany.String()}
}

// volumes reads what is said of all volumes.
func (b *builder) volumes(c cursor) world.Volumes {
	access, move := c.get("access"), c.get("move")
	v := world.Volumes{AccessSaid: access.present(), MoveSaid: move.present(), Move: move.dist(moving(), "")}
	if i := slices.Index(accessModes(), access.text("")); i >= 0 {
		v.Access = world.Access(i) // an index of a handful of words
	}
	return v
}

// claims finds the volumes that pods of each workload write.
func (b *builder) claims() {
	for i := range b.out.Workloads {
		w := &b.out.Workloads[i]
		w.Claims = append(b.claimsOfTemplates(w), b.claimsOfPods(w)...)
	}
}

// claimsOfTemplates are those of which each pod of a StatefulSet has its own.
func (b *builder) claimsOfTemplates(w *world.Workload) []world.Claim {
	s := w.StatefulSet()
	if s == nil {
		return nil
	}
	var out []world.Claim
	for i := range s.Spec.VolumeClaimTemplates {
		t := &s.Spec.VolumeClaimTemplates[i]
		out = append(out, world.Claim{Name: t.Name, Each: true, Access: accessOf(t.Spec.AccessModes), Path: fmt.Sprintf("spec.volumeClaimTemplates[%d]", i)})
	}
	return out
}

// claimsOfPods are those that all pods of a workload have together. Where there are several pods a volume of one node has all of them there, if
// its claim is in the input and their nodes do not say otherwise; and none is of one pod.
func (b *builder) claimsOfPods(w *world.Workload) []world.Claim {
	var out []world.Claim
	volumes := w.Template().Spec.Volumes
	for i := range volumes {
		source := volumes[i].PersistentVolumeClaim
		if source == nil || source.ReadOnly {
			continue
		}
		c := world.Claim{Name: source.ClaimName, Path: templatePath(w) + fmt.Sprintf("spec.volumes[%d]", i)}
		if pvc := b.world.claim(w.Resource.GetNamespace(), c.Name); pvc != nil {
			c.Access = accessOf(pvc.Value.Spec.AccessModes)
		} else {
			c.Access, c.Assumed = b.out.Volumes.Access, !b.out.Volumes.AccessSaid
		}
		if w.Kind() == world.DaemonSet || w.Replicas() > 1 && (c.Assumed || c.Access == world.ReadWriteOncePod || runsApart(w)) {
			c.Access, c.Assumed = world.ReadWriteMany, false
		}
		out = append(out, c)
	}
	return out
}

// runsApart says that pods of a workload run on several nodes in the input: whatever their claims say, they have their volumes.
func runsApart(w *world.Workload) bool {
	return slices.ContainsFunc(w.Placed, func(p world.Placed) bool { return p.Node != "" && w.Placed[0].Node != "" && p.Node != w.Placed[0].Node })
}

// templatePath is where the pod of a workload's object begins.
func templatePath(w *world.Workload) string {
	if w.Kind() == world.Pod {
		return ""
	}
	return "spec.template."
}

// accessOf is who may have a volume with such access modes: none is whoever wants it, for the controller does not know better
// (docs/model/pod-lifecycle.md 8).
func accessOf(modes []corev1.PersistentVolumeAccessMode) world.Access {
	has := func(m corev1.PersistentVolumeAccessMode) bool { return slices.Contains(modes, m) }
	switch {
	case len(modes) == 0, has(corev1.ReadWriteMany), has(corev1.ReadOnlyMany):
		return world.ReadWriteMany
	case has(corev1.ReadWriteOncePod):
		return world.ReadWriteOncePod
	default:
		return world.ReadWriteOnce
	}
}

// claim finds a PersistentVolumeClaim of the input, nil for none.
func (w *inventory) claim(namespace, name string) *manifest.Typed[*corev1.PersistentVolumeClaim] {
	for i := range w.claims {
		if c := &w.claims[i]; c.Value.Namespace == namespace && c.Value.Name == name {
			return c
		}
	}
	return nil
}

// assumeVolumes notes what was not said of volumes that somebody may have to wait for.
func (b *builder) assumeVolumes(w *world.Workload) {
	for _, c := range w.Claims {
		if c.Assumed {
			b.assume("volume-access", fmt.Sprintf("%s: %s", c.Name, c.Access))
		}
	}
	if len(w.Exclusive()) > 0 && !b.out.Volumes.MoveSaid {
		b.assume("volume-move", b.out.Volumes.Move.String())
	}
}

// otherVolumes are the other values of what was not said of volumes.
func otherVolumes(id string) []variant {
	switch id {
	case "volume-access":
		return []variant{{world.ReadWriteMany.String(), accessible(world.ReadWriteMany)}}
	case "volume-move":
		return []variant{{"3s", moved(3 * engine.Second)}, {"1m", moved(engine.Minute)}}
	default:
		return nil
	}
}

// accessible gives claims of which nothing was said another access mode.
func accessible(a world.Access) func(*world.Scenario) bool {
	return func(s *world.Scenario) bool {
		changed := false
		for i := range s.Workloads {
			claims := slices.Clone(s.Workloads[i].Claims)
			for k := range claims {
				if claims[k].Assumed && claims[k].Access != a {
					claims[k].Access, changed = a, true
				}
			}
			s.Workloads[i].Claims = claims
		}
		return changed
	}
}

// moved has volumes take another time from one node to another.
func moved(t engine.Time) func(*world.Scenario) bool {
	return func(s *world.Scenario) bool {
		s.Volumes.Move = engine.Constant(t)
		return slices.ContainsFunc(s.Workloads, func(w world.Workload) bool { return len(w.Exclusive()) > 0 })
	}
}

// volumesLeftOut says what is not so of the volumes of this world.
func (b *builder) volumesLeftOut(w *world.Workload) {
	if len(w.Claims) == 0 {
		return
	}
	at := func(path string) string {
		if w.Object == nil {
			return w.Kind() + " " + w.Name()
		}
		return w.Kind() + " " + w.Name() + ", " + w.Object.At(path).String()
	}
	if len(w.Exclusive()) > 0 {
		b.notModelled("volumes", "a volume may be of one zone, or of one node, and so leave its pod fewer nodes", at(w.Claims[0].Path), "more")
	}
	for _, c := range w.Claims {
		pvc := b.world.claim(w.Resource.GetNamespace(), c.Name)
		if pvc != nil && c.Access == world.ReadWriteMany && accessOf(pvc.Value.Spec.AccessModes) != world.ReadWriteMany {
			b.notModelled("volumes", fmt.Sprintf("volume claim %s is %s (%s), and %d pods share it: that this cannot be is left out",
				c.Name, accessOf(pvc.Value.Spec.AccessModes), pvc.At("spec.accessModes"), w.Replicas()), at(c.Path), "more")
		}
	}
}
