package scenario

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// fieldOf is one field of an object that is read into a T, all of it in one place: what it may be and what it is for, how it is read,
// and how the normalised form prints it. The grammar, the reader, the reference, the JSON Schema and Normal are made of the rows.
// One without a name is printed only: it is no field of a document.
type fieldOf[T any] struct {
	field
	// read puts the field into a T, or leaves what is there where the field is absent; nil where it cannot be read for itself.
	read func(cursor, *T)
	// write is nil for what the normalised form does not have.
	write func(*printer, *T)
	// before names the row that it is printed before, where the normalised form has another order than the grammar.
	before string
}

// printsBefore has a row printed before another one.
func (r fieldOf[T]) printsBefore(name string) fieldOf[T] {
	r.before = name
	return r
}

// shapeOf is the grammar of an object.
func shapeOf[T any](rows []fieldOf[T]) shape {
	s := fieldsOf()
	for _, r := range rows {
		if r.name != "" {
			s.fields = append(s.fields, r.field)
		}
	}
	return s
}

// readRows reads an object.
func readRows[T any](c cursor, rows []fieldOf[T], into *T) {
	for _, r := range rows {
		if r.read != nil {
			r.read(c.get(r.name), into)
		}
	}
}

// printRows prints an object.
func printRows[T any](w *printer, rows []fieldOf[T], x *T) {
	for _, r := range printed(rows) {
		if r.write != nil {
			r.write(w, x)
		}
	}
}

// printed are the rows in the order of the normalised form.
func printed[T any](rows []fieldOf[T]) []fieldOf[T] {
	var out []fieldOf[T]
	for _, r := range rows {
		if r.before == "" {
			out = append(out, r)
		}
	}
	for _, r := range rows {
		if r.before != "" {
			at := slices.IndexFunc(out, func(o fieldOf[T]) bool { return o.name == r.before })
			out = slices.Insert(out, at, r)
		}
	}
	return out
}

// onlyPrinted is a line of the normalised form that no document can give.
func onlyPrinted[T any](lines func(*printer, *T)) fieldOf[T] { return fieldOf[T]{write: lines} }

// textRow is a text, printed unless it is "".
func textRow[T any](name string, s shape, in func(*T) *string) fieldOf[T] {
	return fieldOf[T]{
		field: field{name, s},
		read:  func(c cursor, x *T) { *in(x) = c.text(*in(x)) },
		write: func(w *printer, x *T) { w.line(name, *in(x)) },
	}
}

// textsRow is a list of texts, printed unless it is empty.
func textsRow[T any](name string, s shape, in func(*T) *[]string) fieldOf[T] {
	return fieldOf[T]{
		field: field{name, s},
		read: func(c cursor, x *T) {
			if c.present() {
				*in(x) = c.texts()
			}
		},
		write: func(w *printer, x *T) { w.texts(name, *in(x)) },
	}
}

// wordRow is one of the words of a shape, which stand for the values of an enumeration in their order.
func wordRow[T any, E ~uint8](name string, s shape, in func(*T) *E) fieldOf[T] {
	return fieldOf[T]{
		field: field{name, s},
		read: func(c cursor, x *T) {
			if i := slices.Index(s.words, c.text("")); i >= 0 {
				*in(x) = E(i) // an index of a handful of words
			}
		},
		write: func(w *printer, x *T) { w.line(name, s.words[*in(x)]) },
	}
}

// flagRow is true or false, printed when it is true.
func flagRow[T any](name string, s shape, in func(*T) *bool) fieldOf[T] {
	return fieldOf[T]{
		field: field{name, s},
		read:  func(c cursor, x *T) { *in(x) = c.flag(*in(x)) },
		write: func(w *printer, x *T) { w.flag(name, *in(x)) },
	}
}

// spanRow is a duration, printed unless it is 0.
func spanRow[T any](name string, s shape, in func(*T) *engine.Time) fieldOf[T] {
	return fieldOf[T]{
		field: field{name, s},
		read:  func(c cursor, x *T) { *in(x) = c.span(*in(x)) },
		write: func(w *printer, x *T) { w.time(name, *in(x)) },
	}
}

// wholeRow is a whole number, printed unless it is 0.
func wholeRow[T any](name string, s shape, in func(*T) *int) fieldOf[T] {
	return fieldOf[T]{
		field: field{name, s},
		read:  func(c cursor, x *T) { *in(x) = c.whole(*in(x)) },
		write: func(w *printer, x *T) {
			if *in(x) != 0 {
				w.number(name, *in(x))
			}
		},
	}
}

// distRow is a distribution, always printed.
func distRow[T any](name string, s shape, in func(*T) *engine.Dist) fieldOf[T] {
	return fieldOf[T]{
		field: field{name, s},
		read:  func(c cursor, x *T) { *in(x) = c.dist(*in(x), "") },
		write: func(w *printer, x *T) { w.dist(name, *in(x)) },
	}
}

// checked is a row that is followed by a look at what was read.
func checked[T any](r fieldOf[T], look func(cursor, *T)) fieldOf[T] {
	read := r.read
	r.read = func(c cursor, x *T) {
		read(c, x)
		look(c, x)
	}
	return r
}

// saying is a row that leaves a note where it is given.
func saying[T any](r fieldOf[T], note func(*T)) fieldOf[T] {
	return checked(r, func(c cursor, x *T) {
		if c.present() {
			note(x)
		}
	})
}

// unlessZero is a row that is not printed while it is nothing.
func unlessZero[T any](r fieldOf[T], zero func(*T) bool) fieldOf[T] {
	always := r.write
	r.write = func(w *printer, x *T) {
		if !zero(x) {
			always(w, x)
		}
	}
	return r
}
