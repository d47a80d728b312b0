package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// validateDeployment checks a defaulted Deployment. Workloads without a
// container are left out: nothing of them could run.
func validateDeployment(o *Object, d *appsv1.Deployment) ([]Problem, bool) {
	c := &checker{o: o}
	spec := &d.Spec
	sized := c.replicas(spec.Replicas)
	notNegative(c, "spec.minReadySeconds", &spec.MinReadySeconds, 0)
	notNegative(c, "spec.revisionHistoryLimit", spec.RevisionHistoryLimit, 10)
	notNegative(c, "spec.progressDeadlineSeconds", spec.ProgressDeadlineSeconds, 600)
	if *spec.ProgressDeadlineSeconds <= spec.MinReadySeconds {
		c.replaced("spec.progressDeadlineSeconds", "both are used", "%d must be greater than minReadySeconds, %d", *spec.ProgressDeadlineSeconds, spec.MinReadySeconds)
	}
	enum(c, "spec.strategy.type", &spec.Strategy.Type, appsv1.RollingUpdateDeploymentStrategyType,
		appsv1.RollingUpdateDeploymentStrategyType, appsv1.RecreateDeploymentStrategyType)
	if spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType && spec.Strategy.RollingUpdate != nil {
		c.replaced("spec.strategy.rollingUpdate", "it is ignored", "has no place in a strategy of type Recreate, the type must be RollingUpdate")
		spec.Strategy.RollingUpdate = nil
	}
	if spec.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
		// The type may have been replaced just now.
		DefaultDeployment(d)
		u := spec.Strategy.RollingUpdate
		c.rolloutBound("spec.strategy.rollingUpdate.maxSurge", u.MaxSurge, intstr.FromString("25%"))
		c.rolloutBound("spec.strategy.rollingUpdate.maxUnavailable", u.MaxUnavailable, intstr.FromString("25%"))
		if isZeroBound(*u.MaxSurge) && isZeroBound(*u.MaxUnavailable) {
			c.refuse("spec.strategy.rollingUpdate.maxUnavailable", bothZero)
			sized = false
		}
	}
	c.workloadSelector(&spec.Selector, spec.Template.Labels)
	return c.problems, c.podTemplate(&spec.Template) && sized
}

// bothZero is what a rollout that may neither make a pod more nor have one missing is told. So does the API server
// (pkg/apis/apps/validation/validation.go, ValidateRollingUpdateDeployment and ValidateRollingUpdateDaemonSet): only percentages that come to
// no pod at all are taken for one (docs/model/controllers.md 2).
const bothZero = "must not be 0 when maxSurge is 0, nothing could ever be replaced: the API server refuses it; valid here: 1 or more, or a maxSurge of 1 or more"

// RefusedRollout says which field of a workload's rolling update the API server refuses, and why, "" where it takes all of it. It is for values
// that did not come from a file: those are checked as they are loaded.
func RefusedRollout(workload any) (field, why string) {
	switch w := workload.(type) {
	case *appsv1.Deployment:
		if u := w.Spec.Strategy.RollingUpdate; u != nil {
			return refusedBounds("spec.strategy.rollingUpdate.", u.MaxSurge, u.MaxUnavailable, false)
		}
	case *appsv1.DaemonSet:
		if u := w.Spec.UpdateStrategy.RollingUpdate; u != nil {
			return refusedBounds("spec.updateStrategy.rollingUpdate.", u.MaxSurge, u.MaxUnavailable, true)
		}
	case *appsv1.StatefulSet:
		if u := w.Spec.UpdateStrategy.RollingUpdate; u != nil && u.MaxUnavailable != nil && isZeroBound(*u.MaxUnavailable) {
			return "spec.updateStrategy.rollingUpdate.maxUnavailable", "must not be 0: the API server refuses it; valid here: 1 or more"
		}
	}
	return "", ""
}

// refusedBounds looks at both bounds of a rolling update that has been defaulted; a DaemonSet's may only be one of them.
func refusedBounds(under string, surge, unavailable *intstr.IntOrString, daemon bool) (field, why string) {
	switch {
	case surge == nil || unavailable == nil:
		return "", ""
	case isZeroBound(*surge) && isZeroBound(*unavailable):
		return under + "maxUnavailable", bothZero
	case daemon && !isZeroBound(*surge) && !isZeroBound(*unavailable):
		return under + "maxSurge", fmt.Sprintf("of a DaemonSet must be 0 unless maxUnavailable is 0, and it is %s: the API server refuses it", unavailable)
	}
	return "", ""
}

