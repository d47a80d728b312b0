package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lameduck-proxy/lameduck/cmd/lameduck/internal/agent"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/page"
	"github.com/lameduck-proxy/lameduck/proxier/source"
	"github.com/lameduck-proxy/lameduck/sim/play"
	"github.com/lameduck-proxy/lameduck/sim/play/dist"
)

type playCommand struct {
	file   string
	listen string
	write  string
	std    Streams
}

func newPlay(std Streams) *cobra.Command {
	c := &playCommand{std: std}
	cmd := &cobra.Command{
		Use:   "play [-f FILE]",
		Short: "The simulator in a page: drag preStop and replicas, and see what is lost",
		Long: `Play serves a page in which the simulator itself runs: edit a manifest, drag its knobs, choose
the load balancer and the action, and see the timeline and the verdict change. The manifest does
not leave the browser. A link to the page holds all of it.

It listens on an address of this machine until Ctrl-C. --write writes the files instead: any web
server for static files can serve them, below any path.`,
		Example: `  lameduck play
  lameduck play -f app.yaml
  lameduck play --listen 127.0.0.1:8080
  lameduck play --write public/lameduck`,
		Args: noWords,
		RunE: verb(c.run),
	}
	f := cmd.Flags()
	f.StringVarP(&c.file, "filename", "f", "", "`FILE` or - (stdin): the manifest that the page begins with, at most 1 MiB")
	f.StringVar(&c.listen, "listen", "127.0.0.1:0", "`ADDRESS:PORT` to serve the page on; port 0 takes one that is free")
	f.StringVar(&c.write, "write", "", "write the files of the page into this `DIR` instead")
	cmd.MarkFlagsMutuallyExclusive("listen", "write")
	return cmd
}

func (c *playCommand) run() error {
	files, err := c.files()
	if err != nil {
		return err
	}
	if c.write != "" {
		return c.writeFiles(files)
	}
	return c.serve(files)
}

// playFile is one file of the page.
type playFile struct {
	name string
	data []byte
}

// files are those of the page: what was built, and what only this program knows.
func (c *playCommand) files() ([]playFile, error) {
	start, err := c.start()
	if err != nil {
		return nil, err
	}
	out := []playFile{{"start.json", start}}
	entries, err := fs.ReadDir(dist.Files, ".")
	if err != nil {
		return nil, internalError{err}
	}
	for _, e := range entries {
		if e.IsDir() || path.Ext(e.Name()) == ".go" {
			continue
		}
		data, err := fs.ReadFile(dist.Files, e.Name())
		if err != nil {
			return nil, internalError{err}
		}
		out = append(out, playFile{e.Name(), data})
	}
	if name := lacks(out); name != "" {
		return nil, fmt.Errorf("this lameduck was built without the page's %s: make play report builds it, in a checkout of lameduck, and go build embeds it", name)
	}
	return out, nil
}

// lacks is what of a page is not among some files, "" for nothing.
func lacks(files []playFile) string {
	for _, name := range []string{"index.html", "lameduck.wasm.gz"} {
		if !slices.ContainsFunc(files, func(f playFile) bool { return f.name == name }) {
			return name
		}
	}
	return ""
}

// start is start.json.
func (c *playCommand) start() ([]byte, error) {
	s := play.Start{Version: currentVersion().Version}
	if c.file != "" {
		given, err := source.ReadFlat([]string{c.file}, c.std.In)
		if err != nil {
			return nil, err
		}
		if len(given) != 1 {
			return nil, fmt.Errorf("-f %s: want one file", c.file)
		}
		if s, err = startWith(s, given[0]); err != nil {
			return nil, err
		}
	}
	text, err := page.Document(s)
	return []byte(page.JSON(text)), err
}

// startWith adds a manifest that the page can read.
func startWith(s play.Start, f manifest.File) (play.Start, error) {
	if err := play.Fits(string(f.Data)); err != nil {
		return s, fmt.Errorf("-f %s: %w", f.Name, err)
	}
	s.Name, s.Manifest = strings.ToValidUTF8(filepath.Base(f.Name), "\ufffd"), strings.ToValidUTF8(string(f.Data), "\ufffd")
	if f.Name == "-" {
		s.Name = "manifest.yaml"
	}
	return s, nil
}

func (c *playCommand) writeFiles(files []playFile) error {
	if err := os.MkdirAll(c.write, 0o755); err != nil { //nolint:gosec // a web server reads it
		return fmt.Errorf("--write: %w", err)
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(c.write, f.name), f.data, 0o644); err != nil { //nolint:gosec // a web server reads it
			return fmt.Errorf("--write: %w", err)
		}
	}
	c.std.say("wrote %d files into %s: serve them as they are", len(files), c.write)
	return nil
}

// serve answers browsers until a signal comes, which is how it ends: with success.
func (c *playCommand) serve(files []playFile) error {
	ctx, _, stop := untilSignalled()
	defer stop()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.listen)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", c.listen, err)
	}
	at := netip.MustParseAddrPort(listener.Addr().String())
	if !at.Addr().IsLoopback() {
		c.std.say("note: other machines can open the page on %s, too, with the manifest of -f in it", at)
	}
	if _, err := fmt.Fprintf(c.std.Out, "http://%s/\n", at); err != nil {
		return errors.Join(err, listener.Close())
	}
	c.std.say("Ctrl-C ends it")
	const patience = 10 * time.Second
	server := &http.Server{Handler: agent.Guarded(pages(files)), ReadHeaderTimeout: patience, ReadTimeout: patience, WriteTimeout: time.Minute}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// playPolicy lets the page run its own files and ask for them, and nothing else from anywhere.
const playPolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// playTypes are the types of files by the ends of their names. The module is a file like any other, which the page itself unpacks.
var playTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".json": "application/json",
	".txt": "text/plain; charset=utf-8", ".gz": "application/gzip",
}

// pages answers with the files.
func pages(files []playFile) http.Handler {
	of := map[string]playFile{}
	for _, f := range files {
		of["/"+f.name] = f
	}
	of["/"] = of["/index.html"]
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", playPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-cache")
		f, ok := of[r.URL.Path]
		if !ok {
			http.Error(w, "there is no such file", http.StatusNotFound)
			return
		}
		h.Set("Content-Type", cmp.Or(playTypes[path.Ext(f.name)], "application/octet-stream"))
		http.ServeContent(w, r, f.name, time.Time{}, bytes.NewReader(f.data))
	})
}
