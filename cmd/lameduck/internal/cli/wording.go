package cli

import "github.com/lameduck-proxy/lameduck/sim/scenario"

// commandLine words what a user can say as the flags of sim.
func commandLine() scenario.Wording {
	return scenario.Wording{
		OptionText: func(name, value string) string {
			switch value {
			case "":
				return "--" + name
			case "true", "false": // a flag without a value is true: what follows a blank is no value
				return "--" + name + "=" + value
			default:
				return "--" + name + " " + value
			}
		},
		FieldText: func(path, value string) string { return "--set " + path + "=" + value },
	}
}
