package kustomize

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

var update = flag.Bool("update", false, "rewrite manifests/rendered")

const manifests = "../../manifests"

// header says what a rendered file is.
func header(overlay string) string {
	return "# What `kubectl kustomize manifests/overlays/" + overlay + "` prints. Do not edit: make rendered\n"
}

// Every overlay builds, and its file is what it builds; no file is without an overlay.
func TestRendered(t *testing.T) {
	t.Parallel()
	overlays, err := os.ReadDir(filepath.Join(manifests, "overlays"))
	if err != nil {
		t.Fatal(err)
	}
	if len(overlays) == 0 {
		t.Fatal("no overlays")
	}
	files, err := filepath.Glob(filepath.Join(manifests, "rendered", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		overlay := strings.TrimSuffix(filepath.Base(f), ".yaml")
		if _, err := os.Stat(filepath.Join(manifests, "overlays", overlay)); err != nil {
			t.Errorf("%s is of no overlay: %v", f, err)
		}
	}
	for _, o := range overlays {
		t.Run(o.Name(), func(t *testing.T) {
			t.Parallel()
			check(t, o.Name())
		})
	}
}

func check(t *testing.T, overlay string) {
	t.Helper()
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(manifests, "overlays", overlay))
	if err != nil {
		t.Fatal(err)
	}
	built, err := resources.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	built = append([]byte(header(overlay)), built...)
	name := filepath.Join(manifests, "rendered", overlay+".yaml")
	if *update {
		if err := os.WriteFile(name, built, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(name)
	if err != nil || string(have) != string(built) {
		t.Errorf("%s is not what the overlay builds: make rendered (%v)", name, err)
	}
}
