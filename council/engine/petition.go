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

// A petition is a request outside of a task that waits for the verdicts of others and then has one effect: a suggestion of a worker
// becomes a task, an action that a member has requested is run. Its file has its state. Members give their verdicts in asides, which
// evaluations use too.

const (
	// betweenSuggestions is how long a worker waits between two suggestions that are looked at.
	betweenSuggestions = time.Hour
	// titleLife is how long a title cannot be suggested again.
	titleLife = 30 * 24 * time.Hour
)

// petition is where a petition is kept, and whom events about it name.
type petition struct{ what, event, rel, id, by string }

func suggestionPath(worker, id string) string {
	return fmt.Sprintf("%s/%s/%s.json", folder.Suggestions, worker, id)
}

func suggestionOf(s council.Suggestion) petition {
	return petition{"suggestion", EventSuggestion, suggestionPath(s.Worker, s.ID), s.ID, s.Worker}
}

func actionOf(r council.ActionRequest) petition {
	return petition{"action", EventAction, fmt.Sprintf("%s/%s.json", folder.Actions, r.ID), r.ID, r.RequestedBy}
}

// filePetition publishes a new petition.
func (e *Engine) filePetition(p petition, v any) error {
	if err := e.f.Publish(p.rel, v); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s %s %w", p.what, p.id, ErrExists)
	} else if err != nil {
		return err
	}
	e.stream.emit(p.event, p.id, p.by, e.now())
	e.wake()
	return nil
}

// keepPetition writes the state of a petition.
func (e *Engine) keepPetition(p petition, v any) error {
	e.stream.emit(p.event, p.id, p.by, e.now())
	e.wake()
	return e.f.Write(p.rel, v)
}

// recordsIn reads the records of a folder. known reports whether a record belongs to its file, and may fill it in; what cannot be read is told
// to the log.
func recordsIn[T any](e *Engine, dir string, known func(id string, v *T) bool) ([]T, error) {
	names, err := e.f.Names(dir)
	if err != nil {
		return nil, err
	}
	var all []T
	for _, name := range names {
		id, ok := strings.CutSuffix(name, ".json")
		if !ok || !council.ValidID(id) || strings.HasPrefix(id, "_") {
			continue
		}
		var v T
		if err := e.f.Read(dir+"/"+name, &v); err != nil || !known(id, &v) {
			e.opt.Log.Warn("a record cannot be read", "file", dir+"/"+name, "error", err)
			continue
		}
		all = append(all, v)
	}
	return all, nil
}

// askAside asks a member something that belongs to no task, unless it is being asked. It reports false if the member has made all its
// calls, also before a crash.
func (e *Engine) askAside(ctx context.Context, a asked) (bool, error) {
	if _, running := e.running[a.key]; running || e.busy(a.task) {
		return true, nil
	}
	var turn council.Turn
	if err := e.f.Read(a.turn, &turn); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if a.q.Member == "" || turn.Calls >= flow.MaxCalls || turn.Failures >= flow.MaxFailures {
		return false, nil
	}
	a.q.Roster, a.q.Mission, a.q.Now = e.set.Roster(), e.mission(), e.now()
	a.q.Params, _ = e.params(a.q.Member)
	a.complete = func(_ context.Context, q *member.Question) { q.Persona = e.persona(q.Member) }
	return true, e.askTurn(ctx, a)
}

// noAnswer is what an answer is that lacks what was asked for.
func noAnswer(what string) error {
	return &member.Abstention{Kind: council.AbstainMalformed, Reason: "the answer is no " + what}
}

// askVerdict asks a member for its verdict on a petition.
func (e *Engine) askVerdict(ctx context.Context, p petition, a asked, take func(v council.Verdict) error) (bool, error) {
	a.key = p.what + "/" + strings.TrimSuffix(p.rel, ".json")
	a.task, a.turn = a.key, fmt.Sprintf("%s/_turn_%s.json", path.Dir(p.rel), p.id)
	a.take = func(_ *council.Turn, r member.Reply) error {
		if r.Verdict == nil {
			return noAnswer("verdict")
		}
		v := *r.Verdict
		v.By, v.At = council.Author{Kind: "member", Name: a.q.Member}, e.now()
		return take(v)
	}
	return e.askAside(ctx, a)
}

// petitions takes the steps that suggestions and actions wait for.
func (e *Engine) petitions(ctx context.Context, sooner func(time.Time)) error {
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
	all, err := e.ListActions(ctx)
	errs = append(errs, err)
	for _, r := range all {
		if err := e.action(ctx, r, sooner); err != nil {
			errs = append(errs, fmt.Errorf("action %s: %w", r.ID, err))
		}
	}
	return errors.Join(errs...)
}

// suggested returns the suggestions of a worker, oldest first. A file that a worker has left by itself has the status "".
func (e *Engine) suggested(worker string) ([]council.Suggestion, error) {
	return e.suggestedIn(folder.Suggestions+"/"+worker, worker)
}

func (e *Engine) suggestedIn(dir, worker string) ([]council.Suggestion, error) {
	all, err := recordsIn(e, dir, func(id string, s *council.Suggestion) bool {
		s.ID, s.Worker = id, worker
		return true
	})
	slices.SortStableFunc(all, func(a, b council.Suggestion) int { return a.SubmittedAt.Compare(b.SubmittedAt) })
	return all, err
}

