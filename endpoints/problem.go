package endpoints

import "fmt"

// Problem is something in an API object that cannot be used as it is. The rest of the
// object, and all other objects, still are.
type Problem struct {
	Kind      string // "Service" or "EndpointSlice"
	Namespace string
	Name      string
	Field     string // path in the object, such as "endpoints[3].addresses[0]"
	Message   string // what is wrong, what would be valid and what was skipped
}

// Error returns "Kind ns/name: field: message".
func (p Problem) Error() string {
	return fmt.Sprintf("%s %s/%s: %s: %s", p.Kind, p.Namespace, p.Name, p.Field, p.Message)
}

// problems collects the Problems of one object.
type problems struct {
	of   Problem
	list []Problem
}

func (p *problems) add(field, format string, args ...any) {
	one := p.of
	one.Field, one.Message = field, fmt.Sprintf(format, args...)
	p.list = append(p.list, one)
}

// path is where in an object something is: in an element of a list, or a field if there is no inner one.
// It is written out only where there is a Problem.
type path struct {
	outer string
	i     int
	inner string
}

func (p path) String() string {
	if p.inner == "" {
		return p.outer
	}
	return fmt.Sprintf("%s[%d].%s", p.outer, p.i, p.inner)
}
