package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/internal/testkit"
)

var update = flag.Bool("update", false, "write what is printed now into testdata/*.txtar")

// archive is a text archive: a comment, then files, each under a line "-- name --".
type archive struct {
	comment string
	names   []string
	files   map[string]string
}

var archiveLine = regexp.MustCompile(`(?m)^-- (\S+) --\n`)

func parseArchive(text string) archive {
	a := archive{comment: text, files: map[string]string{}}
	marks := archiveLine.FindAllStringSubmatchIndex(text, -1)
	for i, m := range marks {
		end := len(text)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		name := text[m[2]:m[3]]
		a.names, a.files[name] = append(a.names, name), text[m[1]:end]
		a.comment = text[:marks[0][0]]
	}
	return a
}

func (a archive) String() string {
	text := a.comment
	for _, name := range a.names {
		text += "-- " + name + " --\n" + a.files[name]
	}
	return text
}

// Each archive in testdata holds a workspace and, in files named run..., a command line followed by what it prints.
func TestOutputIsAsRecorded(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) { compare(t, path) })
	}
}

func compare(t *testing.T, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	a := parseArchive(string(text))
	s := newSandbox(t, nil)
	s.fixFrames()
	for _, name := range a.names {
		if !strings.HasPrefix(name, "run") {
			s.write(name, a.files[name])
			continue
		}
		line, _, _ := strings.Cut(a.files[name], "\n")
		a.files[name] = line + "\n" + s.transcript(line)
	}
	if *update {
		err = os.WriteFile(path, []byte(a.String()), 0o644)
	} else if diff := cmp.Diff(string(text), a.String()); diff != "" {
		t.Errorf("%s (-update records it):\n%s", path, diff)
	}
	if err != nil {
		t.Error(err)
	}
}

// fixFrames gives the frames around recalled memories the same ids in every run.
func (s *sandbox) fixFrames() {
	s.t.Helper()
	testkit.Must(s.t, os.MkdirAll(s.state, 0o700))
	testkit.Must(s.t, os.WriteFile(filepath.Join(s.state, "frame.key"), make([]byte, 32), 0o600))
}

var (
	words    = regexp.MustCompile(`"[^"]*"|\S+`)
	duration = regexp.MustCompile(`\b\d+(\.\d+)?(µs|ms|s)\b`)
)

// transcript runs a line "$ kioku ..." and returns what it prints, without what differs from run to run.
func (s *sandbox) transcript(line string) string {
	var args []string
	for _, w := range words.FindAllString(strings.TrimPrefix(line, "$ kioku "), -1) {
		args = append(args, strings.Trim(w, `"`))
	}
	got := s.run(args...)
	text := got.stdout
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n" // a prompt has none of its own
	}
	for l := range strings.Lines(got.stderr) {
		text += "! " + l
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, s.workspace, "WORKSPACE"), s.state, "STATE")
	return duration.ReplaceAllString(text, "TIME")
}
