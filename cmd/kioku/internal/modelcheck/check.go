package modelcheck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"kioku/embed/local"
)

// Embed returns one unit vector a text, in their order.
type Embed func(ctx context.Context, texts []string) ([][]float32, error)

// With embeds with a local model. A text that it cannot read has a vector of zeros, which is near to nothing.
func With(model *local.Model) Embed {
	return func(ctx context.Context, texts []string) ([][]float32, error) {
		embedded, err := model.Embed(ctx, local.Document, texts)
		vectors := make([][]float32, len(embedded))
		for i, e := range embedded {
			if vectors[i] = e.Vector; e.Err != nil {
				vectors[i] = make([]float32, model.Info().Dims)
			}
		}
		return vectors, err
	}
}

// Language is what a model knows of one language.
type Language struct {
	// Language by its ISO 639-1 code.
	Language string `json:"language"`
	// Right counts the sentences that are nearer to their partner than to all other sentences.
	Right int `json:"right"`
	// Sentences is the number of all sentences.
	Sentences int `json:"sentences"`
	// Near is the mean cosine of partners.
	Near float64 `json:"near"`
	// Far is the mean cosine of sentences about different things.
	Far float64 `json:"far"`
	// Known is true if the model knows the language well enough to help.
	Known bool `json:"known"`
}

// knownShare is the share of sentences that a model must get right in a language which it knows. Measured: models for English get all
// right in English and at most a third in the other languages, multilingual-e5-small at least half in each.
const knownShare = .5

// Languages embeds the pairs and returns what the model knows of each language, in the order of the pairs.
func Languages(ctx context.Context, embed Embed) ([]Language, error) {
	var all []Language
	for _, p := range pairs {
		var texts []string
		for _, said := range p.said {
			texts = append(texts, said[0], said[1])
		}
		vectors, err := embed(ctx, texts)
		if err != nil {
			return nil, fmt.Errorf("embed sentences in %s: %w", p.language, err)
		}
		if len(vectors) != len(texts) {
			return nil, errors.New("the model gives another number of vectors than there are texts")
		}
		all = append(all, rate(p.language, vectors))
	}
	return all, nil
}

// rate compares vectors, of which each two are of partners.
func rate(language string, vectors [][]float32) Language {
	l := Language{Language: language, Sentences: len(vectors)}
	others := 0
	for i, v := range vectors {
		partner, best := dot(v, vectors[i^1]), -1.
		for j, w := range vectors {
			if j != i && j != i^1 {
				cosine := dot(v, w)
				best, others = max(best, cosine), others+1
				l.Far += cosine
			}
		}
		if partner > best {
			l.Right++
		}
		l.Near += partner
	}
	l.Near /= float64(len(vectors))
	l.Far /= float64(others)
	l.Known = float64(l.Right) >= knownShare*float64(l.Sentences) && l.Near > l.Far
	return l
}

// Sanity is the answer to whether the vectors of a provider mean anything.
type Sanity struct {
	// Near is the cosine of two sentences that say the same.
	Near float64
	// Far is the cosine of two sentences about different things.
	Far float64
	// Dims is the number of dimensions.
	Dims int
	// Took is the time that the texts took.
	Took time.Duration
}

// Sound reports whether a paraphrase is nearer than a stranger.
func (s Sanity) Sound() bool { return s.Near > s.Far+.02 }

// CheckSanity embeds one pair and a stranger, all in English, in one request.
func CheckSanity(ctx context.Context, embed Embed) (Sanity, error) {
	en := pairs[0].said
	start := time.Now()
	v, err := embed(ctx, []string{en[2][0], en[2][1], en[3][0]})
	if err != nil {
		return Sanity{}, err
	}
	if len(v) != 3 || len(v[0]) == 0 || len(v[1]) != len(v[0]) || len(v[2]) != len(v[0]) {
		return Sanity{}, errors.New("the vectors of one answer have different lengths")
	}
	return Sanity{Near: dot(v[0], v[1]), Far: dot(v[0], v[2]), Dims: len(v[0]), Took: time.Since(start)}, nil
}

// Speed is how many texts of the size of a window a model embeds in a second. It computes for about as long as wait.
func Speed(ctx context.Context, embed Embed, wait time.Duration) (perSecond float64, err error) {
	var texts []string
	for _, p := range pairs[0].said {
		for _, q := range pairs[0].said {
			texts = append(texts, p[0]+" "+q[1]+" "+p[1]+" "+q[0]+" "+p[0]+" "+q[1]) // about 250 characters, each of its own
		}
	}
	start, done := time.Now(), 0
	for batch := range slices.Chunk(texts, 8) {
		if _, err := embed(ctx, batch); err != nil {
			return 0, err
		}
		if done += len(batch); time.Since(start) > wait {
			break
		}
	}
	return float64(done) / time.Since(start).Seconds(), nil
}

func dot(a, b []float32) float64 {
	var sum float64
	for i := range min(len(a), len(b)) {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
