package golden

import "testing"

func TestText(t *testing.T) {
	t.Parallel()
	type inner struct {
		Name string
		note int8
	}
	type outer struct {
		inner
		To    *inner
		Any   any
		List  []inner
		Of    map[string]uint
		Part  float64
		Is    bool
		Calls func()
	}
	two := &inner{Name: "two"}
	for want, value := range map[string]any{
		`{}`:                           outer{Calls: func() {}},
		`nil`:                          nil,
		`{inner:{Name:"a" note:-1 } }`: outer{inner: inner{"a", -1}},
		`{To:{Name:"two" } Any:{Name:"two" } Is:true }`:          &outer{To: two, Any: two, Is: true},
		`{List:[{} {Name:"two" } ] Of:{"a":1 "b":2 } Part:0.5 }`: outer{List: []inner{{}, *two}, Of: map[string]uint{"b": 2, "a": 1}, Part: 0.5},
	} {
		if got := Text(value); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
