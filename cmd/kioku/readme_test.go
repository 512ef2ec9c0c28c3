package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/derive/derivetest"
	"kioku/internal/testkit"
)

// The README's commands work line by line, each with its output: all of them in one shell, in the order in which they stand,
// as someone would type them who has cloned the repository and has an empty home. In blocks marked console the outputs are
// compared, in blocks marked sh each command has to succeed. A line "..." stands for any lines, and "..." at the end of a line
// for the rest of it.
func TestReadmeCommandsWorkLineByLine(t *testing.T) {
	t.Parallel()
	if n := runDocument(t, "../../README.md", func(command string) bool { return !ofAnotherProgram.MatchString(command) }); n < 20 {
		t.Fatalf("only %d commands", n)
	}
}

// ofAnotherProgram matches commands that need a program which is no part of Kioku, or what such a command has done.
var ofAnotherProgram = regexp.MustCompile(`^(grpcurl|claude|cat) `)

// The layers that docs/agent.md shows are those that kioku prompt prints.
func TestReadmeOfAgentsShowsTheLayersOfAPrompt(t *testing.T) {
	t.Parallel()
	if n := runDocument(t, "../../docs/agent.md", func(command string) bool { return strings.HasPrefix(command, "kioku prompt ") }); n != 1 {
		t.Fatalf("%d commands", n)
	}
}

// The commands of docs/derive.md work line by line, each with its output.
func TestReadmeOfDeriveWorksLineByLine(t *testing.T) {
	t.Parallel()
	if n := runDocument(t, "../../docs/derive.md", func(string) bool { return true }); n < 10 {
		t.Fatalf("only %d commands", n)
	}
}

// runDocument runs those commands of a document that are picked, compares their outputs, and returns how many there are.
func runDocument(t *testing.T, file string, picked func(command string) bool) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	commands := slices.DeleteFunc(readmeCommands(lines), func(c readmeCommand) bool { return !picked(c.text) })
	shell := newReadmeShell(t)
	if filepath.Base(file) == "derive.md" {
		shell.day = deriveDay
		shell.model = scriptedModel(t, "../../derive/derivetest/scriptedmodel/bakery.txtar")
	}
	lines = shell.compares(t, file, lines, commands)
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			t.Error(err)
		}
	}
	return len(commands)
}

// compares runs commands of a document, compares their outputs, and returns its lines, with -update those that it should have.
func (s *readmeShell) compares(t *testing.T, file string, lines []string, commands []readmeCommand) []string {
	t.Helper()
	s.runs(t, commands)
	for i := len(commands) - 1; i >= 0; i-- {
		c := commands[i]
		switch {
		case c.code != 0:
			t.Errorf("%s:%d: exit %d of %s\n%s", file, c.line, c.code, c.text, c.got)
		case c.compared && !matchesReadme(c.shown(lines), c.got):
			if *update && !strings.Contains(c.shown(lines), "...") {
				lines = c.replaced(lines)
				continue
			}
			t.Errorf("%s:%d: %s (-update records it unless it has ...)\n%s", file, c.line, c.text, cmp.Diff(c.shown(lines), c.got))
		}
	}
	return lines
}

// readmeCommand is a command of the README.
type readmeCommand struct {
	// line of the README on which it begins, from 1.
	line int
	text string
	// compared says that the README shows the output: its lines with an index of at least from and less than to.
	compared bool
	from, to int
	// got is what it has printed, as the README would show it, and code how it ended.
	got  string
	code int
}

// readmeCommands returns the commands of the blocks marked console, where they follow "$ ", and sh.
func readmeCommands(lines []string) []readmeCommand {
	var commands []readmeCommand
	fence := ""
	for i, line := range lines {
		last := &readmeCommand{}
		if len(commands) > 0 {
			last = &commands[len(commands)-1]
		}
		command, prompt := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "```"):
			fence = strings.TrimPrefix(line, "```")
		case fence != "console" && fence != "sh":
		case last.from == i && strings.HasSuffix(last.text, "\\"), last.from == i && strings.HasSuffix(last.text, "|"):
			last.text += "\n" + line
			last.from, last.to = i+1, i+1
		case prompt || fence == "sh" && line != "":
			commands = append(commands, readmeCommand{line: i + 1, text: command, compared: prompt, from: i + 1, to: i + 1})
		case fence == "console":
			last.to = i + 1
		}
	}
	return commands
}

// shown returns the output that the README shows.
func (c readmeCommand) shown(lines []string) string { return strings.Join(lines[c.from:c.to], "\n") }

// replaced returns the lines of the README with the output that the command has now.
func (c readmeCommand) replaced(lines []string) []string {
	var got []string
	if c.got != "" {
		got = strings.Split(c.got, "\n")
	}
	return append(append(append([]string{}, lines[:c.from]...), got...), lines[c.to:]...)
}

