package cli

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/play"
	"github.com/lameduck-proxy/lameduck/sim/play/dist"
)

func TestPagesOfPlay(t *testing.T) {
	t.Parallel()
	h := pages([]playFile{{"index.html", []byte("<p>")}, {"lameduck.wasm.gz", []byte("\x1f\x8b")}, {"play.js", nil}, {"start.json", []byte("{}")}})
	for path, want := range map[string]string{
		"/": "text/html; charset=utf-8", "/index.html": "text/html; charset=utf-8", "/lameduck.wasm.gz": "application/gzip",
		"/play.js": "text/javascript; charset=utf-8", "/start.json": "application/json", "/dist.go": "", "/../etc/passwd": "",
	} {
		rec := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.URL.Path = path
		h.ServeHTTP(rec, r)
		got := rec.Header()
		if want == "" {
			if rec.Code != http.StatusNotFound {
				t.Errorf("%s: %d", path, rec.Code)
			}
			continue
		}
		if rec.Code != http.StatusOK || got.Get("Content-Type") != want || got.Get("Content-Encoding") != "" {
			t.Errorf("%s: %d %v", path, rec.Code, got)
		}
		if p := got.Get("Content-Security-Policy"); !strings.HasPrefix(p, "default-src 'none'; ") || strings.Contains(p, "inline") {
			t.Errorf("%s: policy %q", path, p)
		}
	}
}

func TestStartOfPlay(t *testing.T) {
	t.Parallel()
	c := playCommand{file: "-", std: Streams{In: strings.NewReader("kind: Deployment # <script>\n")}}
	text, err := c.start()
	if err != nil {
		t.Fatal(err)
	}
	var got play.Start
	if err := json.Unmarshal(text, &got); err != nil || got.Name != "manifest.yaml" || got.Manifest != "kind: Deployment # <script>\n" || got.Version == "" {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = startWith(play.Start{}, manifest.File{Name: "big.yaml", Data: []byte(strings.Repeat("#", 2<<20))})
	if err == nil || !strings.Contains(err.Error(), "big.yaml: the manifest is larger than 1024 KiB") {
		t.Errorf("got %v", err)
	}
}

// The page is written whole, for any web server, with the manifest that it starts with; what cannot be written or read is said.
func TestThePageOfPlayIsWritten(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "site")
	manifest := inFile(t, "shop.yaml", "kind: Deployment\n")
	says(t, ExitOK, "play -f "+manifest+" --write "+dir, "err:files into "+dir+": serve them as they are")
	var names []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		want, err := fs.ReadFile(dist.Files, e.Name())
		if e.Name() != "start.json" && (err != nil || !bytes.Equal(data, want)) {
			t.Errorf("%s is not what was built: %v", e.Name(), err)
		}
		if e.Name() == "start.json" && (!bytes.Contains(data, []byte(`"shop.yaml"`)) || !bytes.Contains(data, []byte("kind: Deployment"))) {
			t.Errorf("it starts with %s", data)
		}
	}
	if !slices.Contains(names, "index.html") || !slices.Contains(names, "lameduck.wasm.gz") || slices.Contains(names, "dist.go") {
		t.Errorf("written are %v", names)
	}
	says(t, ExitUsage, "play --write "+manifest+"/below", "err:--write: mkdir "+manifest)
	taken := filepath.Join(t.TempDir(), "taken")
	if err := os.MkdirAll(filepath.Join(taken, "index.html"), 0o700); err != nil {
		t.Fatal(err)
	}
	says(t, ExitUsage, "play --write "+taken, "err:--write: open "+taken+"/index.html")
	two := t.TempDir()
	for _, name := range []string{"a.yaml", "b.yaml"} {
		if err := os.WriteFile(filepath.Join(two, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	says(t, ExitUsage, "play -f "+two+" --write "+dir, "err:-f "+two+": want one file")
	says(t, ExitUsage, "play -f "+two+"/c.yaml --write "+dir, "err:c.yaml")
	says(t, ExitUsage, "play -f "+inFile(t, "big.yaml", strings.Repeat("#", 2<<20))+" --write "+dir, "err:the manifest is larger than 1024 KiB")
	says(t, ExitUsage, "play --listen nowhere", "err:--listen nowhere: ")
}

// A page is not served without its document or its module, whatever else is there.
func TestWhatAPageLacks(t *testing.T) {
	t.Parallel()
	for names, want := range map[string]string{
		"": "index.html", "start.json index.html": "lameduck.wasm.gz", "lameduck.wasm.gz start.json": "index.html", "a.js lameduck.wasm.gz index.html": "",
	} { // order: each by itself
		var files []playFile
		for _, name := range strings.Fields(names) {
			files = append(files, playFile{name: name})
		}
		if got := lacks(files); got != want {
			t.Errorf("%q lacks %q, want %q", names, got, want)
		}
	}
}
