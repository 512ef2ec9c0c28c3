package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
	"unicode/utf8"

	"kioku"
	"kioku/indexer"
	"kioku/memory"
	"kioku/search"
)

// Options of a Session. The zero value means the default engine, without vectors.
type Options struct {
	// Engine contains the options of each workspace's memory. The session sets Agent, Workspace and State.
	Engine kioku.Options
	// Granularity of the results; empty means that of Engine.
	Granularity string
	// Step is called with the progress, by the calling goroutine, unless it is nil.
	Step func(Progress)
}

// Phases of a progress.
const (
	PhaseIndex = "index"
	PhaseAsk   = "ask"
)

// Progress of a session.
type Progress struct {
	// Set is the name of the set.
	Set string
	// Phase is one of the phases above.
	Phase string
	// Done of Total workspaces are indexed, or questions asked.
	Done, Total int
}

// Asked is a question with its results.
type Asked struct {
	// Question that was asked.
	Question Question
	// Results are best first, at most ten; nil if there are none.
	Results []Result
	// Took is the time of the search.
	Took time.Duration
	// Scores of the results.
	Scores Scores
}

// Session contains the workspaces of a set, indexed in a temporary folder. Only one goroutine may use it, so that no
// search slows another down.
type Session struct {
	set      Set
	opt      Options
	state    string
	memories map[string]*kioku.Memory
	texts    *texts
}

// Open indexes the workspaces of a set. It returns an error if a text was not embedded: the figures would be those of
// another engine.
func Open(ctx context.Context, set Set, opt Options) (*Session, error) {
	state, err := os.MkdirTemp("", "kioku-bench-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the index: %w", err)
	}
	s := &Session{set: set, opt: opt, state: state, memories: map[string]*kioku.Memory{}, texts: newTexts(set)}
	names := set.Workspaces()
	for i, name := range names {
		s.step(PhaseIndex, i, len(names))
		if err := s.index(ctx, name, fmt.Sprintf("ws%d", i)); err != nil {
			return nil, errors.Join(fmt.Errorf("index workspace %s of %s: %w", name, set.Name, err), s.Close())
		}
	}
	return s, nil
}

// index opens the memory of a workspace and syncs it.
func (s *Session) index(ctx context.Context, name, agent string) error {
	engine := s.opt.Engine
	engine.Agent, engine.Workspace, engine.StateDir = agent, s.set.Workspace(name), filepath.Join(s.state, agent)
	m, err := kioku.Open(ctx, engine)
	if err != nil {
		return err
	}
	s.memories[name] = m
	report, err := m.Sync(ctx, kioku.SyncOptions{}, func(indexer.Progress) {
		s.step(PhaseIndex, len(s.memories)-1, len(s.set.Workspaces()))
	})
	if err == nil {
		err = report.EmbedErr
	}
	return err
}

// Close closes the indexes and removes their folder.
func (s *Session) Close() error {
	var errs []error
	for _, m := range s.memories {
		errs = append(errs, m.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(s.state))...)
}

// step reports the progress.
func (s *Session) step(phase string, done, total int) {
	if s.opt.Step != nil {
		s.opt.Step(Progress{Set: s.set.Name, Phase: phase, Done: done, Total: total})
	}
}

// Ask asks every question of the set, one after the other, and judges the results.
func (s *Session) Ask(ctx context.Context) ([]Asked, error) {
	if err := s.warm(ctx); err != nil {
		return nil, err
	}
	all := make([]Asked, 0, len(s.set.Questions))
	for i, q := range s.set.Questions {
		s.step(PhaseAsk, i, len(s.set.Questions))
		a, err := s.askOne(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// warm asks a question of each workspace, so that no latency includes what only the first search costs.
func (s *Session) warm(ctx context.Context) error {
	for _, name := range s.set.Workspaces() {
		i := slices.IndexFunc(s.set.Questions, func(q Question) bool { return q.WS == name })
		if _, err := s.askOne(ctx, s.set.Questions[i]); err != nil {
			return err
		}
	}
	return nil
}

// askOne asks one question.
func (s *Session) askOne(ctx context.Context, q Question) (Asked, error) {
	start := time.Now()
	answer, err := s.memories[q.WS].Search(ctx, memory.Query{
		Text: q.Query, MaxResults: maxResults, Now: q.Asked, Granularity: s.opt.Granularity,
	})
	took := time.Since(start)
	if errors.Is(err, search.ErrEmptyQuery) {
		return judged(Asked{Question: q, Took: took}), nil
	}
	if err == nil {
		err = incomplete(answer)
	}
	if err != nil {
		return Asked{}, fmt.Errorf("question %s: %w", q.ID, err)
	}
	a := Asked{Question: q, Took: took}
	for _, hit := range answer.Hits {
		r := Range{hit.Path, hit.StartLine, hit.EndLine}
		a.Results = append(a.Results, Result{
			Range: r, Score: hit.Score, Weak: hit.Weak, Chars: s.texts.chars(q.WS, r),
			Shown: Range{hit.Path, hit.SnippetStart, hit.SnippetEnd}, ShownChars: utf8.RuneCountInString(hit.Snippet),
		})
	}
	return judged(a), nil
}

// judged returns a with its scores; a question of another set has none.
func judged(a Asked) Asked {
	if len(a.Question.Relevant) > 0 {
		a.Scores = Judge(a.Question.Relevant, a.Results)
	}
	return a
}

// incomplete returns an error if a channel that was asked for did not answer.
func incomplete(answer memory.Answer) error {
	for _, d := range answer.Degraded {
		switch d.Code {
		case memory.ProviderDown, memory.VectorsMissing, memory.SpaceChanged, memory.DeadlineNear:
			return errors.New(d.Text)
		}
	}
	return nil
}
