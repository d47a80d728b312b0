package scenario

import (
	"slices"
	"strconv"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// appFields are those of an app, and of what a revision changes of it.
func appFields() []fieldOf[world.App] { return slices.Concat(appServes(), appAtSIGTERM(), appEnds()) }

const ofProfile = "that of the profile"

// appServes are those of an app that runs.
func appServes() []fieldOf[world.App] {
	return []fieldOf[world.App]{
		{ // it changes all others, and is read before them
			field: field{"profile", word(servers.ProfileIDs()...).doc("by image and command",
				"what the server does at SIGTERM: the name of a profile; the fields below change single properties of it")},
			write: func(w *printer, a *world.App) { w.line("profile", a.Profile) },
		},
		onlyPrinted(func(w *printer, a *world.App) {
			w.line("basis", a.Basis)
			w.texts("alternatives", a.Alternatives)
		}),
		{
			field: field{"init", of(dist).doc("spec.init", "how long each init container of its pods runs, one after another")},
			read:  func(c cursor, a *world.App) { readInitTime(a, c) },
			write: func(w *printer, a *world.App) { w.dist("init", a.Init) },
		},
		saying(distRow("start", of(dist).doc("2s", "from the start of the container until the server listens"), func(a *world.App) *engine.Dist { return &a.Start }),
			func(a *world.App) { a.StartSaid = true }),
		unlessZero(distRow("readyAfter", of(dist).doc("0s", "from then until its readiness would be true"), func(a *world.App) *engine.Dist { return &a.ReadyAfter }),
			func(a *world.App) bool { return a.ReadyAfter.Max() == 0 }),
		unlessZero(wordRow(readinessAsks, word("by-program", "server", "nothing").doc("by-program", "what its exec readinessProbe asks: with server it passes when the server listens, with nothing as soon as the container runs"),
			func(a *world.App) *world.Asks { return &a.ReadinessAsks }), func(a *world.App) bool { return a.ReadinessAsks == world.AsksByProgram }),
		saying(distRow("serve", of(dist).doc("lognormal median 20ms p99 300ms", "how long the answer to a request takes"), func(a *world.App) *engine.Dist { return &a.Serve }),
			func(a *world.App) { a.ServeSaid = true }),
		{
			field: field{"errors", of(part).doc("0", "the part of requests that is answered with HTTP 500")},
			read:  func(c cursor, a *world.App) { a.Errors = c.part(a.Errors) },
			write: func(w *printer, a *world.App) {
				if a.Errors > 0 {
					w.raw("errors", partText(a.Errors))
				}
			},
		},
		wholeRow("concurrency", of(whole).doc("0: no limit", "requests that are served at the same time"), func(a *world.App) *int { return &a.Concurrency }),
		{
			field: field{"queue", of(whole).doc("0", "requests that wait beyond that; others are answered with HTTP 503")},
			read:  func(c cursor, a *world.App) { a.Queue = c.whole(a.Queue) },
			write: func(w *printer, a *world.App) {
				if a.Concurrency > 0 {
					w.number("queue", a.Queue)
				}
			},
		},
		textsRow("dependsOn", list(of(text)).doc("[]", "names of dependencies that its readiness follows"), func(a *world.App) *[]string { return &a.DependsOn }),
		checked(flagRow("livenessFollows", of(boolean).doc("false", "its liveness follows them, too"), func(a *world.App) *bool { return &a.LivenessFollows }),
			func(c cursor, a *world.App) {
				if a.LivenessFollows && len(a.DependsOn) == 0 {
					c.fail("there are no dependencies to follow: say which with dependsOn")
				}
			}),
		onlyPrinted(func(w *printer, a *world.App) { w.flag("notAServer", a.NotAServer) }),
	}
}

// appAtSIGTERM change single properties of a profile: who gives one of them knows what the server does.
func appAtSIGTERM() []fieldOf[world.App] {
	rows := []fieldOf[world.App]{
		checked(wordRow("listener", word("closes", "stays", "drains").doc(ofProfile, "what becomes of the listening socket at SIGTERM"), func(a *world.App) *world.Listener { return &a.Listener }),
			func(_ cursor, a *world.App) {
				if a.Listener != world.ListenerDrains {
					a.DrainFor = 0
				}
			}),
		checked(spanRow("drainFor", of(duration).doc(ofProfile, "with listener drains: how long new connections are still accepted"), func(a *world.App) *engine.Time { return &a.DrainFor }),
			func(c cursor, a *world.App) {
				if c.present() && a.Listener != world.ListenerDrains {
					c.fail("only a listener that drains does so for a time: set listener: drains")
				}
			}),
		checked(wordRow("inFlight", word("finish", "cut").doc(ofProfile, "what becomes of requests that are being served at SIGTERM"), func(a *world.App) *world.InFlight { return &a.InFlight }),
			graceful),
		spanRow("finishWithin", of(duration).doc(ofProfile, "with inFlight finish: how long they may take; 0s is no limit but the grace period"), func(a *world.App) *engine.Time { return &a.FinishWithin }),
		checked(flagRow("ignoresSIGTERM", of(boolean).doc(ofProfile, "the process runs until SIGKILL"), func(a *world.App) *bool { return &a.IgnoresSIGTERM }),
			graceful).printsBefore("listener"),
	}
	for i := range rows {
		rows[i] = saying(rows[i], func(a *world.App) { a.Basis, a.Alternatives = "manifest", nil })
	}
	return rows
}

// graceful has an app tell its HTTP/2 clients where it finishes their requests.
func graceful(c cursor, a *world.App) {
	if c.present() {
		a.GoAway = a.Tells()
	}
}

// appEnds are what else an app does at its end.
func appEnds() []fieldOf[world.App] {
	return []fieldOf[world.App]{
		flagRow("readinessFails", of(boolean).doc(ofProfile, "readiness fails as soon as SIGTERM arrives"), func(a *world.App) *bool { return &a.ReadinessFails }),
		spanRow("linger", of(duration).doc("0s", "how long the process stays after its last request"), func(a *world.App) *engine.Time { return &a.Linger }),
		spanRow("serverIdle", of(duration).doc("0s: for ever", "how long the server keeps an idle connection"), func(a *world.App) *engine.Time { return &a.ServerIdle }),
		{
			field: field{"goAway", of(boolean).doc("where requests are finished", "HTTP/2 clients are told at SIGTERM to go elsewhere")},
			read:  func(c cursor, a *world.App) { a.GoAway = c.flag(a.GoAway) },
			write: func(w *printer, a *world.App) {
				if a.GoAway != a.Tells() {
					w.raw("goAway", strconv.FormatBool(a.GoAway))
				}
			},
		},
		spanRow("crashAfter", of(duration).doc("0s: never", "the process crashes so long after it became ready"), func(a *world.App) *engine.Time { return &a.CrashAfter }),
	}
}

// appShape is an app, or what a revision changes of it.
func appShape(revisions bool) shape {
	s := shapeOf(appFields())
	if revisions {
		s.fields = append(s.fields, field{"revisions", fieldsOf(
			field{"old", appShape(false).doc("", "the same fields, for pods from before the first change of the template")},
			field{"new", appShape(false).doc("", "the same fields, for pods from after it")},
		)})
	}
	return s
}

func (w *printer) app(a *world.App, initializes bool) {
	printRows(w, slices.DeleteFunc(appFields(), func(r fieldOf[world.App]) bool { return r.name == "init" && !initializes }), a)
}
