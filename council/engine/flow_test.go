package engine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/council"
	"kioku/council/counciltest"
	"kioku/council/engine"
)

// outcome is what a test says of a task.
type outcome struct{ Status, Decision, By string }

func (w *world) outcome(id string) outcome {
	d := w.get(id)
	o := outcome{Status: d.Status.Status}
	if d.Decision != nil {
		o.Decision, o.By = d.Decision.Decision, d.Decision.DecidedBy
	}
	return o
}

var ruled = council.Task{Title: "Buy a kettle", Description: "The old one leaks."}

// What becomes of votes in three seats, with the arbiter as the third.
func TestVotesLeadToOutcome(t *testing.T) {
	t.Parallel()
	yes, no, silent := council.VoteApprove, council.VoteReject, counciltest.Silent
	for name, c := range map[string]struct {
		votes   [3]string
		arbiter string
		policy  string
		want    outcome
		calls   int
	}{
		"all approve":                     {votes: [3]string{yes, yes, yes}, want: outcome{council.StatusAnnounced, "approved", "council"}, calls: 4},
		"two approve":                     {votes: [3]string{yes, no, yes}, want: outcome{council.StatusAnnounced, "approved", "council"}, calls: 4},
		"two reject":                      {votes: [3]string{no, yes, no}, want: outcome{council.StatusRejected, "rejected", "council"}, calls: 3},
		"no majority, arbiter approves":   {votes: [3]string{yes, no, silent}, arbiter: yes, want: outcome{council.StatusAnnounced, "approved", "arbiter"}, calls: 11},
		"no majority, arbiter rejects":    {votes: [3]string{yes, no, silent}, arbiter: no, want: outcome{council.StatusRejected, "rejected", "arbiter"}, calls: 10},
		"no majority, arbiter is silent":  {votes: [3]string{yes, no, silent}, arbiter: silent, want: outcome{Status: council.StatusStalled}, calls: 11},
		"the chair approves alone":        {votes: [3]string{no, no, yes}, arbiter: yes, policy: council.PolicyChair, want: outcome{council.StatusAnnounced, "approved", "arbiter"}, calls: 11},
		"nobody follows the chair at all": {votes: [3]string{no, no, no}, arbiter: yes, policy: council.PolicyChair, want: outcome{council.StatusRejected, "rejected", "council"}, calls: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(o *engine.Options) { o.Settings.Policy = c.policy })
			w.vote(map[string]string{"ant": c.votes[0], "bee": c.votes[1], "cat": c.votes[2]})
			w.script.Votes[counciltest.Key{Phase: "arbitration"}] = c.arbiter
			id := w.submit(ruled)
			if diff := cmp.Diff(c.want, w.outcome(id)); diff != "" {
				t.Error(diff)
			}
			if n := w.script.Count(""); n != c.calls {
				t.Errorf("%d calls, want %d", n, c.calls)
			}
		})
	}
}

// A second round is opened whenever a vote of the first is no plain approval, also if enough agree; and always, if two are the minimum.
func TestDiscussOpensASecondRound(t *testing.T) {
	t.Parallel()
	yes, changes, no := council.VoteApprove, council.VoteWithChanges, council.VoteReject
	for name, c := range map[string]struct {
		votes   [3]string
		discuss bool
		minimum int
		max     int
		want    int
	}{
		"all approve":                {votes: [3]string{yes, yes, yes}, discuss: true, want: 1},
		"a rejection":                {votes: [3]string{yes, yes, no}, discuss: true, want: 2},
		"modifications":              {votes: [3]string{yes, changes, yes}, discuss: true, want: 2},
		"all reject":                 {votes: [3]string{no, no, no}, discuss: true, want: 2},
		"no discussion is asked for": {votes: [3]string{yes, changes, no}, want: 1},
		"at least two rounds":        {votes: [3]string{yes, yes, yes}, minimum: 2, want: 2},
		"one round is all":           {votes: [3]string{yes, changes, yes}, discuss: true, max: 1, want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(o *engine.Options) {
				o.Settings.Discuss, o.Settings.MinRounds, o.Settings.MaxRounds = c.discuss, c.minimum, c.max
			})
			w.vote(map[string]string{"ant": c.votes[0], "bee": c.votes[1], "cat": c.votes[2]})
			d := w.get(w.submit(ruled)).Decision
			if d == nil || d.FinalRound != c.want || d.DecidedBy != council.ByCouncil {
				t.Errorf("%+v, want round %d", d, c.want)
			}
		})
	}
}

