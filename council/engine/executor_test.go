package engine_test

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"kioku/council"
	"kioku/council/engine"
)

// What a program that carries out a task, or a protected action, reads is all that the council knows of it.
func TestProgramsAreTold(t *testing.T) {
	t.Setenv("COUNCIL_TEST_KEY", "let me in")
	w := newWorld(t, func(o *engine.Options) {
		o.Settings.Execution = council.Execution{Mode: council.ModeCommand, Approval: council.ApprovalNone, Env: []string{"COUNCIL_TEST_KEY"}, Output: "result.text",
			Command: []string{"sh", "-c", `cat > told.md; echo "$COUNCIL_TEST_KEY" >> told.md; echo '{"type":"progress"}'; echo '{"result":{"text":"The kettle is here."}}'`}}
		o.Settings.Actions = map[string]council.Action{"build": {Command: []string{"sh", "-c", `cat > ../../../action.md; echo "$COUNCIL_TEST_KEY" >> ../../../action.md`}, Env: []string{"COUNCIL_TEST_KEY"}}}
	})
	writeFile(t, w.dir+"/council/MISSION.md", "Warm tea for all.")
	for _, m := range w.set.Members {
		writeFile(t, m.Workspace+"/SOUL.md", "I am "+m.Name+", who is careful.")
	}
	w.vote(map[string]string{"ant": council.VoteWithChanges})
	task, err := w.SubmitWith(t.Context(), ruled, []engine.Upload{{Name: "offer.md", Data: []byte("Ten francs.")}, {Name: "kettle.png", Data: []byte{0, 1}}})
	if err != nil {
		t.Fatal(err)
	}
	w.settle()
	d := w.get(task.ID)
	if d.Status.Status != council.StatusCompleted || d.Results[0].Result != "The kettle is here." || len(d.Progress) != 2 {
		t.Fatalf("%s: %+v, %+v", d.Status.Status, d.Results, d.Progress)
	}
	told, err := os.ReadFile(w.dir + "/council/workspace/" + task.ID + "/told.md")
	if err != nil {
		t.Fatal(err)
	}
	concern := d.Rounds[0].Ballots[0].Concerns
	for _, part := range append([]string{task.ID, "I am cat, who is careful.", "Warm tea for all.", "The old one leaks.", "Ten francs.", "/attachments/2-kettle.png", "the way of all", "let me in"}, concern...) {
		if !strings.Contains(string(told), part) {
			t.Errorf("the executor is not told %q:\n%s", part, told)
		}
	}
	if _, err := w.Comment(t.Context(), task.ID, council.Comment{Author: council.Author{Kind: "owner"}, Message: "Mind the cable."}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.RequestAction(t.Context(), council.ActionRequest{Service: "build", TaskID: task.ID, RequestedBy: "cat", Reason: "new text"}); err != nil {
		t.Fatal(err)
	}
	w.settle()
	told, err = os.ReadFile(w.dir + "/council/action.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{task.ID, "build", "new text", "Mind the cable.", "Warm tea for all.", "who is careful.", "the way of all", "let me in"} {
		if !strings.Contains(string(told), part) {
			t.Errorf("the action is not told %q:\n%s", part, told)
		}
	}
}

// Who follows an execution by an agent reads what it says and does, and its result is the last that it has said, or why it has failed.
func TestProgressOfAgentsIsText(t *testing.T) {
	t.Parallel()
	printed := `{"type":"system","subtype":"init","session_id":"s"}
{"type":"assistant","message":{"content":[{"type":"text","text":"I look."},{"type":"tool_use","name":"Read","input":{"file_path":"offer.md"}}]},"session_id":"s"}
`
	for end, want := range map[string]string{
		`{"type":"result","result":"The kettle is here.","session_id":"s"}`:                         "The kettle is here.",
		`{"type":"result","is_error":true,"errors":["Too many turns."],"session_id":"s"}'; exit '1`: "the program has failed: exit status 1\nI look.\nRead: offer.md\nToo many turns.",
	} {
		w := newWorld(t, func(o *engine.Options) {
			o.Settings.Execution = council.Execution{Mode: council.ModeCommand, Approval: council.ApprovalNone, Command: []string{"sh", "-c", "cat >/dev/null; echo '" + printed + end + "'"}}
		})
		id := w.submit(ruled)
		w.settle()
		d := w.get(id)
		if len(d.Results) != 1 || strings.TrimSpace(d.Results[0].Result) != want || len(d.Progress) < 2 || d.Progress[0].Text != "I look." || d.Progress[1].Text != "Read: offer.md" {
			t.Errorf("%+v, %+v", d.Results, d.Progress)
		}
	}
}

// An execution that failed is tried again without a new vote, and the program is told what went wrong.
func TestFailedExecutionIsTriedAgain(t *testing.T) {
	t.Parallel()
	owner := council.Author{Kind: "owner"}
	w := newWorld(t, func(o *engine.Options) {
		o.Settings.Execution = council.Execution{Mode: council.ModeCommand, Command: []string{"sh", "-c", `cat > told.md; test -f tried && echo done && exit; touch tried; echo "no water" >&2; exit 3`}}
	})
	id := w.submit(ruled)
	for n, want := range []string{council.StatusFailed, council.StatusCompleted} {
		if err := w.ApproveExecution(t.Context(), id, owner); err != nil {
			t.Fatal(err)
		}
		w.later(time.Second)
		if d := w.get(id); d.Status.Status != want || len(d.Progress) != 1 || d.Progress[0].Text != []string{"no water", "done"}[n] || len(d.Results) != n+1 || d.Decision.FinalRound != 1 {
			t.Fatalf("attempt %d: %s, %+v", n+1, d.Status.Status, d.Results)
		}
	}
	told, err := os.ReadFile(w.dir + "/council/workspace/" + id + "/told.md")
	if err != nil || !strings.Contains(string(told), "no water") {
		t.Errorf("the program is not told what went wrong: %v\n%s", err, told)
	}
	if n := w.script.Count("opinion"); n != 3 {
		t.Errorf("%d opinions: the council has voted again", n)
	}
	if err := w.ApproveExecution(t.Context(), id, owner); err == nil {
		t.Error("what has succeeded is tried again")
	}
}

// A person who has done what a program could not reports it.
func TestFailedExecutionIsReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *engine.Options) {
		o.Settings.Execution = council.Execution{Mode: council.ModeCommand, Approval: council.ApprovalNone, Command: []string{"sh", "-c", "cat >/dev/null; exec sleep 60"}}
		o.Settings.Timeouts.Execution = time.Second
	})
	task, err := w.Submit(t.Context(), ruled)
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { ran <- w.Settle(t.Context()) }()
	for w.get(task.ID).Status.Status != council.StatusExecuting {
		runtime.Gosched()
	}
	if d := w.get(task.ID); len(d.Thinking) > 0 {
		t.Errorf("%v think while a program runs", d.Thinking)
	}
	if err := <-ran; err != nil {
		t.Fatal(err)
	}
	if d := w.get(task.ID); d.Status.Status != council.StatusFailed || !strings.Contains(d.Status.Reason, "after 1s, which is timeouts.execution") {
		t.Fatalf("%+v", d.Status)
	}
	if err := w.ReportResult(t.Context(), task.ID, council.Result{Result: "Done by hand.", Succeeded: true, Author: council.Author{Kind: "owner"}}); err != nil {
		t.Fatal(err)
	}
	w.settle()
	if d := w.get(task.ID); d.Status.Status != council.StatusCompleted || len(d.Results) != 2 || d.Results[1].Result != "Done by hand." {
		t.Errorf("%+v, %+v", d.Status, d.Results)
	}
}

