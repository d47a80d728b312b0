package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lameduck-proxy/lameduck/cmd/lameduck/internal/learn"
	"github.com/lameduck-proxy/lameduck/proxier/explain"
	"github.com/lameduck-proxy/lameduck/proxier/page"
	"github.com/lameduck-proxy/lameduck/sim/html"
	"github.com/lameduck-proxy/lameduck/sim/record"
)

// sitesIndex is the page that leads to the others.
const sitesIndex = "index"

// sitePage is a file of the site.
type sitePage struct {
	name string
	text []byte
}

// writeSite writes all lessons as pages: nothing before all are made, and nothing over what lameduck has not written, which is looked at first:
// to make them takes seconds.
func (c *learnCommand) writeSite() error {
	if c.site == "" {
		return errors.New("--html: want a directory")
	}
	if err := os.MkdirAll(c.site, 0o755); err != nil { //nolint:gosec // pages that others may read
		return fmt.Errorf("--html: %w", err)
	}
	for _, name := range append([]string{sitesIndex}, learn.Names(c.courses)...) {
		if err := replaceable(filepath.Join(c.site, name+".html")); err != nil {
			return err
		}
	}
	pages, err := c.sitePages()
	if err != nil {
		return err
	}
	for _, p := range pages {
		if err := os.WriteFile(filepath.Join(c.site, p.name), p.text, 0o644); err != nil { //nolint:gosec // as above
			return fmt.Errorf("--html: %w", err)
		}
	}
	return c.write(fmt.Sprintf("%d lessons are in %s: open %s in a browser.\n", len(pages)-1, c.site, filepath.Join(c.site, pages[0].name)))
}

// sitePages are the index, and a page for each lesson.
func (c *learnCommand) sitePages() ([]sitePage, error) {
	version := currentVersion().Version
	list := learn.Index(c.courses)
	list.Version = version
	var out bytes.Buffer
	if err := html.WriteLessons(&out, list); err != nil {
		return nil, internalError{err}
	}
	pages := []sitePage{{sitesIndex + ".html", out.Bytes()}}
	for _, name := range learn.Names(c.courses) {
		l := learn.Find(c.courses, name)
		text, err := c.sitePage(l, version)
		if err != nil {
			return nil, err
		}
		pages = append(pages, sitePage{l.Name + ".html", text})
	}
	return pages, nil
}

// sitePage runs a lesson's command, and makes its page of what that prints in lines of 100 columns, on whatever terminal.
func (c *learnCommand) sitePage(l *learn.Lesson, version string) ([]byte, error) {
	var ran learn.Ran
	std := c.streams(map[string]string{l.File(): l.World}, c.std.Err)
	std.Out = sized{columns: page.Widest - indent}
	std.Simulated = func(s *record.Simulation) { ran.Run = s }
	std.Explained = func(x *explain.Explanation) { ran.Node = x }
	output, err := c.execute(l.Command, std)
	if err != nil && !errors.Is(err, errFindings) {
		return nil, err
	}
	ran.Output = output
	p, err := l.Page(c.courses, ran, c.player)
	if err != nil {
		return nil, internalError{err}
	}
	p.Version = version
	var out bytes.Buffer
	if err := html.WriteLesson(&out, p); err != nil {
		return nil, internalError{err}
	}
	return out.Bytes(), nil
}

// generated is what the pages of lameduck say of themselves near their beginning.
const generated = `<meta name="generator" content="lameduck `

// replaceable says why a file must not be overwritten: it is none of lameduck's pages.
func replaceable(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("--html: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("--html: %s is no file: name another directory", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("--html: %w", err)
	}
	if !bytes.Contains(text[:min(len(text), 1000)], []byte(generated)) {
		return fmt.Errorf("--html: %s is there, and no page of lameduck: it is not overwritten; name another directory", path)
	}
	return nil
}
