package cli

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/source/live"
)

// Every list is printed in every format as it was, but for those that are kept elsewhere: docs/model, and the schemas.
func TestWordsOfListsAreKept(t *testing.T) {
	t.Parallel()
	var rows []string
	for _, list := range append([]string{"nothing"}, lists...) {
		if list == "facts" || strings.HasSuffix(list, "schema") {
			continue
		}
		for _, format := range []string{"text", "json", "yaml"} {
			var out, errs bytes.Buffer
			code := Main([]string{"lameduck", "sim", "--list", list, "-o", format}, Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
			h := fnv.New64a()
			_, _ = h.Write(append(out.Bytes(), errs.Bytes()...))
			rows = append(rows, fmt.Sprintf("%s -o %s: exit code %d, %d lines, %016x", list, format, code, bytes.Count(out.Bytes(), []byte("\n")), h.Sum64()))
		}
	}
	kept(t, "testdata/lists.txt", strings.Join(rows, "\n")+"\n")
}

// Facts are listed page by page, with a blank line between the pages.
func TestFactsAreListedByPage(t *testing.T) {
	t.Parallel()
	text := says(t, ExitOK, "sim --list facts")
	pages := strings.Split(text, "\n\n")
	if text[0] == '\n' || len(pages) != len(factPages()) {
		t.Errorf("%d parts, want %d pages; it begins %q", len(pages), len(factPages()), text[:20])
	}
	for _, page := range pages {
		if head, _, _ := strings.Cut(page, "\n"); strings.HasPrefix(head, " ") || !strings.Contains(head, "docs/model/") {
			t.Errorf("a page begins with %q", head)
		}
	}
}

// An object of a cluster is edited with kubectl, in the same cluster; a file is not.
func TestTheCommandThatEditsWhatWasRead(t *testing.T) {
	t.Parallel()
	web := live.Object{Kind: "Deployment", Namespace: "shop", Name: "web"}
	for want, c := range map[string]struct {
		options live.Options
		context string
		object  live.Object
	}{
		"kubectl edit node node-1":                                    {live.Options{}, "", live.Object{Kind: "Node", Name: "node-1"}},
		"kubectl --context kind -n shop edit deployment web":          {live.Options{}, "kind", web},
		"kubectl --kubeconfig 'a b' -n shop edit deployment web":      {live.Options{Kubeconfig: "a b"}, "", web},
		"kubectl --cluster one --user me -n shop edit deployment web": {live.Options{Cluster: "one", User: "me"}, "", web},
	} {
		cmd := &simCommand{in: &input{cluster: &clusterInput{cluster: &live.Cluster{Context: c.context}, files: map[string]live.Object{"web": c.object}}}}
		cmd.input.cluster = &clusterFlags{options: c.options}
		if got := cmd.editWith("web"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := cmd.editWith("web.yaml"); got != "" {
			t.Errorf("a file: %q", got)
		}
	}
	if got := (&simCommand{in: &input{}}).editWith("web"); got != "" {
		t.Errorf("without a cluster: %q", got)
	}
}

// What no selector can be about, what cannot be written, and what cannot be read is said.
func TestWhatCannotBeAskedFor(t *testing.T) {
	t.Parallel()
	played := inFile(t, "s.yaml", "apiVersion: lameduck/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec: {nodes: {count: 3}}\n")
	says(t, ExitUsage, "sim -l app=web -f "+played, "err:-l app=web: the input has documents of kind Scenario, and each says itself what it is about")
	dir := t.TempDir()
	says(t, ExitUsage, "proxy --write-config-to "+dir, "err:open "+dir)
	says(t, ExitUsage, "proxy --healthz-bind-address here --write-config-to "+filepath.Join(dir, "a"), "err:here")
	says(t, ExitUsage, "proxy --config /nowhere.yaml --write-config-to "+filepath.Join(dir, "b"), "err:/nowhere.yaml")
	says(t, ExitUsage, "proxy --config /nowhere.yaml --init-only", "err:/nowhere.yaml")
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("written: %v, %v", left, err)
	}
	if err := newVersion(Streams{Out: full{}}).RunE(nil, nil); err == nil || errors.Is(err, errFindings) {
		t.Errorf("a version that cannot be written: %v", err)
	}
}

// A Service that no proxy serves is named with the reason.
func TestServicesThatNobodyProxies(t *testing.T) {
	t.Parallel()
	const text = "{apiVersion: v1, kind: Service, metadata: {name: a, namespace: shop}, spec: {clusterIP: None, ports: [{port: 80}]}}\n---\n" +
		"{apiVersion: v1, kind: Service, metadata: {name: b, namespace: shop}, spec: {clusterIP: 10.0.0.1, ports: [{port: 80}]}}\n"
	objects, _ := manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte(text)}}, manifest.Options{})
	got := notProxied(objects, nil)
	if len(got) != 1 || got[0].Service != "shop/a" || got[0].Why == "" {
		t.Errorf("%+v", got)
	}
}