// suggestedEver returns the suggestions of all workers, with those in the archive.
func (e *Engine) suggestedEver() ([]council.Suggestion, error) {
	var all []council.Suggestion
	for _, worker := range e.set.Workers {
		old, err := e.suggestedIn(folder.Archived+"/"+folder.Suggestions+"/"+worker, worker)
		now, err2 := e.suggested(worker)
		if err := errors.Join(err, err2); err != nil {
			return nil, err
		}
		all = append(append(all, old...), now...)
	}
	return all, nil
}

// shelve moves a suggestion that is over to the archive.
func (e *Engine) shelve(s council.Suggestion) error {
	err := e.f.Move(suggestionPath(s.Worker, s.ID), path.Join(folder.Archived, suggestionPath(s.Worker, s.ID)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// normal returns a title as titles are compared.
func normal(title string) string {
	return strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(title))), " ")
}

// slot returns when a suggestion takes its turn.
func slot(s council.Suggestion) time.Time { return cmp.Or(s.NotBefore, s.SubmittedAt) }

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
	return s, e.filePetition(suggestionOf(s), s)
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
	all, err := e.suggestedEver()
	if err != nil {
		return s, err
	}
	for _, other := range all {
		same := other.Status != "" && (other.ID != s.ID || other.Worker != s.Worker) && normal(other.Title) == normal(s.Title)
		if same && now.Sub(other.SubmittedAt) < titleLife {
			return s, fmt.Errorf("%w: %s has suggested that on %s", ErrExists, other.Worker, other.SubmittedAt.Format(time.DateOnly))
		}
	}
	s.SubmittedAt, s.Status = now, council.SuggestionPending
	s.NotBefore, s.Verified, s.Reviewed, s.TaskID = time.Time{}, nil, nil, ""
	if next := e.nextSuggestion(s.Worker, now); !next.IsZero() {
		s.Status, s.NotBefore = council.SuggestionDeferred, next
	}
	return s, nil
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
	return e.keepPetition(suggestionOf(s), s)
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
		return e.keepPetition(suggestionOf(s), s)
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
		return e.keepPetition(suggestionOf(s), s)
	case !now.Before(end):
		s.Status = council.SuggestionExpired
		return errors.Join(e.keepPetition(suggestionOf(s), s), e.shelve(s))
	case *e.set.Suggestions.Verify && s.Verified == nil:
		sooner(end)
		return e.verify(ctx, s)
	}
	sooner(end)
	return nil
}

// verify asks the arbiter whether a suggestion should be discussed. If it does not answer, that is a no by the engine, which an owner can
// still overrule.
func (e *Engine) verify(ctx context.Context, s council.Suggestion) error {
	q := member.Question{Member: e.set.WithRole(council.RoleArbiter), Phase: member.PhaseSuggestion, Suggestion: &s}
	a := asked{activity: council.ActivityDiscussing, deadline: e.now().Add(e.set.Timeouts.Turn), q: q}
	able, err := e.askVerdict(ctx, suggestionOf(s), a, func(v council.Verdict) error {
		var now council.Suggestion
		if err := e.f.Read(suggestionPath(s.Worker, s.ID), &now); err != nil || now.Status != council.SuggestionPending {
			return err // a person was faster
		}
		now.Verified = &v
		return e.keepPetition(suggestionOf(s), now)
	})
	if err != nil || able {
		return err
	}
	s.Verified = &council.Verdict{Reason: "the arbiter has not answered", By: council.Author{Kind: "engine"}, At: e.now()}
	return e.keepPetition(suggestionOf(s), s)
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
	if !e.taken(t.ID) {
		if err := e.drop(t, nil); err != nil && !errors.Is(err, ErrExists) {
			return err
		}
	}
	s.Status, s.TaskID = council.SuggestionAccepted, t.ID
	return e.keepPetition(suggestionOf(s), s)
}

// ListSuggestions returns the suggestions with a status, all for "", newest first.
func (e *Engine) ListSuggestions(_ context.Context, status string) ([]council.Suggestion, error) {
	all, err := e.suggestedEver()
	all = slices.DeleteFunc(all, func(s council.Suggestion) bool { return status != "" && s.Status != status })
	slices.SortStableFunc(all, func(a, b council.Suggestion) int { return b.SubmittedAt.Compare(a.SubmittedAt) })
	return all, err
}

// ReviewSuggestion accepts or refuses a suggestion in the name of an owner, also one that the arbiter has not looked at yet.
func (e *Engine) ReviewSuggestion(_ context.Context, worker, id string, accept bool, note string, author council.Author) (council.Suggestion, error) {
	var s council.Suggestion
	if err := errors.Join(e.writable(), checkText("note", note, false, council.MaxComment)); err != nil {
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
		return s, e.keepPetition(suggestionOf(s), s)
	}
	s.Status = council.SuggestionPending
	if err := errors.Join(e.keepPetition(suggestionOf(s), s), e.accept(s)); err != nil {
		return s, err
	}
	return s, e.f.Read(suggestionPath(worker, id), &s)
}
