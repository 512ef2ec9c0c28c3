package server

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/memory"
	"kioku/server/op"
)

const (
	// maxUnits is the maximum number of units and entities in a list.
	maxUnits = 1000
	// maxUnitQuery is the maximum number of bytes of the words that units are to share, and maxUnitText of a text that a person corrects.
	maxUnitQuery, maxUnitText = 4 << 10, 4 << 10
	// maxDecisionNote is the maximum number of characters of the note of a decision.
	maxDecisionNote = 500
)

// Deriver keeps what is derived from the notes of one agent, as the server needs it; *derive.Service is one.
type Deriver interface {
	DerivedUnits
	DeriveWork
	Decide(ctx context.Context, r unit.DecisionRequest) (unit.Decided, error)
	Reflections(ctx context.Context, f unit.ReflectionFilter, ceiling memory.Sensitivity) (unit.Reflections, error)
}

// DerivedUnits are what is derived from the notes of one agent.
type DerivedUnits interface {
	List(ctx context.Context, q memory.UnitQuery, words string) (memory.UnitList, error)
	Unit(ctx context.Context, id string, ceiling memory.Sensitivity) (memory.Unit, error)
	History(ctx context.Context, id string, ceiling memory.Sensitivity) ([]unit.Version, error)
	Entities(ctx context.Context, f unit.EntityFilter) (unit.EntityList, error)
}

// DeriveWork is the work of deriving.
type DeriveWork interface {
	Status(ctx context.Context) (unit.DeriveStatus, error)
	Estimate(ctx context.Context, all bool) (unit.DeriveEstimate, error)
	Run(ctx context.Context, all bool, step func(unit.DeriveProgress)) error
	Retry(ctx context.Context, id int64) (int, error)
}

// Requests and answers of the operations of what is derived.
type (
	// UnitID names a unit.
	UnitID struct {
		OfAgent
		ID             string `json:"id"`
		MaxSensitivity string `json:"max_sensitivity,omitempty"` // normal, private (if it is empty), or secret, which needs the right to write
	}
	// EntityRequest asks for entities.
	EntityRequest struct {
		OfAgent
		Type           string `json:"type,omitempty"` // PERSON, PLACE and so on; empty means all
		Name           string `json:"name,omitempty"` // the beginning of a name or alias in any case
		Limit          int    `json:"limit,omitempty"`
		MaxSensitivity string `json:"max_sensitivity,omitempty"`
	}
	// ReflectionRequest asks what a model thinks of episodes.
	ReflectionRequest struct {
		OfAgent
		unit.ReflectionFilter
		MaxSensitivity string `json:"max_sensitivity,omitempty"`
	}
	// Decision is what a person decides about a unit or an entity.
	Decision struct {
		OfAgent
		unit.DecisionRequest
	}
	// AllEpisodes says whether to count episodes of any age, not only those of the last 90 days.
	AllEpisodes struct {
		OfAgent
		All bool `json:"all,omitempty"`
	}
	// DeriveNow is how much is derived.
	DeriveNow struct {
		Enabled bool `json:"enabled"`
		unit.DeriveStatus
	}
	// DeriveStep is a report of a running derivation. The last one has the status.
	DeriveStep struct {
		unit.DeriveProgress
		Status *DeriveNow `json:"status,omitempty"`
	}
	// JobID names a parked job; 0 means all.
	JobID struct {
		OfAgent
		ID int64 `json:"id,omitempty"`
	}
	// Jobs is a number of jobs.
	Jobs struct {
		Jobs int `json:"jobs"`
	}
)

// DeriveOps are the operations of what is derived.
type DeriveOps struct {
	List     op.Op[unit.ListRequest, memory.UnitList]
	Show     op.Op[UnitID, memory.Unit]
	History  op.Op[UnitID, []unit.Version]
	Entities op.Op[EntityRequest, unit.EntityList]
	// Reflections need the setting derive.reflect.
	Reflections op.Op[ReflectionRequest, unit.Reflections]
	Decide      op.Op[Decision, unit.Decided]
	Status      op.Op[OfAgent, DeriveNow]
	Estimate    op.Op[AllEpisodes, unit.DeriveEstimate]
	Run         op.Stream[AllEpisodes, DeriveStep]
	Retry       op.Op[JobID, Jobs]
}

// Derive are the operations for those who call them.
var Derive = deriveOps(nil)

