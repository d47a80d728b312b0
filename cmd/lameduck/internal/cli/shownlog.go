package cli

import (
	"fmt"

	"github.com/go-logr/logr"

	"github.com/lameduck-proxy/lameduck/proxier/page"
)

// shownSink hands on to a log what is Shown of every word, so that no name, label or message of a server can begin a line of
// its own there or make a terminal do anything.
type shownSink struct{ logr.LogSink }

// shownLog is a log whose words are all Shown.
func shownLog(log logr.Logger) logr.Logger {
	return log.WithSink(shownSink{log.GetSink()})
}

// Info logs a line.
func (s shownSink) Info(level int, msg string, keysAndValues ...any) {
	s.deeper().Info(level, page.Shown(msg), shownValues(keysAndValues)...)
}

// Error logs an error.
func (s shownSink) Error(err error, msg string, keysAndValues ...any) {
	if err != nil && page.Shown(err.Error()) != err.Error() {
		err = shownError{err}
	}
	s.deeper().Error(err, page.Shown(msg), shownValues(keysAndValues)...)
}

// WithValues adds values to each line.
func (s shownSink) WithValues(keysAndValues ...any) logr.LogSink {
	return shownSink{s.LogSink.WithValues(shownValues(keysAndValues)...)}
}

// WithName adds a name to each line.
func (s shownSink) WithName(name string) logr.LogSink {
	return shownSink{s.LogSink.WithName(page.Shown(name))}
}

// WithCallDepth says how many callers up the line is that is named.
func (s shownSink) WithCallDepth(depth int) logr.LogSink {
	if deep, ok := s.LogSink.(logr.CallDepthLogSink); ok {
		return shownSink{deep.WithCallDepth(depth)}
	}
	return s
}

// deeper is the sink behind, which names the caller's caller: there is one call more between.
func (s shownSink) deeper() logr.LogSink {
	if deep, ok := s.LogSink.(logr.CallDepthLogSink); ok {
		return deep.WithCallDepth(1)
	}
	return s.LogSink
}

// shownError is an error with its words Shown.
type shownError struct{ error }

func (e shownError) Error() string { return page.Shown(e.error.Error()) }

func (e shownError) Unwrap() error { return e.error }

// shownValues shows what of keys and values are words; values that are no words are logged as they are.
func shownValues(keysAndValues []any) []any {
	out := make([]any, len(keysAndValues))
	for i, v := range keysAndValues {
		out[i] = shownValue(v)
	}
	return out
}

func shownValue(v any) any {
	if list, ok := v.([]string); ok {
		out := make([]string, len(list))
		for i := range list {
			out[i] = page.Shown(list[i])
		}
		return out
	}
	text := fmt.Sprint(v) // an error's and a Stringer's own words
	if out := page.Shown(text); out != text {
		return out
	}
	return v
}
