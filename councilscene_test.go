package kioku_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"kioku"
	"kioku/council"
	"kioku/council/counciltest"
	"kioku/council/engine"
	"kioku/council/member"
	"kioku/memory"
)

// scene is a council of three scripted members with real memories, and what is told about it.
type scene struct {
	*engine.Engine
	t      *testing.T
	script *counciltest.Script
	clock  *counciltest.Clock
	memory *kioku.Memory // of the council
	told   strings.Builder
}

// TestCouncilScene plays what a council does, without a model and without a network, and tells it: go test -run CouncilScene -v .
func TestCouncilScene(t *testing.T) {
	s := newScene(t)
	submitted := time.Now()
	s.decides("task_plants", "Water the plants at night?", "The greenhouse is hot by day.", nil, council.Approved, "council", 1)
	path := s.finds("task_plants", "what did we decide about watering the plants", submitted.Add(2500*time.Millisecond))
	s.decides("task_backups", "Delete all backups?", "They need room.", map[counciltest.Key]string{{}: council.VoteReject}, council.Rejected, "council", 1)
	s.decides("task_shed", "Paint the shed red?", "It is grey.", map[counciltest.Key]string{
		{Member: "gorilla"}: council.VoteReject, {Member: "triceratops", Phase: member.PhaseOpinion}: counciltest.Silent,
	}, council.Approved, "arbiter", 3)
	s.decides("task_fence", "Buy a new fence?", "The old one leans.", map[counciltest.Key]string{
		{Member: "gorilla"}: counciltest.Silent, {Member: "triceratops"}: counciltest.Silent,
	}, "", "", 1)
	s.reminds("task_plants", path)
	s.evaluates()
	s.worksWithBuddy()
	t.Log("\n" + s.told.String())
}

