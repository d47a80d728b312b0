package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// licensed is the file with the licences of what is compiled into the module; those of the page's scripts are in LICENSES.txt.
const licensed = "LICENSES-module.txt"

// licences are those of Go and of each Go module that the simulator imports, also in packages of which the linker keeps nothing: the licence
// at its root, and those of code in it that others wrote, above the packages that are imported.
func licences(root string) ([]byte, error) {
	cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}\t{{end}}{{end}}{{.Dir}}", "./cmd/play-wasm")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=", "GOWASM=")
	list, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	found := map[string]map[string]bool{} // directories with packages, and those above them, by module
	tops := map[string]string{}
	for line := range strings.Lines(string(list)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) < 3 { // Go's own, or ours
			continue
		}
		module, top := fields[0], fields[1]
		if found[module] == nil {
			found[module], tops[module] = map[string]bool{top: true}, top
		}
		for dir := fields[2]; len(dir) > len(top); dir = filepath.Dir(dir) {
			found[module][dir] = true
		}
	}
	goRoot, err := goSays("env", "GOROOT")
	if err != nil {
		return nil, err
	}
	own, err := os.ReadFile(filepath.Join(goRoot, "LICENSE"))
	if err != nil {
		return nil, err
	}
	parts := [][]byte{fmt.Appendf(nil, "Go\n\n%s\n", bytes.TrimSpace(own))}
	for _, module := range slices.Sorted(maps.Keys(found)) {
		text, err := licencesIn(module, tops[module], found[module])
		if err != nil {
			return nil, err
		}
		parts = append(parts, text)
	}
	return bytes.Join(parts, []byte("\n----\n\n")), nil
}

// licencesIn are those of one module. One without any is an error: somebody has to look.
func licencesIn(module, top string, dirs map[string]bool) ([]byte, error) {
	out := []byte(module + "\n")
	seen := 0
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		files, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if name, _, _ := strings.Cut(strings.ToUpper(f.Name()), "."); f.IsDir() || !slices.Contains([]string{"LICENSE", "LICENCE", "NOTICE", "COPYING"}, name) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, f.Name()))
			if err != nil {
				return nil, err
			}
			where := ""
			if dir != top {
				where = filepath.ToSlash(strings.TrimPrefix(dir, top+string(filepath.Separator))) + "\n\n"
			}
			out = fmt.Appendf(out, "\n%s%s\n", where, bytes.TrimSpace(text))
			seen++
		}
	}
	if seen == 0 {
		return nil, fmt.Errorf("%s has no licence", module)
	}
	return out, nil
}
