//go:build linux

package fault

import (
	"net/netip"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/healthcheck"
	"github.com/lameduck-proxy/lameduck/test/lab"
)

// drain is a Service with externalTrafficPolicy Local, whose only endpoint on the node goes.
type drain struct {
	*rig
	*testing.T
	service
	health *healthcheck.Table
}

// put has the Service's endpoints programmed, and then published to load balancers.
func (d *drain) put(what string, pods ...pod) {
	d.Helper()
	if err := d.set(d.service, pods); err != nil {
		d.Fatal(err)
	}
	if err := d.sync(); err != nil {
		d.Fatalf("%s: %v", what, err)
	}
	if d.health == nil {
		d.health = healthcheck.NewTable(d.snap, nodeName)
	} else {
		d.health = d.health.Next(d.snap)
	}
}

// answers holds the health-check node port to a status.
func (d *drain) answers(what string, status int) {
	d.Helper()
	for _, f := range endpoints.Families() {
		if got := d.health.Answer(f, d.nodePort()+1000, true); got.Status != status {
			d.Errorf("%s: health port %s answers %d, want %d: %s", what, f, got.Status, status, got.Body)
		}
	}
}

// flows opens one for every way from outside, and wants them to have a fate and, if answered, the
// pod's own address and the client's.
func (d *drain) flows(what string, want lab.Fate, at pod, from uint16) []*lab.Flow {
	d.Helper()
	var out []*lab.Flow
	for i, c := range d.calls(d.service) {
		if c.site != client || c.dst.Addr() == d.clusterIPs()[c.family] {
			continue // pods and ClusterIPs have other rules
		}
		// Each has a port of its own: two flows from one port to one pod, by different addresses of
		// the Service, would be one, and the kernel would have to change the port of the second.
		dial := d.dial(c, from+uint16(i)) // a small number
		f, r, err := d.Open(dial)
		if err != nil || r.Fate != want {
			d.Errorf("%s: %s: %s %s, error %v, want %s", what, dial, r.Fate, r.Error, err, want)
			continue
		}
		if want == lab.Answered {
			d.sees(what, r.Arrival, dial, at)
			out = append(out, f)
		}
	}
	return out
}

func (d *drain) sees(what string, got lab.Arrival, dial lab.Dial, at pod) {
	d.Helper()
	f := endpoints.FamilyOf(dial.Dst.Addr())
	want := lab.Arrival{By: pods, At: netip.AddrPortFrom(podAddr(f, at.number, at.local), targetPort), Saw: dial.Src}
	if got != want {
		d.Errorf("%s: %s: %s, want %s", what, dial, got, want)
	}
}

// goOn exchanges more data on flows that exist.
func (d *drain) goOn(what string, flows []*lab.Flow, at pod) {
	d.Helper()
	for _, f := range flows {
		r, err := f.Again()
		if err != nil || r.Fate != lab.Answered {
			d.Errorf("%s: %s: %s, error %v", what, f, r.Fate, err)
			continue
		}
		d.sees(what, r.Arrival, f.Dial, at)
	}
}

// KEP-1669: the node's last endpoint terminates. Its load balancer is told to go elsewhere at
// once, and as long as connections still come they are served: by an endpoint on this node, with
// the client's own address, not dropped and not sent to the other node.
func TestTheLastLocalEndpointServesWhileItTerminates(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p plane) {
		d := &drain{rig: newRig(t, p, 4), T: t, service: service{number: 1, local: true}}
		here, there := pod{number: 3, local: true}, pod{number: 5}

		d.put("ready", here, there)
		d.answers("ready", 200)
		early := d.flows("ready", lab.Answered, here, 20000)

		here.terminating = true
		d.put("terminating", here, there)
		d.answers("terminating", 503)
		late := d.flows("terminating", lab.Answered, here, 20100)
		d.goOn("terminating, a flow from before", early, here)

		here.ended = true
		d.put("no longer serving", here, there)
		d.answers("no longer serving", 503)
		d.flows("no longer serving", lab.Lost, here, 20200)
		d.goOn("no longer serving, a flow from before", early, here)
		d.goOn("no longer serving, a flow from while it terminated", late, here)

		d.put("gone", there)
		d.answers("gone", 503)
		d.flows("gone", lab.Lost, here, 20300)

		next := pod{number: 4, local: true}
		d.put("another one is ready", next, there)
		d.answers("another one is ready", 200)
		d.flows("another one is ready", lab.Answered, next, 20400)
		d.goOn("another one is ready, a flow from before", early, here)
		if len(early) != 12 || len(late) != 12 {
			t.Errorf("%d and %d flows, want 12: 2 families, 3 protocols, load-balancer IP and node port", len(early), len(late))
		}
	})
}
