package manifest

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The defaults of this file were read in kubernetes v1.36.3,
// pkg/apis/apps/v1/defaults.go and pkg/apis/autoscaling/v2/defaults.go.

// DefaultDeployment fills in what the API server would, in place: replicas 1,
// RollingUpdate with maxSurge and maxUnavailable 25%, revisionHistoryLimit 10,
// progressDeadlineSeconds 600, and the pod template.
func DefaultDeployment(d *appsv1.Deployment) {
	spec := &d.Spec
	setPointer(&spec.Replicas, 1)
	setDefault(&spec.Strategy.Type, appsv1.RollingUpdateDeploymentStrategyType)
	if spec.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
		setPointer(&spec.Strategy.RollingUpdate, appsv1.RollingUpdateDeployment{})
		setPointer(&spec.Strategy.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
		setPointer(&spec.Strategy.RollingUpdate.MaxSurge, intstr.FromString("25%"))
	}
	setPointer(&spec.RevisionHistoryLimit, 10)
	setPointer(&spec.ProgressDeadlineSeconds, 600)
	DefaultPodSpec(&spec.Template.Spec)
}

// DefaultReplicaSet fills in what the API server would, in place: replicas 1
// and the pod template.
func DefaultReplicaSet(r *appsv1.ReplicaSet) {
	setPointer(&r.Spec.Replicas, 1)
	DefaultPodSpec(&r.Spec.Template.Spec)
}

// DefaultStatefulSet fills in what the API server would, in place: replicas 1,
// podManagementPolicy OrderedReady, RollingUpdate with partition 0,
// revisionHistoryLimit 10, claims retained, and the pod template.
// maxUnavailable stays nil: its default of 1 needs a feature gate that is off.
func DefaultStatefulSet(s *appsv1.StatefulSet) {
	spec := &s.Spec
	setDefault(&spec.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
	if spec.UpdateStrategy.Type == "" {
		spec.UpdateStrategy.Type = appsv1.RollingUpdateStatefulSetStrategyType
		setPointer(&spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateStatefulSetStrategy{})
	}
	// With the type spelled out and no rollingUpdate, the latter stays nil.
	if u := spec.UpdateStrategy.RollingUpdate; u != nil && spec.UpdateStrategy.Type == appsv1.RollingUpdateStatefulSetStrategyType {
		setPointer(&u.Partition, 0)
	}
	setPointer(&spec.PersistentVolumeClaimRetentionPolicy, appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{})
	setDefault(&spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	setDefault(&spec.PersistentVolumeClaimRetentionPolicy.WhenScaled, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	setPointer(&spec.Replicas, 1)
	setPointer(&spec.RevisionHistoryLimit, 10)
	DefaultPodSpec(&spec.Template.Spec)
}

// DefaultDaemonSet fills in what the API server would, in place: RollingUpdate
// with maxUnavailable 1 and maxSurge 0, revisionHistoryLimit 10, and the pod
// template.
func DefaultDaemonSet(d *appsv1.DaemonSet) {
	spec := &d.Spec
	setDefault(&spec.UpdateStrategy.Type, appsv1.RollingUpdateDaemonSetStrategyType)
	if spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		setPointer(&spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
		setPointer(&spec.UpdateStrategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
		setPointer(&spec.UpdateStrategy.RollingUpdate.MaxSurge, intstr.FromInt32(0))
	}
	setPointer(&spec.RevisionHistoryLimit, 10)
	DefaultPodSpec(&spec.Template.Spec)
}

// DefaultHorizontalPodAutoscaler fills in what the API server would, in place:
// minReplicas 1, 80 % CPU when there is no metric, and the scaling rules of a
// behavior that is given in part.
func DefaultHorizontalPodAutoscaler(h *autoscalingv2.HorizontalPodAutoscaler) {
	setPointer(&h.Spec.MinReplicas, 1)
	if len(h.Spec.Metrics) == 0 {
		h.Spec.Metrics = []autoscalingv2.MetricSpec{cpuUtilization(80)}
	}
	b := h.Spec.Behavior
	if b == nil {
		return
	}
	setPointer(&b.ScaleUp, autoscalingv2.HPAScalingRules{})
	setPointer(&b.ScaleUp.StabilizationWindowSeconds, 0)
	defaultScaling(b.ScaleUp, autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PodsScalingPolicy, Value: 4, PeriodSeconds: 15},
		autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: 15})
	setPointer(&b.ScaleDown, autoscalingv2.HPAScalingRules{})
	defaultScaling(b.ScaleDown, autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: 15})
}

func defaultScaling(r *autoscalingv2.HPAScalingRules, policies ...autoscalingv2.HPAScalingPolicy) {
	setPointer(&r.SelectPolicy, autoscalingv2.MaxChangePolicySelect)
	if r.Policies == nil {
		r.Policies = policies
	}
}

// DefaultValidatingWebhookConfiguration fills in, in place, what says how a
// failing webhook is felt: failurePolicy Fail, timeoutSeconds 10, and port 443
// of the Service it is behind.
func DefaultValidatingWebhookConfiguration(c *admissionv1.ValidatingWebhookConfiguration) {
	for i := range c.Webhooks {
		w := &c.Webhooks[i]
		defaultWebhook(&w.FailurePolicy, &w.TimeoutSeconds, &w.ClientConfig)
	}
}

// DefaultMutatingWebhookConfiguration is DefaultValidatingWebhookConfiguration
// for the other kind.
func DefaultMutatingWebhookConfiguration(c *admissionv1.MutatingWebhookConfiguration) {
	for i := range c.Webhooks {
		w := &c.Webhooks[i]
		defaultWebhook(&w.FailurePolicy, &w.TimeoutSeconds, &w.ClientConfig)
	}
}

func defaultWebhook(policy **admissionv1.FailurePolicyType, timeout **int32, client *admissionv1.WebhookClientConfig) {
	setPointer(policy, admissionv1.Fail)
	setPointer(timeout, 10)
	if client.Service != nil {
		setPointer(&client.Service.Port, 443)
	}
}
