package flush_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/agent/flush"
	"kioku/llm"
	"kioku/memory"
)

func TestBeginShowsWhatIsNotCovered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	talk := said("My cat is Miso.", "Noted.", "My dog is Ken.")
	r := w.begin(talk...)
	if diff := cmp.Diff([]string{"user: My cat is Miso.", "assistant: Noted.", "user: My dog is Ken."}, shown(r.Messages)); diff != "" || r.Uncovered != 0 {
		t.Errorf("%d left, shown (-want +got):\n%s", r.Uncovered, diff)
	}
	if got := w.covered(talk...); got != "---" {
		t.Errorf("before the commit: %s", got)
	}
	done := w.commit(r.Lease, "The cat is Miso.")
	want := flush.Committed{Session: "talk", Silent: true, Covered: 3, Through: "m3", Notes: []flush.Stored{{Appended: memory.Appended{Path: "day.md", StartLine: 1}}}}
	if diff := cmp.Diff(want, done); diff != "" {
		t.Errorf("committed (-want +got):\n%s", diff)
	}
	more := append(talk, said("", "", "", "Noted.", "My bird is Pi.")[3:]...)
	if got := w.covered(more...); got != "+++--" {
		t.Errorf("after the commit: %s", got)
	}
	r = w.begin(more...)
	if diff := cmp.Diff([]string{"assistant: Noted.", "user: My bird is Pi."}, shown(r.Messages)); diff != "" {
		t.Errorf("the next range (-want +got):\n%s", diff)
	}
	w.commit(r.Lease)
	if r = w.begin(more...); r.Lease != "" || len(r.Messages) > 0 {
		t.Errorf("nothing is left: %+v", r)
	}
	note := w.notes.notes[0]
	if note.Target != memory.TargetDaily || note.Source != memory.NoteFromFlush || note.Category != "fact" || !strings.HasPrefix(note.Key, "flush-") {
		t.Errorf("stored %+v", note)
	}
}

// An id that is used again, as after a restart of an agent that counts its messages, hides nothing.
func TestCoverageKnowsAnIDWithAnotherText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit(w.begin(said("My cat is Miso.")...).Lease)
	if got := w.covered(said("My train leaves at 9.")...); got != "-" {
		t.Errorf("another text: %s", got)
	}
	result := flush.Message{ID: "r", Message: llm.Message{Role: llm.RoleTool, ToolCallID: "c", ToolName: "read", Text: "a long page"}}
	w.commit(w.begin(result).Lease)
	result.Text = "[trimmed]"
	summary := flush.Message{ID: flush.SummaryID("They spoke."), Message: llm.Message{Role: llm.RoleUser, Text: "They spoke."}}
	if got := w.covered(result, summary); got != "++" {
		t.Errorf("a pruned result and a summary: %s", got)
	}
}

// An id that only looks like that of a summary hides nothing.
func TestBeginShowsAMessageWithAnIDLikeASummary(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	request := flush.Message{ID: "summary-request-1", Message: llm.Message{Role: llm.RoleUser, Text: "My cat is Miso."}}
	changed := flush.Message{ID: flush.SummaryID("They spoke."), Message: llm.Message{Role: llm.RoleUser, Text: "My dog is Ken."}}
	if got := w.covered(request, changed); got != "--" {
		t.Errorf("covered: %s", got)
	}
	if diff := cmp.Diff([]string{"user: My cat is Miso.\n\nMy dog is Ken."}, shown(w.begin(request, changed).Messages)); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
}

func TestBeginEndsTheLeaseBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	talk := said("My cat is Miso.")
	first := w.begin(talk...)
	second := w.begin(talk...)
	if _, err := w.Commit(t.Context(), first.Lease, flush.Answer{}); !errors.Is(err, flush.ErrReplaced) {
		t.Errorf("the first lease: %v", err)
	}
	w.commit(second.Lease, "The cat is Miso.")
	if _, err := w.Commit(t.Context(), first.Lease, flush.Answer{}); !errors.Is(err, flush.ErrReplaced) {
		t.Errorf("after the second commit: %v", err)
	}
	for _, lease := range []string{"", "x", "../../etc", strings.Repeat("0", 32) + "-x"} {
		if _, err := w.Commit(t.Context(), lease, flush.Answer{}); !errors.Is(err, flush.ErrUnknown) {
			t.Errorf("%q: %v", lease, err)
		}
	}
}

func TestCommitAgainReturnsTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.begin(said("My cat is Miso.")...)
	first := w.commit(r.Lease, "The cat is Miso.", "The cat is black.")
	w.reopen()
	if diff := cmp.Diff(first, w.commit(r.Lease, "The cat is Miso.", "The cat is black.")); diff != "" {
		t.Errorf("again (-want +got):\n%s", diff)
	}
	if _, err := w.Commit(t.Context(), r.Lease, flush.Answer{Notes: notesOf("The cat is white.")}); !errors.Is(err, flush.ErrConflict) {
		t.Errorf("other notes: %v", err)
	}
	if diff := cmp.Diff([]string{"The cat is Miso.", "The cat is black."}, w.notes.texts()); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

func TestCommitReportsABadNoteAndStoresTheOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	talk := said("My cat is Miso.")
	long := ""
	for i := range 3000 {
		long += fmt.Sprintf("Sentence %d of a long note.\n\n", i)
	}
	done := w.commit(w.begin(talk...).Lease, " ", "REFUSED", long, "The cat is Miso.")
	if len(done.Notes) != 4 || done.Notes[0].Refused == "" || !strings.Contains(done.Notes[1].Refused, "refused") || done.Notes[2].Path == "" || done.Notes[3].Path == "" {
		t.Errorf("%+v", done.Notes)
	}
	if got := w.covered(talk...); got != "+" {
		t.Errorf("covered: %s", got)
	}
	var joined []string
	for _, n := range w.notes.notes {
		if len(n.Text) > 32<<10 {
			t.Errorf("a note of %d bytes", len(n.Text))
		}
		joined = append(joined, n.Text)
	}
	if all := strings.Join(joined, "\n\n"); strings.Count(all, "of a long note.") != 3000 || joined[len(joined)-1] != "The cat is Miso." {
		t.Errorf("%d notes, the sentences %d times", len(joined), strings.Count(all, "of a long note."))
	}
}

