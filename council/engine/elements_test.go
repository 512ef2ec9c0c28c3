package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/council"
	"kioku/council/counciltest"
	"kioku/council/engine"
	"kioku/council/member"
)

// writeFile writes a file and the folders above it.
func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Members are who their workspace says: SOUL.md, or CLAUDE.md if there is none. MISSION.md and the parameters are read for each prompt.
func TestPromptsAreMadeOfTheFilesAsTheyAreNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	writeFile(t, w.dir+"/members/ant/SOUL.md", "I am careful.")
	writeFile(t, w.dir+"/members/ant/CLAUDE.md", "I am not read.")
	writeFile(t, w.dir+"/members/bee/CLAUDE.md", "I am bold.")
	writeFile(t, w.dir+"/council/MISSION.md", strings.Repeat("m", council.MaxMission)+"too long")
	w.submit(ruled)
	if _, err := w.SetParams(t.Context(), "ant", council.Params{"thoroughness": 0.8}, owner, ""); err != nil {
		t.Fatal(err)
	}
	writeFile(t, w.dir+"/council/MISSION.md", "We decide well.")
	w.submit(council.Task{Title: "Another"})
	type seen struct {
		Persona, Mission string
		Thoroughness     float64
	}
	persona := func(q member.Question) string {
		for _, text := range []string{"I am careful.", "I am bold.", "I am not read."} {
			if strings.Contains(q.Persona, text) {
				return text
			}
		}
		return ""
	}
	got := map[string][]seen{}
	for _, q := range w.script.Asked() {
		if q.Phase == member.PhaseOpinion && q.Member != "cat" {
			got[q.Member] = append(got[q.Member], seen{persona(q), q.Mission, q.Params["thoroughness"]})
		}
	}
	long := strings.Repeat("m", council.MaxMission)
	want := map[string][]seen{
		"ant": {{"I am careful.", long, 0.5}, {"I am careful.", "We decide well.", 0.8}},
		"bee": {{"I am bold.", long, 0.5}, {"I am bold.", "We decide well.", 0.5}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Five files go with a task; members see the text of those of at most 50 KiB.
func TestAttachmentsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	short, long := strings.Repeat("s", council.MaxPastedText), strings.Repeat("l", council.MaxPastedText+1)
	files := []engine.Upload{{Name: "short.txt", Data: []byte(short)}, {Name: "long.txt", Data: []byte(long)}, {Name: "image", Data: []byte{0xff, 0}}, {Name: "4"}, {Name: "5"}}
	if _, err := w.SubmitWith(t.Context(), ruled, append(files, engine.Upload{Name: "6"})); err == nil {
		t.Error("six files are taken")
	}
	if _, err := w.SubmitWith(t.Context(), ruled, files); err != nil {
		t.Fatal(err)
	}
	w.settle()
	want := []member.Attachment{{Name: "short.txt", Size: 50 << 10, Text: short}, {Name: "long.txt", Size: 50<<10 + 1}, {Name: "image", Size: 2}, {Name: "4"}, {Name: "5"}}
	if diff := cmp.Diff(want, w.script.Asked()[0].Attachments); diff != "" {
		t.Error(diff)
	}
}

// A member who cannot announce is asked twice; then the engine announces what the ballots say.
func TestAnnouncementIsTheEnginesAfterTwoTries(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.script.Votes[counciltest.Key{Phase: member.PhaseAnnouncement}] = counciltest.Silent
	all := w.get(w.submit(ruled))
	if f := all.Failures; len(f) != 1 || f[0].Member == "" || f[0].Phase != member.PhaseAnnouncement || f[0].Reason == "" {
		t.Errorf("it is not told why nobody announces: %+v", f)
	}
	d := all.Decision
	if n := w.script.Count(member.PhaseAnnouncement); n != 2 || d.Announcement == nil || d.Announcement.AnnouncedBy != "engine" {
		t.Fatalf("%d tries, %+v", n, d.Announcement)
	}
	if !strings.Contains(d.FinalApproach, "ant: the way of ant") || d.Decision != council.Approved {
		t.Errorf("%+v", d)
	}
}

// The archive has every file that a task had, and the task can still be read.
func TestArchiveKeepsEverything(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	if _, err := w.SubmitWith(t.Context(), council.Task{ID: "task_1", Title: "Buy a kettle"}, []engine.Upload{{Name: "offer.txt", Data: []byte("It costs 40.")}}); err != nil {
		t.Fatal(err)
	}
	w.settle()
	if err := w.ReportResult(t.Context(), "task_1", council.Result{Result: "bought", Succeeded: true, Author: owner}); err != nil {
		t.Fatal(err)
	}
	w.settle()
	below := func(dir string) map[string]bool {
		all := map[string]bool{}
		for _, name := range filesOf(t, dir) {
			all[name] = true
		}
		return all
	}
	before, decided := below(w.dir+"/council/discussions/task_1"), w.get("task_1")
	if err := w.Archive(t.Context(), "nobody_1"); err == nil {
		t.Error("a task that is not there is archived")
	}
	w.later(7*24*time.Hour - time.Minute)
	if w.get("task_1").Archived {
		t.Error("archived before seven days are over")
	}
	w.later(24 * time.Hour)
	after := below(w.dir + "/council/archive/2026-11/task_1")
	for name := range before {
		if !after[name] {
			t.Errorf("%s is not in the archive", name)
		}
	}
	for _, name := range []string{"decision.json", "result.json"} {
		if !after[name] {
			t.Errorf("%s is not in the archive: %v", name, after)
		}
	}
	got := w.get("task_1")
	if !got.Archived {
		t.Fatal("not archived")
	}
	if diff := cmp.Diff(decided.Decision, got.Decision); diff != "" {
		t.Error(diff)
	}
}

// A program that ran when the process was killed is not run a second time, unless the settings say that it may be.
func TestInterruptedCommandIsRepeatedOnlyIfIdempotent(t *testing.T) {
	t.Parallel()
	for idempotent, want := range map[bool]string{false: council.StatusFailed, true: council.StatusCompleted} {
		w := newWorld(t, func(o *engine.Options) {
			o.Settings.Execution = council.Execution{Mode: council.ModeCommand, Command: []string{"true"}, Approval: council.ApprovalNone, Idempotent: idempotent}
		})
		w.Close()
		point := ""
		crash := func(o *engine.Options) {
			o.Settings.Execution = council.Execution{Mode: council.ModeCommand, Command: []string{"true"}, Approval: council.ApprovalNone, Idempotent: idempotent}
			o.Crash = func(at string) {
				if at == point {
					panic(killed{at})
				}
			}
		}
		w.openInline(crash)
		point = "exec_1_1.json:after"
		died := func() (died bool) {
			defer func() { died = recover() != nil }()
			if _, err := w.Submit(t.Context(), council.Task{ID: "task_1", Title: "Buy a kettle"}); err != nil {
				t.Fatal(err)
			}
			return w.Quiet(t.Context()) != nil
		}()
		if err := w.Abandon(); err != nil || !died {
			t.Fatalf("%v, killed %v", err, died)
		}
		point = ""
		w.open(crash)
		w.settle()
		if got := w.get("task_1").Status; got.Status != want {
			t.Errorf("idempotent %v: %s (%s), want %s", idempotent, got.Status, got.Reason, want)
		}
	}
}

// A worker may ask: its question is decided like any other, and the answer is a note of the council's agent.
func TestSuggestedQuestionIsAnswered(t *testing.T) {
	t.Parallel()
	w := withBot(t, nil)
	s, err := w.Suggest(t.Context(), council.Suggestion{Worker: "bot", Title: "Which soil do ferns like?", Type: council.TypeQuestion, Reply: true})
	if err != nil {
		t.Fatal(err)
	}
	w.settle()
	if s, err = w.ReviewSuggestion(t.Context(), "bot", s.ID, true, "good", owner); err != nil {
		t.Fatal(err)
	}
	w.settle()
	d := w.get(s.TaskID)
	if d.Task.Type != council.TypeQuestion || d.Status.Status != council.StatusCompleted {
		t.Fatalf("%+v, %s", d.Task, d.Status.Status)
	}
	note, err := os.ReadFile(w.dir + "/agent/" + d.Decision.MemoryPath)
	if err != nil || !strings.Contains(string(note), "Which soil do ferns like?") || !strings.Contains(string(note), "the way of all") {
		t.Errorf("%v: %s", err, note)
	}
}

// A worker is told at most five directives of 200 characters at once, until they expire.
func TestDirectivesAreBounded(t *testing.T) {
	t.Parallel()
	w := withBot(t, nil)
	send := func(lines ...string) error {
		_, err := w.SendCommand(t.Context(), council.Command{Worker: "bot", Action: council.CommandAdjustParams, Params: council.CommandParams{Directives: lines}, IssuedBy: owner})
		return err
	}
	for name, lines := range map[string][]string{"none": nil, "six": {"1", "2", "3", "4", "5", "6"}, "long": {strings.Repeat("x", 201)}} {
		if err := send(lines...); err == nil {
			t.Errorf("%s are taken", name)
		}
	}
	if err := send("1", "2", "3", "4", strings.Repeat("長", 200)); err != nil {
		t.Fatal(err)
	}
	w.later(29 * time.Minute)
	if s, err := w.WorkerState(t.Context(), "bot"); err != nil || len(s.Directives) != 5 {
		t.Errorf("after 29 minutes: %v, %+v", err, s)
	}
	w.later(time.Minute)
	if s, err := w.WorkerState(t.Context(), "bot"); err != nil || len(s.Directives) != 0 {
		t.Errorf("after half an hour: %v, %+v", err, s)
	}
}

// Who rates a member sees its last ballots, what the council has decided, and what an owner says came of it.
func TestEvaluatorsSeeWhatBecameOfBallots(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.vote(map[string]string{"ant": council.VoteReject})
	first := w.submit(ruled)
	if err := w.RecordOutcome(t.Context(), first, council.OutcomeWorked, "", owner); err != nil {
		t.Fatal(err)
	}
	w.clock.Add(time.Minute)
	second := w.submit(council.Task{Title: "Another"})
	w.evaluate()
	want := []member.Past{
		{TaskID: second, Title: "Another", Round: 1, Vote: council.VoteReject, Opinion: "ant says reject in round 1", Outcome: council.Approved},
		{TaskID: first, Title: ruled.Title, Round: 1, Vote: council.VoteReject, Opinion: "ant says reject in round 1", Outcome: council.Approved, Later: council.OutcomeWorked},
	}
	for _, q := range w.script.Asked() {
		if q.Phase != member.PhaseEvaluation || q.Target != "ant" {
			continue
		}
		if diff := cmp.Diff(want, q.History); diff != "" {
			t.Errorf("%s: %s", q.Member, diff)
		}
	}
	if n := w.script.Count(member.PhaseEvaluation); n != 6 {
		t.Errorf("%d evaluations", n)
	}
}

// A comment for which a task has no room is refused, and so is one beside comments that cannot be read: those before it stay.
func TestCommentsAreNeverLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	id := w.submit(ruled)
	said := council.Comment{Author: owner, Message: strings.Repeat("🌱", council.MaxComment)}
	taken := 0
	var err error
	for ; err == nil && taken < 100; taken++ {
		_, err = w.Comment(t.Context(), id, said)
	}
	if !errors.Is(err, engine.ErrState) || !strings.Contains(err.Error(), "new task") {
		t.Fatalf("after %d comments: %v", taken, err)
	}
	if err := w.RequestRound(t.Context(), id, owner, said.Message); !errors.Is(err, engine.ErrState) {
		t.Errorf("a reason for a round: %v", err)
	}
	if d := w.get(id); len(d.Comments) != taken-1 || len(d.Problems) > 0 {
		t.Errorf("%d comments of %d are left: %v", len(d.Comments), taken-1, d.Problems)
	}
	path := w.dir + "/council/discussions/" + id + "/comments.json"
	writeFile(t, path, `[{"id":`)
	w.clock.Add(time.Minute)
	if _, err := w.Comment(t.Context(), id, council.Comment{Author: owner, Message: "short"}); !errors.Is(err, engine.ErrState) {
		t.Errorf("beside a broken file: %v", err)
	}
	if data, err := os.ReadFile(path); string(data) != `[{"id":` {
		t.Errorf("%v: the broken file was replaced: %s", err, data)
	}
}
