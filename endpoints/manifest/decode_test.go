package manifest

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// every has a field of each type that decode has a rule of its own for.
type every struct {
	Duration metav1.Duration   `json:"duration"`
	Time     metav1.Time       `json:"time"`
	Micro    metav1.MicroTime  `json:"micro"`
	Float    float64           `json:"float"`
	Uint     uint8             `json:"uint"`
	Large    uint64            `json:"large"`
	Int      int8              `json:"int"`
	Bytes    []byte            `json:"bytes"`
	Any      any               `json:"any"`
	Pointer  *string           `json:"pointer"`
	Map      map[string]string `json:"map"`
	List     []every           `json:"list"`
	Array    [2]int            `json:"array"`
	Hidden   string            `json:"-"`
	Untagged string
	inside
}

type inside struct {
	Inlined string `json:"inlined"`
}

func decodeEvery(t *testing.T, text string) (every, string) {
	t.Helper()
	root, err := parseYAML(text, 1)
	if err != nil {
		t.Fatal(err)
	}
	var into every
	var b strings.Builder
	for _, f := range newDecoder().decode(root, &into) {
		fmt.Fprintf(&b, "%d:%d %s: %s\n", f.at.line, f.at.col, f.field, f.message)
	}
	return into, b.String()
}

func TestDecodeEveryKindOfField(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	x := "x"
	for _, tt := range []struct {
		name, text string
		want       every
		problems   string
	}{
		{"a duration", "duration: 1m30s", every{Duration: metav1.Duration{Duration: 90 * time.Second}}, ""},
		{"a duration of 0 needs no unit", "duration: 0", every{}, ""},
		{"another one does", "duration: 30", every{}, "1:11 duration: expected a duration such as 30s, 1m30s or 500ms, got the number 30\n"},
		{"a time in UTC", "time: 2026-01-31T14:00:00+02:00", every{Time: metav1.Time{Time: at}}, ""},
		{"a time to the microsecond", "micro: 2026-01-31T12:00:00.000000Z", every{Micro: metav1.MicroTime{Time: at}}, ""},
		{"nulls", "{duration: , time: null, micro: ~, float: Null, uint: , int: , bytes: , any: , pointer: , map: , list: , array: , Untagged: }", every{}, ""},
		{"a float", "float: 1.5", every{Float: 1.5}, ""},
		{"a float from a whole number", "float: 2", every{Float: 2}, ""},
		{"no float", "float: a", every{}, "1:8 float: expected a number, got the string \"a\"\n"},
		{"an unsigned number", "uint: 255", every{Uint: 255}, ""},
		{"a negative one", "uint: -1", every{}, "1:7 uint: expected a whole number from 0 to 255, got the number -1\n"},
		{"a negative one of 64 bits", "large: -1", every{}, "1:8 large: expected a whole number from 0 to 18446744073709551615, got the number -1\n"},
		{"none", "large: 0", every{}, ""},
		{"one too large", "uint: 256", every{}, "1:7 uint: expected a whole number from 0 to 255, got the number 256\n"},
		{"one in quotes", "uint: \"1\"", every{}, "1:7 uint: expected a whole number, got the string \"1\"; remove the quotes\n"},
		{"a small number", "int: -128", every{Int: -128}, ""},
		{"one too small", "int: -129", every{}, "1:6 int: expected a whole number from -128 to 127, got the number -129\n"},
		{"a whole number written with a point", "int: 12.0", every{Int: 12}, ""},
		{"a whole number in octal", "int: 010", every{Int: 8}, ""},
		{"bytes", "bytes: aGk=", every{Bytes: []byte("hi")}, ""},
		{"anything", "any: {a: [1, 2.5, yes, ~, s]}", every{Any: map[string]any{"a": []any{int64(1), 2.5, true, nil, "s"}}}, ""},
		{"a pointer", "pointer: x", every{Pointer: &x}, ""},
		{"a map", "map: {a: b, 1: c, true: d}", every{Map: map[string]string{"a": "b", "1": "c", "true": "d"}}, ""},
		{"a type that contains itself", "list: [{list: [{int: 1}]}]", every{List: []every{{List: []every{{Int: 1}}}}}, ""},
		{"a shape the API does not use", "array: [1, 2]", every{Array: [2]int{1, 2}}, ""},
		{"a wrong value for it", "array: x", every{}, "1:8 array: cannot be read as [2]int: json: cannot unmarshal string into Go value of type [2]int\n"},
		{"an embedded struct's field", "inlined: a", every{inside: inside{Inlined: "a"}}, ""},
		{"a field without a tag", "Untagged: a", every{Untagged: "a"}, ""},
		{"a hidden field", "Hidden: a", every{}, "1:1 Hidden: unknown field, ignored\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, problems := decodeEvery(t, tt.text)
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%s\ngot  %+v\nwant %+v", tt.text, got, tt.want)
			}
			if problems != tt.problems {
				t.Errorf("%s\ngot  %swant %s", tt.text, problems, tt.problems)
			}
		})
	}
}

