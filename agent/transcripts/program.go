package transcripts

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kioku/internal/files"
	"kioku/llm"
)

// Program is an agent that keeps transcripts.
type Program struct {
	// ID names the program: "claude-code" or "codex". It is the name of the source of its transcripts too.
	ID string
	// Title is the name that people know.
	Title string

	// variable names the folder of the program, home is that folder below the user's home, and folder where its transcripts are.
	variable, home, folder string
	// read reads a line. head returns the folder in which a conversation began from its first lines, and whether it is certain.
	read func(line []byte) (Said, string)
	head func(line []byte) (dir string, done bool)
	// dir returns the folder in which the conversation goes on from a line on; empty if the line does not tell.
	dir func(line []byte) string
	// enters reports whether a folder of transcripts may contain some of a project.
	enters func(project, rel string) bool
}

var (
	// ClaudeCode keeps its transcripts in ~/.claude/projects, in a folder a project.
	ClaudeCode = Program{
		ID: "claude-code", Title: "Claude Code", variable: "CLAUDE_CONFIG_DIR", home: ".claude", folder: "projects",
		read: readClaude, head: claudeHead, dir: claudeDir, enters: claudeEnters,
	}
	// Codex keeps its transcripts in ~/.codex/sessions, in a folder a day.
	Codex = Program{
		ID: "codex", Title: "Codex", variable: "CODEX_HOME", home: ".codex", folder: "sessions",
		read: readCodex, head: codexHead, dir: codexDir, enters: codexEnters,
	}
)

// Programs returns the programs whose transcripts can be read.
func Programs() []Program { return []Program{ClaudeCode, Codex} }

// Folder returns the folder of transcripts of the user with an environment, as os.Environ gives it; empty without a home.
func (p Program) Folder(env []string) string {
	if dir := lookup(env, p.variable); dir != "" {
		return filepath.Join(dir, p.folder)
	}
	if home := lookup(env, "HOME"); home != "" {
		return filepath.Join(home, p.home, p.folder)
	}
	return ""
}

// lookup returns a variable of an environment.
func lookup(env []string, name string) string {
	for _, v := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// Enters reports whether a folder, by its path in the folder of transcripts, may contain transcripts of a project or of folders in
// it.
func (p Program) Enters(project, rel string) bool { return p.enters(project, rel) }

// headLines is how many lines of a transcript are read to learn where its conversation began.
const headLines = 50

// Project returns the folder in which a conversation began, from the beginning of its transcript. It is empty if the transcript does
// not tell, and if the conversation is that of a subagent; certain is false if it may tell once it has grown.
func (p Program) Project(transcript io.Reader) (dir string, certain bool) {
	r := bufio.NewReaderSize(transcript, 64<<10)
	for range headLines {
		line, _, err := readLine(r)
		if err != nil {
			return "", false // the line is not complete
		}
		if dir, done := p.head(line); done {
			return dir, true
		}
	}
	return "", true
}

// Within reports whether a folder is a project or in it. Both must be absolute.
func Within(project, dir string) bool {
	project, dir = filepath.Clean(project), filepath.Clean(dir)
	if rel, err := filepath.Rel(project, dir); err == nil && filepath.IsLocal(rel) {
		return true
	}
	return false
}

// LeftOut counts what is left out of a transcript.
type LeftOut struct {
	// Lines that were not understood, by what is wrong with them.
	Lines map[string]int
	// Secrets in the texts.
	Secrets int
}

// String returns the counts for a message, "2 lines too long, 1 secret"; empty if there are none.
func (l LeftOut) String() string {
	var parts []string
	for _, problem := range []string{NoJSON, TooLong, Unknown} {
		if n := l.Lines[problem]; n > 0 {
			parts = append(parts, counted(n, "line")+" "+problem)
		}
	}
	if l.Secrets > 0 {
		parts = append(parts, counted(l.Secrets, "secret"))
	}
	return strings.Join(parts, ", ")
}

// counted returns a number with its noun.
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprint(n, " ", noun)
}

// maxSaid is the maximum number of messages that Read returns: the latest.
const maxSaid = 20_000

// Read returns what was said in a transcript, in its order: the latest 20,000 messages. A last line without its end is still being
// written, and not counted as left out. It returns an error for a path that is no regular file.
func (p Program) Read(path string) ([]Said, LeftOut, error) {
	f, err := openTranscript(path)
	if err != nil {
		return nil, LeftOut{}, err
	}
	defer f.Close()
	return p.readLines(f)
}

// firstTail and maxTail are how much of the end of a transcript ReadLatest reads first and at most, in bytes.
const firstTail, maxTail = 256 << 10, 2 << 20

// ReadLatest returns what was said last in a transcript, in its order, with at least n messages of the user if the last 2 MiB of the
// file have so many. It reads no more than it needs for that, so it takes little time for a file of any size. It returns the errors
// of Read.
func (p Program) ReadLatest(path string, n int) ([]Said, error) {
	f, err := openTranscript(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read the transcript: %w", err)
	}
	for tail := int64(firstTail); ; tail *= 8 {
		begin := max(0, info.Size()-tail)
		// The line in which the tail begins is no JSON, and left out.
		said, _, err := p.readLines(io.NewSectionReader(f, begin, info.Size()-begin))
		if err != nil || begin == 0 || tail == maxTail || countUser(said) >= n {
			return said, err
		}
	}
}

// countUser returns the number of messages of the user.
func countUser(all []Said) (n int) {
	for _, s := range all {
		if s.Role == llm.RoleUser {
			n++
		}
	}
	return n
}

// readLines reads lines of a transcript as Read does.
func (p Program) readLines(lines io.Reader) ([]Said, LeftOut, error) {
	var all []Said
	left, r := LeftOut{Lines: map[string]int{}}, bufio.NewReaderSize(lines, 64<<10)
	for {
		line, whole, err := readLine(r)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, LeftOut{}, fmt.Errorf("read the transcript: %w", err)
		}
		said, problem := Said{}, TooLong
		if whole {
			said, problem = p.Line(line)
		}
		if problem != "" && err == nil {
			left.Lines[problem]++
		}
		if said.Text != "" && !repeats(all, said) {
			all = append(all, said)
			left.Secrets += said.Secrets
		}
		if err != nil {
			return all[max(0, len(all)-maxSaid):], left, nil
		}
	}
}

// repeats reports whether a message says again what the one before says: Codex has written messages in two forms.
func repeats(all []Said, said Said) bool {
	last := len(all) - 1
	return last >= 0 && all[last].Role == said.Role && all[last].Text == said.Text
}

// openTranscript opens a file, and nothing else: a device or a pipe may have no end.
func openTranscript(path string) (*os.File, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("read the transcript: %w", err)
	}
	defer root.Close()
	f, _, err := files.OpenRegular(root, filepath.Base(path))
	var skipped *files.SkipError
	switch {
	case errors.As(err, &skipped):
		return nil, fmt.Errorf("read the transcript: %s is not a regular file: %w", path, err)
	case err != nil:
		return nil, fmt.Errorf("read the transcript: %w", err)
	}
	return f, nil
}

// readLine returns the next line; whole is false if it is longer than MaxLine, and then the line is empty. The error is io.EOF on
// the last one if it has no end.
func readLine(r *bufio.Reader) (line []byte, whole bool, err error) {
	for whole = true; ; {
		part, err := r.ReadSlice('\n')
		if whole = whole && len(line)+len(part) <= MaxLine+1; whole {
			line = append(line, part...)
		} else {
			line = nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, whole, err
		}
	}
}
