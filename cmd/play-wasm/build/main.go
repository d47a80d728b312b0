// Command build builds the module of lameduck play, sim/play/dist/lameduck.wasm.gz, with what goes with it: wasm_exec.js of the same Go,
// module.json, which says what it was built with, and the licences of what is in it. make play runs it. With the name of a directory it writes there
// instead, to compare or to try: compressed by Go's gzip in a second, not by zopfli, which takes a minute and makes 5 % fewer bytes.
//
// The bytes depend on the sources and the version of Go alone, and on zopfli's in package-lock.json of sim/html/web. Before it compiles, it leaves out of copies of Kubernetes' API modules what no
// simulation calls and the linker cannot tell: schemes, conversions, protobuf, CBOR and watches over HTTP (leave.go). Of Go's own packages it replaces
// that of SHA-256.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Where things are, from the root of the repository.
const (
	dist = "sim/play/dist"
	work = "bin/play" // copies of modules: named in the build, so always the same
	ours = "github.com/lameduck-proxy/lameduck"
)

func main() {
	to, pack := dist, zopfli
	if len(os.Args) > 1 {
		to, pack = os.Args[1], squeezed
	}
	if err := build(to, pack); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

func build(to string, pack func([]byte) ([]byte, error)) error {
	if err := errors.Join(copies(), overlay()); err != nil {
		return err
	}
	wasm := filepath.Join(work, "lameduck.wasm")
	args := append([]string{"build", "-modfile", work + "/go.mod", "-overlay", work + "/overlay.json", "-buildvcs=false", "-trimpath", "-tags=notest", "-ldflags=-s -w -buildid=", "-o", wasm}, inlined()...)
	cmd := exec.Command("go", append(args, "./cmd/play-wasm")...) //nolint:gosec // what is built is said here
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=", "GOWASM=")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	module, err := os.ReadFile(wasm)
	if err != nil {
		return err
	}
	packed, err := pack(module)
	if err != nil {
		return err
	}
	root, err := goSays("env", "GOROOT")
	if err != nil {
		return err
	}
	glue, err := os.ReadFile(filepath.Join(root, "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return err
	}
	terms, err := licences(".")
	if err != nil {
		return err
	}
	facts, err := json.MarshalIndent(struct {
		Go    string `json:"go"`
		Bytes int    `json:"bytes"` // before gzip
	}{runtime.Version(), len(module)}, "", "  ")
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{"lameduck.wasm.gz": packed, "wasm_exec.js": glue, "module.json": append(facts, '\n'), licensed: terms} {
		if err := os.WriteFile(filepath.Join(to, name), data, 0o644); err != nil { //nolint:gosec // files that everybody may read
			return err
		}
	}
	fmt.Printf("%s/lameduck.wasm.gz: %d bytes, %d before gzip\n", to, len(packed), len(module))
	return nil
}

// inlined has functions inlined only where it pays: everywhere it would be 14 % more bytes, and nowhere it would be a third slower. In net/netip, regexp
// and most of internal the module would get smaller by it, and what gzip makes of it larger.
func inlined() []string {
	out := []string{"-gcflags=all=-l"}
	for _, hot := range []string{"runtime", "internal/runtime/maps", ours + "/sim/engine", ours + "/sim/ledger"} {
		out = append(out, "-gcflags="+hot+"=")
	}
	return out
}

// squeezed is gzip at its best, with no name and no time.
func squeezed(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(data)
		err = errors.Join(err, w.Close())
	}
	return out.Bytes(), err
}

// zopfli is what gzip can be at its very best. What the repository has stays where it holds the same module.
func zopfli(module []byte) ([]byte, error) {
	if have, err := os.ReadFile(filepath.Join(dist, "lameduck.wasm.gz")); err == nil && holds(have, module) {
		return have, nil
	}
	var out bytes.Buffer
	cmd := exec.Command("node", "pack.mjs")
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = "sim/html/web", bytes.NewReader(module), &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("node pack.mjs: %w", err)
	}
	if !holds(out.Bytes(), module) {
		return nil, errors.New("node pack.mjs: what it wrote is not the module")
	}
	return out.Bytes(), nil
}

// holds says whether a gzip file is that of some bytes.
func holds(packed, want []byte) bool {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return false
	}
	got, err := io.ReadAll(r)
	return err == nil && bytes.Equal(got, want)
}

// goSays is what the go command prints.
func goSays(args ...string) (string, error) {
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
