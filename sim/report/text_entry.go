package report

// entry says before all else that where users enter is not judged: what is reported then is behind
// it, and says nothing of what users see while the way in itself is rolled out.
func (t *text) entry() {
	c := t.sim.UnjudgedEntry()
	if c == nil || t.opts.Show != "" {
		return
	}
	t.Text("NOT JUDGED  ", subject(c)+", where users enter ("+c.Traffic+"): "+c.Reason+". What follows is behind it.")
	t.Blank()
}