// What the record says of a decision of the arbiter is what has happened, also where the settings leave it to the chair.
func TestDecisionOfTheArbiterSaysWhy(t *testing.T) {
	t.Parallel()
	yes, no, silent := council.VoteApprove, council.VoteReject, counciltest.Silent
	for name, c := range map[string]struct {
		votes  [3]string
		policy string
		want   string
	}{
		"chair after three yes": {votes: [3]string{yes, yes, yes}, policy: council.PolicyChair, want: "cat has decided alone, as policy chair has it; the votes of round 3 were 3 for and 0 against."},
		"chair against two":     {votes: [3]string{no, no, yes}, policy: council.PolicyChair, want: "cat has decided alone, as policy chair has it; the votes of round 3 were 1 for and 2 against."},
		"no majority":           {votes: [3]string{yes, no, silent}, want: "No majority after round 3: cat has decided alone, as arbiter."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(o *engine.Options) { o.Settings.Policy = c.policy })
			w.vote(map[string]string{"ant": c.votes[0], "bee": c.votes[1], "cat": c.votes[2]})
			w.script.Votes[counciltest.Key{Phase: "arbitration"}] = yes
			d := w.get(w.submit(ruled)).Decision
			if d == nil || len(d.Degraded) == 0 || d.Degraded[0] != c.want {
				t.Errorf("%+v, want %q", d, c.want)
			}
		})
	}
}

// Check 4: one of three is silent, which is above the text of the decision.
func TestSilentMemberIsNamedAboveTheText(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.vote(map[string]string{"bee": counciltest.Silent})
	w.script.Answer = nil
	d := w.get(w.submit(ruled))
	if d.Decision == nil || d.Decision.Abstentions["bee"] != council.AbstainError || len(d.Decision.Degraded) < 2 {
		t.Fatalf("%+v", d.Decision)
	}
	text, err := os.ReadFile(w.dir + "/agent/" + d.Decision.MemoryPath)
	if err != nil {
		t.Fatal(err)
	}
	if note, approach := strings.Index(string(text), "bee has abstained (error)"), strings.Index(string(text), "## Approach"); note < 0 || note > approach {
		t.Errorf("the abstention is not above the text:\n%s", text)
	}
}

// Check 4: two of three are silent. The round is repeated twice, all who were absent are asked again, and then a person has to decide.
func TestInquorateRoundIsRepeatedAndThenStalled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.vote(map[string]string{"ant": counciltest.Silent, "bee": counciltest.Silent})
	id := w.submit(ruled)
	for _, step := range []struct {
		later  time.Duration
		calls  int
		status string
	}{{0, 3, council.StatusDiscussing}, {time.Minute, 5, council.StatusDiscussing}, {time.Minute, 5, council.StatusDiscussing}, {4 * time.Minute, 7, council.StatusStalled}, {time.Hour, 7, council.StatusStalled}} {
		w.later(step.later)
		if n := w.script.Count(""); n != step.calls || w.get(id).Status.Status != step.status {
			t.Errorf("after %v: %d calls, %s; want %+v", step.later, n, w.get(id).Status.Status, step)
		}
		if reason := w.get(id).Status.Reason; step.calls == 3 && reason != "round 1 is tried again at 09:01:00 UTC: 1 of 3 members have voted (ant error, bee error)" {
			t.Errorf("it does not say what it waits for: %q", reason)
		}
	}
	if err := w.Decide(t.Context(), id, council.Approved, "as I say", "they do not answer", council.Author{Kind: "owner"}); err != nil {
		t.Fatal(err)
	}
	w.settle()
	if diff := cmp.Diff(outcome{council.StatusAnnounced, "approved", "owner"}, w.outcome(id)); diff != "" {
		t.Error(diff)
	}
}

