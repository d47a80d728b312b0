package world

import corev1 "k8s.io/api/core/v1"

// OnWindows is the field by which a pod runs on Windows nodes, "" for one that does not say so.
func OnWindows(s *corev1.PodSpec) string {
	switch windows := string(corev1.Windows); {
	case s.OS != nil && s.OS.Name == corev1.Windows:
		return "os.name"
	case s.NodeSelector[corev1.LabelOSStable] == windows:
		return "nodeSelector"
	default:
		return ""
	}
}
