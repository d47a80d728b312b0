package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/play"
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
