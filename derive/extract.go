package derive

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"kioku/derive/contract"
	"kioku/derive/store"
	"kioku/derive/unit"
	"kioku/internal/text"
	"kioku/memory"
)

const (
	// maxBatch and maxBatchTokens bound what one call reads, and maxEpisodeTokens what of one episode is sent.
	maxBatch, maxBatchTokens, maxEpisodeTokens = 12, 4000, 5000
	// maxHalvings is how often a batch is halved whose answers are invalid.
	maxHalvings = 3
	// recent is how far back a model reads unless it is told to read all.
	recent = 90 * 24 * time.Hour
	// maxWait is how long a file is waited for that never settles.
	maxWait = 2 * time.Hour
	// taskEpisodes is how many episodes become tasks at a time.
	taskEpisodes = 600
	// extractVersion is the version of claims of models.
	extractVersion = 1
)

// extractInput is the input of a parked job that extracts claims: the episodes that failed.
type extractInput struct {
	Episodes []string `json:"episodes"`
}

// episodesInput returns the input of a parked job about episodes.
func episodesInput(uids []string) string {
	raw, _ := json.Marshal(extractInput{uids}) // strings always have a JSON form
	return string(raw)
}

// maker returns the maker of the claims of the model.
func (s *Service) maker() string { return contract.NameExtract + " " + s.modelID() }

// modelID tells the model from those of the same name at other servers.
func (s *Service) modelID() string {
	if s.opt.ModelServer == "" {
		return s.opt.Model.Name()
	}
	return s.opt.Model.Name() + "@" + s.opt.ModelServer
}

// extractTasks returns tasks for the episodes that the model has not read, batch by batch. What it has said of an episode before is stored
// without a call.
func (s *Service) extractTasks(ctx context.Context, o passOptions, parked map[string]store.Job) ([]task, error) {
	for limit := taskEpisodes; ; limit *= 4 {
		waiting, err := s.unextracted(ctx, o, limit)
		if err != nil {
			return nil, err
		}
		unknown, known, said, err := s.cachedOf(ctx, slices.DeleteFunc(slices.Clone(waiting), s.withheld))
		if err == nil && len(known) > 0 {
			err = s.putModelClaims(ctx, known, said)
		}
		if err != nil {
			return nil, err
		}
		var tasks []task
		for _, batch := range batches(unknown) {
			t := s.extractTask(batch)
			if _, known := parked[t.id()]; !known {
				tasks = append(tasks, t)
			}
		}
		if len(tasks) > 0 || len(waiting) < limit {
			return tasks, nil
		} // all of these are above the ceiling or parked, and hide what comes after them
	}
}

// extractTask returns the task to read a batch of episodes.
func (s *Service) extractTask(batch []unit.EpisodeText) task {
	h := sha256.New()
	h.Write([]byte(s.maker()))
	var uids []string
	for _, e := range batch {
		uids = append(uids, e.UID)
		h.Write([]byte(e.UID))
		h.Write(e.TextSHA256[:])
	}
	t := task{Job: store.Job{Kind: jobExtract, Key: fmt.Sprintf("%x", h.Sum(nil)[:16]), Input: episodesInput(uids)}}
	t.run = func(ctx context.Context) error {
		var all []unit.EpisodeText
		read := s.newReader()
		for _, e := range batch {
			if a, ok := read.episode(ctx, e.Episode); ok { // else the file has changed, and comes anew
				all = append(all, a)
			}
		}
		failed, err := s.extractBatch(ctx, all, 0)
		if err == nil && failed != nil {
			return failed
		}
		return err
	}
	return t
}

// cachedOf returns the episodes of which nothing is cached, and of the others what the model has said. Those of files that have changed are
// left out: they come anew.
func (s *Service) cachedOf(ctx context.Context, episodes []memory.Episode) (unknown, known []unit.EpisodeText, said []extracted, err error) {
	read := s.newReader()
	for _, e := range episodes {
		a, ok := read.episode(ctx, e)
		if !ok {
			continue
		}
		x, err := s.cached(ctx, a)
		if err != nil {
			return nil, nil, nil, err
		}
		if x == nil {
			unknown = append(unknown, a)
		} else {
			known, said = append(known, a), append(said, *x)
		}
	}
	return unknown, known, said, nil
}

// unextracted returns episodes that the model has not read: those of files that have settled, or that have waited for it for long.
func (s *Service) unextracted(ctx context.Context, o passOptions, limit int) ([]memory.Episode, error) {
	now := s.opt.Now()
	since := now.Add(-recent)
	if o.all {
		since = time.Time{}
	}
	all, err := s.store.Unextracted(ctx, s.maker(), since, now.AddDate(100, 0, 0), limit)
	if err != nil || o.now || len(all) == 0 {
		return all, err
	}
	settled, err := s.store.Unextracted(ctx, s.maker(), since, now.Add(-max(s.opt.Settle, 0)), limit)
	if err != nil {
		return nil, err
	}
	return append(settled, s.overdue(now, all, settled)...), nil
}

