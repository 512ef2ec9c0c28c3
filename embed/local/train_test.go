package local_test

import (
	_ "embed" // the texts
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// staticDims is the number of dimensions of the trained model.
const staticDims = 16

//go:embed testdata/texts.md
var texts string

// paragraphs returns the words of each paragraph of the texts.
func paragraphs() [][]string {
	var out [][]string
	for paragraph := range strings.SplitSeq(texts, "\n\n") {
		words := strings.FieldsFunc(strings.ToLower(paragraph), func(r rune) bool { return !unicode.IsLetter(r) })
		if len(words) > 0 {
			out = append(out, words)
		}
	}
	return out
}

// trained returns the words and rows of the model of the texts, which is trained once.
var trained = sync.OnceValues(func() ([]string, []float32) { return train(paragraphs(), staticDims) })

// train returns the words of paragraphs in alphabetical order and the rows of a model for them, after the rows of five special
// tokens. Words that occur in the same paragraphs get similar rows: these are the principal components of the positive pointwise
// mutual information of the words (Levy and Goldberg, 2014).
func train(paragraphs [][]string, dims int) (words []string, rows []float32) {
	for _, p := range paragraphs {
		words = append(words, p...)
	}
	slices.Sort(words)
	words = slices.Compact(words)
	information := mutualInformation(paragraphs, words)
	components := principal(information, dims)
	rows = make([]float32, 5*dims)
	for w := range words {
		for _, c := range components {
			rows = append(rows, float32(c[w]))
		}
	}
	return words, rows
}

// mutualInformation returns a symmetric matrix: for each pair of words how much more often they share a paragraph than chance
// has them share one, as a logarithm, at least 0.
func mutualInformation(paragraphs [][]string, words []string) [][]float64 {
	n := len(words)
	together, alone := make([][]float64, n), make([]float64, n)
	for i := range together {
		together[i] = make([]float64, n)
	}
	for _, p := range paragraphs {
		distinct := slices.Compact(slices.Sorted(slices.Values(p)))
		for _, a := range distinct {
			i, _ := slices.BinarySearch(words, a)
			alone[i]++
			for _, b := range distinct {
				j, _ := slices.BinarySearch(words, b)
				together[i][j]++
			}
		}
	}
	for i := range together {
		for j := range together[i] {
			chance := alone[i] * alone[j] / float64(len(paragraphs))
			together[i][j] = max(0, math.Log((together[i][j]+1e-9)/chance))
		}
	}
	return together
}

// principal returns the first eigenvectors of a symmetric matrix, each times the root of its eigenvalue, by orthogonal iteration.
func principal(m [][]float64, count int) [][]float64 {
	random := rand.New(rand.NewPCG(1, 1))
	vectors := make([][]float64, count)
	for i := range vectors {
		vectors[i] = make([]float64, len(m))
		for j := range vectors[i] {
			vectors[i][j] = random.NormFloat64()
		}
	}
	lengths := make([]float64, count)
	for range 30 {
		for i, v := range vectors {
			v = times(m, v)
			for _, before := range vectors[:i] {
				shift(v, before, -product(v, before))
			}
			lengths[i] = math.Sqrt(product(v, v))
			for j := range v {
				v[j] /= lengths[i]
			}
			vectors[i] = v
		}
	}
	for i, v := range vectors {
		for j := range v {
			v[j] *= math.Sqrt(lengths[i])
		}
	}
	return vectors
}

func times(m [][]float64, v []float64) []float64 {
	out := make([]float64, len(m))
	for i, row := range m {
		out[i] = product(row, v)
	}
	return out
}

func product(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

func shift(v, by []float64, factor float64) {
	for i := range v {
		v[i] += factor * by[i]
	}
}