// newScene opens the council with the worker buddy.
func newScene(t *testing.T) *scene {
	dir := t.TempDir()
	set := counciltest.Settings(dir, 3)
	set.Workers = []string{"buddy"}
	for i, name := range []string{"panda", "gorilla", "triceratops"} {
		set.Members[i].Name = name
	}
	s := &scene{t: t, script: &counciltest.Script{}, clock: counciltest.NewClock(), memory: watched(t, "council", dir+"/agent", dir+"/state")}
	e, err := engine.Open(engine.Options{Folder: dir + "/council", Settings: set, Workspace: dir + "/agent", Ask: s.script, Now: s.clock.Now, Memory: func(agent string) memory.Service {
		if agent == "council" {
			return s.memory
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	s.Engine = e
	return s
}

func (s *scene) tell(format string, args ...any) { fmt.Fprintf(&s.told, format+"\n", args...) }

// must ends the test after an error.
func (s *scene) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// settle runs the council until nothing is left to do without a person.
func (s *scene) settle() {
	s.t.Helper()
	s.must(s.Settle(s.t.Context()))
}

// decides submits a task that members vote on as is said, and tells the rounds and how it ends: decided by whom, or stalled for "".
func (s *scene) decides(id, title, description string, votes map[counciltest.Key]string, decision, by string, rounds int) {
	s.t.Helper()
	s.script.Votes = votes
	_, err := s.Submit(s.t.Context(), council.Task{ID: id, Title: title, Description: description})
	s.must(err)
	s.settle()
	for range 3 { // a round with too few votes is repeated a little later
		s.clock.Add(time.Hour)
		s.settle()
	}
	d, err := s.Get(s.t.Context(), id)
	s.must(err)
	s.tell("%s  %s", id, title)
	last := 0
	for _, r := range d.Rounds {
		last = max(last, r.Round)
		var said []string
		for _, b := range r.Ballots {
			said = append(said, b.Node+" "+b.Vote)
		}
		s.tell("  round %d, attempt %d: %s", r.Round, r.Attempt, strings.Join(said, ", "))
	}
	for _, a := range d.Arbitrations {
		s.tell("  arbiter %s: %s", a.DecidedBy, a.Decision)
	}
	if d.Decision == nil {
		s.tell("  -> %s: an owner has to decide (%s)\n", d.Status.Status, d.NeedsOwner)
		if decision != "" || d.Status.Status != council.StatusStalled {
			s.t.Errorf("%s is %s without a decision", id, d.Status.Status)
		}
		return
	}
	s.tell("  -> %s by the %s", d.Decision.Decision, d.Decision.DecidedBy)
	if d.Decision.Decision != decision || !strings.HasPrefix(d.Decision.DecidedBy, by) || last != rounds {
		s.t.Errorf("%s: %s by %s after round %d; want %s by %s after round %d", id, d.Decision.Decision, d.Decision.DecidedBy, last, decision, by, rounds)
	}
}

// finds returns where the decision about a task is in the memory of the council, and tells by which question it is found before a time.
func (s *scene) finds(task, question string, end time.Time) string {
	s.t.Helper()
	path := findDecision(s.t, s.memory, question, task, end)
	if path == "" {
		s.t.Fatalf("%q does not find the decision about %s within 2.5 s", question, task)
	}
	s.tell("  memory_search %q finds %s within 2.5 s of the task", question, path)
	return path
}

// reminds submits a task about what is decided already, and tells whose prompts contain the earlier decision.
func (s *scene) reminds(task, path string) {
	s.t.Helper()
	s.decides("task_hose", "Buy a longer hose for watering the plants?", "We water the plants of the greenhouse at night.", nil, council.Approved, "council", 1)
	for _, q := range s.script.Asked() {
		switch {
		case q.Task.ID != "task_hose" || q.Phase != member.PhaseOpinion:
		case recalls(q.Recalled, "council", task):
			s.tell("  the prompt of %s recalls %s of the agent council", q.Member, path)
		default:
			s.t.Errorf("%s is not reminded of the decision: %+v", q.Member, q.Recalled)
		}
	}
}

// evaluates has an evaluation move a slider of the arbiter, and takes that back.
func (s *scene) evaluates() {
	s.t.Helper()
	const node, name = "triceratops", "safety_weight"
	s.script.Answer = func(_ context.Context, q member.Question) (member.Reply, error, bool) {
		if q.Phase != member.PhaseEvaluation || q.Target != node {
			return member.Reply{}, nil, false
		}
		return member.Reply{Evaluation: &council.Evaluated{
			Scores: council.Scores{DecisionQuality: 0.4}, OverallScore: 0.4, NeedsRetuning: true, SuggestedParams: council.Params{name: 0.7},
		}}, nil, true
	}
	before := s.param(node, name)
	id, err := s.StartEvaluation(s.t.Context(), council.Author{Kind: "owner"})
	s.must(err)
	s.settle()
	got, err := s.Evaluation(s.t.Context(), id)
	s.must(err)
	moved := s.param(node, name)
	_, err = s.Rollback(s.t.Context(), node, council.Author{Kind: "owner"})
	s.must(err)
	back := s.param(node, name)
	s.tell("\nevaluation: %d ratings; %s of %s %.2f -> %.2f; rolled back to %.2f\n", len(got.Evaluations), name, node, before, moved, back)
	if moved <= before || back != before {
		s.t.Errorf("%s: %v, after the evaluation %v, after the rollback %v", name, before, moved, back)
	}
}

// param returns a parameter of a member.
func (s *scene) param(node, name string) float64 {
	s.t.Helper()
	p, _, err := s.Params(s.t.Context(), node)
	s.must(err)
	return p[name]
}

// worksWithBuddy has the worker suggest a task, which an owner accepts, and pauses the worker.
func (s *scene) worksWithBuddy() {
	s.t.Helper()
	said, err := s.Suggest(s.t.Context(), council.Suggestion{Worker: "buddy", Title: "Mend the watering can", Description: "It drips."})
	s.must(err)
	s.settle()
	s.tell("buddy suggests %q: %s", said.Title, said.Status)
	taken, err := s.ReviewSuggestion(s.t.Context(), "buddy", said.ID, true, "good idea", council.Author{Kind: "owner"})
	s.must(err)
	s.settle()
	task, err := s.Get(s.t.Context(), taken.TaskID)
	s.must(err)
	s.tell("an owner accepts it: %s, task %s is %s", taken.Status, task.Task.Title, task.Status.Status)
	_, err = s.SendCommand(s.t.Context(), council.Command{Worker: "buddy", Action: council.CommandPause, Reason: "night", Params: council.CommandParams{DurationMinutes: 30}, IssuedBy: council.Author{Kind: "owner"}})
	s.must(err)
	w, err := s.WorkerState(s.t.Context(), "buddy")
	s.must(err)
	s.tell("buddy is paused for %.0f minutes: %s", w.PausedUntil.Sub(s.clock.Now()).Minutes(), w.Reason)
	if !strings.HasSuffix(task.Task.Title, said.Title) || !w.PausedUntil.After(s.clock.Now()) {
		s.t.Errorf("the task is %+v, the worker %+v", task.Task, w)
	}
}
