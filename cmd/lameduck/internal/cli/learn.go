package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/lameduck-proxy/lameduck/cmd/lameduck/internal/learn"
	"github.com/lameduck-proxy/lameduck/examples/lessons"
	"github.com/lameduck-proxy/lameduck/proxier/page"
	"github.com/lameduck-proxy/lameduck/proxier/source"
)

type learnCommand struct {
	check    string
	solution bool
	all      bool
	pause    bool
	site     string
	player   string
	output   string
	courses  []*learn.Course
	flags    *pflag.FlagSet
	std      Streams
}

func newLearn(std Streams) *cobra.Command {
	c := &learnCommand{std: std}
	cmd := &cobra.Command{
		Use:   "learn [NAME]",
		Short: "Lessons: one question, one small world, one run, one answer",
		Long: `Learn lists lessons, in courses. With the name of one it asks a question, shows a small world,
runs one command on it, says what happened and why, and sets an exercise.

The exercise is a change of the lesson's file. --check runs the file as you changed it, and says
whether the goal is reached: exit code 0 if it is, 1 if not.

--html writes all lessons as pages, each with the timeline of its run or a picture of the node that
it asks, and an index.html to open.
Of what is in the directory only such pages are overwritten, and nothing is deleted. With --play
they have links that open a lesson's world in the page of lameduck play, which is served there.`,
		Example: `  lameduck learn
  lameduck learn blackhole
  lameduck learn blackhole -o yaml > mine.yaml
  lameduck learn blackhole --check mine.yaml
  lameduck learn blackhole --solution
  lameduck learn --all
  lameduck learn --html lessons
  lameduck play --write lessons/play && lameduck learn --html lessons --play play/`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: c.completes,
		RunE: func(_ *cobra.Command, args []string) error {
			return verb(func() error { return c.run(args) })(nil, nil)
		},
	}
	f := cmd.Flags()
	c.flags = f
	f.StringVar(&c.check, "check", "", "run this `FILE`, the lesson's as you changed it, or - (stdin), and say whether the exercise is solved")
	f.BoolVar(&c.solution, "solution", false, "show the exercise's solution")
	f.BoolVar(&c.all, "all", false, "show all lessons, one after another")
	f.BoolVar(&c.pause, "pause", true, "on a terminal: wait for Enter after the question")
	f.StringVarP(&c.output, "output", "o", "text", "text, or yaml: the lesson's file")
	f.StringVar(&c.site, "html", "", "write all lessons as pages into this `DIRECTORY`: index.html, and one page a lesson")
	f.StringVar(&c.player, "play", "", "with --html: `URL` of a page of lameduck play, from the lessons or in full, for links that open their worlds in it")
	cmd.MarkFlagsMutuallyExclusive("check", "solution", "output", "all", "html")
	err := cmd.RegisterFlagCompletionFunc("output", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return []string{"text", "yaml"}, cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err) // there is no such flag
	}
	return cmd
}

