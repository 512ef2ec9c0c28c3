package chat_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kioku/agent/chat"
	"kioku/agent/flush"
	"kioku/agent/recall"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/llm"
	"kioku/memory"
)

// noon is the moment of all turns.
var noon = time.Date(2026, 3, 2, 12, 5, 0, 0, time.UTC)

// notebook is a memory over one file: a note is a line with its key and its source.
type notebook struct {
	memory.Service // which has no Get
	path           string
	err            error
	// stored are the notes that were written.
	stored []memory.Note
	// at is told of each step of a write.
	at func(step string)
}

// lines are those of the file.
func (n *notebook) lines() []string {
	data, _ := os.ReadFile(n.path) // a file that is not there has no lines
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// text of the notes, without keys and sources.
func (n *notebook) text() string {
	var out []string
	for _, line := range n.lines() {
		text, _, _ := strings.Cut(line, "\t")
		out = append(out, text)
	}
	return strings.Join(out, "\n")
}

// Search finds the notes that share a word of at least six letters with the query, the newest first.
func (n *notebook) Search(_ context.Context, q memory.Query) (memory.Answer, error) {
	answer := memory.Answer{Mode: memory.ModeKeyword}
	lines := n.lines()
	for i := len(lines) - 1; i >= 0 && len(answer.Hits) < q.MaxResults; i-- {
		for word := range strings.FieldsSeq(strings.ToLower(q.Text)) {
			if word = strings.Trim(word, ".,?!"); len(word) >= 6 && strings.Contains(strings.ToLower(lines[i]), word) {
				text, _, _ := strings.Cut(lines[i], "\t")
				answer.Hits = append(answer.Hits, memory.Hit{Path: "memory/notes.md", StartLine: i + 1, EndLine: i + 1, Score: 0.9, Snippet: text})
				break
			}
		}
	}
	return answer, n.err
}

// Append writes a line, unless there is one with the same text or key. As every memory does it takes out what was
// recalled, and refuses a text of nothing else.
func (n *notebook) Append(_ context.Context, note memory.Note) (memory.Appended, error) {
	if n.err != nil {
		return memory.Appended{}, n.err
	}
	n.step("append begins")
	defer n.step("append ends")
	own := strings.TrimSpace(memory.StripRecalled(note.Text))
	if own == "" {
		return memory.Appended{}, &memory.InputError{Field: "text", Problem: "was recalled from memory and is stored there already"}
	}
	for i, line := range n.lines() {
		text, rest, _ := strings.Cut(line, "\t")
		key, _, _ := strings.Cut(rest, "\t")
		if text == own || key != "" && key == note.Key {
			return memory.Appended{Path: "memory/notes.md", StartLine: i + 1, Deduplicated: true}, nil
		}
	}
	f, err := os.OpenFile(n.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return memory.Appended{}, err
	}
	defer f.Close()
	fmt.Fprintf(f, "%s\t%s\t%s\n", own, note.Key, note.Source)
	n.stored = append(n.stored, note)
	return memory.Appended{Path: "memory/notes.md", StartLine: len(n.lines())}, nil
}

func (n *notebook) step(name string) {
	if n.at != nil {
		n.at(name)
	}
}

// world is all that a conversation needs, in folders.
type world struct {
	t         testing.TB
	state     string
	workspace string
	notes     *notebook
	now       func() time.Time
	sidecar   sidecar.Options
	session   *session.Session
}

// newWorld makes one with an empty memory for a model.
func newWorld(t testing.TB, model llm.Model) *world {
	t.Helper()
	w := worldIn(t.TempDir(), model)
	w.t = t
	return w
}

// worldIn makes a world in a folder, or finds it again.
func worldIn(dir string, model llm.Model) *world {
	w := &world{state: filepath.Join(dir, "state"), workspace: dir, notes: &notebook{path: filepath.Join(dir, "notes.md")}}
	w.now = func() time.Time { return noon }
	w.sidecar = sidecar.Options{
		Agent: "main", State: w.state, Key: []byte("secret"), Model: model, Settings: sidecar.Settings{Recall: recall.Options{Deadline: time.Minute}, Flush: flush.Defaults(), OldOrder: true},
		Memories: func(string) memory.Service { return w.notes },
		Now:      func() time.Time { return w.now() },
	}
	w.sidecar.Bootstrap.Workspace, w.sidecar.Skills.Workspace = dir, dir
	return w
}

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.workspace, name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// open opens a conversation, after the one before it was closed.
func (w *world) open(id string, change ...func(*chat.Options)) (*chat.Conversation, error) {
	if w.session != nil {
		w.session.Close()
	}
	s, err := sidecar.New(w.sidecar)
	if err != nil {
		return nil, err
	}
	folder, err := session.Folder(w.state, "main")
	if err != nil {
		return nil, err
	}
	if w.session, _, err = session.Open(folder, id, session.Options{Now: func() time.Time { return w.now() }}); err != nil {
		return nil, err
	}
	opt := chat.Options{Sidecar: s, Session: w.session, Tools: chat.MemoryTools{Memory: w.notes}, Now: func() time.Time { return w.now() }}
	for _, f := range change {
		f(&opt)
	}
	return chat.New(opt)
}

// start is open in a test.
func (w *world) start(id string, change ...func(*chat.Options)) *chat.Conversation {
	w.t.Helper()
	c, err := w.open(id, change...)
	if err != nil {
		w.t.Fatal(err)
	}
	opened := w.session
	w.t.Cleanup(func() { opened.Close() })
	return c
}

// entries are those that the file of a session holds.
func (w *world) entries(id string) ([]session.Entry, error) {
	f, err := os.Open(filepath.Join(w.state, "agents", "main", "sessions", id+".jsonl"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []session.Entry
	report, err := session.Read(f, func(l session.Line) error {
		out = append(out, l.Entry)
		return nil
	})
	if err == nil && (len(report.Bad) > 0 || report.Torn > 0) {
		err = fmt.Errorf("transcript %s: %+v", id, report)
	}
	return out, err
}

// transcript is entries in a test.
func (w *world) transcript(id string) []session.Entry {
	w.t.Helper()
	out, err := w.entries(id)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// say is a turn that must go well.
func (w *world) say(c *chat.Conversation, message string, each func(chat.Event)) chat.Reply {
	w.t.Helper()
	reply, err := c.Turn(w.t.Context(), message, each)
	if err != nil {
		w.t.Fatalf("%q: %v", message, err)
	}
	return reply
}

// said is the message of each entry, as "role: text" with calls and failures, and the kind of every other entry.
func said(entries []session.Entry) []string {
	var out []string
	for _, e := range entries {
		switch {
		case e.Message == nil && e.Flush != nil:
			out = append(out, "flush "+e.Flush.Outcome)
		case e.Message == nil:
			out = append(out, string(e.Kind))
		default:
			out = append(out, spoken(*e.Message))
		}
	}
	return out
}

func spoken(m llm.Message) string {
	line := string(m.Role) + ": " + m.Text
	for _, c := range m.ToolCalls {
		line += fmt.Sprintf(" %s(%s)", c.Name, c.Input)
	}
	if m.Failed {
		line += " [failed]"
	}
	return line
}

// log collects what a conversation tells.
type log struct{ lines []string }

func (l *log) each(e chat.Event) {
	switch {
	case e.Text != "":
		l.lines = append(l.lines, "text "+e.Text)
	case e.Call != nil:
		l.lines = append(l.lines, "call "+e.Call.Name)
	case e.Result != nil:
		l.lines = append(l.lines, fmt.Sprintf("result %s failed=%v", e.Result.Call.Name, e.Result.Err != nil))
	case e.Prompt != nil:
		l.lines = append(l.lines, "prompt")
	case e.Pruned != nil:
		l.lines = append(l.lines, "pruned")
	case e.Flushed != nil:
		l.lines = append(l.lines, "flush "+e.Flushed.Outcome)
	case e.Compacted != nil:
		l.lines = append(l.lines, "compacted")
	case e.Notice != "":
		l.lines = append(l.lines, "notice "+e.Notice)
	}
}

func (l *log) has(part string) bool { return strings.Contains(strings.Join(l.lines, "\n"), part) }