func TestRequestRoundBeginsACycle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	id := w.submit(ruled)
	owner := council.Author{Kind: "owner"}
	for cycle := 2; cycle <= 4; cycle++ {
		w.vote(map[string]string{"ant": council.VoteReject, "bee": council.VoteReject})
		if err := w.RequestRound(t.Context(), id, owner, fmt.Sprint("reason ", cycle)); err != nil {
			t.Fatal(err)
		}
		w.settle()
		d := w.get(id)
		if d.Decision.Decision != council.Rejected || d.Decision.Cycle != cycle || d.Decision.FinalRound != cycle || len(d.History) != cycle-1 || d.History[0].Decision != council.Approved {
			t.Fatalf("cycle %d: %+v, history %d", cycle, d.Decision, len(d.History))
		}
	}
	if err := w.RequestRound(t.Context(), id, owner, "again"); !errors.Is(err, engine.ErrState) {
		t.Errorf("a fourth further round: %v", err)
	}
	seen := w.script.Asked()
	if last := seen[len(seen)-1]; len(last.Rounds) != 3 || len(last.Comments) != 3 {
		t.Errorf("the last round sees %d rounds and %d comments", len(last.Rounds), len(last.Comments))
	}
}

// What was done for a task that is rejected afterwards is not undone silently: that is a task of its own.
func TestRejectionAfterTheWorkProposesToUndoIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	id := w.submit(ruled)
	if err := w.ReportResult(t.Context(), id, council.Result{Result: "bought a red one", Succeeded: true, Author: council.Author{Kind: "owner"}}); err != nil {
		t.Fatal(err)
	}
	w.settle()
	w.vote(map[string]string{"ant": council.VoteReject, "bee": council.VoteReject})
	if err := w.RequestRound(t.Context(), id, council.Author{Kind: "owner"}, "too dear"); err != nil {
		t.Fatal(err)
	}
	w.settle()
	all, err := w.List(t.Context(), engine.Filter{})
	if err != nil || len(all) != 2 {
		t.Fatalf("%v: %+v", err, all)
	}
	undo := w.get("undo_2_" + id)
	if undo.Task.Title != "Undo: Buy a kettle" || !strings.Contains(undo.Task.Description, "bought a red one") || len(undo.Rounds) == 0 {
		t.Errorf("%+v", undo.Task)
	}
}

