package manifest

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// A checker collects what is wrong with one object. The validate functions are
// pure: they look at the object, take out of it what the API server would
// refuse, and say so.
type checker struct {
	o        *Object
	problems []Problem
}

// warn reports a field; the message ends in what lameduck does about it.
func (c *checker) warn(path, format string, args ...any) {
	c.problems = append(c.problems, c.o.Problem(Warning, path, fmt.Sprintf(format, args...)))
}

// refuse reports a field for which the object cannot be used.
func (c *checker) refuse(path, format string, args ...any) {
	p := c.o.Problem(Error, path, fmt.Sprintf(format, args...))
	p.Refused = !c.live()
	c.problems = append(c.problems, p)
}

// replaced reports a field for which the API server refuses the object, and what who reads it all the same uses.
func (c *checker) replaced(path, instead, format string, args ...any) {
	p := c.o.Problem(Warning, path, fmt.Sprintf(format, args...))
	p.Refused, p.Instead = !c.live(), instead
	c.problems = append(c.problems, p)
}

// live reports whether the object comes from a cluster, whose API server has
// accepted it under settings that cannot be known here.
func (c *checker) live() bool { return c.o.Has("metadata.uid") }

// filter takes the marked items out of a list, in the value and in the
// positions. It returns the list itself when nothing is marked.
func filter[T any](c *checker, path string, items []T, drop []bool) []T {
	if !slices.Contains(drop, true) {
		return items
	}
	c.o.removeItems(path, drop)
	return keep(items, drop)
}

// enum checks a field that takes one of a few values.
func enum[T ~string](c *checker, path string, field *T, otherwise T, valid ...T) {
	if *field == otherwise || slices.Contains(valid, *field) {
		return
	}
	c.replaced(path, string(otherwise)+" is used instead", "unknown value %s", quoteNear(*field, valid))
	*field = otherwise
}

// quoteNear quotes a value and says what is valid.
func quoteNear[T ~string](value T, valid []T) string {
	names := make([]string, len(valid))
	for i, v := range valid {
		names[i] = string(v)
	}
	s := strconv.Quote(string(value))
	if near := Nearest(string(value), names); near != "" {
		return s + ", did you mean " + near + "? Valid are " + either(names)
	}
	return s + ", valid are " + either(names)
}

// either joins names as "a, b or c".
func either(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

func validPort[T int | int32 | int64](p T) bool { return p >= 1 && p <= 65535 }

const portRange = "must be from 1 to 65535"

// badAddress says why a string is no plain IP address. "" means that it is one.
// Forms that parsers disagree about (leading zeros, IPv4 inside IPv6, zones) are
// refused, as the API server does for new objects.
func badAddress(s string) string {
	a, err := netip.ParseAddr(s)
	switch {
	case err != nil:
		return "is not an IP address such as 10.0.0.1 or 2001:db8::1"
	case a.Zone() != "":
		return "must not have a zone"
	case a.Is4In6():
		return "is an IPv4 address written as IPv6; write " + a.Unmap().String()
	}
	return ""
}

// badAddressFor is badAddress for an address that is given for something.
func badAddressFor(s string, use endpoints.AddressUse) string {
	if bad := badAddress(s); bad != "" {
		return bad
	}
	if what := endpoints.Unusable(netip.MustParseAddr(s), use); what != "" {
		return "must not be " + what
	}
	return ""
}

// badCIDR says why a string is no network such as 10.0.0.0/8. Bits beyond the
// prefix are tolerated: they never mattered.
func badCIDR(s string) string {
	p, err := netip.ParsePrefix(s)
	switch {
	case err != nil:
		return "is not a network such as 10.0.0.0/8 or 2001:db8::/32"
	case p.Addr().Is4In6():
		return "is an IPv4 network written as IPv6"
	}
	return ""
}

// badProtocol says why kube-proxy would not serve a protocol.
func badProtocol(p corev1.Protocol) string {
	switch p {
	case corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP:
		return ""
	}
	return "unknown protocol " + quoteNear(p, []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP})
}

// isPortName is the syntax of a container port's name: 1-15 of [a-z0-9-], at
// least one letter, no '-' at an end or twice in a row (RFC 6335).
func isPortName(s string) bool {
	if s == "" || len(s) > 15 || strings.Contains(s, "--") || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	letter := false
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z':
			letter = true
		case c >= '0' && c <= '9', c == '-':
		default:
			return false
		}
	}
	return letter
}

// badPortReference says why a targetPort or a probe's port is neither a port
// number nor a port name.
func badPortReference(p intstr.IntOrString) string {
	if p.Type == intstr.Int {
		if validPort(p.IntVal) {
			return ""
		}
		return fmt.Sprintf("%d %s", p.IntVal, portRange)
	}
	if isPortName(p.StrVal) {
		return ""
	}
	if i, err := strconv.Atoi(p.StrVal); err == nil && validPort(i) {
		return strconv.Quote(p.StrVal) + " is a string, so it is taken for a port name; write it without quotes"
	}
	return strconv.Quote(p.StrVal) + " must be a port from 1 to 65535 or the name of a container port (at most 15 lower-case letters, digits and '-')"
}