// A program may print as much as it likes: it is read at full speed, what is left out is marked, and the end is never lost. What it prints
// to standard error is progress, and joins the result of a program that fails.
func TestExecutionPrintsMuch(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		script, begins, ends, last string
		succeeded                  bool
	}{
		"output":       {"seq 1 2000000; echo the end", "[", "\nthe end", "the end", true},
		"errors":       {"seq 1 60000 >&2; echo done; echo over >&2", "done", "done", "over", true},
		"failed":       {"seq 1 60000 >&2; echo over >&2; exit 3", "the program has failed: exit status 3\n[", "\nover", "over", false},
		"without line": {"head -c 300000 /dev/zero | tr '\\0' x; printf end", "[", "xend", "end", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(o *engine.Options) {
				o.Settings.Execution = council.Execution{Mode: council.ModeCommand, Approval: council.ApprovalNone, Command: []string{"sh", "-c", "cat >/dev/null; " + tc.script}}
			})
			id := w.submit(ruled)
			d := w.get(id)
			if len(d.Results) != 1 || len(d.Progress) == 0 {
				t.Fatalf("%+v", d)
			}
			r := d.Results[0]
			got := strings.TrimSpace(r.Result)
			if r.Succeeded != tc.succeeded || !strings.HasPrefix(got, tc.begins) || !strings.HasSuffix(got, tc.ends) || len(got) > 66<<10 {
				t.Errorf("%v, %d bytes: %.200s ... %s", r.Succeeded, len(got), got, got[max(0, len(got)-100):])
			}
			if tc.begins != "done" && !strings.Contains(got, "are left out]\n") {
				t.Errorf("what is left out is not marked: %.200s", got)
			}
			if last := d.Progress[len(d.Progress)-1].Text; !slices.ContainsFunc(d.Progress, func(l engine.ProgressLine) bool { return strings.HasSuffix(l.Text, tc.last) }) {
				t.Errorf("progress ends with %.100q", last)
			}
			data, err := os.ReadFile(w.dir + "/council/decisions/" + id + "_progress.jsonl")
			if err != nil || len(data) > 4<<20 {
				t.Errorf("%v, %d bytes of progress", err, len(data))
			}
			if strings.Contains(tc.script, "seq") && !strings.Contains(string(data), "lines are left out") {
				t.Errorf("the progress does not say that lines are left out: %.300s", data)
			}
		})
	}
}
