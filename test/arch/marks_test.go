package arch

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// marks are the words that postpone work. They are put together here so that this file does not contain them.
var marks = regexp.MustCompile(`\b(` + strings.Join([]string{"TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"}, "|") + `)\b`)

// unmarked are directories and files nobody writes by hand.
var unmarked = map[string]bool{".git": true, "bin": true, "go.sum": true, "node_modules": true}

func TestNoFilePostponesWork(t *testing.T) {
	t.Parallel()
	found, files, err := checkMarks(os.DirFS(repoRoot(t)), markExceptions)
	if err != nil {
		t.Fatal(err)
	}
	if files < 10 {
		t.Fatalf("looked at %d files only", files)
	}
	report(t, found)
}

// checkMarks looks through every text file of the repository, other modules included: work is done, or described where
// users see it, in the list of limitations.
func checkMarks(fsys fs.FS, exceptions []permit) (found []finding, files int, err error) {
	return checkFiles(fsys, "markExceptions", exceptions, marksIn)
}

// checkFiles has every file of the repository looked through that somebody wrote by hand. What is found below an exception of the
// table of that name does not count, and an exception below which nothing is found is a finding itself.
func checkFiles(fsys fs.FS, table string, exceptions []permit, look func(name string, content []byte) []finding) (found []finding, files int, err error) {
	used := map[string]bool{}
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if unmarked[d.Name()] {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		content, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		files++
		hits := look(name, content)
		for _, e := range exceptions {
			if under(name, e.target) && len(hits) > 0 {
				used[e.target] = true
				return nil
			}
		}
		found = append(found, hits...)
		return nil
	})
	for _, e := range exceptions {
		if !used[e.target] {
			found = append(found, stale(table, e))
		}
	}
	return found, files, err
}

// marksIn finds the marks in one file; binary files have none.
func marksIn(name string, content []byte) []finding {
	if bytes.IndexByte(content, 0) >= 0 {
		return nil
	}
	var found []finding
	for i, line := range bytes.Split(content, []byte("\n")) {
		if m := marks.Find(line); m != nil {
			f := finding{msg: fmt.Sprintf("%s: do it, or write it into the list of limitations", m)}
			f.pos.Filename, f.pos.Line = filepath.ToSlash(name), i+1
			found = append(found, f)
		}
	}
	return found
}

func TestMarkRuleFires(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	word := "TO" + "DO"
	for name, content := range map[string]string{
		"a/code.go":   "package a\n\n// " + word + ": later\n",
		"a/fine.go":   "package a\n\n// " + word + "S, A" + word + " and " + strings.ToLower(word) + " are other words\n",
		"a/go.sum":    word,
		"a/binary":    word + "\x00",
		".git/config": word,
		"theirs/x.md": word,
		"doc.md":      "X" + "XX",
		"Makefile":    "# FIX" + "ME\n\n# HA" + "CK!",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, files, err := checkMarks(os.DirFS(dir), []permit{{"theirs", "somebody else's text"}, {"gone", "nothing is left of it"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		where, _, _ := strings.Cut(f.String(), ": ")
		got = append(got, where)
	}
	want := "Makefile:1 Makefile:3 a/code.go:3 doc.md:1 stale entry in test/arch/table_test.go"
	if strings.Join(got, " ") != want || files != 6 {
		t.Errorf("found %v in %d files, want %s in 6", got, files, want)
	}
}
