package controlplane

import "regexp"

// argument is a difference that is to stay, and why.
type argument struct {
	recording, difference *regexp.Regexp
	reason                string
}

// argued are the differences that are to stay.
func argued() []argument { return nil }
