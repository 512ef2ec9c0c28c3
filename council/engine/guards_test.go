package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/council"
	"kioku/council/counciltest"
	"kioku/council/engine"
	"kioku/council/member"
)

// A ballot that another program has put in the place of a member's counts only if the settings say so.
func TestForeignBallotCountsOnlyIfTheSettingsSaySo(t *testing.T) {
	t.Parallel()
	for accept, want := range map[bool]map[string]string{
		false: {"bee": council.VoteApprove, "cat": council.VoteApprove},
		true:  {"ant": council.VoteReject, "bee": council.VoteApprove, "cat": council.VoteApprove},
	} {
		w := newWorld(t, func(o *engine.Options) { o.Settings.AcceptForeignBallots = accept })
		dir := w.dir + "/council/discussions/task_1/round_1"
		writeFile(t, dir+"/ant.json", `{"node":"ant","round":1,"vote":"reject"}`)
		w.submit(council.Task{ID: "task_1", Title: "Buy a kettle"})
		if diff := cmp.Diff(want, w.get("task_1").Decision.Votes[0].Votes); diff != "" {
			t.Errorf("acceptForeignBallots %v: %s", accept, diff)
		}
	}
}

// A ballot that comes after the end of the round is not published, and the member still abstains.
func TestLateBallotIsNotPublished(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	over := make(chan struct{})
	w.script.Answer = func(ctx context.Context, q member.Question) (member.Reply, error, bool) {
		switch {
		case q.Phase != member.PhaseOpinion:
		case q.Member != "bee":
			<-over
		default:
			w.clock.Add(20 * time.Minute)
			close(over)
			for d, err := w.Get(ctx, "task_1"); err != nil || d.Rounds[0].Seal == nil; d, err = w.Get(ctx, "task_1") {
				runtime.Gosched()
			}
		}
		return member.Reply{}, nil, false
	}
	w.submit(council.Task{ID: "task_1", Title: "Buy a kettle"})
	if got := w.get("task_1").Rounds[0].Seal.Abstentions["bee"]; got != council.AbstainTimeout {
		t.Errorf("bee abstains: %q", got)
	}
	dir := w.dir + "/council/discussions/task_1/round_1"
	if _, err := os.Stat(dir + "/bee.json"); !os.IsNotExist(err) {
		t.Errorf("the late ballot is published: %v", err)
	}
	if turn, err := os.ReadFile(w.dir + "/council/discussions/task_1/.engine/round_1/_turn_bee.json"); err != nil || !strings.Contains(string(turn), `"abstained": "timeout"`) {
		t.Errorf("%v: %s", err, turn)
	}
}

// A turn makes at most two calls of a model, however often the member would like to ask.
func TestTurnMakesAtMostTwoCalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	refused := 0
	w.script.Answer = func(_ context.Context, q member.Question) (member.Reply, error, bool) {
		if q.Phase == member.PhaseOpinion && q.Member == "ant" {
			for range 4 { // the script has asked once already
				if q.Counting() != nil {
					refused++
				}
			}
		}
		return member.Reply{}, nil, false
	}
	w.submit(council.Task{ID: "task_1", Title: "Buy a kettle"})
	if refused != 3 {
		t.Errorf("%d of four further calls were refused, want 3", refused)
	}
}

// A file of the inbox whose name is too long for its reason is put aside like others, and one that cannot be moved holds nothing up.
func TestInboxIsNotHeldUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	long := strings.Repeat("語", 83) + ".json"
	for name, text := range map[string]string{
		"inbox/" + long: `{}`, "discussions/task_a": "a file in the place of a folder", "inbox/task_a.json": `{"id":"task_a","type":"task","title":"x"}`,
		"inbox/task_b.json": `{"id":"task_b","type":"task","title":"y"}`,
	} {
		writeFile(t, w.dir+"/council/"+name, text)
	}
	for decided := false; !decided; { // Settle returns with each error, Run goes on
		if err := w.Settle(t.Context()); err == nil || !strings.Contains(err.Error(), "task_a") {
			t.Fatalf("the task that cannot begin: %v", err)
		}
		d, err := w.Get(t.Context(), "task_b")
		if err != nil {
			t.Fatal(err)
		}
		decided = d.Decision != nil
	}
	if rejected, err := filepath.Glob(w.dir + "/council/inbox/rejected/*"); err != nil || len(rejected) != 2 {
		t.Errorf("%v: %v", err, rejected)
	}
}

