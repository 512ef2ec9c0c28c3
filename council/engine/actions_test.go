package engine_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"kioku/council"
	"kioku/council/counciltest"
	"kioku/council/engine"
	"kioku/council/member"
)

// action returns the state of an action.
func (w *world) action(id string) council.ActionRequest {
	w.t.Helper()
	all, err := w.ListActions(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, r := range all {
		if r.ID == id {
			return r
		}
	}
	w.t.Fatalf("no action %s", id)
	return council.ActionRequest{}
}

// Check 10: three different members do a protected action.
func TestActionNeedsThreeMembers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *engine.Options) {
		o.Settings.Actions = map[string]council.Action{"build": {Command: []string{"sh", "-c", "echo built >> ../../../built; echo ok"}}}
	})
	task := w.submit(ruled)
	for _, service := range []string{"reload:ant", "build"} {
		r, err := w.RequestAction(t.Context(), council.ActionRequest{Service: service, TaskID: task, RequestedBy: "cat", Reason: "new text"})
		if err != nil {
			t.Fatal(err)
		}
		w.settle()
		r = w.action(r.ID)
		if r.Status != council.ActionCompleted || r.Approved.By.Name == "cat" || r.Runner == "cat" || r.Runner == r.Approved.By.Name {
			t.Errorf("%s: %+v", service, r)
		}
	}
	w.later(time.Hour)
	w.Close()
	w.open(func(o *engine.Options) {
		o.Settings.Actions = map[string]council.Action{"build": {Command: []string{"true"}}}
	})
	w.settle()
	if data, err := os.ReadFile(w.dir + "/council/built"); err != nil || string(data) != "built\n" {
		t.Errorf("it has run %q, %v", data, err)
	}
}

// A request of the article has no time: it waits from when it is seen. One for a task that is being discussed waits for the decision, and
// one for a task that is not there is refused.
func TestActionWithoutATimeIsTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	late := sync.OnceFunc(func() {
		writeFile(t, w.dir+"/council/rebuild_requests/req_2.json", `{"id":"req_2","service":"reload:ant","task_id":"task_1","requested_by":"cat","status":"pending_approval"}`)
	})
	w.script.Answer = func(_ context.Context, q member.Question) (member.Reply, error, bool) {
		if q.Task.ID == "task_1" && q.Phase == member.PhaseOpinion {
			late()
		}
		return member.Reply{}, nil, false
	}
	task := w.submit(council.Task{ID: "task_1", Title: ruled.Title, Description: ruled.Description})
	writeFile(t, w.dir+"/council/rebuild_requests/req_0.json", `{"id":"req_0","service":"reload:ant","task_id":"task_none","requested_by":"cat","status":"pending_approval"}`)
	writeFile(t, w.dir+"/council/rebuild_requests/req_1.json", `{"id":"req_1","service":"reload:ant","task_id":"`+task+`","requested_by":"cat","reason":"new text","status":"pending_approval"}`)
	w.later(time.Minute)
	for _, id := range []string{"req_1", "req_2"} {
		if r := w.action(id); r.Status != council.ActionCompleted || r.RequestedAt.IsZero() {
			t.Errorf("%+v", r)
		}
	}
	if r := w.action("req_0"); r.Status != council.ActionRejected || !strings.Contains(r.Result, "task_none") {
		t.Errorf("%+v", r)
	}
}

// Check 10: what is refused.
func TestActionIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.script.Votes[counciltest.Key{Phase: "action"}] = counciltest.Silent
	approved := w.submit(ruled)
	w.vote(map[string]string{"ant": council.VoteReject, "bee": council.VoteReject})
	rejected := w.submit(council.Task{Title: "Burn the house"})
	for name, r := range map[string]council.ActionRequest{
		"not on the list":    {Service: "rm", TaskID: approved, RequestedBy: "cat"},
		"no member to load":  {Service: "reload:nobody", TaskID: approved, RequestedBy: "cat"},
		"task not approved":  {Service: "reload:ant", TaskID: rejected, RequestedBy: "cat"},
		"no such task":       {Service: "reload:ant", TaskID: "task_9", RequestedBy: "cat"},
		"not by a member":    {Service: "reload:ant", TaskID: approved, RequestedBy: "stranger"},
		"an id with a slash": {ID: "../x", Service: "reload:ant", TaskID: approved, RequestedBy: "cat"},
	} {
		if _, err := w.RequestAction(t.Context(), r); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	r, err := w.RequestAction(t.Context(), council.ActionRequest{Service: "reload:ant", TaskID: approved, RequestedBy: "cat"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.ApproveAction(t.Context(), r.ID, "cat", true, ""); !errors.Is(err, engine.ErrDenied) {
		t.Errorf("approved by who has requested it: %v", err)
	}
	w.settle()
	if got := w.action(r.ID).Status; got != council.ActionPending {
		t.Errorf("without an answer of the approver: %s", got)
	}
	w.later(5 * time.Minute)
	if got := w.action(r.ID).Status; got != council.ActionRejected {
		t.Errorf("after its time: %s", got)
	}
	if _, err := w.ApproveAction(t.Context(), r.ID, "bee", true, ""); !errors.Is(err, engine.ErrState) {
		t.Errorf("approved after its time: %v", err)
	}
}

// An approval is worth nothing once the decision no longer stands.
func TestActionIsCheckedAgainBeforeItRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	task := w.submit(ruled)
	r, err := w.RequestAction(t.Context(), council.ActionRequest{Service: "reload:ant", TaskID: task, RequestedBy: "cat"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.ApproveAction(t.Context(), r.ID, "bee", true, "fine"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(w.dir + "/council/decisions/" + task + ".json"); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(w.dir + "/council/discussions/" + task); err != nil {
		t.Fatal(err)
	}
	w.settle()
	if got := w.action(r.ID); got.Status != council.ActionRejected || got.Runner != "" {
		t.Errorf("%+v", got)
	}
}