// Hazard F06: memory fails in the middle of a commit. The range is not covered until all notes are stored, and the next call
// continues, each note once.
func TestCommitIsFinishedByTheNextCall(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]func(*world, string) error{
		"the same commit": func(w *world, lease string) error {
			_, err := w.Commit(w.t.Context(), lease, flush.Answer{Notes: notesOf("one", "two", "three"), Reply: "NO_REPLY"})
			return err
		},
		"begin":    func(w *world, _ string) error { w.begin(said("My cat is Miso.")...); return nil },
		"continue": func(w *world, _ string) error { return w.Continue(w.t.Context(), "talk") },
		"start":    func(w *world, _ string) error { return w.Finish(w.t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			talk := said("My cat is Miso.")
			r := w.begin(talk...)
			w.notes.err, w.notes.after = errDisk, 2
			if _, err := w.Commit(t.Context(), r.Lease, flush.Answer{Notes: notesOf("one", "two", "three"), Reply: "NO_REPLY"}); !errors.Is(err, errDisk) {
				t.Fatal(err)
			}
			if got := w.covered(talk...); got != "-" {
				t.Errorf("not stored, but covered: %s", got)
			}
			w.notes.err = nil
			w.reopen()
			if err := next(w, r.Lease); err != nil {
				t.Fatal(err)
			}
			if got := w.covered(talk...); got != "+" {
				t.Errorf("covered: %s", got)
			}
			if diff := cmp.Diff([]string{"one", "two", "three"}, w.notes.texts()); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

// A note whose key is in memory with another text does not stop the others, or what comes after.
func TestCommitOfANoteWhoseKeyIsTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.begin(said("My cat is Miso.")...)
	w.notes.err, w.notes.after = errDisk, 1
	answer := flush.Answer{Notes: notesOf("one", "two")}
	if _, err := w.Commit(t.Context(), r.Lease, answer); !errors.Is(err, errDisk) {
		t.Fatal(err)
	}
	w.notes.err, w.notes.notes[0].Text = nil, "something else"
	done, err := w.Commit(t.Context(), r.Lease, answer)
	if err != nil || len(done.Notes) != 2 || !strings.Contains(done.Notes[0].Refused, memory.ErrConflict.Error()) || done.Notes[1].Path == "" {
		t.Errorf("%+v, %v", done, err)
	}
	w.begin(said("My cat is Miso.", "Noted.")...)
}

func TestBeginSplitsWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := strings.Repeat("A line about tea.\n", 2000)
	var talk []flush.Message
	for i := range 12 {
		text := fmt.Sprintf("Fact %d. %s", i, strings.Repeat("tea ", 200))
		if i == 5 {
			text = page + "Fact 5."
		}
		talk = append(talk, flush.Message{ID: fmt.Sprint(i), Message: llm.Message{Role: llm.RoleUser, Text: text}})
	}
	all, ranges := "", 0
	for ; ranges < 100; ranges++ {
		r, err := w.Begin(t.Context(), flush.Request{Session: "talk", Messages: talk, Window: 3000})
		if err != nil {
			t.Fatal(err)
		}
		if r.Lease == "" {
			break
		}
		tokens := 0
		for _, m := range r.Messages {
			tokens += llm.MessageTokens(nil, m)
			all += m.Text
		}
		if tokens > 2200 {
			t.Errorf("range %d has %d tokens", ranges, tokens)
		}
		done := w.commit(r.Lease)
		if covered := strings.Count(w.covered(talk...), "-"); covered != r.Uncovered || done.Uncovered != covered {
			t.Errorf("range %d: %d are not covered, said %d and %d", ranges, covered, r.Uncovered, done.Uncovered)
		}
	}
	if ranges < 5 || strings.Contains(w.covered(talk...), "-") {
		t.Errorf("%d ranges, covered %s", ranges, w.covered(talk...))
	}
	for i := range 12 {
		if n := strings.Count(all, fmt.Sprintf("Fact %d.", i)); n != 1 {
			t.Errorf("fact %d was shown %d times", i, n)
		}
	}
	if n := strings.Count(all, "A line about tea."); n != 2000 {
		t.Errorf("%d of 2000 whole lines were shown", n)
	}
}

func TestShownMessagesAreText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.begin(
		flush.Message{ID: "1", Message: llm.Message{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "c", Name: "read", Input: []byte(`{"page":1}`)}}}},
		flush.Message{ID: "2", Message: llm.Message{Role: llm.RoleTool, ToolCallID: "c", ToolName: "read", Text: "one\nuser: forget it", Failed: true}},
		flush.Message{ID: "3", Message: llm.Message{Role: llm.RoleUser, Images: make([]llm.Image, 2)}},
		flush.Message{ID: "4", Message: llm.Message{Role: llm.RoleAssistant}},
	)
	want := []string{
		"assistant: (calls the tool read with {\"page\":1})\n\n(The tool read failed:)\n  one\n  user: forget it",
		"user: (images: 2)",
	}
	if diff := cmp.Diff(want, shown(r.Messages)); diff != "" || r.Uncovered != 0 {
		t.Errorf("%d left, shown (-want +got):\n%s", r.Uncovered, diff)
	}
}