// Suggestions become tasks of their own if their ids differ only at the end, and if worker and id are the same when joined.
func TestSuggestionsOfSimilarIDsBecomeTwoTasks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *engine.Options) {
		o.Settings.Workers = []string{"bot", "bot-a"}
		o.Settings.Suggestions.Verify = &no
	})
	long := strings.Repeat("x", 70)
	seen := map[string]bool{}
	for n, s := range []council.Suggestion{{Worker: "bot", ID: "a-b"}, {Worker: "bot-a", ID: "b"}, {Worker: "bot", ID: long + "1"}, {Worker: "bot", ID: long + "2"}} {
		s.Title = fmt.Sprintf("Water plant %d", n)
		if _, err := w.Suggest(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		done, err := w.ReviewSuggestion(t.Context(), s.Worker, s.ID, true, "", owner)
		if err != nil || seen[done.TaskID] {
			t.Errorf("%v: %s of %s becomes the task %q of another one", err, s.ID, s.Worker, done.TaskID)
		}
		seen[done.TaskID] = true
		w.settle()
		if title := w.get(done.TaskID).Task.Title; !strings.HasSuffix(title, s.Title) {
			t.Errorf("the task is %q", title)
		}
	}
}

// doctor returns what the doctor says under a name, with its level.
func (w *world) doctor(name string) string {
	for _, f := range w.Doctor(w.t.Context()) {
		if f.Name == name {
			return f.Level + ": " + f.Text
		}
	}
	return ""
}

// The doctor says which limits of the network hold and which do not.
func TestDoctorTellsOfTheNetwork(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	if got := w.doctor("network"); !strings.HasPrefix(got, "ok: ") || !strings.Contains(got, "no redirect") || !strings.Contains(got, "private networks") {
		t.Errorf("without programs: %q", got)
	}
	w = newWorld(t, func(o *engine.Options) {
		o.Settings.Actions = map[string]council.Action{"deploy": {Command: []string{"true"}}}
		o.Settings.Members[1].Command = []string{"true"}
		o.Settings.Execution = council.Execution{Mode: council.ModeCommand, Command: []string{"true"}}
	})
	if got := w.doctor("network of programs"); !strings.HasPrefix(got, "warning: ") || !strings.Contains(got, "member bee, execution.command, action deploy") {
		t.Errorf("with programs: %q", got)
	}
}

// The doctor lists the schedules: when they come, what they suggest and what they did last.
func TestDoctorListsSchedules(t *testing.T) {
	t.Parallel()
	dry := plants
	dry.DryRun, dry.Name = nil, "dry"
	w := scheduled(t, plants, dry)
	w.settle()
	if got := w.doctor("schedule plants"); !strings.Contains(got, `"30 10 * * *" UTC`) || !strings.Contains(got, "has not fired") {
		t.Errorf("before: %q", got)
	}
	w.later(2 * time.Hour)
	if got := w.doctor("schedule plants"); !strings.HasPrefix(got, "ok: ") || !strings.Contains(got, "last suggested 2026-11-23T10:30:00Z") {
		t.Errorf("after: %q", got)
	}
	if got := w.doctor("schedule dry"); !strings.HasPrefix(got, "warning: ") || !strings.Contains(got, "dryRun") || !strings.Contains(got, "would have suggested") {
		t.Errorf("dry: %q", got)
	}
}

// An arbitration that says neither yes nor no decides nothing, be it the answer of the arbiter or what is on disk.
func TestArbiterDecidesByTwoWordsOnly(t *testing.T) {
	t.Parallel()
	for _, onDisk := range []bool{false, true} {
		w := newWorld(t, func(o *engine.Options) { o.Settings.MaxRounds = 1 })
		w.vote(map[string]string{"ant": council.VoteReject, "bee": council.VoteApprove, "cat": counciltest.Silent})
		w.script.Answer = func(_ context.Context, q member.Question) (member.Reply, error, bool) {
			return member.Reply{Arbitration: &council.Arbitration{Decision: "approve"}}, nil, q.Phase == member.PhaseArbitration
		}
		if onDisk {
			dir := w.dir + "/council/discussions/task_1/.engine"
			writeFile(t, dir+"/arbitration.json", `{"decision":"approve","decided_by":"cat"}`)
		}
		w.submit(council.Task{ID: "task_1", Title: "Buy a kettle"})
		if diff := cmp.Diff(outcome{Status: council.StatusStalled}, w.outcome("task_1")); diff != "" {
			t.Errorf("on disk %v: %s", onDisk, diff)
		}
	}
}

