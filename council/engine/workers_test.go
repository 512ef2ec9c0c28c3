package engine_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/council"
	"kioku/council/counciltest"
	"kioku/council/engine"
)

var owner = council.Author{Kind: "owner"}

func contains(s, part string) bool { return strings.Contains(s, part) }

// withBot returns a council with the worker "bot".
func withBot(t *testing.T, change func(*engine.Options)) *world {
	t.Helper()
	return newWorld(t, func(o *engine.Options) {
		o.Settings.Workers = []string{"bot", "other"}
		if change != nil {
			change(o)
		}
	})
}

func (w *world) suggest(title string) (council.Suggestion, error) {
	return w.Suggest(w.t.Context(), council.Suggestion{Worker: "bot", Title: title, Description: "because"})
}

// Check 11: one suggestion an hour is looked at.
func TestSuggestionsWaitForTheirHour(t *testing.T) {
	t.Parallel()
	w := withBot(t, nil)
	first, err := w.suggest("Water the plants")
	if err != nil || first.Status != council.SuggestionPending {
		t.Fatalf("%v: %+v", err, first)
	}
	w.clock.Add(10 * time.Minute)
	second, err := w.suggest("Feed the cat")
	if err != nil || second.Status != council.SuggestionDeferred || second.NotBefore.Sub(w.clock.Now()) != 50*time.Minute {
		t.Fatalf("%v: %+v", err, second)
	}
	if _, err := w.suggest("  WATER the  plants"); !errors.Is(err, engine.ErrExists) {
		t.Errorf("the same again: %v", err)
	}
	w.later(49 * time.Minute)
	if got := w.suggestion(second.ID).Status; got != council.SuggestionDeferred {
		t.Errorf("too early: %s", got)
	}
	w.later(time.Minute)
	if got := w.suggestion(second.ID).Status; got != council.SuggestionPending {
		t.Errorf("after an hour: %s", got)
	}
	if _, err := w.Suggest(t.Context(), council.Suggestion{Worker: "nobody", Title: "x"}); err == nil {
		t.Error("a stranger has suggested something")
	}
	w.later(24 * time.Hour)
	if got := w.suggestion(first.ID).Status; got != council.SuggestionExpired {
		t.Errorf("after a day: %s", got)
	}
}

func (w *world) suggestion(id string) council.Suggestion {
	w.t.Helper()
	all, err := w.ListSuggestions(w.t.Context(), "")
	if err != nil {
		w.t.Fatal(err)
	}
	for _, s := range all {
		if s.ID == id {
			return s
		}
	}
	w.t.Fatalf("no suggestion %s", id)
	return council.Suggestion{}
}

// A suggestion becomes a task once the arbiter has looked at it and an owner accepts it.
func TestSuggestionBecomesATask(t *testing.T) {
	t.Parallel()
	w := withBot(t, nil)
	s, err := w.suggest("Water the plants")
	if err != nil {
		t.Fatal(err)
	}
	w.settle()
	s = w.suggestion(s.ID)
	if s.Status != council.SuggestionPending || s.Verified == nil || !s.Verified.Accept || s.Verified.By.Name != "cat" {
		t.Fatalf("%+v", s)
	}
	s, err = w.ReviewSuggestion(t.Context(), "bot", s.ID, true, "good", owner)
	if err != nil || s.Status != council.SuggestionAccepted || s.Reviewed.By != owner {
		t.Fatalf("%v: %+v", err, s)
	}
	w.settle()
	d := w.get(s.TaskID)
	want := council.Task{ID: s.TaskID, Type: council.TypeTask, Title: "bot: Water the plants", Description: "because", Priority: council.PriorityLow, CreatedAt: d.Task.CreatedAt,
		Status: council.StatusPending, Source: "worker:bot", Author: council.Author{Kind: "worker", Name: "bot"}, Trust: council.TrustLow}
	if diff := cmp.Diff(want, d.Task); diff != "" {
		t.Error(diff)
	}
}

func TestSuggestionThatTheArbiterRefuses(t *testing.T) {
	t.Parallel()
	for vote, want := range map[string]string{council.VoteReject: council.SuggestionRefused, counciltest.Silent: council.SuggestionPending} {
		w := withBot(t, func(o *engine.Options) { o.Settings.Suggestions.Approval = council.ApprovalNone })
		w.script.Votes[counciltest.Key{Phase: "suggestion"}] = vote
		s, err := w.suggest("Sell the house")
		if err != nil {
			t.Fatal(err)
		}
		w.settle()
		if got := w.suggestion(s.ID); got.Status != want || got.TaskID != "" {
			t.Errorf("%s: %+v", vote, got)
		}
	}
}

