package files

import (
	"slices"

	"github.com/go-logr/logr"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// flatten takes joined errors apart.
func flatten(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// halfWritten finds the files that have nothing in them: an editor, or a shell's redirection, has truncated them and not written yet.
func halfWritten(files []manifest.File) []error {
	var errs []error
	for _, f := range files {
		if len(f.Data) == 0 {
			errs = append(errs, manifest.Problem{
				Position: manifest.Position{File: f.Name, Line: 1, Column: 1},
				Message:  "the file is empty, as one that is being written; to take its objects away, remove the file or leave a comment in it",
			})
		}
	}
	return errs
}

// said says what is wrong, once as long as it stays the same.
type said struct {
	log           logr.Logger
	wrong, warned []string
}

// errors says why the input cannot be used, or that it can again.
func (s *said) errors(errs []error) {
	now := texts(errs)
	for i, text := range now {
		if !slices.Contains(s.wrong, text) {
			s.log.Error(errs[i], "The files cannot be used, all of their last good state stays in use")
		}
	}
	if len(now) == 0 && len(s.wrong) > 0 {
		s.log.Info("The files can be used again")
	}
	s.wrong = now
}

// warnings says what is left out.
func (s *said) warnings(list []error) {
	now := texts(list)
	for _, text := range now {
		if !slices.Contains(s.warned, text) {
			s.log.Info("An object of the files is left out, or a part of it", "problem", text)
		}
	}
	s.warned = now
}

func texts(errs []error) []string {
	out := make([]string, len(errs))
	for i, err := range errs {
		out[i] = err.Error()
	}
	return out
}