// The urgent and old tasks are discussed first.
func TestInboxIsAQueueByPriority(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *engine.Options) { o.Settings.Parallel = 1 })
	low, high := council.PriorityLow, council.PriorityHigh
	for i, p := range []string{low, "", high, high, low, "", low, low, low} { // one more than are open at the same time
		task := council.Task{ID: fmt.Sprint("task_", i), Title: "x", Priority: p, CreatedAt: w.clock.Now().Add(time.Duration(i) * time.Minute)}
		if _, err := w.Submit(t.Context(), task); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Submit(t.Context(), council.Task{ID: "task_urgent", Title: "x", Priority: high, CreatedAt: w.clock.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	w.vote(map[string]string{"ant": counciltest.Silent, "bee": counciltest.Silent}) // so that those that are open stay open
	w.settle()
	var waiting []string
	for _, id := range []string{"task_0", "task_1", "task_2", "task_3", "task_4", "task_5", "task_6", "task_7", "task_8", "task_urgent"} {
		if w.get(id).Status.Status == council.StatusPending {
			waiting = append(waiting, id)
		}
	}
	if diff := cmp.Diff([]string{"task_7", "task_8"}, waiting); diff != "" {
		t.Error(diff)
	}
}

func TestOwnerCancels(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.vote(map[string]string{"ant": counciltest.Silent, "bee": counciltest.Silent})
	id := w.submit(ruled)
	if err := w.Cancel(t.Context(), id, "no longer needed", council.Author{Kind: "owner"}); err != nil {
		t.Fatal(err)
	}
	w.later(time.Hour)
	if diff := cmp.Diff(outcome{Status: council.StatusCancelled}, w.outcome(id)); diff != "" {
		t.Error(diff)
	}
	if err := w.Cancel(t.Context(), id, "", council.Author{Kind: "owner"}); !errors.Is(err, engine.ErrState) {
		t.Errorf("again: %v", err)
	}
}

func TestReportEndsATask(t *testing.T) {
	t.Parallel()
	for _, good := range []bool{true, false} {
		w := newWorld(t, nil)
		id := w.submit(ruled)
		if err := w.ReportResult(t.Context(), id, council.Result{Result: "bought", Succeeded: good, Author: council.Author{Kind: "owner"}}); err != nil {
			t.Fatal(err)
		}
		w.settle()
		want := map[bool]string{true: council.StatusCompleted, false: council.StatusFailed}[good]
		if got := w.outcome(id).Status; got != want {
			t.Errorf("succeeded %v: %s", good, got)
		}
		if err := w.ReportResult(t.Context(), id, council.Result{Result: "again", Succeeded: true}); good && !errors.Is(err, engine.ErrState) || !good && err != nil {
			t.Errorf("a second report: %v", err)
		}
	}
}

func TestReviewHasAResultRepaired(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *engine.Options) {
		o.Settings.Execution = council.Execution{Mode: council.ModeAnswer, Review: true}
	})
	w.script.Votes[counciltest.Key{Phase: "review"}] = council.VoteReject
	id := w.submit(ruled)
	d := w.get(id)
	if d.Status.Status != council.StatusFailed || len(d.Results) != 3 || len(d.Reviews) != 3 {
		t.Fatalf("%s: %d results, %d reviews", d.Status.Status, len(d.Results), len(d.Reviews))
	}
	for _, r := range d.Reviews {
		if r.Reviewer == "cat" {
			t.Errorf("the executor reviews itself: %+v", r)
		}
	}
	for _, q := range w.script.Asked() {
		if q.Phase == "answer" && q.Attempt == 2 && (len(q.Problems) != 1 || q.Result == nil) {
			t.Errorf("the repair is not told what is wrong: %v", q.Problems)
		}
	}
}

func TestCommandNeedsAnOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *engine.Options) {
		o.Settings.Execution = council.Execution{Mode: council.ModeCommand, Command: []string{"sh", "-c", "cat > task.md; echo one; echo two >&2; pwd"}}
	})
	id := w.submit(ruled)
	if d := w.get(id); d.NeedsOwner != "approval" || len(d.Results) > 0 {
		t.Fatalf("%s, needs %q", d.Status.Status, d.NeedsOwner)
	}
	if err := w.ApproveExecution(t.Context(), id, council.Author{Kind: "owner"}); err != nil {
		t.Fatal(err)
	}
	w.settle()
	d := w.get(id)
	if d.Status.Status != council.StatusCompleted || len(d.Progress) != 3 || !strings.Contains(d.Results[0].Result, "/workspace/"+id) {
		t.Fatalf("%s: %+v, %+v", d.Status.Status, d.Results, d.Progress)
	}
	brief, err := os.ReadFile(w.dir + "/council/workspace/" + id + "/task.md")
	if err != nil || !strings.Contains(string(brief), "Buy a kettle") || !strings.Contains(string(brief), "the way of all") {
		t.Errorf("%v: %s", err, brief)
	}
}

