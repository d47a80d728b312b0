// Package model holds the facts that lameduck models: what Kubernetes, load balancers and servers do, how far that is known,
// where it stands, where it is modelled, and which tests check it.
//
// The pages beside this file are both the documents that people read and the data that the program prints: they are embedded,
// and read strictly. A fact is a heading of the third level, its text, and a list of fields in a fixed order; its ID is the name
// of the page and that heading, such as "kube-proxy 6" or "pod-lifecycle 2.1 After preStop". A reference in a comment names the
// page as a path: docs/model/kube-proxy.md 6. IDs stay what they are, so that a reference does not die.
//
//	docs/model/*.md -> Read, Parse -> lameduck sim --list facts, test/facts, test/arch
package model

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed *.md
var pages embed.FS

// Dir is where the pages are, from the root of the repository.
const Dir = "docs/model"

// Page is one file of facts.
type Page struct {
	// Name is that of the file without its extension, Title its heading, and About the paragraph below that.
	Name, Title, About string
	Facts              []Fact    // in the order of the page
	Left               []LeftOut // what lameduck does not model
}

// Fact is one fact that lameduck models.
type Fact struct {
	ID     string // the name of its page and its heading: "kube-proxy 6"
	Text   string // plain sentences; paragraphs, and the items of a list, are separated by a line break
	Status string // one of Statuses
	Source string // a version and a file, a KEP, the page of a maker, or a page of the repository
	// Numbers are the figures of a load balancer, such as "interval 3 s, timeout 1 s"; "" for all others.
	Numbers string
	Model   string // what is modelled of it, in a few words
	File    string // the file that models it, from the root of the repository
	Tests   string // what checks it: "PACKAGE: TEST TEST; PACKAGE: TEST"
	Page    string // the file of the fact, from the root of the repository
	Line    int    // of its heading, from 1 on
}

// First is the first sentence of a fact.
func (f *Fact) First() string {
	first, _, _ := strings.Cut(f.Text, "\n")
	if sentence, _, more := strings.Cut(first, ". "); more {
		return sentence + "."
	}
	return first
}

// LeftOut is a row, or a whole section, that lameduck does not model.
type LeftOut struct {
	ID, Why string
}

// Statuses lists how far a fact can be known, in falling order: read in the source code; measured on a real control plane; read
// in the documentation of the maker; read in reports of users; remembered; concluded from other facts; taken for granted; or
// defined by lameduck itself.
func Statuses() []string {
	return []string{"verified", "measured", "documented", "reported", "recalled", "inferred", "assumed", "defined"}
}

// Read reads all pages, sorted by name.
func Read() ([]Page, error) {
	entries, err := pages.ReadDir(".")
	if err != nil {
		return nil, err
	}
	var out []Page
	for _, e := range entries {
		data, err := pages.ReadFile(e.Name())
		if err != nil {
			return nil, err
		}
		page, err := Parse(strings.TrimSuffix(e.Name(), ".md"), string(data))
		if err != nil {
			return nil, fmt.Errorf("%s/%s: %w", Dir, e.Name(), err)
		}
		out = append(out, page)
	}
	return out, nil
}

// Facts reads the facts of all pages.
func Facts() ([]Fact, error) {
	pages, err := Read()
	if err != nil {
		return nil, err
	}
	var out []Fact
	for i := range pages {
		out = append(out, pages[i].Facts...)
	}
	return out, nil
}

// Find returns the fact of an ID and all that belong to it: an ID can be a page, a section or the beginning of a heading, too.
func Find(facts []Fact, id string) []Fact {
	var out []Fact
	for i := range facts {
		if facts[i].ID == id || Within(id, facts[i].ID) {
			out = append(out, facts[i])
		}
	}
	return out
}

// Within says whether an ID belongs to a page, to a section or to a section of that: "controllers 9" holds "controllers 9.1 Ready"
// and "pod-lifecycle 2" holds "pod-lifecycle 2a", but "controllers 1" does not hold "controllers 10".
func Within(section, id string) bool {
	rest, ok := strings.CutPrefix(id, section)
	if !ok || rest == "" || section == "" {
		return false
	}
	last := section[len(section)-1]
	digit := last >= '0' && last <= '9'
	return rest[0] == ' ' || digit && (rest[0] == '.' || rest[0] >= 'a' && rest[0] <= 'z')
}
