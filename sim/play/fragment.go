package play

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// shareVersion is that of what a link holds: sim/html/web/src/play/link.ts reads no other.
const shareVersion = "1"

// Fragment is the end of a link that opens a manifest in the page: what stands behind its #, as the page's own links have it.
func Fragment(name, manifest string) (string, error) {
	raw, err := json.Marshal(struct {
		Name     string   `json:"name"`
		Manifest string   `json:"manifest"`
		Flags    struct{} `json:"flags"`
		View     struct{} `json:"view"`
	}{Name: name, Manifest: manifest})
	if err != nil {
		return "", fmt.Errorf("a link to %s: %w", name, err)
	}
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err == nil {
		_, err = w.Write(raw)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return "", fmt.Errorf("a link to %s: %w", name, err)
	}
	return shareVersion + "." + base64.RawURLEncoding.EncodeToString(out.Bytes()), nil
}
