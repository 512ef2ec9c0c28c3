package derive

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"kioku/derive/contract"
	"kioku/derive/store"
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
	// enqueueLimit is how many episodes are put into the queue at a time.
	enqueueLimit = 600
	// extractVersion is the version of claims of models.
	extractVersion = 1
)

// extractJob is the input of a job that extracts claims from episodes of one file.
type extractJob struct {
	// Maker of the claims: contract and model.
	Maker    string   `json:"maker"`
	Path     string   `json:"path"`
	Episodes []string `json:"episodes"`
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

// enqueueExtracts adds jobs for the episodes that the model has not read, batch by batch.
func (s *Service) enqueueExtracts(ctx context.Context, o passOptions) error {
	for limit := enqueueLimit; ; limit *= 4 {
		waiting, err := s.unextracted(ctx, o, limit)
		if err != nil {
			return err
		}
		sendable := slices.DeleteFunc(slices.Clone(waiting), s.withheld)
		if len(sendable) == 0 && len(waiting) == limit {
			continue // all of these are above the ceiling, and hide what comes after them
		}
		return s.enqueueBatches(ctx, sendable)
	}
}

// enqueueBatches stores what the model has said of episodes before, and adds jobs for the others. What waits for a person as a parked
// job is not added again.
func (s *Service) enqueueBatches(ctx context.Context, episodes []memory.Episode) error {
	unknown, err := s.applyKnown(ctx, episodes)
	if err != nil || len(unknown) == 0 {
		return err
	}
	jobs, err := s.store.Jobs(ctx, store.JobParked, 1000)
	if err != nil {
		return err
	}
	parked := map[string]bool{}
	for _, j := range jobs {
		parked[j.Kind+" "+j.Key] = true
	}
	for _, batch := range s.batches(ctx, unknown) {
		job, err := s.extractJobOf(batch)
		if err == nil && !parked[job.Kind+" "+job.Key] {
			err = s.store.Enqueue(ctx, job)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// applyKnown stores what is cached of episodes, and returns those of which nothing is.
func (s *Service) applyKnown(ctx context.Context, episodes []memory.Episode) (unknown []memory.Episode, err error) {
	read := s.newReader()
	var known []asked
	var said []extracted
	for _, e := range episodes {
		a, ok := read.episode(ctx, e)
		if !ok {
			continue // the file has changed, and comes anew
		}
		x, err := s.cached(ctx, a)
		if err != nil {
			return nil, err
		}
		if x == nil {
			unknown = append(unknown, e)
			continue
		}
		known, said = append(known, a), append(said, *x)
	}
	if len(known) > 0 {
		err = s.putModelClaims(ctx, known, said)
	}
	return unknown, err
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

// batches groups episodes, each group of one file and short enough for one call. Those of files that have changed are left out.
func (s *Service) batches(ctx context.Context, episodes []memory.Episode) [][]memory.Episode {
	var all [][]memory.Episode
	read, tokens := s.newReader(), 0
	for _, e := range episodes {
		asked, ok := read.episode(ctx, e)
		if !ok {
			continue
		}
		n := tokensOf(asked.Lines)
		last := len(all) - 1
		if last < 0 || all[last][0].Path != e.Path || len(all[last]) >= maxBatch || tokens+n > maxBatchTokens {
			all, tokens = append(all, nil), 0
			last++
		}
		all[last], tokens = append(all[last], e), tokens+n
	}
	return all
}

// tokensOf returns about how many tokens lines have.
func tokensOf(lines []contract.Line) int {
	n := 0
	for _, l := range lines {
		n += text.EstimateTokens(l.Text) + 4
	}
	return n
}

// asked is an episode as the model is asked about it. Its lines are numbered from 1, however they are numbered in the file.
type asked struct {
	contract.Episode
	// places are the lines of the episode, relative to its first line, by the number of the line.
	places []int
}

// episode returns an episode with the lines that a model may see. It returns false if the file has changed.
func (r *reader) episode(ctx context.Context, e memory.Episode) (asked, bool) {
	file := r.document(ctx, e.Path)
	if file == nil {
		return asked{}, false
	}
	lines, ok := file.Lines(e)
	a := asked{Episode: contract.Episode{Episode: e}}
	tokens := 0
	for _, l := range lines {
		if tokens += text.EstimateTokens(l.Text) + 4; tokens > maxEpisodeTokens {
			break
		}
		a.Lines = append(a.Lines, contract.Line{Number: len(a.Lines) + 1, Speaker: l.Speaker, Text: l.Text})
		a.places = append(a.places, l.Number-e.StartLine+1)
	}
	return a, ok
}

// extractJobOf returns the job for a batch of episodes. One that was done is done again on another day: that the episodes come back
// unread means that what it gave is gone.
func (s *Service) extractJobOf(batch []memory.Episode) (store.Job, error) {
	in := extractJob{Maker: s.maker(), Path: batch[0].Path}
	h := sha256.New()
	h.Write([]byte(in.Maker))
	for _, e := range batch {
		in.Episodes = append(in.Episodes, e.UID)
		h.Write([]byte(e.UID))
		h.Write(e.TextSHA256[:])
	}
	raw, err := json.Marshal(in)
	now := s.opt.Now()
	job := store.Job{Kind: jobExtract, Input: string(raw), Priority: 5, RunAfter: now, OrderAt: batch[0].OccurredAt}
	job.Key = fmt.Sprintf("%x", h.Sum(nil)[:16])
	job.InputSHA256 = sha256.Sum256([]byte(job.Key + day(now)))
	return job, err
}

// extract does a job that extracts claims. Episodes whose answers are cached cost no call.
func (s *Service) extract(ctx context.Context, job store.Job) (used, error) {
	var in extractJob
	if err := json.Unmarshal([]byte(job.Input), &in); err != nil {
		return used{}, &invalidError{class: classUnknownKind, err: fmt.Errorf("its input cannot be read: %w", err)}
	}
	if in.Maker != s.maker() {
		return used{}, errOutdated
	}
	episodes, err := s.store.Episodes(ctx, in.Episodes...)
	if err != nil {
		return used{}, err
	}
	var batch []asked
	read := s.newReader()
	for _, e := range slices.DeleteFunc(episodes, s.withheld) {
		a, ok := read.episode(ctx, e)
		if !ok {
			continue // the file has changed, and comes anew
		}
		x, err := s.cached(ctx, a)
		if err != nil {
			return used{}, err
		}
		if x == nil || x.Invalid && job.TokensIn+job.TokensOut > 0 { // a person wants it to be tried again
			batch = append(batch, a)
			continue
		}
		if err := s.putModelClaims(ctx, []asked{a}, []extracted{*x}); err != nil {
			return used{}, err
		}
	}
	return s.extractBatch(ctx, batch)
}

// partlyError is the failure of some episodes of a job whose other episodes are stored.
type partlyError struct {
	class string
	failure
}

// Error implements error.
func (e *partlyError) Error() string { return e.Message }

// extractBatch asks the model about episodes and stores what it says of them. A batch whose answers are invalid is halved. What
// fails in the end is the error, a *partlyError; everything else is stored then.
func (s *Service) extractBatch(ctx context.Context, batch []asked) (used, error) {
	var failed *partlyError
	total, err := s.extractHalves(ctx, batch, 0, &failed)
	if err == nil && failed != nil {
		err = failed
	}
	return total, err
}

// extractHalves is extractBatch after some halvings. It adds what is invalid to failed.
func (s *Service) extractHalves(ctx context.Context, batch []asked, halvings int, failed **partlyError) (used, error) {
	if len(batch) == 0 {
		return used{}, nil
	}
	total, again, err := s.askAbout(ctx, batch)
	var invalid *invalidError
	switch {
	case err == nil:
		more, err := s.extractParts(ctx, single(again), halvings+1, failed)
		return total.plus(more), err
	case !errors.As(err, &invalid):
		return total, err
	case len(batch) == 1 || halvings >= maxHalvings:
		if *failed == nil {
			*failed = &partlyError{invalid.class, failure{Message: invalid.Error(), Answer: invalid.answer}}
		}
		for _, a := range batch {
			(*failed).Episodes = append((*failed).Episodes, a.UID)
		}
		return total, s.applyNothing(ctx, batch)
	}
	more, err := s.extractParts(ctx, [][]asked{batch[:len(batch)/2], batch[len(batch)/2:]}, halvings+1, failed)
	return total.plus(more), err
}

// extractParts is extractHalves of several batches.
func (s *Service) extractParts(ctx context.Context, parts [][]asked, halvings int, failed **partlyError) (total used, err error) {
	for _, part := range parts {
		more, err := s.extractHalves(ctx, part, halvings, failed)
		total = total.plus(more)
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// single returns a batch of its own for each episode.
func single(episodes []asked) [][]asked {
	var all [][]asked
	for _, a := range episodes {
		all = append(all, []asked{a})
	}
	return all
}

// askAbout asks the model about a batch, and stores what it says. Episodes about which it says nothing that counts are returned, to
// be asked about again, each alone.
func (s *Service) askAbout(ctx context.Context, batch []asked) (tokens used, again []asked, err error) {
	in, err := s.extractInput(ctx, batch)
	if err != nil {
		return used{}, nil, err
	}
	c := s.contracts()
	prompt, err := c.Extract(in)
	if errors.Is(err, contract.ErrNoInput) {
		return used{}, nil, s.applyExtracted(ctx, batch, make([]extracted, len(batch)), used{})
	}
	if err != nil {
		return used{}, nil, err
	}
	var said contract.Extraction
	tokens, err = s.ask(ctx, prompt, func(answer, stop string) (report contract.Report, err error) {
		said, err = c.ReadExtract(in, answer, stop)
		return said.Report, err
	})
	if err != nil {
		return tokens, nil, err
	}
	var done []asked
	var what []extracted
	for i, x := range said.Episodes {
		if x.Missing || x.Lost {
			again = append(again, batch[i])
			continue
		}
		one := extracted{Mentions: x.Mentions, Claims: batch[i].inFile(x.Claims)}
		if x.Reflection != nil {
			one.Reflection = &reflection{x.Reflection.Text, x.Reflection.Emotion, x.Reflection.Intensity, x.Reflection.Salience, x.Reflection.Confidence, x.Reflection.Tags}
		}
		done, what = append(done, batch[i]), append(what, one)
	}
	return tokens, again, s.applyExtracted(ctx, done, what, tokens)
}

// extractInput returns what the model is asked about a batch.
func (s *Service) extractInput(ctx context.Context, batch []asked) (contract.ExtractInput, error) {
	in := contract.ExtractInput{Model: s.modelID()}
	for _, a := range batch {
		in.Episodes = append(in.Episodes, a.Episode)
	}
	var err error
	if in.Loops, err = s.offeredLoops(ctx, batch); err != nil {
		return in, err
	}
	in.Entities, err = s.offeredEntities(ctx, batch)
	return in, err
}
