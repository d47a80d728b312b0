// Package globals writes to package-level variables; the tests of package arch expect every marked line to be caught.
package globals

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
)

type table struct {
	rows map[string]int
	next *table
}

func (t *table) grow()    { t.rows["x"]++ }
func (t table) size() int { return len(t.rows) }

var (
	errGone  = errors.New("gone")
	count    int
	names    = []string{"a"}
	byName   = map[string]int{"a": 1}
	array    [4]int
	current  table
	shared   = &table{}
	replacer = strings.NewReplacer("a", "b")
	hook     func()
)

func writes(locals map[string]int) error {
	count = 1                         // want "assigns to package-level variable count"
	count++                           // want "assigns to package-level variable count"
	count += 2                        // want "assigns to package-level variable count"
	names = append(names, "b")        // want "assigns to package-level variable names"
	names[0] = "c"                    // want "assigns to package-level variable names"
	byName["b"] = 2                   // want "assigns to package-level variable byName"
	(byName)["b"], locals["a"] = 2, 1 // want "assigns to package-level variable byName"
	array[1] = 1                      // want "assigns to package-level variable array"
	current.rows["x"] = 1             // want "assigns to package-level variable current"
	shared.next.rows = nil            // want "assigns to package-level variable shared"
	*shared = table{}                 // want "assigns to package-level variable shared"
	hook = nil                        // want "assigns to package-level variable hook"
	fmt.Errorf("x %w", errGone)
	for count = range 3 { // want "assigns to package-level variable count"
	}
	for _, names[0] = range names { // want "assigns to package-level variable names"
	}
	return errGone
}

func calls() string {
	delete(byName, "a")    // want "delete on package-level variable byName"
	clear(byName)          // want "clear on package-level variable byName"
	copy(names[1:], names) // want "copy on package-level variable names"
	p := &count            // want "takes the address of package-level variable count"
	*p = 3
	current.grow() // want "calls the pointer method grow of package-level variable current"
	_ = current.size()
	sort.Strings(names)   // want "sort.Strings on package-level variable names"
	slices.Sort(names)    // want "slices.Sort on package-level variable names"
	slices.Reverse(names) // want "slices.Reverse on package-level variable names"
	_, _ = slices.BinarySearch(names, "a")
	_ = slices.Sorted(slices.Values(names))
	_ = sort.SearchStrings(names, "a")
	return replacer.Replace(names[0])
}

func reads(count int) int {
	count++
	names := slices.Clone(names)
	names[0] = "local"
	byName, current := map[string]int{}, current
	byName["x"] = array[0]
	current.rows = byName
	var t table
	t.grow()
	return count + len(names)
}