// What differs between two runs: scores, which every change of the ranking moves, times, sizes, ids of folders, and the sizes of the
// layers of a prompt that have paths or the day in them.
var readmeVaries = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\b[01]\.\d\d\b`), "0.50"},
	{regexp.MustCompile(`\b\d+(\.\d+)?(µs|ms|s)\b`), "1ms"},
	{regexp.MustCompile(`<1ms\b`), "1ms"},
	{regexp.MustCompile(`\b\d\d:\d\d\b`), "09:30"},
	{regexp.MustCompile(`\b\d+(\.\d+)? [kM]?B\b`), "100 kB"},
	{regexp.MustCompile(`-[0-9a-f]{8}\b`), "-0a1b2c3d"},
	{regexp.MustCompile(`(?m)^(skills|turn|all) +\d+ +\d+.*$`), "$1"},
	{regexp.MustCompile(`\b\d+\.\d%`), "50.0%"},
}

// matchesReadme reports whether an output is the one that the README shows, apart from what differs between two runs.
func matchesReadme(shown, got string) bool {
	for _, v := range readmeVaries {
		shown, got = v.pattern.ReplaceAllString(shown, v.with), v.pattern.ReplaceAllString(got, v.with)
	}
	pattern := `^`
	for line := range strings.SplitSeq(shown, "\n") {
		start, open := strings.CutSuffix(line, "...")
		switch {
		case line == "...":
			pattern += `(.*\n)*?`
		case open:
			pattern += regexp.QuoteMeta(start) + `.*\n`
		default:
			pattern += regexp.QuoteMeta(line) + `\n`
		}
	}
	return regexp.MustCompile(pattern + `$`).MatchString(got + "\n")
}

// readmeDay is the day of which the README tells, and deriveDay that of docs/derive.md, after the last note of the example.
const readmeDay, deriveDay = "2026-02-14", "2026-03-03"

// readmeShell is an empty home with a clone of the repository, as far as the commands need one.
type readmeShell struct {
	root, provider, day string
	// model is the URL of a scripted model, if there is one.
	model string
	// path is what comes before the PATH of the machine, and env is set besides.
	path string
	env  []string
}

// home is the home of whoever types.
func (s *readmeShell) home() string { return filepath.Join(s.root, "home", "me") }

func newReadmeShell(t *testing.T) *readmeShell {
	t.Helper()
	url, _ := countingProvider(t)
	s := &readmeShell{root: t.TempDir(), provider: url, day: readmeDay, model: "http://127.0.0.1:9911"}
	clone := filepath.Join(s.home(), "kioku")
	for _, dir := range []string{filepath.Join(s.root, "tmp"), filepath.Join(s.root, "bin"), filepath.Join(clone, "bin"), filepath.Join(s.home(), ".local", "bin")} {
		testkit.Must(t, os.MkdirAll(dir, 0o755))
	}
	makefile, err := filepath.Abs("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.CopyFS(filepath.Join(clone, "examples"), os.DirFS("../../examples")),
		os.CopyFS(filepath.Join(clone, "testdata", "vaults"), os.DirFS("../../testdata/vaults")),
		os.Symlink(program, filepath.Join(clone, "bin", "kioku")),
		os.Symlink(program, filepath.Join(s.home(), ".local", "bin", "kioku")),
		os.WriteFile(filepath.Join(s.root, "bin", "make"), fmt.Appendf(nil, readmeMake, makefile), 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// scriptedModel starts a model server with the script in a file and returns its URL.
func scriptedModel(t *testing.T, file string) string {
	t.Helper()
	script, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return derivetest.New(t, string(script)).URL
}

// readmeMake takes the place of make: the program is built already, so that only the targets have to exist.
const readmeMake = `#!/bin/sh
for word; do
	case $word in
	*=*) ;;
	*) grep -q "^$word:" %q || { echo "make: no target $word" >&2; exit 2; } ;;
	esac
done
`

// runs runs all commands in one shell and notes what each prints and how it ends.
func (s *readmeShell) runs(t *testing.T, commands []readmeCommand) {
	t.Helper()
	var script strings.Builder
	for i, c := range commands {
		text := strings.NewReplacer("/tmp/", s.root+"/tmp/", "http://127.0.0.1:1234", s.provider, "http://127.0.0.1:9911", s.model).Replace(c.text)
		if strings.HasSuffix(text, "&") {
			text += "\necho $! >" + s.root + "/daemon"
		}
		fmt.Fprintf(&script, "%s\nprintf '\\n%s %d %%d\\n' $?\n", text, readmeMark, i)
	}
	out, err := os.Create(filepath.Join(s.root, "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script.String())
	cmd.Dir, cmd.Stdout, cmd.Stderr = filepath.Join(s.home(), "kioku"), out, out
	cmd.Env = append(systemEnv(), "HOME="+s.home(), "TZ=UTC", "TMPDIR="+s.root+"/tmp", "KIOKU_LISTEN=127.0.0.1:0",
		"PATH="+s.home()+"/.local/bin:"+s.root+"/bin:"+s.path+os.Getenv("PATH"))
	cmd.Env = append(cmd.Env, s.env...)
	began := time.Now().UTC()
	defer s.endDaemon()
	testkit.Must(t, cmd.Run())
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	s.read(t, commands, strings.ReplaceAll(string(text), began.Format(time.DateOnly), s.day))
}

// readmeMark begins the line that follows what a command prints.
const readmeMark = "@@readme"

// read takes the outputs of the commands apart.
func (s *readmeShell) read(t *testing.T, commands []readmeCommand, text string) {
	t.Helper()
	text = strings.NewReplacer(s.home(), "/home/me", s.root+"/tmp/", "/tmp/", s.provider, "http://127.0.0.1:1234", s.model, "http://127.0.0.1:9911").Replace(text)
	for i := range commands {
		got, rest, ok := strings.Cut(text, fmt.Sprintf("\n%s %d ", readmeMark, i))
		code, rest, _ := strings.Cut(rest, "\n")
		n, err := strconv.Atoi(code)
		if !ok || err != nil {
			t.Fatalf("README.md:%d: %s has not ended: %s", commands[i].line, commands[i].text, text)
		}
		commands[i].got, commands[i].code, text = strings.TrimSuffix(got, "\n"), n, rest
	}
}

// endDaemon ends the last process that the shell has left in the background, if it is still there.
func (s *readmeShell) endDaemon() {
	text, err := os.ReadFile(filepath.Join(s.root, "daemon"))
	if err != nil {
		return
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
		_ = syscall.Kill(pid, syscall.SIGTERM) // it may have ended by itself
	}
}