// overdue returns the episodes of files that have changed all the time for maxWait. It remembers since when files are waited for.
func (s *Service) overdue(now time.Time, all, settled []memory.Episode) []memory.Episode {
	rests, since := map[string]bool{}, map[string]time.Time{}
	for _, e := range settled {
		rests[e.Path] = true
	}
	before := s.recall().waiting
	var late []memory.Episode
	for _, e := range all {
		if rests[e.Path] {
			continue
		}
		start, known := before[e.Path]
		if !known {
			start = now
		}
		if since[e.Path] = start; now.Sub(start) >= maxWait {
			late = append(late, e)
		}
	}
	s.remember(func(st *state) { st.waiting = since })
	return late
}

// withheld reports whether an episode is above the ceiling of what the model is sent.
func (s *Service) withheld(e memory.Episode) bool { return e.Sensitivity > s.opt.Ceiling }

// batches groups episodes, each group of one file and short enough for one call.
func batches(episodes []unit.EpisodeText) [][]unit.EpisodeText {
	var all [][]unit.EpisodeText
	tokens := 0
	for _, a := range episodes {
		n := tokensOf(a.Lines)
		last := len(all) - 1
		if last < 0 || all[last][0].Path != a.Path || len(all[last]) >= maxBatch || tokens+n > maxBatchTokens {
			all, tokens = append(all, nil), 0
			last++
		}
		all[last], tokens = append(all[last], a), tokens+n
	}
	return all
}

// tokensOf returns about how many tokens lines have.
func tokensOf(lines []unit.Line) int {
	n := 0
	for _, l := range lines {
		n += text.EstimateTokens(l.Text) + 4
	}
	return n
}

// episode returns an episode with the lines that a model may see, by their numbers in the episode. It returns false if the file has changed.
func (r *reader) episode(ctx context.Context, e memory.Episode) (unit.EpisodeText, bool) {
	a := unit.EpisodeText{Episode: e}
	file := r.document(ctx, e.Path)
	if file == nil {
		return a, false
	}
	lines, ok := file.Lines(e)
	tokens := 0
	for _, l := range lines {
		if tokens += text.EstimateTokens(l.Text) + 4; tokens > maxEpisodeTokens {
			break
		}
		l.Number -= e.StartLine - 1
		a.Lines = append(a.Lines, l)
	}
	return a, ok
}

// extractBatch asks the model about episodes, after some halvings, and stores what it says of them. A batch whose answers are invalid is
// halved. It returns what fails in the end, with its episodes; everything else is stored then.
func (s *Service) extractBatch(ctx context.Context, batch []unit.EpisodeText, halvings int) (failed *invalidError, err error) {
	if len(batch) == 0 {
		return nil, nil
	}
	again, err := s.askAbout(ctx, batch)
	parts := single(again)
	if errors.As(err, &failed) {
		if len(batch) == 1 || halvings >= maxHalvings {
			for _, a := range batch {
				failed.episodes = append(failed.episodes, a.UID)
			}
			return failed, s.applyNothing(ctx, batch)
		}
		parts, err = [][]unit.EpisodeText{batch[:len(batch)/2], batch[len(batch)/2:]}, nil
	}
	if failed = nil; err != nil {
		return nil, err
	}
	for _, part := range parts {
		more, err := s.extractBatch(ctx, part, halvings+1)
		if err != nil {
			return failed, err
		}
		if failed != nil && more != nil {
			more.episodes = append(failed.episodes, more.episodes...)
		}
		failed = cmp.Or(more, failed)
	}
	return failed, nil
}

// single returns a batch of its own for each episode.
func single(episodes []unit.EpisodeText) [][]unit.EpisodeText {
	var all [][]unit.EpisodeText
	for _, a := range episodes {
		all = append(all, []unit.EpisodeText{a})
	}
	return all
}

// askAbout asks the model about a batch, and stores what it says. Episodes about which it says nothing that counts are returned, to
// be asked about again, each alone.
func (s *Service) askAbout(ctx context.Context, batch []unit.EpisodeText) (again []unit.EpisodeText, err error) {
	q, err := s.questionAbout(ctx, batch)
	if errors.Is(err, contract.ErrNoInput) {
		return nil, s.applyExtracted(ctx, batch, make([]extracted, len(batch)), used{})
	}
	if err != nil {
		return nil, err
	}
	said, _, tokens, err := askModel(ctx, s, q)
	if err != nil {
		return nil, err
	}
	var done []unit.EpisodeText
	var what []extracted
	for i, x := range said {
		if x.Missing || x.Lost {
			again = append(again, batch[i])
			continue
		}
		one := extracted{Mentions: x.Mentions, Claims: x.Claims, Reflection: x.Reflection}
		done, what = append(done, batch[i]), append(what, one)
	}
	return again, s.applyExtracted(ctx, done, what, tokens)
}

// questionAbout returns what the model is asked about a batch. Its error is contract.ErrNoInput if there is nothing to ask about.
func (s *Service) questionAbout(ctx context.Context, batch []unit.EpisodeText) (q contract.Question[[]contract.Extracted], err error) {
	in := contract.ExtractInput{Model: s.modelID(), Episodes: batch}
	if in.Loops, err = s.offeredLoops(ctx, batch); err != nil {
		return q, err
	}
	if in.Entities, err = s.offeredEntities(ctx, batch); err != nil {
		return q, err
	}
	return s.contracts().Extract(in)
}
