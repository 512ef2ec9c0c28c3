package modelcheck_test

import (
	"context"
	"errors"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"kioku/cmd/kioku/internal/modelcheck"
)

// subjects returns a model that knows the subjects of some languages: the sentences come in pairs of the same subject.
func subjects(known ...func(text string) bool) modelcheck.Embed {
	return func(_ context.Context, texts []string) ([][]float32, error) {
		var all [][]float32
		for i, text := range texts {
			v := make([]float32, 32)
			if slices.ContainsFunc(known, func(knows func(string) bool) bool { return knows(text) }) {
				v[i/2] = 1
			} else { // any place, as for texts that are noise to a model
				h := fnv.New32()
				h.Write([]byte(text))
				v[16+h.Sum32()%16] = 1
			}
			all = append(all, v)
		}
		return all, nil
	}
}

// hasKana reports whether a text is in Japanese: it has hiragana or katakana.
func hasKana(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana) })
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}

// model check embeds pairs and says which languages the model knows.
func TestLanguagesTellsWhichAModelKnows(t *testing.T) {
	t.Parallel()
	all, err := modelcheck.Languages(t.Context(), subjects(hasKana))
	if err != nil {
		t.Fatal(err)
	}
	var known, names []string
	for _, l := range all {
		if names = append(names, l.Language); l.Known {
			known = append(known, l.Language)
		}
		if l.Sentences != 12 {
			t.Errorf("%s has %d sentences", l.Language, l.Sentences)
		}
	}
	if diff := cmp.Diff([]string{"ja"}, known); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"en", "ja", "zh", "ko", "de", "fr", "es", "it", "pt", "ru"}, names); diff != "" {
		t.Error(diff)
	}
	lost := errors.New("lost")
	if _, err := modelcheck.Languages(t.Context(), func(context.Context, []string) ([][]float32, error) { return nil, lost }); !errors.Is(err, lost) {
		t.Errorf("%v", err)
	}
}

// The cosine of a paraphrase against that of an unrelated sentence.
func TestCheckSanity(t *testing.T) {
	t.Parallel()
	good, err := modelcheck.CheckSanity(t.Context(), subjects(isASCII))
	if err != nil || !good.Sound() || good.Dims != 32 {
		t.Errorf("%+v, %v", good, err)
	}
	same := func(_ context.Context, texts []string) ([][]float32, error) {
		return slices.Repeat([][]float32{{float32(math.Sqrt(.5)), float32(math.Sqrt(.5))}}, len(texts)), nil
	}
	if bad, err := modelcheck.CheckSanity(t.Context(), same); err != nil || bad.Sound() {
		t.Errorf("%+v, %v", bad, err)
	}
	uneven := func(context.Context, []string) ([][]float32, error) { return [][]float32{{1}, {1, 0}, {1}}, nil }
	if _, err := modelcheck.CheckSanity(t.Context(), uneven); err == nil {
		t.Error("vectors of different lengths are sound")
	}
}

func TestSpeedEndsInTime(t *testing.T) {
	t.Parallel()
	asked := 0
	slow := func(_ context.Context, texts []string) ([][]float32, error) {
		asked++
		return make([][]float32, len(texts)), nil
	}
	if perSecond, err := modelcheck.Speed(t.Context(), slow, 0); err != nil || perSecond <= 0 || asked != 1 {
		t.Errorf("%g texts a second, %d requests, %v", perSecond, asked, err)
	}
}