func validateReplicaSet(o *Object, r *appsv1.ReplicaSet) ([]Problem, bool) {
	c := &checker{o: o}
	sized := c.replicas(r.Spec.Replicas)
	notNegative(c, "spec.minReadySeconds", &r.Spec.MinReadySeconds, 0)
	c.workloadSelector(&r.Spec.Selector, r.Spec.Template.Labels)
	return c.problems, c.podTemplate(&r.Spec.Template) && sized
}

func validateStatefulSet(o *Object, s *appsv1.StatefulSet) ([]Problem, bool) {
	c := &checker{o: o}
	spec := &s.Spec
	sized := c.replicas(spec.Replicas)
	notNegative(c, "spec.minReadySeconds", &spec.MinReadySeconds, 0)
	notNegative(c, "spec.revisionHistoryLimit", spec.RevisionHistoryLimit, 10)
	enum(c, "spec.podManagementPolicy", &spec.PodManagementPolicy, appsv1.OrderedReadyPodManagement,
		appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement)
	enum(c, "spec.updateStrategy.type", &spec.UpdateStrategy.Type, appsv1.RollingUpdateStatefulSetStrategyType,
		appsv1.RollingUpdateStatefulSetStrategyType, appsv1.OnDeleteStatefulSetStrategyType)
	if u := spec.UpdateStrategy.RollingUpdate; u != nil {
		notNegative(c, "spec.updateStrategy.rollingUpdate.partition", u.Partition, 0)
		if u.MaxUnavailable != nil {
			c.rolloutBound("spec.updateStrategy.rollingUpdate.maxUnavailable", u.MaxUnavailable, intstr.FromInt32(1))
			if isZeroBound(*u.MaxUnavailable) {
				c.warn("spec.updateStrategy.rollingUpdate.maxUnavailable", "must not be 0; 1 is used instead")
				*u.MaxUnavailable = intstr.FromInt32(1)
			}
		}
	}
	c.workloadSelector(&spec.Selector, spec.Template.Labels)
	return c.problems, c.podTemplate(&spec.Template) && sized
}

func validateDaemonSet(o *Object, d *appsv1.DaemonSet) ([]Problem, bool) {
	c := &checker{o: o}
	spec := &d.Spec
	notNegative(c, "spec.minReadySeconds", &spec.MinReadySeconds, 0)
	notNegative(c, "spec.revisionHistoryLimit", spec.RevisionHistoryLimit, 10)
	enum(c, "spec.updateStrategy.type", &spec.UpdateStrategy.Type, appsv1.RollingUpdateDaemonSetStrategyType,
		appsv1.RollingUpdateDaemonSetStrategyType, appsv1.OnDeleteDaemonSetStrategyType)
	rolls := true
	if spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		DefaultDaemonSet(d)
		rolls = c.daemonSetBounds(spec.UpdateStrategy.RollingUpdate)
	}
	c.workloadSelector(&spec.Selector, spec.Template.Labels)
	return c.problems, c.podTemplate(&spec.Template) && rolls
}

// daemonSetBounds allows exactly one of maxSurge and maxUnavailable: ok is false where it is none.
func (c *checker) daemonSetBounds(u *appsv1.RollingUpdateDaemonSet) (ok bool) {
	const surge, unavailable = "spec.updateStrategy.rollingUpdate.maxSurge", "spec.updateStrategy.rollingUpdate.maxUnavailable"
	c.rolloutBound(surge, u.MaxSurge, intstr.FromInt32(0))
	c.rolloutBound(unavailable, u.MaxUnavailable, intstr.FromInt32(1))
	switch {
	case isZeroBound(*u.MaxSurge) && isZeroBound(*u.MaxUnavailable):
		c.refuse(unavailable, bothZero)
		return false
	case !isZeroBound(*u.MaxSurge) && !isZeroBound(*u.MaxUnavailable):
		c.replaced(surge, "0 is used instead", "of a DaemonSet must be 0 unless maxUnavailable is 0 (it is %s, the default being 1)", u.MaxUnavailable.String())
		*u.MaxSurge = intstr.FromInt32(0)
	}
	return true
}

