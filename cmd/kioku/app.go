package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"unicode/utf8"

	"golang.org/x/term"

	"kioku/cmd/kioku/config"
)

// app is one run of the command: what it was started with and where it writes.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            []string
	dir            string
	// signals end the command; nil where nobody sends any.
	signals chan<- os.Signal

	// flags are the settings on the command line.
	flags      []config.Flag
	configFile string
	json       bool
	noDaemon   bool
	readOnly   bool

	// started says that the arguments were accepted: later errors are no misuse.
	started bool
	conf    *config.Config
}

// run runs a command line and returns the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	if err := checkArgs(args); err != nil {
		return a.report(ctx, err)
	}
	root := a.rootCmd()
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	if err != nil && !a.started {
		err = usageError{err}
	}
	return a.report(ctx, err)
}

// checkArgs returns a misuse for an argument that is no text, which nothing can be asked or written with.
func checkArgs(args []string) error {
	for i, arg := range args {
		if !utf8.ValidString(arg) {
			return misuse("argument %d, %q, is not valid UTF-8", i+1, arg)
		}
	}
	return nil
}

// sources are where the settings of this run come from.
func (a *app) sources() config.Sources {
	return config.Sources{File: a.configFile, Env: a.env, Flags: a.flags, Dir: a.dir}
}

// config returns the settings; the first call reads them and tells what has no effect.
func (a *app) config() (*config.Config, error) {
	if a.conf != nil {
		return a.conf, nil
	}
	conf, err := config.Load(a.sources())
	if err != nil {
		return nil, err
	}
	for _, n := range conf.Notices {
		a.notice("%s", n)
	}
	a.conf = conf
	return conf, nil
}

// notice tells people something beside the answer.
func (a *app) notice(format string, args ...any) {
	fmt.Fprintf(a.stderr, "kioku: %s\n", oneLine(fmt.Sprintf(format, args...)))
}

// log returns a logger on stderr: text on a terminal, JSON elsewhere.
func (a *app) log(level slog.Leveler) *slog.Logger {
	opt := &slog.HandlerOptions{Level: level}
	if isTerminal(a.stderr) {
		return slog.New(slog.NewTextHandler(a.stderr, opt))
	}
	return slog.New(slog.NewJSONHandler(a.stderr, opt))
}

// isTerminal reports whether people read what is written to w.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
