package report

import (
	"fmt"
	"strings"

	"github.com/lameduck-proxy/lameduck/proxier/explain"
)

// NodePage is what one node makes of Services, as a page shows it: a picture, and tables with the same in words.
type NodePage struct {
	Title   string
	Whose   string // of which kube-proxy this is the behaviour
	Picture string // SVG, as WriteNodeSVG writes it
	Style   string // what stands in the picture's style element
	Ports   []NodePort
}

// NodePort is a service port in words.
type NodePort struct {
	Title     string
	Outside   bool       // anything but the ClusterIP leads to it
	Ways      [][]string // from where, by which policy, to whom, and why
	Endpoints []NodeEndpoint
}

// NodeEndpoint is an endpoint in words. Outside and Cluster say whether connections from there are sent to it.
type NodeEndpoint struct {
	Address, Node, Pod          string
	Ready, Serving, Terminating string
	Outside, Cluster            string
	Why                         string
}

// PageOfNode is an explanation for a page.
func PageOfNode(x *explain.Explanation) (*NodePage, error) {
	var picture strings.Builder
	if err := WriteNodeSVG(&picture, x); err != nil {
		return nil, err
	}
	p := &NodePage{Title: nodeTitle(x), Whose: "A" + strings.TrimPrefix(x.Whose(), "a") + ".", Picture: picture.String(), Style: nodeStyle}
	for i := range x.Services {
		p.Ports = append(p.Ports, nodePort(&x.Services[i]))
	}
	return p, nil
}

func nodePort(s *explain.Service) NodePort {
	out := NodePort{Title: portTitle(s), Outside: s.ExternalTrafficPolicy != ""}
	for _, f := range s.Flows() {
		to := strings.Join(f.Endpoints, ", ")
		if len(f.Endpoints) == 0 {
			to = strings.ToUpper(f.Action)
		}
		out.Ways = append(out.Ways, []string{"from " + f.From, "policy " + f.Policy, to, f.Why})
	}
	if h := s.HealthCheckNodePort; h != nil {
		out.Ways = append(out.Ways, []string{fmt.Sprintf("health port %d", h.Port), "", fmt.Sprintf("answers %d", h.Status), s.HealthWords()})
	}
	for i := range s.Decisions {
		d := &s.Decisions[i]
		e := NodeEndpoint{
			Address: d.Endpoint, Node: d.Node, Pod: d.Pod, Ready: yesNo(d.Conditions.Ready), Serving: yesNo(d.Conditions.Serving),
			Terminating: yesNo(d.Conditions.Terminating), Cluster: usedWord(d.Of(s.InternalTrafficPolicy)), Why: d.Why,
		}
		if out.Outside {
			e.Outside = usedWord(d.Of(s.ExternalTrafficPolicy))
		}
		if d.IsLocal {
			e.Node += " (this node)"
		}
		out.Endpoints = append(out.Endpoints, e)
	}
	return out
}

// usedWord is the word of a decision where there is room for more than a dash.
func usedWord(r explain.Reasoned) string {
	if u := r.Use(); u != "-" {
		return u
	}
	return "not used"
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// nodeTitle names the node, and the Service where there is one.
func nodeTitle(x *explain.Explanation) string {
	title := "What " + x.NodeWords() + " does with new connections"
	if len(x.Services) == 1 {
		title += " to " + x.Services[0].Service
	}
	return title
}

// portTitle names a service port.
func portTitle(s *explain.Service) string {
	port := fmt.Sprintf("%d/%s", s.PortNumber, s.Protocol)
	if s.Port != "" {
		port = s.Port + " " + port
	}
	return s.Service + " " + port + ", " + s.IPFamily
}
