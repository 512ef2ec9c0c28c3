package indexer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"kioku/embed"
)

const (
	// embedGroup is how many texts go to the provider at once; progress is told after each.
	embedGroup = 64
	// saveAbove is how many texts of one batch may be missing before the answers are made safe one by one.
	saveAbove = 600
	// saveWait bounds saving paid-for vectors after a sync was cancelled.
	saveWait = 2 * time.Second
)

// errUnready stands for a provider that is not to be asked now and gives no reason.
var errUnready = errors.New("the embedding provider is not ready")

// errNoVector: the provider gave neither a vector for a text nor a reason.
var errNoVector = errors.New("the embedding provider returned no vector for a text")

// vectors finds the vectors of chunks in one sync: first in the index's cache, then from the provider.
type vectors struct {
	x *Indexer
	// told hears how many texts were embedded, and how many files of the batch have all that they will get.
	told func(n, files int)
	// down is why the provider is not asked any more in this sync.
	down error
	// refused are texts that the provider will not embed.
	refused map[Hash]error
	// keep saves every answer at once, for a rebuild that may fail later.
	keep             bool
	embedded, cached int
	// flying are the vectors of the batch before, which may not be in the index yet.
	flying map[Hash][]float32
	// short says that a text was left without a vector.
	short bool
	// textFirst lets files go ahead without their vectors; many says that there are more than a few of them.
	textFirst, many bool
	// forQuery says that somebody waits for an answer, who does not care for what is not embedded yet.
	forQuery bool
	// asked counts texts that were missing; slow is the question whose answer was not waited for.
	asked int
	slow  *question
	// later says that files come for the second time, when what is cached has been counted.
	later bool
	// enough is asked between groups whether that has to wait; cut says that it had to.
	enough func() bool
	cut    bool
}

// answer is what a provider made of a group of texts.
type answer struct {
	out []embed.Embedding
	err error
}

func newVectors(x *Indexer, told func(n, files int)) *vectors {
	v := &vectors{x: x, told: told, refused: map[Hash]error{}}
	if x.embed.Enabled() && !x.ready() {
		v.down = firstErr(x.embed.Health().Err, errUnready)
	}
	return v
}

// firstErr returns the first error that is not nil.
func firstErr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// trouble is why some texts have no vector, nil where all have one.
func (v *vectors) trouble() error {
	if v.down != nil && v.short {
		return v.down
	}
	for _, err := range v.refused {
		return err
	}
	return nil
}

// refusal returns why the provider will not embed one of the chunks, nil where it has embedded or was not asked.
func (v *vectors) refusal(chunks []Chunk) error {
	for _, c := range chunks {
		if err := v.refused[c.Hash]; err != nil && c.Vector == nil {
			return err
		}
	}
	return nil
}

// fill gives the chunks of files their vectors, as far as there are any. A provider that fails is no error of fill;
// it returns those of the index and of ctx.
func (v *vectors) fill(ctx context.Context, files []done) error {
	texts := map[Hash]string{}
	var hashes []Hash
	for _, d := range files {
		for _, c := range d.file.Chunks {
			if _, ok := texts[c.Hash]; !ok {
				texts[c.Hash] = c.Text
				hashes = append(hashes, c.Hash)
			}
		}
	}
	known, err := v.lookUp(ctx, hashes, texts, files)
	if err != nil {
		return err
	}
	for _, d := range files {
		for i, c := range d.file.Chunks {
			d.file.Chunks[i].Vector = known[c.Hash]
		}
	}
	return nil
}

// lookUp returns the vectors of the texts of files by their hashes.
func (v *vectors) lookUp(ctx context.Context, hashes []Hash, texts map[Hash]string, files []done) (map[Hash][]float32, error) {
	if !v.x.embed.Enabled() || len(hashes) == 0 {
		return nil, nil
	}
	known, err := v.x.index.CachedVectors(ctx, v.x.embed.Space(), hashes)
	if err != nil {
		return nil, fmt.Errorf("ask for known vectors: %w", err)
	}
	known = maps.Clone(known)
	if known == nil {
		known = map[Hash][]float32{}
	}
	for _, h := range hashes {
		if vec := v.flying[h]; vec != nil {
			known[h] = vec
		}
	}
	if !v.later {
		v.cached += len(known)
	}
	missing := slices.DeleteFunc(hashes, func(h Hash) bool { return known[h] != nil || v.refused[h] != nil })
	if err := v.fetch(ctx, missing, texts, known, files); err != nil {
		return nil, err
	}
	v.short = v.short || len(known) < len(texts)
	v.flying = known
	return known, nil
}

// fetch adds to known what the provider makes of the missing texts, as far as it is waited for.
func (v *vectors) fetch(ctx context.Context, missing []Hash, texts map[Hash]string, known map[Hash][]float32, files []done) error {
	v.asked += len(missing)
	hurry, wait := v.textFirst && !v.later && (v.many || v.asked > smallRequest || v.forQuery), patience
	if v.forQuery {
		wait = queryPatience
	}
	keep := v.keep || len(missing) > saveAbove
	unsaved := map[Hash][]float32{}
	for group := range slices.Chunk(missing, embedGroup) {
		if v.down != nil || v.slow != nil || v.cut || ctx.Err() != nil {
			break
		}
		q := v.send(ctx, group, texts)
		if hurry && !q.within(ctx, wait) {
			v.slow = q
			break
		}
		fresh := v.take(ctx, q)
		maps.Copy(unsaved, fresh)
		if keep {
			if err := v.save(ctx, unsaved); err != nil {
				return err
			}
			clear(unsaved)
		}
		maps.Copy(known, fresh)
		v.told(len(fresh), v.complete(files, known))
		v.cut = v.later && v.enough()
	}
	if err := ctx.Err(); err != nil {
		return firstErr(v.save(ctx, unsaved), err)
	}
	return nil
}

// complete counts the files that get no more vectors than those known.
func (v *vectors) complete(files []done, known map[Hash][]float32) int {
	n := 0
	for _, d := range files {
		open := slices.ContainsFunc(d.file.Chunks, func(c Chunk) bool { return known[c.Hash] == nil && v.refused[c.Hash] == nil })
		if !open && !d.file.Gone {
			n++
		}
	}
	return n
}

// take waits for the answer to a question and sorts out what the provider gave, refused and failed to do.
func (v *vectors) take(ctx context.Context, q *question) map[Hash][]float32 {
	select {
	case <-q.done:
	case <-ctx.Done():
	}
	q.cancel()
	<-q.done
	err := firstErr(ctx.Err(), q.answer.err)
	fresh := map[Hash][]float32{}
	for i, e := range q.answer.out[:min(len(q.answer.out), len(q.group))] {
		switch {
		case e.Vector != nil:
			fresh[q.group[i]] = e.Vector
		case err == nil:
			v.refused[q.group[i]] = firstErr(e.Err, errNoVector)
		}
	}
	v.embedded += len(fresh)
	v.down = err
	return fresh
}

// save keeps vectors that were paid for, also when the sync is being cancelled.
func (v *vectors) save(ctx context.Context, fresh map[Hash][]float32) error {
	if len(fresh) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveWait)
	defer cancel()
	if err := v.x.index.CacheVectors(ctx, v.x.embed.Space(), fresh); err != nil {
		return fmt.Errorf("keep new vectors: %w", err)
	}
	return nil
}