// validatePodDisruptionBudget leaves out a budget whose selector or bound
// cannot be understood.
func validatePodDisruptionBudget(o *Object, p *policyv1.PodDisruptionBudget) ([]Problem, bool) {
	c := &checker{o: o}
	spec := &p.Spec
	if _, err := metav1.LabelSelectorAsSelector(spec.Selector); err != nil {
		c.replaced("spec.selector", "this PodDisruptionBudget is skipped", "%s", badSelector(spec.Selector, err))
		return c.problems, false
	}
	for _, bound := range []struct {
		path  string
		value *intstr.IntOrString
	}{{"spec.minAvailable", spec.MinAvailable}, {"spec.maxUnavailable", spec.MaxUnavailable}} {
		if bound.value != nil && badBound(*bound.value) != "" {
			c.replaced(bound.path, "this PodDisruptionBudget is skipped", "%s", badBound(*bound.value))
			return c.problems, false
		}
	}
	if spec.MinAvailable != nil && spec.MaxUnavailable != nil {
		c.replaced("spec.maxUnavailable", "this one is ignored", "only one of minAvailable and maxUnavailable can be given")
		spec.MaxUnavailable = nil
	}
	if policy := spec.UnhealthyPodEvictionPolicy; policy != nil {
		enum(c, "spec.unhealthyPodEvictionPolicy", policy, policyv1.IfHealthyBudget, policyv1.IfHealthyBudget, policyv1.AlwaysAllow)
	}
	return c.problems, true
}

// badSelector says what is wrong with a selector in the words of manifests, where it is one of the usual slips; else in those of the library.
func badSelector(s *metav1.LabelSelector, err error) string {
	operators := []metav1.LabelSelectorOperator{
		metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist,
	}
	for i := range s.MatchExpressions {
		e := &s.MatchExpressions[i]
		listed := e.Operator == metav1.LabelSelectorOpIn || e.Operator == metav1.LabelSelectorOpNotIn
		switch {
		case !slices.Contains(operators, e.Operator):
			return fmt.Sprintf("matchExpressions[%d]: %q is no operator; valid here: In, NotIn, Exists, DoesNotExist", i, e.Operator)
		case listed && len(e.Values) == 0:
			return fmt.Sprintf("matchExpressions[%d]: operator %s needs values", i, e.Operator)
		case !listed && len(e.Values) > 0:
			return fmt.Sprintf("matchExpressions[%d]: operator %s takes no values", i, e.Operator)
		}
	}
	return err.Error()
}

// validateHorizontalPodAutoscaler leaves out an autoscaler that could never
// have a pod.
func validateHorizontalPodAutoscaler(o *Object, h *autoscalingv2.HorizontalPodAutoscaler) ([]Problem, bool) {
	c := &checker{o: o}
	if h.Spec.MaxReplicas < 1 {
		c.replaced("spec.maxReplicas", "this HorizontalPodAutoscaler is skipped", "must be at least 1")
		return c.problems, false
	}
	if h.Spec.ScaleTargetRef.Name == "" || h.Spec.ScaleTargetRef.Kind == "" {
		c.replaced("spec.scaleTargetRef", "this HorizontalPodAutoscaler is skipped", "needs the kind and the name of what to scale, such as Deployment and web")
		return c.problems, false
	}
	notNegative(c, "spec.minReplicas", h.Spec.MinReplicas, 1)
	if *h.Spec.MinReplicas > h.Spec.MaxReplicas {
		c.replaced("spec.minReplicas", "the latter is used for both", "%d is more than maxReplicas, %d", *h.Spec.MinReplicas, h.Spec.MaxReplicas)
		*h.Spec.MinReplicas = h.Spec.MaxReplicas
	}
	return c.problems, true
}

// replicas reports whether a number of pods can be meant: the API server refuses one below zero, and any other number would be
// the answer to another question (pkg/apis/apps/validation/validation.go, ValidateDeploymentSpec).
func (c *checker) replicas(n *int32) bool {
	if n == nil || *n >= 0 {
		return true
	}
	c.refuse("spec.replicas", "%d must not be negative: the API server refuses it; valid here: a whole number from 0", *n)
	return false
}

