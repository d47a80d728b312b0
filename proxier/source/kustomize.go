package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// ErrNoKustomize means that no program was found that builds a kustomization.
var ErrNoKustomize = errors.New("building a kustomization needs kustomize or kubectl in the PATH")

// Kustomize has the machine's own kustomize, or else kubectl, build the kustomization of a directory: what is read
// is what that user's `kubectl apply -k` would send. It is one file, called by the command that made it.
func Kustomize(ctx context.Context, dir string) (manifest.File, error) {
	for _, command := range [][]string{{"kustomize", "build"}, {"kubectl", "kustomize"}} {
		path, err := exec.LookPath(command[0])
		if err != nil {
			continue
		}
		return kustomized(ctx, path, append(command, dir))
	}
	return manifest.File{}, fmt.Errorf("-k %s: %w", dir, ErrNoKustomize)
}

func kustomized(ctx context.Context, path string, command []string) (manifest.File, error) {
	name := strings.Join(command, " ")
	cmd := exec.CommandContext(ctx, path, command[1:]...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	switch said := strings.TrimSpace(stderr.String()); {
	case ctx.Err() != nil:
		return manifest.File{}, fmt.Errorf("%s: %w", name, ctx.Err())
	case err != nil && said != "":
		return manifest.File{}, fmt.Errorf("%s: %w: %s", name, err, said)
	case err != nil:
		return manifest.File{}, fmt.Errorf("%s: %w", name, err)
	case len(out) > manifest.DefaultMaxBytes:
		return manifest.File{}, fmt.Errorf("%s: %w: more than %d MiB", name, ErrTooLarge, manifest.DefaultMaxBytes>>20)
	}
	return manifest.File{Name: name, Data: out}, nil
}