// The five cases of the article's code that section 0 of the specification tells of, each with the opposite result.
func TestNothingIsApprovedByDefault(t *testing.T) {
	t.Parallel()
	t.Run("a failed call is no answer", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, nil)
		w.vote(map[string]string{"ant": counciltest.Silent})
		d := w.get(w.submit(ruled))
		if len(d.Rounds[0].Ballots) != 2 || d.Rounds[0].Seal.Abstentions["ant"] != council.AbstainError {
			t.Errorf("%+v", d.Rounds[0].Seal)
		}
	})
	t.Run("prose is no ballot", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, nil)
		w.vote(map[string]string{"ant": "I reject it"})
		d := w.get(w.submit(ruled))
		if d.Rounds[0].Seal.Abstentions["ant"] != council.AbstainMalformed {
			t.Errorf("%+v", d.Rounds[0].Seal)
		}
	})
	t.Run("a silent arbiter approves nothing", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, func(o *engine.Options) { o.Settings.Policy = council.PolicyChair })
		w.vote(map[string]string{"ant": council.VoteReject, "bee": council.VoteReject})
		w.script.Votes[counciltest.Key{Phase: "arbitration"}] = counciltest.Silent
		if diff := cmp.Diff(outcome{Status: council.StatusStalled}, w.outcome(w.submit(ruled))); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("an approved request without a decision runs nothing", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, nil)
		path := w.dir + "/council/rebuild_requests/action_1.json"
		text := `{"id":"action_1","service":"reload:ant","task_id":"task_9","requested_by":"ant","status":"approved","approved":{"accept":true,"by":{"kind":"member","name":"bee"}},"requested_at":"2026-11-23T09:00:00Z"}`
		writeFile(t, path, text)
		w.settle()
		all, err := w.ListActions(t.Context())
		if err != nil || len(all) != 1 || all[0].Status != council.ActionRejected || w.script.Count("") != 0 {
			t.Errorf("%v: %+v", err, all)
		}
	})
}

// Check 7, second half: a ballot that is changed after the seal counts as it was sealed, and is reported.
func TestTamperedBallotChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.vote(map[string]string{"ant": council.VoteReject})
	id := w.submit(ruled)
	before := w.get(id)
	path := w.dir + "/council/discussions/" + id + "/round_1/bee.json"
	writeFile(t, path, `{"node":"bee","round":1,"vote":"reject"}`)
	w.later(time.Minute)
	after := w.get(id)
	if diff := cmp.Diff([]string{"bee"}, after.Rounds[0].Tampered); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before.Decision, after.Decision); diff != "" {
		t.Error(diff)
	}
	found := ""
	for _, f := range w.Doctor(t.Context()) {
		if f.Level == engine.LevelError {
			found += f.Text
		}
	}
	if !strings.Contains(found, "bee") {
		t.Errorf("doctor: %q", found)
	}
}

// Nobody sees a ballot of the round in progress, and later rounds see only what is sealed.
func TestMembersSeeOnlySealedRounds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.vote(map[string]string{"ant": council.VoteReject, "cat": counciltest.Silent})
	w.submit(ruled)
	for _, q := range w.script.Asked() {
		if q.Phase == "opinion" && len(q.Rounds) != q.Round-1 {
			t.Errorf("round %d sees %d rounds", q.Round, len(q.Rounds))
		}
	}
}

// What a crash has left of the status is written before what a person does, so that no step of it is left out.
func TestReportWritesTheStatusThatACrashLeftBehind(t *testing.T) {
	t.Parallel()
	e, dir := openInline(t)
	if _, err := e.Submit(t.Context(), council.Task{ID: "task_1", Title: "Buy a kettle"}); err != nil {
		t.Fatal(err)
	}
	if err := e.Quiet(t.Context()); err != nil {
		t.Fatal(err)
	}
	path := dir + "/council/discussions/task_1/status.json"
	status := func() council.Status {
		var s council.Status
		data, err := os.ReadFile(path)
		if err != nil || json.Unmarshal(data, &s) != nil {
			t.Fatal(err, string(data))
		}
		return s
	}
	executing := status()
	behind := executing
	behind.Status = council.StatusDecided
	data, err := json.Marshal(behind)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := e.ReportResult(t.Context(), "task_1", council.Result{Result: "bought", Succeeded: true, Author: council.Author{Kind: "owner"}}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(executing, status()); diff != "" {
		t.Error(diff)
	}
}