// deriveOps returns the operations of what a server derives.
func deriveOps(s *Server) DeriveOps {
	d := deriveService{s}
	return DeriveOps{
		List: op.New("derive list", unit.ListRoute, rightAgent, "Lists facts, open loops and summaries. Conflicts come first, then what is pinned, then the newest; with words, the best.", d.list),
		Show: op.New("derive show", "GET /v1/units/{id}", rightAgent, "Returns a unit with the lines that it is from.", func(ctx context.Context, in UnitID) (memory.Unit, error) {
			deriver, ceiling, err := d.upTo(ctx, &in, in.MaxSensitivity, checkKey("id", in.ID))
			if err != nil {
				return memory.Unit{}, err
			}
			u, err := deriver.Unit(ctx, in.ID, ceiling)
			return told(u), err
		}),
		History: op.New("derive history", "GET /v1/units/{id}/history", rightAgent, "Lists the versions of a unit, newest first.", d.history),
		Entities: op.New("derive entities", "GET /v1/entities", rightAgent, "Lists people, places, projects and topics, those most often mentioned first, and those that are likely the same.", func(ctx context.Context, in EntityRequest) (unit.EntityList, error) {
			deriver, ceiling, err := d.upTo(ctx, &in, in.MaxSensitivity, checkName("type", in.Type), checkName("name", in.Name), checkLimit(in.Limit))
			if err != nil {
				return unit.EntityList{}, err
			}
			return deriver.Entities(ctx, unit.EntityFilter{Type: in.Type, Name: in.Name, Limit: in.Limit, MaxSensitivity: ceiling})
		}),
		Reflections: op.New("derive reflections", "GET /v1/derive/reflections", rightAgent, "Lists what a model thinks of episodes (emotion, intensity, tags, salience), the latest first, and the mood of each day from -1 to 1. A model is asked if derive.reflect is on.", func(ctx context.Context, in ReflectionRequest) (unit.Reflections, error) {
			deriver, ceiling, err := d.upTo(ctx, &in, in.MaxSensitivity, checkDay("from", in.From), checkDay("to", in.To), checkOrder("from", in.From, "to", in.To), checkLimit(in.Limit))
			if err != nil {
				return unit.Reflections{}, err
			}
			return deriver.Reflections(ctx, in.ReflectionFilter, ceiling)
		}),
		Decide: op.New("derive decide", "POST /v1/derive/decisions", RightWrite, "Decides about a unit or an entity: pin, unpin, forget, correct, close, reopen, undo, merge or split. The decision becomes a line of derived/decisions.md.", d.decide),
		Status: op.New("derive status", "GET /v1/derive/status", rightAgent, "Tells how much is derived, what waits, what a model has cost, and what went wrong.", func(ctx context.Context, in OfAgent) (DeriveNow, error) {
			deriver, err := d.of(ctx, &in, false)
			if errors.Is(err, memory.ErrDeriveOff) {
				return DeriveNow{DeriveStatus: unit.DeriveStatus{Problem: err.Error()}}, nil
			}
			if err != nil {
				return DeriveNow{}, err
			}
			st, err := deriver.Status(ctx)
			return DeriveNow{true, st}, err
		}),
		Estimate: op.New("derive estimate", "GET /v1/derive/estimate", rightAgent, "Tells what a run would send to the model, and sends nothing.", func(ctx context.Context, in AllEpisodes) (unit.DeriveEstimate, error) {
			deriver, err := d.of(ctx, &in, false)
			if err != nil {
				return unit.DeriveEstimate{}, err
			}
			return deriver.Estimate(ctx, in.All)
		}),
		Run: op.NewStream("derive run", "POST /v1/derive/run", RightWrite, "Derives what waits, now. It reports the steps, and then the status.", d.run),
		Retry: op.New("derive retry", "POST /v1/derive/retry", RightWrite, "Puts parked jobs of the model back into the queue: all, or one.", func(ctx context.Context, in JobID) (Jobs, error) {
			deriver, err := d.of(ctx, &in, true, checkCount("id", in.ID))
			if err != nil {
				return Jobs{}, err
			}
			n, err := deriver.Retry(ctx, in.ID)
			return Jobs{n}, err
		}),
	}
}

// deriveService does the operations of what is derived.
type deriveService struct{ *Server }

// of returns what derives for the agent of a request, for changes if write is set, or the first error of checks.
func (s deriveService) of(ctx context.Context, req agentRequest, write bool, checks ...error) (Deriver, error) {
	reach := authorize[Memory]
	if write {
		reach = authorizeWrite[Memory]
	}
	if _, err := reach(ctx, s.memories, req, checks...); err != nil {
		return nil, err
	}
	d, ok := s.opt.Derivers[req.GetAgent()]
	if !ok {
		return nil, memory.ErrDeriveOff
	}
	return d, nil
}

// upTo returns what derives for the agent of a request, and the ceiling with a name. Secrets need the right to write.
func (s deriveService) upTo(ctx context.Context, req agentRequest, name string, checks ...error) (Deriver, memory.Sensitivity, error) {
	ceiling, bad := readSensitivity("max_sensitivity", name, memory.Private)
	d, err := s.of(ctx, req, ceiling == memory.Secret, append([]error{bad}, checks...)...)
	return d, ceiling, err
}

// readSensitivity returns the sensitivity that a field names, and another one if the field is empty.
func readSensitivity(field, name string, unset memory.Sensitivity) (memory.Sensitivity, error) {
	if name == "" {
		return unset, nil
	}
	if s, ok := memory.ParseSensitivity(name); ok {
		return s, nil
	}
	return unset, badField(field, "must be normal, private or secret, not %q", clip(name, 50))
}