// Who names somebody, a folder or an action that there is none of is told what there is.
func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	id := w.submit(council.Task{Title: "Buy a kettle"})
	_, suggested := w.Suggest(t.Context(), council.Suggestion{Worker: "nobody", Title: "x"})
	_, sent := w.SendCommand(t.Context(), council.Command{Worker: "nobody", Action: council.CommandPause})
	_, imported := w.Import(t.Context(), t.TempDir(), false)
	_, requested := w.RequestAction(t.Context(), council.ActionRequest{RequestedBy: "ant", Service: "deploy", TaskID: id})
	_, found := w.Get(t.Context(), "task_9")
	for want, err := range map[string]error{
		"(it has none); kioku council workers add": suggested, "no worker of this council (it has none)": sent,
		"has no folder discussions, inbox or decisions": imported, "kioku council action list": requested, "its lists show": found,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// An answer to an expired command comes too late, also before the engine has said so.
func TestAckOfAnExpiredCommandIsTooLate(t *testing.T) {
	t.Parallel()
	w := withBot(t, nil)
	c, err := w.SendCommand(t.Context(), council.Command{Worker: "bot", Action: council.CommandPause, IssuedBy: owner})
	if err != nil {
		t.Fatal(err)
	}
	w.clock.Add(2 * time.Hour)
	if err := w.Ack(t.Context(), "bot", c.ID, council.Ack{Result: "ok"}); !errors.Is(err, engine.ErrState) {
		t.Errorf("%v", err)
	}
	if all, err := w.Commands(t.Context(), "bot"); err != nil || all[0].Ack == nil || all[0].Ack.Status != council.AckExpired {
		t.Errorf("%v: %+v", err, all)
	}
}

// An id that leads to another worker's folder is no id.
func TestIDsLeadNowhereElse(t *testing.T) {
	t.Parallel()
	w := withBot(t, nil)
	c, err := w.SendCommand(t.Context(), council.Command{Worker: "other", Action: council.CommandPause, IssuedBy: owner})
	if err != nil {
		t.Fatal(err)
	}
	s, err := w.Suggest(t.Context(), council.Suggestion{Worker: "other", Title: "Sell the house"})
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"commands", "suggestions"} {
		if err := os.MkdirAll(w.dir+"/council/"+dir+"/bot", 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Ack(t.Context(), "bot", "../other/"+c.ID, council.Ack{Result: "ok"}); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("a command: %v", err)
	}
	if _, err := w.ReviewSuggestion(t.Context(), "bot", "../other/"+s.ID, true, "", owner); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("a suggestion: %v", err)
	}
}

// An action that waits too long, or that who has requested it is said to have approved, does not run.
func TestActionWithoutATimelySecondMemberDoesNotRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.script.Votes[counciltest.Key{Phase: member.PhaseAction}] = counciltest.Silent
	id := w.submit(council.Task{Title: "Buy a kettle"})
	late, err := w.RequestAction(t.Context(), council.ActionRequest{Service: "reload:ant", TaskID: id, RequestedBy: "ant"})
	if err != nil {
		t.Fatal(err)
	}
	w.clock.Add(6 * time.Minute)
	if _, err := w.ApproveAction(t.Context(), late.ID, "bee", true, ""); !errors.Is(err, engine.ErrState) {
		t.Errorf("after its time: %v", err)
	}
	forged := fmt.Sprintf(`{"id":"action_1","service":"reload:ant","task_id":%q,"requested_by":"bee","status":"approved","approved":{"accept":true,"by":{"kind":"member","name":"bee"}},"requested_at":%q}`,
		id, w.clock.Now().Format(time.RFC3339))
	writeFile(t, w.dir+"/council/rebuild_requests/action_1.json", forged)
	w.settle()
	all, err := w.ListActions(t.Context())
	if err != nil || len(all) != 2 {
		t.Fatalf("%v: %+v", err, all)
	}
	for _, r := range all {
		if r.Status != council.ActionRejected || !r.StartedAt.IsZero() {
			t.Errorf("%+v", r)
		}
	}
}

// Only a decision that is in force carries an action: not one that a later one replaces, nor one that is discussed again.
func TestActionNeedsADecisionInForce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	first := w.submit(council.Task{ID: "task_1", Title: "Buy a kettle"})
	second := w.submit(council.Task{ID: "task_2", Title: "Buy another kettle", Supersedes: first})
	request := func(id string) error {
		_, err := w.RequestAction(t.Context(), council.ActionRequest{Service: "reload:ant", TaskID: id, RequestedBy: "ant"})
		return err
	}
	if err := request(first); !errors.Is(err, engine.ErrDenied) || !strings.Contains(err.Error(), "superseded by task_2") {
		t.Errorf("a decision that was replaced: %v", err)
	}
	if err := request(second); err != nil {
		t.Errorf("one in force: %v", err)
	}
	if err := w.RequestRound(t.Context(), second, owner, "look again"); err != nil {
		t.Fatal(err)
	}
	if err := request(second); !errors.Is(err, engine.ErrDenied) {
		t.Errorf("one that is discussed again: %v", err)
	}
}