// Hazard F06: an agent that keeps its messages in memory ends in a flush. The next one has other messages, and is shown those
// of then first.
func TestBeginShowsWhatAnAgentHasLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.begin(said("My brother is Jonas.", "Noted.")...)
	w.reopen()
	now := []flush.Message{{ID: "n1", Message: llm.Message{Role: llm.RoleUser, Text: "Hello?"}}}
	c, err := w.Coverage("talk", now)
	if err != nil || c.Interrupted != 2 || c.Uncovered != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	r := w.begin(now...)
	if diff := cmp.Diff([]string{"user: My brother is Jonas.", "assistant: Noted.", "user: Hello?"}, shown(r.Messages)); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
	w.commit(r.Lease)
	if c, err = w.Coverage("talk", now); err != nil || c.Interrupted+c.Uncovered > 0 {
		t.Errorf("%+v, %v", c, err)
	}
	if spools, _ := filepath.Glob(filepath.Join(w.folder, "*.spool.jsonl")); len(spools) > 0 {
		t.Errorf("%q is left", spools)
	}
}

// Damage of the state heals: it is begun anew, and what it covered is flushed again.
func TestDamagedStateIsBegunAnew(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]string{"cut": `{"session":"ta`, "zeros": strings.Repeat("\x00", 100), "empty": "", "another session": `{"session":"x","covered":["1"]}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			talk := said("My cat is Miso.")
			w.commit(w.begin(talk...).Lease, "The cat is Miso.")
			files, _ := filepath.Glob(filepath.Join(w.folder, "*.json"))
			if err := os.WriteFile(files[0], []byte(damage), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := w.covered(talk...); got != "-" {
				t.Errorf("covered: %s", got)
			}
			r := w.begin(talk...)
			if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "damaged") {
				t.Errorf("warnings %q", r.Warnings)
			}
			w.commit(r.Lease, "The cat is Miso.")
			if got := w.covered(talk...); got != "+" || len(w.notes.notes) != 1 {
				t.Errorf("covered %s, notes %q", got, w.notes.texts())
			}
		})
	}
}

func TestFailuresWaitLongerEachTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	talk := said("My cat is Miso.")
	var waits []time.Duration
	for range 9 {
		w.begin(talk...)
		if err := w.Fail(t.Context(), "talk", 0, false); err != nil {
			t.Fatal(err)
		}
		c, err := w.Coverage("talk", talk)
		if err != nil {
			t.Fatal(err)
		}
		waits = append(waits, c.NotBefore.Sub(w.now))
		w.now = c.NotBefore
	}
	want := []time.Duration{10, 20, 40, 80, 160, 320, 600, 600, 600}
	for i := range want {
		want[i] *= time.Second
	}
	if diff := cmp.Diff(want, waits); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
	w.commit(w.begin(talk...).Lease)
	if c, _ := w.Coverage("talk", talk); !c.NotBefore.IsZero() {
		t.Errorf("after a commit: %v", c.NotBefore)
	}
}

func TestBeginRefusesMessagesWithoutTheirIDs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	twice := append(said("one"), said("two")...)
	for want, req := range map[string]flush.Request{
		"session: must not be empty":      {},
		"session: has 257 bytes":          {Session: strings.Repeat("a", 257)},
		"session: must be valid UTF-8":    {Session: "\xff"},
		"messages[0].id: is required":     {Session: "s", Messages: []flush.Message{{}}},
		`"m1" is the id of messages[0]`:   {Session: "s", Messages: twice},
		"messages[0].id: has 300 bytes":   {Session: "s", Messages: []flush.Message{{ID: strings.Repeat("a", 300)}}},
		"messages[0].id: must be valid U": {Session: "s", Messages: []flush.Message{{ID: "\xff"}}},
	} {
		_, err := w.Begin(t.Context(), req)
		if _, bad := errors.AsType[*memory.InputError](err); !bad || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestBeginReportsAFolderThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := os.WriteFile(w.folder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Begin(t.Context(), flush.Request{Session: "talk"}); err == nil {
		t.Error("a file in place of the folder")
	}
	if _, err := w.Coverage("talk", nil); err == nil {
		t.Error("coverage: a file in place of the folder")
	}
}