// notNegative replaces a number below zero. nil is left alone.
func notNegative[T int32 | int64](c *checker, path string, field *T, otherwise T) {
	if field != nil && *field < 0 {
		c.replaced(path, fmt.Sprintf("%d is used instead", otherwise), "%d must not be negative", *field)
		*field = otherwise
	}
}

func (c *checker) rolloutBound(path string, bound *intstr.IntOrString, otherwise intstr.IntOrString) {
	if bad := badBound(*bound); bad != "" {
		c.replaced(path, otherwise.String()+" is used instead", "%s", bad)
		*bound = otherwise
	}
}

// badBound says why a value is no number of pods: a whole number, or a
// percentage up to 100%.
func badBound(v intstr.IntOrString) string {
	const valid = "must be a whole number such as 1 or a percentage such as 25%"
	if v.Type == intstr.Int {
		if v.IntVal < 0 {
			return strconv.Itoa(int(v.IntVal)) + " must not be negative: valid here is a whole number such as 1 or a percentage such as 25%"
		}
		return ""
	}
	digits, isPercent := strings.CutSuffix(v.StrVal, "%")
	percent, err := strconv.Atoi(digits)
	switch {
	case !isPercent || err != nil || !isDigits(digits):
		return strconv.Quote(v.StrVal) + " " + valid
	case percent > 100:
		return strconv.Quote(v.StrVal) + " must not be more than 100%"
	}
	return ""
}

func isZeroBound(v intstr.IntOrString) bool {
	if v.Type == intstr.Int {
		return v.IntVal == 0
	}
	return strings.Trim(v.StrVal, "0") == "%"
}

// workloadSelector makes sure that the workload's selector is there and finds
// its own pods.
func (c *checker) workloadSelector(selector **metav1.LabelSelector, template map[string]string) {
	fallback := func() {
		*selector = &metav1.LabelSelector{MatchLabels: maps.Clone(template)}
	}
	if *selector == nil || len((*selector).MatchLabels)+len((*selector).MatchExpressions) == 0 {
		c.replaced("spec.selector", "the labels of the pod template are used", "missing")
		fallback()
		return
	}
	s, err := metav1.LabelSelectorAsSelector(*selector)
	switch {
	case err != nil:
		c.replaced("spec.selector", "the labels of the pod template are used instead", "%v", err)
		fallback()
	case !s.Matches(labels.Set(template)):
		c.replaced("spec.selector", "those are used instead", "does not match the labels of the pod template")
		fallback()
	}
}

// podTemplate checks the template and reports whether it can be used.
func (c *checker) podTemplate(t *corev1.PodTemplateSpec) bool {
	if policy := t.Spec.RestartPolicy; policy != corev1.RestartPolicyAlways {
		c.replaced("spec.template.spec.restartPolicy", "Always is used instead", "%q must be Always here", policy)
		t.Spec.RestartPolicy = corev1.RestartPolicyAlways
	}
	return c.podSpec("spec.template.spec", &t.Spec)
}

// validatePod checks a defaulted Pod.
func validatePod(o *Object, p *corev1.Pod) ([]Problem, bool) {
	c := &checker{o: o}
	policies := []corev1.RestartPolicy{corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever}
	enum(c, "spec.restartPolicy", &p.Spec.RestartPolicy, corev1.RestartPolicyAlways, policies...)
	if ip := p.Status.PodIP; ip != "" && badAddress(ip) != "" {
		c.warn("status.podIP", "%q %s; it is ignored", ip, badAddress(ip))
		p.Status.PodIP = ""
	}
	drop := make([]bool, len(p.Status.PodIPs))
	for i, ip := range p.Status.PodIPs {
		if bad := badAddress(ip.IP); bad != "" {
			c.warn(fmt.Sprintf("status.podIPs[%d].ip", i), "%q %s; it is ignored", ip.IP, bad)
			drop[i] = true
		}
	}
	p.Status.PodIPs = filter(c, "status.podIPs", p.Status.PodIPs, drop)
	return c.problems, c.podSpec("spec", &p.Spec)
}
