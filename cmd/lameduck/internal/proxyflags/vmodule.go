package proxyflags

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lameduck-proxy/lameduck/proxier/kubeproxy"
)

// vmodule is the value of --vmodule: PATTERN=N, several with commas between them. A flag that is given again adds to the
// list, as in Kubernetes' programs (component-base/logs/api/v1, VModuleConfigurationPflag, 1.36; verified).
type vmodule []kubeproxy.VModule

// Type is how help calls the value.
func (v *vmodule) Type() string { return "pattern=N,..." }

// String is the value as Set reads it.
func (v *vmodule) String() string {
	var items []string
	for _, item := range *v {
		items = append(items, fmt.Sprintf("%s=%d", item.FilePattern, item.Verbosity))
	}
	return strings.Join(items, ",")
}

// Set adds items. Empty ones, as after a last comma, are passed over.
func (v *vmodule) Set(text string) error {
	for item := range strings.SplitSeq(text, ",") {
		if item == "" {
			continue
		}
		pattern, level, _ := strings.Cut(item, "=")
		if pattern == "" || level == "" || strings.Contains(level, "=") {
			return fmt.Errorf("%q: want PATTERN=N, such as owner=4", item)
		}
		const bits = 31 // the level fits into an int32, too
		n, err := strconv.ParseUint(level, 10, bits)
		if err != nil {
			return fmt.Errorf("%q: want a level of 0 to %d after the equals sign", item, 1<<bits-1)
		}
		*v = append(*v, kubeproxy.VModule{FilePattern: pattern, Verbosity: uint32(n)})
	}
	return nil
}
