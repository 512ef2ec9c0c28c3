package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"kioku/council"
	"kioku/council/flow"
	"kioku/council/folder"
	"kioku/council/member"
)

const (
	// betweenSuggestions is how long a worker waits between two suggestions that are looked at.
	betweenSuggestions = time.Hour
	// titleLife is how long a title cannot be suggested again.
	titleLife = 30 * 24 * time.Hour
)

func suggestionPath(worker, id string) string {
	return fmt.Sprintf("%s/%s/%s.json", folder.Suggestions, worker, id)
}

// suggested returns the suggestions of a worker, oldest first. A file that a worker has left by itself has the status "".
func (e *Engine) suggested(worker string) ([]council.Suggestion, error) {
	return e.suggestedIn(folder.Suggestions+"/"+worker, worker)
}

// suggestedIn returns the suggestions of a worker in a folder.
func (e *Engine) suggestedIn(dir, worker string) ([]council.Suggestion, error) {
	names, err := e.f.Names(dir)
	if err != nil {
		return nil, err
	}
	var all []council.Suggestion
	for _, name := range names {
		id, ok := strings.CutSuffix(name, ".json")
		if !ok || !council.ValidID(id) || strings.HasPrefix(name, "_") {
			continue
		}
		var s council.Suggestion
		if err := e.f.Read(dir+"/"+name, &s); err != nil {
			e.opt.Log.Warn("a suggestion cannot be read", "worker", worker, "id", id, "error", err)
			continue
		}
		s.ID, s.Worker = id, worker
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b council.Suggestion) int { return a.SubmittedAt.Compare(b.SubmittedAt) })
	return all, nil
}

// shelve moves a suggestion that is over to the archive.
func (e *Engine) shelve(s council.Suggestion) error {
	e.crash("shelve:before")
	err := e.f.Move(suggestionPath(s.Worker, s.ID), path.Join(folder.Archived, suggestionPath(s.Worker, s.ID)))
	e.crash("shelve:after")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// suggestedEver is suggested with the suggestions in the archive.
func (e *Engine) suggestedEver(worker string) ([]council.Suggestion, error) {
	old, err := e.suggestedIn(folder.Archived+"/"+folder.Suggestions+"/"+worker, worker)
	all, err2 := e.suggested(worker)
	return append(old, all...), errors.Join(err, err2)
}

// normal returns a title as titles are compared.
func normal(title string) string {
	return strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(title))), " ")
}

// slot returns when a suggestion takes its turn.
func slot(s council.Suggestion) time.Time {
	if s.NotBefore.IsZero() {
		return s.SubmittedAt
	}
	return s.NotBefore
}

// nextSuggestion returns when the next suggestion of a worker is looked at; zero means now.
func (e *Engine) nextSuggestion(worker string, now time.Time) time.Time {
	all, err := e.suggested(worker)
	if err != nil {
		return time.Time{}
	}
	var next time.Time
	for _, s := range all {
		if at := slot(s).Add(betweenSuggestions); s.Status != "" && at.After(now) && at.After(next) {
			next = at
		}
	}
	return next
}

