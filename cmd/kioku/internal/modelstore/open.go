package modelstore

import (
	"context"
	"errors"
	"fmt"
	"math"

	"kioku/embed/local"
)

// Open opens the model in a folder, has it compute, and returns what it is. It is the Open of an [Adder].
func Open(ctx context.Context, dir string, m Manifest) (facts Facts, err error) {
	model, err := local.Open(dir, local.Options{})
	if err != nil {
		return Facts{}, err
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	info := model.Info()
	facts = Facts{Kind: info.Kind.String(), Dims: info.Dims}
	if isReranker := info.Kind == local.CrossEncoder; isReranker != (m.Role == Reranker) {
		if isReranker {
			return facts, errors.New("it is a re-ranker; add it with --as reranker")
		}
		return facts, errors.New("it turns texts into vectors, and is no re-ranker; add it without --as reranker")
	}
	if m.Role == Reranker {
		return facts, tryScores(ctx, model)
	}
	return facts, tryVectors(ctx, model)
}

// tryVectors embeds two texts that have nothing in common.
func tryVectors(ctx context.Context, model *local.Model) error {
	vectors, err := model.Embed(ctx, local.Document, []string{"The train was late.", "Bake the cake for an hour."})
	if err != nil {
		return err
	}
	for _, v := range vectors {
		if v.Err != nil {
			return fmt.Errorf("it cannot embed a text: %w", v.Err)
		}
	}
	var cosine float64
	for i, v := range vectors[0].Vector {
		cosine += float64(v) * float64(vectors[1].Vector[i])
	}
	if math.IsNaN(cosine) || cosine > .9999 {
		return errors.New("its vectors of different texts do not differ: the files do not belong together, or are damaged")
	}
	return nil
}

// tryScores scores two passages.
func tryScores(ctx context.Context, model *local.Model) error {
	scores, scored, err := model.Score(ctx, "When does the train leave?", []string{"The train leaves at nine.", "Bake the cake for an hour."})
	if err != nil {
		return err
	}
	for i, score := range scores {
		if !scored[i] || math.IsNaN(score) || math.IsInf(score, 0) {
			return errors.New("its scores are no numbers: the files do not belong together, or are damaged")
		}
	}
	return nil
}
