package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/lameduck-proxy/lameduck/docs/model"
	"github.com/lameduck-proxy/lameduck/proxier/page"
)

// factsOf begins a value of --list that asks for some facts: a fact by its ID, or all of a section or a page.
const factsOf = "facts="

// table is which table --list asks for, "" for none.
func (c *simCommand) table() string {
	if strings.HasPrefix(c.list, factsOf) {
		return "facts"
	}
	return c.list
}

// factPages are the values of --list that name a page of facts.
func factPages() []string {
	var out []string
	pages, err := model.Read()
	if err != nil {
		panic(err) // the pages are embedded, and their tests read them
	}
	for i := range pages {
		out = append(out, pages[i].Name)
	}
	return out
}

// printFacts prints all facts with their first sentences; or those of one ID, whole.
func (c *simCommand) printFacts() error {
	facts, err := model.Facts()
	if err != nil {
		return internalError{err}
	}
	id, whole := strings.CutPrefix(c.list, factsOf)
	if whole {
		if facts = model.Find(facts, factID(id)); len(facts) == 0 {
			return fmt.Errorf("--list %q: there is no such fact: want a page (%s), a section of one such as %q, or a fact of --list facts",
				c.list, strings.Join(factPages(), ", "), "kube-proxy 5.1")
		}
	}
	if c.output != "text" {
		return c.printRows(factRows(facts))
	}
	p := page.New(page.Columns(columns(c.std.Out)))
	if whole {
		writeFacts(p, facts)
	} else {
		listFacts(p, facts)
	}
	_, err = io.WriteString(c.std.Out, p.String())
	return err
}

// factID is the ID that a user asks for, who may have copied the reference of a table: "docs/model/kube-proxy.md 6".
func factID(asked string) string {
	asked = strings.TrimSpace(strings.TrimPrefix(asked, model.Dir+"/"))
	name, rest, _ := strings.Cut(asked, " ")
	return strings.TrimSuffix(strings.TrimSuffix(name, ".md")+" "+rest, " ")
}

// factRows is a table of everything that the facts say.
func factRows(facts []model.Fact) [][]string {
	rows := [][]string{{"FACT", "STATUS", "TEXT", "SOURCE", "NUMBERS", "MODEL", "FILE", "TESTS", "PAGE"}}
	for i := range facts {
		f := &facts[i]
		rows = append(rows, []string{f.ID, f.Status, f.Text, f.Source, f.Numbers, f.Model, f.File, f.Tests, f.Page})
	}
	return rows
}

// listFacts writes the first sentence of each fact, below the name of its page.
func listFacts(p *page.Page, facts []model.Fact) {
	for from := 0; from < len(facts); {
		name, _, _ := strings.Cut(facts[from].ID, " ")
		var rows [][]string
		to := from
		for ; to < len(facts) && facts[to].Page == facts[from].Page; to++ {
			rows = append(rows, []string{strings.TrimPrefix(facts[to].ID, name+" "), facts[to].Status, facts[to].First()})
		}
		if from > 0 {
			p.Blank()
		}
		p.Text(name+"  ", facts[from].Page)
		p.Table(2, rows)
		from = to
	}
}

// writeFacts writes facts whole.
func writeFacts(p *page.Page, facts []model.Fact) {
	for i := range facts {
		f := &facts[i]
		if i > 0 {
			p.Blank()
		}
		p.Text(f.ID+"  ", f.Status)
		for line := range strings.SplitSeq(f.Text, "\n") {
			p.Text("    ", line)
		}
		for _, field := range []struct{ name, value string }{
			{"numbers", f.Numbers}, {"source", f.Source}, {"modelled", f.Model + "; " + f.File}, {"tests", f.Tests}, {"page", f.Page},
		} {
			if field.value != "" {
				p.Text(fmt.Sprintf("    %-10s", field.name), field.value)
			}
		}
	}
}