// Suggest leaves a suggestion of a worker. One an hour is looked at; others are deferred, which Status and NotBefore say. A title that was
// suggested within 30 days is an ErrExists.
func (e *Engine) Suggest(_ context.Context, s council.Suggestion) (council.Suggestion, error) {
	if !slices.Contains(e.set.Workers, s.Worker) {
		return s, e.noWorker(s.Worker)
	}
	if s.ID == "" {
		s.ID = freeID("sug", e.now().Unix(), func(id string) bool { return e.f.Exists(suggestionPath(s.Worker, id)) })
	}
	if err := checkSuggestion(s); err != nil {
		return s, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.leave(s)
}

// leave publishes a suggestion after its checks.
func (e *Engine) leave(s council.Suggestion) (council.Suggestion, error) {
	s, err := e.admit(s)
	if err != nil {
		return s, err
	}
	if err := e.publishNew("suggestion", suggestionPath(s.Worker, s.ID), s); errors.Is(err, fs.ErrExist) {
		return s, fmt.Errorf("suggestion %s %w", s.ID, ErrExists)
	} else if err != nil {
		return s, err
	}
	e.stream.emit(EventSuggestion, s.ID, s.Worker, s.SubmittedAt)
	e.wake()
	return s, nil
}

// checkSuggestion checks what a worker has written.
func checkSuggestion(s council.Suggestion) error {
	if !council.ValidID(s.ID) {
		return council.Invalid("id", "is %.80q", s.ID)
	}
	if s.Type != "" && s.Type != council.TypeTask && s.Type != council.TypeQuestion {
		return council.Invalid("type", "is %.40q; must be task or question", s.Type)
	}
	return errors.Join(checkText("title", s.Title, true, council.MaxSuggestTitle), checkText("description", s.Description, false, council.MaxSuggestText))
}

// admit gives a suggestion its status. One with a known title is an ErrExists.
func (e *Engine) admit(s council.Suggestion) (council.Suggestion, error) {
	now := e.now()
	for _, worker := range e.set.Workers {
		all, err := e.suggestedEver(worker)
		if err != nil {
			return s, err
		}
		for _, other := range all {
			same := other.Status != "" && other.ID != s.ID && normal(other.Title) == normal(s.Title)
			if same && now.Sub(other.SubmittedAt) < titleLife {
				return s, fmt.Errorf("%w: %s has suggested that on %s", ErrExists, other.Worker, other.SubmittedAt.Format(time.DateOnly))
			}
		}
	}
	s.SubmittedAt, s.Status = now, council.SuggestionPending
	s.NotBefore, s.Verified, s.Reviewed, s.TaskID = time.Time{}, nil, nil, ""
	if next := e.nextSuggestion(s.Worker, now); !next.IsZero() {
		s.Status, s.NotBefore = council.SuggestionDeferred, next
	}
	return s, nil
}

// suggestions takes the steps that suggestions wait for.
func (e *Engine) suggestions(ctx context.Context, sooner func(time.Time)) error {
	var errs []error
	for _, worker := range e.set.Workers {
		all, err := e.suggested(worker)
		errs = append(errs, err)
		for _, s := range all {
			if err := e.suggestion(ctx, s, sooner); err != nil {
				errs = append(errs, fmt.Errorf("suggestion %s of %s: %w", s.ID, worker, err))
			}
		}
	}
	return errors.Join(errs...)
}

// suggestion takes the step that a suggestion waits for.
func (e *Engine) suggestion(ctx context.Context, s council.Suggestion, sooner func(time.Time)) error {
	now, end := e.now(), slot(s).Add(e.set.Timeouts.Suggestion)
	switch s.Status {
	case "":
		return e.admitFile(s)
	case council.SuggestionDeferred:
		if now.Before(s.NotBefore) {
			sooner(s.NotBefore)
			return nil
		}
		s.Status = council.SuggestionPending
		return e.keep(s)
	case council.SuggestionPending:
	case council.SuggestionExpired: // a crash has come before it was moved
		return e.shelve(s)
	default:
		if now.After(s.SubmittedAt.Add(titleLife)) {
			return e.shelve(s)
		}
		return nil
	}
	none := e.set.Suggestions.Approval == council.ApprovalNone
	switch {
	case s.Reviewed != nil && s.Reviewed.Accept, none && (!*e.set.Suggestions.Verify || s.Verified != nil && s.Verified.Accept):
		return e.accept(s)
	case s.Reviewed != nil, s.Verified != nil && !s.Verified.Accept && s.Verified.By.Kind == "member":
		s.Status = council.SuggestionRefused
		return e.keep(s)
	case !now.Before(end):
		s.Status = council.SuggestionExpired
		if err := e.keep(s); err != nil {
			return err
		}
		return e.shelve(s)
	case *e.set.Suggestions.Verify && s.Verified == nil:
		sooner(end)
		return e.verify(ctx, s, end)
	}
	sooner(end)
	return nil
}

// keep writes the state of a suggestion.
func (e *Engine) keep(s council.Suggestion) error {
	e.stream.emit(EventSuggestion, s.ID, s.Worker, e.now())
	e.wake()
	return e.write("suggestion-state", suggestionPath(s.Worker, s.ID), s)
}

// admitFile takes a suggestion that a worker has left as a file, as Suggest does.
func (e *Engine) admitFile(s council.Suggestion) error {
	at := s.SubmittedAt
	err := checkSuggestion(s)
	if err == nil {
		s, err = e.admit(s)
	}
	if err != nil {
		s.Status, s.SubmittedAt = council.SuggestionRefused, cmp.Or(at, e.now())
		s.Reviewed = &council.Verdict{Reason: err.Error(), By: council.Author{Kind: "engine"}, At: e.now()}
	}
	return e.keep(s)
}

// verify asks the arbiter whether a suggestion should be discussed. If it does not answer, that is a no by the engine, which an owner can
// still overrule.
func (e *Engine) verify(ctx context.Context, s council.Suggestion, end time.Time) error {
	arbiter := e.set.WithRole(council.RoleArbiter)
	key := "suggestion/" + s.Worker + "/" + s.ID
	if _, ok := e.running[key]; ok || e.busy(key) {
		return nil
	}
	rel := fmt.Sprintf("%s/%s/_turn_%s.json", folder.Suggestions, s.Worker, s.ID)
	var turn council.Turn
	if err := e.f.Read(rel, &turn); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if arbiter == "" || turn.Calls >= flow.MaxCalls || turn.Failures >= flow.MaxFailures {
		s.Verified = &council.Verdict{Reason: "the arbiter has not answered", By: council.Author{Kind: "engine"}, At: e.now()}
		return e.keep(s)
	}
	turn.Member, turn.Phase, turn.StartedAt = arbiter, member.PhaseSuggestion, e.now()
	turn.Attempt++
	turn.LeaseUntil = e.now().Add(e.set.Timeouts.Turn)
	if err := e.write("suggestion-turn", rel, turn); err != nil {
		return err
	}
	q := member.Question{
		Member: arbiter, Phase: member.PhaseSuggestion, Roster: e.set.Roster(), Mission: e.mission(), Now: e.now(),
		Suggestion: &s,
		Counting:   func() error { return e.count(rel, &turn) },
	}
	q.Params, _ = e.params(arbiter)
	e.job(ctx, key, job{task: key, member: arbiter, phase: q.Phase}, council.ActivityDiscussing, turn.LeaseUntil, func(ctx context.Context) func() error {
		q.Persona = e.persona(arbiter)
		reply, err := e.ask(ctx, q)
		return func() error { return e.takeVerdict(ctx, s, rel, turn, reply, err) }
	})
	return nil
}

// takeVerdict writes the verdict of the arbiter on a suggestion down.
func (e *Engine) takeVerdict(ctx context.Context, s council.Suggestion, rel string, turn council.Turn, reply member.Reply, err error) error {
	if err == nil && reply.Verdict == nil {
		err = &member.Abstention{Kind: council.AbstainMalformed, Reason: "the answer is no verdict"}
	}
	if err != nil {
		if member.KindOf(err) == "" && ctx.Err() != nil {
			return nil
		}
		turn.Failures++
		turn.Reason = err.Error()
		return e.write("suggestion-failed", rel, turn)
	}
	var now council.Suggestion
	if err := e.f.Read(suggestionPath(s.Worker, s.ID), &now); err != nil || now.Status != council.SuggestionPending {
		return err // a person was faster
	}
	now.Verified = &council.Verdict{Accept: reply.Verdict.Accept, Reason: reply.Verdict.Reason, By: council.Author{Kind: "member", Name: turn.Member}, At: e.now()}
	return e.keep(now)
}

// taskOf returns the id of the task of a suggestion. Its end is a hash, because what is readable of it is shortened and has no '_'.
func taskOf(s council.Suggestion) string {
	readable := strings.ReplaceAll(s.Worker+"-"+s.ID, "_", "-")
	return "suggestion_" + readable[:min(len(readable), 48)] + "-" + folder.Sum([]byte(s.Worker + "/" + s.ID))[:8]
}

// accept puts the task of a suggestion into the inbox, once: its id follows from that of the suggestion.
func (e *Engine) accept(s council.Suggestion) error {
	t := council.Task{
		ID: taskOf(s), Type: cmp.Or(s.Type, council.TypeTask), Title: s.Worker + ": " + s.Title,
		Description: s.Description, Priority: council.PriorityLow, CreatedAt: slot(s), Status: council.StatusPending, Source: "worker:" + s.Worker,
		Author: council.Author{Kind: "worker", Name: s.Worker}, Trust: council.TrustLow,
	}
	if r := []rune(t.Title); len(r) > council.MaxTitle {
		t.Title = string(r[:council.MaxTitle-1]) + "…"
	}
	known := e.taken(t.ID)
	if !known {
		if err := e.drop(t, nil); err != nil && !errors.Is(err, ErrExists) {
			return err
		}
	}
	s.Status, s.TaskID = council.SuggestionAccepted, t.ID
	return e.keep(s)
}

// ListSuggestions returns the suggestions with a status, all for "", newest first.
func (e *Engine) ListSuggestions(_ context.Context, status string) ([]council.Suggestion, error) {
	var found []council.Suggestion
	for _, worker := range e.set.Workers {
		all, err := e.suggestedEver(worker)
		if err != nil {
			return nil, err
		}
		for _, s := range all {
			if status == "" || s.Status == status {
				found = append(found, s)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b council.Suggestion) int { return b.SubmittedAt.Compare(a.SubmittedAt) })
	return found, nil
}

// ReviewSuggestion accepts or refuses a suggestion in the name of an owner, also one that the arbiter has not looked at yet.
func (e *Engine) ReviewSuggestion(_ context.Context, worker, id string, accept bool, note string, author council.Author) (council.Suggestion, error) {
	var s council.Suggestion
	if err := e.writable(); err != nil {
		return s, err
	}
	if err := checkText("note", note, false, council.MaxComment); err != nil {
		return s, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !slices.Contains(e.set.Workers, worker) || !council.ValidID(id) || e.f.Read(suggestionPath(worker, id), &s) != nil {
		return s, fmt.Errorf("suggestion %.80q: %w", id, ErrNotFound)
	}
	s.ID, s.Worker = id, worker
	if s.Status != council.SuggestionPending && s.Status != council.SuggestionDeferred {
		return s, fmt.Errorf("%w: suggestion %s is %s", ErrState, id, s.Status)
	}
	s.Reviewed = &council.Verdict{Accept: accept, Reason: note, By: author, At: e.now()}
	s.Status = council.SuggestionRefused
	if !accept {
		return s, e.keep(s)
	}
	s.Status = council.SuggestionPending
	if err := e.keep(s); err != nil {
		return s, err
	}
	if err := e.accept(s); err != nil {
		return s, err
	}
	return s, e.f.Read(suggestionPath(worker, id), &s)
}