func TestWhatAPlainScalarMeans(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]any{
		"": nil, "~": nil, "null": nil, "NULL": nil, "nil": "nil",
		"true": true, "Off": false, "y": true, "N": false, "yesterday": "yesterday",
		"0": int64(0), "-12": int64(-12), "+3": int64(3), "1_000": int64(1000), "1__000": int64(1000), "1_": int64(1), "0x1F": int64(31), "0b11": int64(3), "0o17": int64(15), "017": int64(15),
		"9223372036854775807": int64(math.MaxInt64), "9223372036854775808": float64(1 << 63),
		"1.5": 1.5, "+1.5": 1.5, "-1.5": -1.5, ".5": 0.5, "1e3": 1000.0, "1e+3": 1000.0, "1E-3": 0.001, "1_0.5": 10.5, "08": 8.0, ".inf": math.Inf(1), "-.INF": math.Inf(-1), "+.inf": math.Inf(1),
		"10.0.0.1": "10.0.0.1", "1.2.3": "1.2.3", "-": "-", ".": ".", "12h": "12h", "25%": "25%", "2026-01-31": "2026-01-31", "1e": "1e", "inf": "inf", "nan": "nan", "infinity": "infinity", "0x1p4": "0x1p4", "-.nan": "-.nan", "0x": "0x",
	} {
		if got := (&node{text: text, plain: true}).generic(); got != want {
			t.Errorf("%q is %T %v, want %T %v", text, got, got, want, want)
		}
		if got := (&node{text: text}).generic(); got != text {
			t.Errorf("%q in quotes is %T %v", text, got, got)
		}
	}
	for _, text := range []string{".nan", ".NaN", ".NAN"} {
		if got, _ := (&node{text: text, plain: true}).generic().(float64); !math.IsNaN(got) {
			t.Errorf("%s is %v", text, got)
		}
	}
}

// A tag says what a scalar is, whatever it looks like (YAML 1.2.2, 10.3.2): its quotes do not count then.
func TestATagSaysWhatAScalarIs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]every{
		`float: !!float "1.5"`: {Float: 1.5}, `int: !!int "12"`: {Int: 12}, `any: !!bool "true"`: {Any: true}, `any: !!null "~"`: {},
		"any: !!str 12": {Any: "12"}, "any: !!str true": {Any: "true"},
	} {
		if got, problems := decodeEvery(t, text); !reflect.DeepEqual(got, want) || problems != "" {
			t.Errorf("%s: %+v %s", text, got, problems)
		}
	}
}

func TestJSONMayHaveCommentsBetweenValues(t *testing.T) {
	t.Parallel()
	const node = `{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n%d"}}`
	text := "# first\n" + fmt.Sprintf(node, 1) + " # behind\n  # between\n" + fmt.Sprintf(node, 2) + "\n# last"
	if got := summary(Load([]File{{"x", []byte(text)}}, Options{})); got != "x:2:1 Node n1\nx:4:1 Node n2\n" {
		t.Errorf("got %s", got)
	}
}

// What YAML 1.1 has for true and false, as kubectl reads it; nothing else is.
func TestWordsForTrueAndFalse(t *testing.T) {
	t.Parallel()
	for words, want := range map[string][2]bool{
		"true True TRUE y Y yes Yes YES on On ON":         {true, true},
		"false False FALSE n N no No NO off Off OFF":      {false, true},
		"tRUE yEs oN fALSE nO oFF t f 1 0 yess null None": {false, false},
	} {
		for word := range strings.FieldsSeq(words) {
			if value, ok := parseBool(word); value != want[0] || ok != want[1] {
				t.Errorf("%s: %v, %v", word, value, ok)
			}
		}
	}
}

// A field that does not exist, and is like none that does, is answered with those that do, if a line has room for them.
func TestFieldsThatAreValidAreListedIfTheyAreFew(t *testing.T) {
	t.Parallel()
	root, err := parseYAML("xyzzy: 1", 1)
	if err != nil {
		t.Fatal(err)
	}
	var eight struct{ A1, A2, A3, A4, A5, A6, A7, A8 int }
	var nine struct{ A1, A2, A3, A4, A5, A6, A7, A8, A9 int }
	for want, into := range map[string]any{
		"unknown field, ignored; valid here: A1, A2, A3, A4, A5, A6, A7, A8": &eight,
		"unknown field, ignored": &nine,
	} {
		if got := newDecoder().decode(root, into); len(got) != 1 || got[0].message != want || got[0].severity != Warning {
			t.Errorf("got %+v, want %q", got, want)
		}
	}
}
