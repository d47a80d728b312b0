package scenario

// Wording is how a user writes what can be said beside the documents. A command line has flags, a page has fields. The zero
// Wording has plain names: "lb gke-l4", "latency.watch=3s".
type Wording struct {
	// OptionText is an option by its name, such as lb, with its value, "" for the option alone.
	OptionText func(name, value string) string
	// FieldText is a field of a Scenario's spec by its path, such as latency.watch, with its value, "" for the field alone.
	FieldText func(path, value string) string
}

// Option words an option.
func (w Wording) Option(name, value string) string {
	switch {
	case w.OptionText != nil:
		return w.OptionText(name, value)
	case value == "":
		return name
	default:
		return name + " " + value
	}
}

// Field words a field of the spec.
func (w Wording) Field(path, value string) string {
	if w.FieldText != nil {
		return w.FieldText(path, value)
	}
	return path + "=" + value
}
