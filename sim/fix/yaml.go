package fix

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/edit"
)

// edit is the change of one field of the workload.
func (t *target) edit(path string, to any) edit.Edit {
	return t.editOf(path, edit.Value{YAML: fmt.Sprint(to)}, "")
}

// editOf is edit with words for what the field was.
func (t *target) editOf(path string, to edit.Value, was string) edit.Edit {
	e := edit.New(t.w.Object, t.w.Resource, path, to, was)
	e.Kind = t.w.Kind()
	return e
}

// handlerYAML is a probe's handler as it is written in YAML, without the braces around it.
func handlerYAML(h *corev1.ProbeHandler) string {
	switch {
	case h.HTTPGet != nil:
		words := fmt.Sprintf("path: %q, port: %s", h.HTTPGet.Path, portYAML(&h.HTTPGet.Port))
		if h.HTTPGet.Scheme != "" && h.HTTPGet.Scheme != corev1.URISchemeHTTP {
			words += ", scheme: " + string(h.HTTPGet.Scheme)
		}
		if h.HTTPGet.Host != "" {
			words += fmt.Sprintf(", host: %q", h.HTTPGet.Host)
		}
		if len(h.HTTPGet.HTTPHeaders) > 0 {
			var headers []string
			for _, x := range h.HTTPGet.HTTPHeaders {
				headers = append(headers, fmt.Sprintf("{name: %q, value: %q}", x.Name, x.Value))
			}
			words += ", httpHeaders: [" + strings.Join(headers, ", ") + "]"
		}
		return "httpGet: {" + words + "}"
	case h.TCPSocket != nil:
		words := "port: " + portYAML(&h.TCPSocket.Port)
		if h.TCPSocket.Host != "" {
			words += fmt.Sprintf(", host: %q", h.TCPSocket.Host)
		}
		return "tcpSocket: {" + words + "}"
	case h.GRPC != nil:
		words := fmt.Sprintf("port: %d", h.GRPC.Port)
		if h.GRPC.Service != nil && *h.GRPC.Service != "" {
			words += fmt.Sprintf(", service: %q", *h.GRPC.Service)
		}
		return "grpc: {" + words + "}"
	case h.Exec != nil:
		var words []string
		for _, w := range h.Exec.Command {
			words = append(words, fmt.Sprintf("%q", w))
		}
		return "exec: {command: [" + strings.Join(words, ", ") + "]}"
	default:
		return ""
	}
}

func portYAML(p *intstr.IntOrString) string {
	if p.Type == intstr.Int {
		return p.String()
	}
	return edit.Word(p.StrVal)
}
