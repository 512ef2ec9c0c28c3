package indexer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

const (
	// embedGroup is how many texts go to the provider before what it answered is made safe.
	embedGroup = 256
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
	// told hears how many texts were embedded.
	told func(n int)
	// down is why the provider is not asked any more in this sync.
	down error
	// refused are texts that the provider will not embed.
	refused map[Hash]error
	// keep saves every answer at once, for a rebuild that may fail later.
	keep             bool
	embedded, cached int
	// short says that a text was left without a vector.
	short bool
}

func newVectors(x *Indexer, told func(int)) *vectors {
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
	known, err := v.lookUp(ctx, hashes, texts)
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

// lookUp returns the vectors of texts by their hashes.
func (v *vectors) lookUp(ctx context.Context, hashes []Hash, texts map[Hash]string) (map[Hash][]float32, error) {
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
	v.cached += len(known)
	missing := slices.DeleteFunc(hashes, func(h Hash) bool { return known[h] != nil || v.refused[h] != nil })
	keep := v.keep || len(missing) > embedGroup
	for group := range slices.Chunk(missing, embedGroup) {
		if v.down != nil {
			break
		}
		fresh, err := v.ask(ctx, group, texts)
		if keep || ctx.Err() != nil {
			err = firstErr(err, v.save(ctx, fresh))
		}
		if err != nil {
			return nil, err
		}
		maps.Copy(known, fresh)
	}
	v.short = v.short || len(known) < len(texts)
	return known, nil
}

// ask has a group of texts embedded.
func (v *vectors) ask(ctx context.Context, group []Hash, texts map[Hash]string) (map[Hash][]float32, error) {
	in := make([]string, len(group))
	for i, h := range group {
		in[i] = texts[h]
	}
	out, err := v.x.embed.Documents(ctx, in)
	fresh := map[Hash][]float32{}
	for i, e := range out[:min(len(out), len(group))] {
		switch {
		case e.Vector != nil:
			fresh[group[i]] = e.Vector
		case err == nil:
			v.refused[group[i]] = firstErr(e.Err, errNoVector)
		}
	}
	v.embedded += len(fresh)
	v.told(len(fresh))
	if ctx.Err() != nil {
		return fresh, ctx.Err()
	}
	v.down = err
	return fresh, nil
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