// completes offers the shell the names of the lessons, each with its title.
func (c *learnCommand) completes(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 || c.load() != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []cobra.Completion
	for _, name := range learn.Names(c.courses) {
		out = append(out, cobra.CompletionWithDesc(name, learn.Find(c.courses, name).Title))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

func (c *learnCommand) run(args []string) error {
	if c.output != "text" && c.output != "yaml" {
		return fmt.Errorf("--output %q: want text or yaml", c.output)
	}
	if c.player != "" && !c.flags.Changed("html") {
		return errors.New("--play is for the pages of --html: add --html DIRECTORY")
	}
	if err := c.load(); err != nil {
		return err
	}
	if len(args) == 0 {
		return c.withoutName()
	}
	lesson := learn.Find(c.courses, args[0])
	switch {
	case lesson == nil:
		return fmt.Errorf("there is no lesson %q; there are %s", args[0], oneOf(learn.Names(c.courses)))
	case c.flags.Changed("html"):
		return fmt.Errorf("--html writes all lessons: leave out the name %s", args[0])
	case c.all:
		return fmt.Errorf("--all shows all lessons: leave out the name %s, or --all", args[0])
	case c.check != "":
		return c.examine(lesson)
	case c.solution:
		text := c.text(lesson)
		text.Solution()
		return c.write(text.String())
	case c.output == "yaml":
		return c.write(lesson.World)
	default:
		return c.teach(lesson)
	}
}

// withoutName lists the lessons, or shows them all.
func (c *learnCommand) withoutName() error {
	switch {
	case c.flags.Changed("html"):
		return c.writeSite()
	case c.flags.Changed("check") || c.solution || c.flags.Changed("output"):
		return fmt.Errorf("--check, --solution and --output are about one lesson: name it; lameduck learn lists them")
	case !c.all:
		return c.write(learn.List(c.courses, page.Columns(columns(c.std.Out)), c.style()))
	}
	for i, name := range learn.Names(c.courses) {
		if i > 0 {
			if err := c.write("\n"); err != nil {
				return err
			}
		}
		if err := c.teach(learn.Find(c.courses, name)); err != nil {
			return err
		}
	}
	return nil
}

// load reads the lessons that are built in.
func (c *learnCommand) load() error {
	var err error
	if c.courses, err = learn.Read(lessons.Files); err != nil {
		return internalError{err}
	}
	return nil
}

// teach shows a lesson: the question first, and the rest when the reader has thought.
func (c *learnCommand) teach(l *learn.Lesson) error {
	text := c.text(l)
	text.Question()
	if err := c.write(text.String()); err != nil {
		return err
	}
	c.wait()
	text.World()
	if err := c.write(text.String()); err != nil {
		return err
	}
	output, err := c.execute(l.Command, c.streams(map[string]string{l.File(): l.World}, c.std.Err))
	if err != nil && !errors.Is(err, errFindings) {
		return err
	}
	text.Output(output)
	text.Rest(c.courses)
	return c.write(text.String())
}

// examine runs the reader's file and says whether the exercise is solved.
func (c *learnCommand) examine(l *learn.Lesson) error {
	files, err := source.Read([]string{c.check}, c.std.In)
	if err != nil {
		return err
	}
	if len(files) != 1 {
		return fmt.Errorf("--check %s: want one file, the lesson's as you changed it", c.check)
	}
	world := string(files[0].Data)
	strays, err := l.Strays(world)
	if err != nil {
		return fmt.Errorf("--check %s: %w", c.check, err)
	}
	output, err := c.execute(l.CheckCommand(c.check), c.streams(map[string]string{c.check: world}, c.std.Err))
	if err != nil && !errors.Is(err, errFindings) {
		return err
	}
	text := c.text(l)
	missed, wrong := l.Missed(output, err == nil, world)
	if wrong != nil {
		return fmt.Errorf("--check %s: %w", c.check, wrong)
	}
	solved := text.Verdict(output, strays, missed, c.check)
	if err := c.write(text.String()); err != nil || solved {
		return err
	}
	return errFindings
}

// streams are for a command on files that are not on the disk. What it prints fits into a lesson.
func (c *learnCommand) streams(files map[string]string, stderr io.Writer) Streams {
	return Streams{In: strings.NewReader(""), Out: sized{columns: page.Columns(columns(c.std.Out)) - indent}, Err: stderr, Held: files}
}

// execute runs a command of lameduck in this process, and returns what it prints.
func (c *learnCommand) execute(args []string, std Streams) (string, error) {
	var out bytes.Buffer
	wide, _ := std.Out.(sized)
	wide.Writer = &out
	std.Out = wide
	root := newRoot("lameduck", std)
	root.SetArgs(args)
	err := root.Execute()
	return out.String(), err
}

// indent is how far a lesson sets off what its command prints.
const indent = 2

// sized is a stream for lines of so many columns.
type sized struct {
	io.Writer
	columns int
}

// wait gives the reader time to think, where both sides of the terminal are there.
func (c *learnCommand) wait() {
	in, ok := c.std.In.(interface{ Fd() uintptr })
	out := file(c.std.Out)
	if !c.pause || !ok || out == nil || !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return
	}
	if c.write("\nThink, then press Enter. ") != nil {
		return
	}
	_, _ = bufio.NewReader(c.std.In).ReadString('\n') // the end of the input is an answer, too
}

func (c *learnCommand) text(l *learn.Lesson) *learn.Text {
	return learn.NewText(l, page.Columns(columns(c.std.Out)), c.style())
}

// style makes headings bold on a terminal.
func (c *learnCommand) style() learn.Style {
	if !terminal(c.std.Out) {
		return nil
	}
	return func(heading string) string { return page.Painted("1", heading) }
}

func (c *learnCommand) write(text string) error {
	_, err := io.WriteString(c.std.Out, text)
	return err
}
