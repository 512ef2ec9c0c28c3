package search

import (
	"context"
	stdembed "embed"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"sync"

	"kioku/embed"
	"kioku/memory"
	"kioku/search/analysis"
)

// Calibration tells what an answer of an index is worth. Scores differ between folders: of questions that nothing in a folder
// answers, most stay below 0.11 in one and below 0.25 in another. So each index is asked questions of general topics, and the
// line that most of them stay below separates chance from an answer.
type Calibration struct {
	// Line is the keyword score that 85 % of the probes stay below, in the language of the folder in which it is highest.
	Line float64
	// VectorLine is the score with vectors that 85 % of the probes stay below.
	VectorLine float64
	// Space identifies the space of these vectors; empty if the probes were asked by words only.
	Space string
	// Chunks is the number of chunks of the index when it was asked.
	Chunks int
	// Probes identifies the probes that were asked; empty if none were.
	Probes string
}

// line returns the line of weak results. It returns false if the probes were never asked, or were others.
func (c Calibration) line() (float64, bool) {
	return max(c.Line, minLine), c.Probes == allProbes().version
}

// isDue reports whether the probes should be asked, again if the index has changed much since.
func (c Calibration) isDue(chunks int) bool {
	changed := math.Abs(float64(chunks - c.Chunks))
	return chunks >= minProbed && (c.Probes != allProbes().version || changed > recalibration*float64(c.Chunks))
}

// Calibrate asks the probes of each language that the index holds, one search after the other, each admitted by itself: by words,
// and with vectors too if the index is embedded. It returns false if the last calibration still holds or the index is too small
// for one. If a probe cannot be asked with vectors, as while the provider does not answer, the calibration is one by words, and
// false if the last one holds for these. The caller stores the result. The same index always gets the same lines.
func (s *Searcher) Calibrate(ctx context.Context, vectors bool) (Calibration, bool, error) {
	var ix Index
	var languages []probeLanguage
	err := s.store.View(ctx, false, func(rd Reader) (err error) {
		ix = rd.Index()
		vectors = vectors && s.canProbeVectors(ix)
		if ix.Calibration.isDue(ix.Chunks) || vectors && ix.Chunks >= minProbed && ix.Calibration.Space != probedSpace(ix.Space) {
			languages, err = heldLanguages(ctx, rd)
		}
		return err
	})
	if err != nil || len(languages) == 0 {
		return Calibration{}, false, err
	}
	c := Calibration{Chunks: ix.Chunks, Probes: allProbes().version}
	if vectors {
		err = s.addVectorLine(ctx, &c, languages, ix.Space)
	}
	if err != nil || c.Space == "" && !ix.Calibration.isDue(ix.Chunks) {
		return Calibration{}, false, err
	}
	words := &Searcher{store: s.store, opt: s.opt}
	words.opt.Reranker = nil // scores are those before it
	if c.Line, err = words.line(ctx, languages, embed.Space{}); err != nil {
		return Calibration{}, false, err
	}
	return c, true, nil
}

// addVectorLine asks the probes with vectors of a space. It leaves c as it is if a probe was answered without them.
func (s *Searcher) addVectorLine(ctx context.Context, c *Calibration, languages []probeLanguage, space embed.Space) error {
	both := &Searcher{store: s.store, embedder: s.embedder, opt: s.opt}
	both.opt.Reranker = nil
	line, err := both.line(ctx, languages, space)
	switch {
	case errors.Is(err, errWithoutVectors):
		return nil
	case err != nil:
		return err
	}
	c.VectorLine, c.Space = line, probedSpace(space)
	return nil
}

// line returns the score that most of the probes stay below, in the language in which it is highest. space is that of the vectors
// that take part, zero for words only.
func (s *Searcher) line(ctx context.Context, languages []probeLanguage, space embed.Space) (float64, error) {
	line := 0.0
	for _, l := range languages {
		scores := make([]float64, len(l.questions))
		for i, question := range l.questions {
			var err error
			if scores[i], err = s.bestScore(ctx, question, space); err != nil {
				return 0, fmt.Errorf("ask a probe: %w", err)
			}
		}
		line = max(line, quantile(scores, probeQuantile))
	}
	return line, nil
}

// errWithoutVectors: a probe that was to be asked with vectors of a space was answered without them, or with those of another.
var errWithoutVectors = errors.New("answered without the vectors of the index")

// bestScore returns the confidence of the best passage for a question, 0 if there is none. It returns errWithoutVectors if the
// vectors of a space took no part, unless that is zero.
func (s *Searcher) bestScore(ctx context.Context, question string, space embed.Space) (float64, error) {
	r, err := s.newState(memory.Query{Text: question, MaxResults: 1})
	if err != nil {
		return 0, err
	}
	if err := s.execute(ctx, r, nil); err != nil {
		return 0, err
	}
	if !space.IsZero() && (r.vector == nil || r.index.Space != space) {
		return 0, errWithoutVectors
	}
	var best float64
	for _, c := range r.candidates {
		best = max(best, c.confidence)
	}
	return best, nil
}

// quantile returns the smallest of the values below or at which a share of them lies.
func quantile(values []float64, share float64) float64 {
	values = slices.Sorted(slices.Values(values))
	return values[int(math.Ceil(share*float64(len(values))))-1]
}

// heldLanguages returns the languages of which many chunks contain a frequent word.
func heldLanguages(ctx context.Context, rd Reader) ([]probeLanguage, error) {
	all := allProbes()
	var markers []string
	for _, l := range all.languages {
		markers = append(markers, l.markers...)
	}
	df, err := rd.DocFreq(ctx, markers)
	if err != nil {
		return nil, fmt.Errorf("look up languages: %w", err)
	}
	least := heldShare * float64(rd.Index().Chunks)
	return slices.DeleteFunc(slices.Clone(all.languages), func(l probeLanguage) bool {
		return !slices.ContainsFunc(l.markers, func(t string) bool { return float64(df[t]) >= least })
	}), nil
}

// probeFiles has a file for each language. Its first line names frequent words of the language, after a #; each other line is
// a question, of topics that notes of work and of daily life hardly answer.
//
//go:embed probes
var probeFiles stdembed.FS

// probes are the questions of all languages.
type probes struct {
	languages []probeLanguage
	// version changes with the files and with confidenceVersion.
	version string
}

// probeLanguage are the probes of a language.
type probeLanguage struct {
	// markers are terms of frequent words.
	markers   []string
	questions []string
}

// confidenceVersion is incremented if a change of the ranking moves the scores of the probes.
const confidenceVersion = 1

// allProbes reads the probes, once.
var allProbes = sync.OnceValue(func() probes {
	var p probes
	hash := fnv.New64a()
	fmt.Fprintln(hash, confidenceVersion)
	files, err := probeFiles.ReadDir("probes")
	if err != nil {
		return p
	}
	for _, f := range files {
		text, err := probeFiles.ReadFile("probes/" + f.Name())
		if err != nil {
			return p
		}
		hash.Write(text)
		head, rest, _ := strings.Cut(string(text), "\n")
		p.languages = append(p.languages, probeLanguage{
			markers:   analysis.Terms(strings.TrimPrefix(head, "#")),
			questions: strings.Split(strings.TrimSpace(rest), "\n"),
		})
	}
	p.version = fmt.Sprintf("%016x", hash.Sum64())
	return p
})
