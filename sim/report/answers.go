package report

import "github.com/lameduck-proxy/lameduck/sim/record"

// Answer is a paragraph, or several, of the head of a report, beside its label: "Who notices".
type Answer struct {
	Label string
	Words []string
}

// Head is the head of a report of its first case as values: the verdict's sentence, and who notices, why, and what to do. The sentence is "" where
// there is no case, and where all are about nodes.
func Head(s *record.Simulation, opts TextOptions) (c *record.Case, sentenceOf string, answers []Answer) {
	worst, _ := drains(s.Worst())
	shown := chosen(worst, opts.Show)
	if len(shown) == 0 {
		return nil, "", nil
	}
	t := newText(s, opts, everything)
	t.collect = func(label string, paragraphs []string) { answers = append(answers, Answer{label, paragraphs}) }
	t.head(shown[0])
	return shown[0], subject(shown[0]) + sentence(shown[0], s.Wording), answers
}

// Title names a case among others: with its workload where there are several.
func Title(s *record.Simulation, c *record.Case) string {
	if len(workloads(s.Worst())) == 1 {
		return happening(c) + ofService(s, c)
	}
	return title(c) + ofService(s, c)
}
