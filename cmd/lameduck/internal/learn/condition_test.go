package learn

import "testing"

func TestWhatAnExerciseAsksOfTheFile(t *testing.T) {
	t.Parallel()
	file := func(spec string) string {
		return "kind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 2\n  template: {spec: {" + spec + "}}\n"
	}
	const (
		hooked = "containers: [{lifecycle: {preStop: {sleep: {seconds: 15}}}}]"
		execed = `containers: [{lifecycle: {preStop: {exec: {command: [sh, -c, "sleep 20"]}}}}]`
		plain  = `containers: [{lifecycle: {preStop: {exec: {command: [sleep, "5"]}}}}]`
		drain  = "containers: [{lifecycle: {preStop: {exec: {command: [drain.sh]}}}}]"
	)
	for _, c := range []struct {
		name, text, condition string
		holds                 bool
	}{
		{"a field has the value", file(""), "Deployment/web spec.replicas = 2: words", true},
		{"a field has another", file(""), "Deployment/web spec.replicas = 3: words", false},
		{"a field is not there", file(""), "Deployment/web spec.paused = true: words", false},
		{"a field is not more", file(""), "Deployment/web spec.replicas <= 2: words", true},
		{"a field is more", file(""), "Deployment/web spec.replicas <= 1: words", false},
		{"a field that is no number", file(""), "Deployment/web kind >= 1: words", false},
		{"no hook is a short one", file(""), "hook <= 10: words", true},
		{"a hook that is longer", file(hooked), "hook <= 10: words", false},
		{"a program that sleeps", file(plain), "hook <= 5: words", true},
		{"a shell that sleeps", file(execed), "hook <= 19: words", false},
		{"a program of which nothing is known", file(drain), "hook <= 100: words", false},
		{"the rest of the default", file(hooked), "rest >= 15: words", true},
		{"too little is left", file(hooked), "rest >= 30: words", false},
		{"enough is left", file("terminationGracePeriodSeconds: 45, " + hooked), "rest >= 30: words", true},
		{"a shell's hook counts", file("terminationGracePeriodSeconds: 45, " + execed), "rest >= 30: words", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			condition, ok := newCondition(c.condition)
			if !ok {
				t.Fatalf("%q is not read", c.condition)
			}
			l := &Lesson{Exercise: Exercise{Goals: []Goal{{Where: &condition}}}}
			missed, err := l.Missed("", true, c.text)
			if err != nil || len(missed) == 0 != c.holds {
				t.Errorf("%v, missed %v", err, missed)
			}
		})
	}
	for _, wrong := range []string{"", "hook", "hook < 5: words", "hook <= 5", "hook <= five: words", "spec.replicas = 2: words"} {
		if _, ok := newCondition(wrong); ok {
			t.Errorf("%q is read", wrong)
		}
	}
}
