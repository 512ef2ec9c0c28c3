package engine_test

import (
	"os"
	"strings"
	"testing"

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
		w.settle()
		if d := w.get(id); d.Status.Status != want || len(d.Results) != n+1 || d.Decision.FinalRound != 1 {
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