// A file that a worker has left is taken like a call.
func TestSuggestionFromAFile(t *testing.T) {
	t.Parallel()
	w := withBot(t, nil)
	dir := w.dir + "/council/suggestions/bot"
	for name, text := range map[string]string{"good.json": `{"title":"Water the plants","description":"dry","status":""}`, "long.json": `{"title":"` + strings.Repeat("x", 201) + `"}`} {
		writeFile(t, filepath.Join(dir, name), text)
	}
	w.settle()
	if s := w.suggestion("good"); s.Status != council.SuggestionPending || s.SubmittedAt != w.clock.Now() {
		t.Errorf("%+v", s)
	}
	if s := w.suggestion("long"); s.Status != council.SuggestionRefused || s.Reviewed.Reason == "" {
		t.Errorf("%+v", s)
	}
}

// Check 11: a pause, its end, and directives.
func TestCommandsAreObeyedUntilTheyEnd(t *testing.T) {
	t.Parallel()
	w := withBot(t, nil)
	send := func(c council.Command) council.Command {
		t.Helper()
		c.Worker, c.IssuedBy = "bot", owner
		c, err := w.SendCommand(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	state := func() engine.WorkerState {
		t.Helper()
		s, err := w.WorkerState(t.Context(), "bot")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	c := send(council.Command{ID: "one", Action: council.CommandPause, Reason: "rest"})
	if s := state(); s.PausedUntil != w.clock.Now().Add(5*time.Minute) || s.Reason != "rest" {
		t.Errorf("%+v", s)
	}
	w.clock.Add(time.Minute)
	if again := send(council.Command{ID: "one", Action: council.CommandPause}); again.IssuedAt != c.IssuedAt {
		t.Errorf("a repeated id was issued again: %+v", again)
	}
	w.clock.Add(4 * time.Minute)
	if s := state(); !s.PausedUntil.IsZero() {
		t.Errorf("after five minutes: %+v", s)
	}
	send(council.Command{Action: council.CommandPause, Params: council.CommandParams{DurationMinutes: 60}})
	w.clock.Add(time.Second)
	send(council.Command{Action: council.CommandResume})
	send(council.Command{Action: council.CommandAdjustParams, Params: council.CommandParams{Directives: []string{"be careful"}}})
	if s := state(); !s.PausedUntil.IsZero() || len(s.Directives) != 1 {
		t.Errorf("%+v", s)
	}
	if err := w.Ack(t.Context(), "bot", "one", council.Ack{Result: "paused"}); err != nil {
		t.Error(err)
	}
	if err := w.Ack(t.Context(), "bot", "one", council.Ack{Result: "paused"}); !errors.Is(err, engine.ErrState) {
		t.Errorf("answered twice: %v", err)
	}
	w.later(time.Hour + time.Minute)
	all, err := w.Commands(t.Context(), "bot")
	if err != nil || len(all) != 4 || len(state().Directives) != 0 {
		t.Fatalf("%v: %d commands, %+v", err, len(all), state())
	}
	for _, c := range all {
		if want := map[bool]string{true: council.AckProcessed, false: council.AckExpired}[c.ID == "one"]; c.Ack == nil || c.Ack.Status != want {
			t.Errorf("%s: %+v", c.ID, c.Ack)
		}
	}
}

// A member that is paused abstains, and says so.
func TestPausedMemberAbstains(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	if _, err := w.SendCommand(t.Context(), council.Command{Worker: "bee", Action: council.CommandPause, IssuedBy: owner}); err != nil {
		t.Fatal(err)
	}
	d := w.get(w.submit(ruled))
	if d.Decision == nil || d.Decision.Abstentions["bee"] != council.AbstainPaused {
		t.Errorf("%+v", d.Decision)
	}
}

// A pause of a member ends when it says, although nobody acknowledges it but the engine; a member obeys nothing else.
func TestPauseOfAMemberLasts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	long := council.CommandParams{DurationMinutes: 180}
	if _, err := w.SendCommand(t.Context(), council.Command{ID: "long", Worker: "bee", Action: council.CommandPause, Params: long, IssuedBy: owner}); err != nil {
		t.Fatal(err)
	}
	w.settle()
	w.later(179 * time.Minute)
	if s, err := w.WorkerState(t.Context(), "bee"); err != nil || s.PausedUntil.IsZero() {
		t.Errorf("after 179 minutes: %v, %+v", err, s)
	}
	w.later(time.Minute)
	if s, err := w.WorkerState(t.Context(), "bee"); err != nil || !s.PausedUntil.IsZero() {
		t.Errorf("after 180 minutes: %v, %+v", err, s)
	}
	all, err := w.Commands(t.Context(), "bee")
	if err != nil || len(all) != 1 || all[0].Ack == nil || all[0].Ack.Status != council.AckProcessed {
		t.Errorf("%v: %+v", err, all)
	}
	other := council.Command{Worker: "bee", Action: council.CommandAdjustParams, Params: council.CommandParams{Directives: []string{"agree"}}, IssuedBy: owner}
	if _, err := w.SendCommand(t.Context(), other); err == nil {
		t.Error("a member takes directives")
	}
}

// Obey answers what the worker has not answered, also beside the engine that runs, and says what all of it amounts to.
func TestObeyAcknowledges(t *testing.T) {
	t.Parallel()
	w := withBot(t, nil)
	for _, action := range []string{council.CommandPause, council.CommandRestart} {
		if _, err := w.SendCommand(t.Context(), council.Command{ID: action, Worker: "bot", Action: action, IssuedBy: owner}); err != nil {
			t.Fatal(err)
		}
	}
	reader, err := engine.Read(engine.Options{Folder: w.dir + "/council", Settings: w.Settings(), Now: w.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	s, err := reader.Obey(t.Context(), "bot")
	if err != nil || s.PausedUntil != w.clock.Now().Add(5*time.Minute) {
		t.Errorf("%v: %+v", err, s)
	}
	got := map[string]string{}
	all, err := w.Commands(t.Context(), "bot")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if c.Ack != nil {
			got[c.ID] = c.Ack.Status + " " + c.Ack.Result
		}
	}
	if diff := cmp.Diff(map[string]string{"pause": "processed ok", "restart": "processed host"}, got); diff != "" {
		t.Error(diff)
	}
	if s, err := reader.Obey(t.Context(), "stranger"); err != nil || !s.PausedUntil.IsZero() {
		t.Errorf("an agent of no council: %v, %+v", err, s)
	}
}

// Check 11: commands that must not be obeyed.
func TestCommandsAreRefused(t *testing.T) {
	t.Parallel()
	w := withBot(t, nil)
	key := []byte("a key of both")
	writeFile(t, w.dir+"/council/keys/bot.key", string(key))
	good, err := w.SendCommand(t.Context(), council.Command{Worker: "bot", Action: council.CommandPause, IssuedBy: owner})
	if err != nil {
		t.Fatal(err)
	}
	now := w.clock.Now()
	if err := good.Verify("bot", key, now); err != nil {
		t.Errorf("a good one: %v", err)
	}
	for name, change := range map[string]func(c *council.Command) (string, []byte, time.Time){
		"changed": func(c *council.Command) (string, []byte, time.Time) {
			c.Params.DurationMinutes = 500
			return "bot", key, now
		},
		"no signature": func(c *council.Command) (string, []byte, time.Time) { c.MAC = ""; return "bot", key, now },
		"another key":  func(c *council.Command) (string, []byte, time.Time) { return "bot", []byte("another"), now },
		"for another":  func(c *council.Command) (string, []byte, time.Time) { return "other", key, now },
		"expired":      func(c *council.Command) (string, []byte, time.Time) { return "bot", key, now.Add(2 * time.Hour) },
		"unknown":      func(c *council.Command) (string, []byte, time.Time) { c.Action = "format"; return "bot", key, now },
	} {
		c := good
		worker, key, at := change(&c)
		if err := c.Verify(worker, key, at); !errors.Is(err, council.ErrCommand) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, c := range map[string]council.Command{
		"by a stranger":       {Worker: "bot", Action: council.CommandPause, IssuedBy: council.Author{Kind: "stranger", Name: "owner"}},
		"by a worker":         {Worker: "bot", Action: council.CommandPause, IssuedBy: council.Author{Kind: "worker", Name: "bot"}},
		"to nobody":           {Worker: "nobody", Action: council.CommandPause, IssuedBy: owner},
		"outside":             {Worker: "../bot", Action: council.CommandPause, IssuedBy: owner},
		"by a task of no one": {Worker: "bot", Action: council.CommandPause, TaskID: "task_9"},
	} {
		if _, err := w.SendCommand(t.Context(), c); err == nil {
			t.Errorf("%s: sent", name)
		}
	}
}

func TestCommandOfATask(t *testing.T) {
	t.Parallel()
	w := withBot(t, nil)
	named := w.submit(council.Task{Title: "Pause bot", Description: "It is loud."})
	other := w.submit(council.Task{Title: "Pause"})
	w.vote(map[string]string{"ant": council.VoteReject, "bee": council.VoteReject})
	rejected := w.submit(council.Task{Title: "Pause bot again"})
	for id, ok := range map[string]bool{named: true, other: false, rejected: false} {
		_, err := w.SendCommand(t.Context(), council.Command{Worker: "bot", Action: council.CommandPause, TaskID: id})
		if (err == nil) != ok || err != nil && !errors.Is(err, engine.ErrDenied) {
			t.Errorf("task %s: %v", id, err)
		}
	}
}

// Check 12: who is an owner.
func TestRecogniseOwners(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *engine.Options) {
		o.Settings.Owners = map[string][]string{"discord": {"1234"}, "github": {"Panda"}, "slack": {"U01"}}
	})
	for _, c := range []struct {
		platform, id string
		want         bool
	}{
		{"discord", "1234", true}, {"discord", " 1234 ", true}, {"discord", "12345", false}, {"discord", "", false}, {"slack", "1234", false},
		{"github", "panda", true}, {"github", "Ｐanda", false}, {"github", "Pаnda", false}, {"slack", "u01", false}, {"telegram", "1234", false}, {"irc", "1234", false},
	} {
		if got := w.Recognise(c.platform, c.id); got != c.want {
			t.Errorf("%s %q: %v", c.platform, c.id, got)
		}
	}
}
