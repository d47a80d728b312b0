package manifest

import "testing"

// A number has digits before its point or exponent, behind its point and in its exponent: what lacks them is an error there, whatever follows.
func TestNumbersOfJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{ // of the error, "" for none
		"0": "", "-0": "", "10.25": "", "1e5": "", "1E+5": "", "-1.5e-10": "",
		"-":    "malformed JSON: expected a digit, got the end of the input",
		"-e5":  "malformed JSON: expected a digit, got 'e'",
		"1.e5": "malformed JSON: expected a digit, got 'e'",
		"1e":   "malformed JSON: expected a digit, got the end of the input",
		"1e+":  "malformed JSON: expected a digit, got the end of the input",
	} {
		_, err := parseJSON(text, 1)
		got := ""
		if err != nil {
			got = err.message
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