// told returns a unit as it is told: with its sentence.
func told(u memory.Unit) memory.Unit {
	u.Text = vocab.Text(u)
	return u
}

var (
	unitKinds  = []string{memory.KindFact, memory.KindLoop, memory.KindSummary}
	unitStates = []string{memory.StateValidated, memory.StateSuperseded, memory.StateConflict, memory.StateArchived}
)

// list lists units.
func (s deriveService) list(ctx context.Context, in unit.ListRequest) (memory.UnitList, error) {
	d, ceiling, err := s.upTo(ctx, &in, in.MaxSensitivity, checkOneOf("kinds", in.Kinds, unitKinds), checkOneOf("states", in.States, unitStates),
		checkName("entity", in.Entity), checkName("predicate", in.Predicate), checkName("after", in.After), checkLimit(in.Limit),
		checkSize("query", in.Query, maxUnitQuery))
	if err != nil {
		return memory.UnitList{}, err
	}
	list, err := d.List(ctx, memory.UnitQuery{
		Kinds: in.Kinds, Entity: in.Entity, Predicate: in.Predicate, States: in.States, AsOf: s.inZone(in.AsOf), BelievedAt: s.inZone(in.Believed),
		IncludeSuperseded: in.IncludeSuperseded, After: in.After, Limit: in.Limit, MaxSensitivity: ceiling,
	}, in.Query)
	for i, u := range list.Units {
		list.Units[i] = told(u)
	}
	return list, err
}

// history lists the versions of a unit.
func (s deriveService) history(ctx context.Context, in UnitID) ([]unit.Version, error) {
	d, ceiling, err := s.upTo(ctx, &in, in.MaxSensitivity, checkKey("id", in.ID))
	if err != nil {
		return nil, err
	}
	versions, err := d.History(ctx, in.ID, ceiling)
	for i, v := range versions {
		versions[i].Unit = told(v.Unit)
	}
	return versions, err
}

// decide makes a decision.
func (s deriveService) decide(ctx context.Context, in Decision) (unit.Decided, error) {
	checks := []error{checkOneOf("verb", []string{in.Verb}, unit.RequestVerbs), checkKey("id", in.ID), checkDecisionNote(in.Note), checkSize("text", in.Set.Text, maxUnitText)}
	switch {
	case in.Verb == unit.DecideMerge:
		checks = append(checks, checkKey("into", in.Into))
	case in.Verb == unit.DecideCorrect && in.Set == (unit.Correction{}):
		checks = append(checks, badField("text", "is empty, and nothing else is to change: set text, from, to, due or sensitivity"))
	}
	d, err := s.of(ctx, &in, true, checks...)
	if err != nil {
		return unit.Decided{}, err
	}
	done, err := d.Decide(ctx, in.DecisionRequest)
	if done.Unit != nil {
		u := told(*done.Unit)
		done.Unit = &u
	}
	return done, err
}

// checkDecisionNote refuses a note that is no single line, or too long.
func checkDecisionNote(note string) error {
	if utf8.RuneCountInString(note) > maxDecisionNote {
		return badField("note", "has more than %d characters", maxDecisionNote)
	}
	return checkLine("note", note)
}

// run derives what waits. It needs the right to write, because it may ask a model. The run ends with the call.
func (s deriveService) run(ctx context.Context, in AllEpisodes) iter.Seq2[DeriveStep, error] {
	return func(yield func(DeriveStep, error) bool) {
		d, err := s.of(ctx, &in, true)
		if err != nil {
			yield(DeriveStep{}, err)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		steps, ended := make(chan unit.DeriveProgress, 1), make(chan error, 1)
		defer func() {
			cancel()
			for range steps { // until the run has ended
			}
		}()
		go func() {
			defer close(steps)
			ended <- d.Run(ctx, in.All, func(p unit.DeriveProgress) {
				select {
				case steps <- p:
				default: // a slow caller gets fewer
				}
			})
		}()
		for p := range steps {
			if !yield(DeriveStep{DeriveProgress: p}, nil) {
				return
			}
		}
		last := DeriveStep{DeriveProgress: unit.DeriveProgress{Step: unit.StepDone}}
		if err = <-ended; err == nil {
			var st unit.DeriveStatus
			st, err = d.Status(ctx)
			last.Status = &DeriveNow{true, st}
		}
		yield(last, err)
	}
}

// checkOneOf refuses a list with a value that is none of those that are known.
func checkOneOf(field string, list, known []string) error {
	for _, v := range list {
		if !slices.Contains(known, v) {
			return badField(field, "must be %s, not %q", alternatives(known), clip(v, 50))
		}
	}
	return nil
}

// alternatives returns "a, b or c".
func alternatives(list []string) string {
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

// checkLimit refuses a maximum number of units that is out of range.
func checkLimit(n int) error {
	if n < 0 || n > maxUnits {
		return badField("limit", "must be between 0 and %d", maxUnits)
	}
	return nil
}
