package arch

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documentExceptions are files that name documents which are made up, or somebody else's.
var documentExceptions = []permit{
	{"docs/model/model_test.go", "pages of a test"},
	{"cmd/lameduck/internal/learn/learn_test.go", "files of a test"},
	{"cmd/lameduck/internal/learn/site_test.go", "files of a test"},
	{"cmd/lameduck/internal/learn/text.go", "links of a page that is written to docs"},
	{"test/arch/marks_test.go", "files of a test"},
	{"test/arch/documents_test.go", "files of a test"},
}

// document is a path that ends as a document does, and is no part of an address.
var document = regexp.MustCompile(`(?:^|[^\w/.:-])((?:\.{1,2}/)*(?:[\w.-]+/)*[\w-]+\.md)\b`)

// What a comment, a message, a table or a document sends its reader to is in the repository.
func TestNoFileNamesADocumentThatDoesNotExist(t *testing.T) {
	t.Parallel()
	found, named, err := checkDocuments(os.DirFS(repoRoot(t)), documentExceptions)
	if err != nil {
		t.Fatal(err)
	}
	if named < 300 {
		t.Fatalf("only %d documents are named", named)
	}
	report(t, found)
}

// checkDocuments looks through every text file of the repository, other modules included. A path is that of the repository, or
// begins where the file is.
func checkDocuments(fsys fs.FS, exceptions []permit) (found []finding, named int, err error) {
	found, _, err = checkFiles(fsys, "documentExceptions", exceptions, func(name string, content []byte) []finding {
		missing, n := documentsIn(fsys, name, content)
		named += n
		return missing
	})
	return found, named, err
}

// documentsIn finds the documents that one file names and that do not exist; binary files name none.
func documentsIn(fsys fs.FS, name string, content []byte) (missing []finding, named int) {
	if bytes.IndexByte(content, 0) >= 0 {
		return nil, 0
	}
	for i, line := range strings.Split(string(content), "\n") {
		for _, m := range document.FindAllStringSubmatch(line, -1) {
			named++
			if !exists(fsys, m[1]) && !exists(fsys, path.Join(path.Dir(name), m[1])) {
				f := finding{msg: fmt.Sprintf("%s is not in the repository", m[1])}
				f.pos.Filename, f.pos.Line = filepath.ToSlash(name), i+1
				missing = append(missing, f)
			}
		}
	}
	return missing, named
}

func exists(fsys fs.FS, name string) bool {
	_, err := fs.Stat(fsys, name)
	return err == nil
}

func TestDocumentRuleFires(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{ // order: each for itself
		"a.md":         "see [b](docs/b.md) and https://example.com/docs/c.md\n",
		"docs/b.md":    "see ../a.md, b.md, and lost.md\n",
		"docs/sub/c":   "// docs/b.md 5.1; ../lost.md 2\nsee ../b.md)\n",
		"theirs/d.txt": "lost.md\n",
		"binary":       "\x00 lost.md\n",
		"bin/e":        "lost.md\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, named, err := checkDocuments(os.DirFS(dir), []permit{{"theirs/d.txt", "not ours"}, {"a.md", "needs none"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		got = append(got, f.String())
	}
	want := []string{"docs/b.md:1: lost.md is not in the repository", "docs/sub/c:1: ../lost.md is not in the repository", "documentExceptions"}
	if len(got) != len(want) || named != 8 {
		t.Fatalf("%d named, found %q", named, got)
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("found %q, want %q", got[i], want[i])
		}
	}
}
