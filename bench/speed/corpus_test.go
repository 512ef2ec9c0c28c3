package speed

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// vocabularySize is the number of different words.
	vocabularySize = 60_000
	// topics is the number of subjects that texts are about, topicWords the number of words of each, and topicShare the
	// part of a text that consists of them.
	topics, topicWords = 1000, 40
	topicShare         = 0.25
	// logEntries is the number of entries of a daily log, each of which is a chunk.
	logEntries = 100
	// firstContent is the rank of the most frequent content word. From there on, content words and function words take
	// turns.
	firstContent = 45
)

// functionWords are the words that hold English sentences together, the most frequent first.
var functionWords = strings.Fields(`the of and to in a is that it was for on with as he be at by i this had not are but from
or have an they which one you were her all she there would their we him been has when who will more no if out so said what
up its about into than them can only other new some could time these two may then do first any my now such like our over
man me even most made after also did many before must through back years where much your way well down should because each
just those people how too little good very make world still own see men work long get here between both life being under
never day same another know while last might us great old year off come since against go came right used take three`)

// words draws made-up texts, the same ones for a seed. The frequency of a word falls with its rank as in English (Zipf and
// Mandelbrot), and the most frequent words say nothing about a text.
type words struct {
	r    *rand.Rand
	zipf *rand.Zipf
}

func newWords(seed uint64) *words {
	r := rand.New(rand.NewPCG(seed, 42))
	return &words{r: r, zipf: rand.NewZipf(r, 1.07, 2.7, vocabularySize-1)}
}

// spellings contains the words by rank.
var spellings = sync.OnceValue(func() []string {
	all := make([]string, 0, vocabularySize)
	function := functionWords
	for n := 0; len(all) < vocabularySize; {
		if len(function) > 0 && (len(all) < firstContent || len(all)%2 == 0) {
			all, function = append(all, function[0]), function[1:]
			continue
		}
		all = append(all, spell(n))
		n++
	}
	return all
})

// spell returns a word of three syllables or more for a number.
func spell(n int) string {
	const consonants, vowels = "bcdfghjklmnprstvwz", "aeiou"
	var w []byte
	for n += 90 * 90; n > 0; n /= 90 {
		w = append(w, consonants[n%18], vowels[n/18%5])
	}
	return string(w)
}

// isFunction reports whether the word of a rank is a function word.
func isFunction(rank int) bool {
	last := firstContent + 2*(len(functionWords)-firstContent)
	return rank < firstContent || rank < last && rank%2 == 0
}

// draw returns a word of a text about a topic.
func (w *words) draw(topic int) string {
	rank := int(w.zipf.Uint64())
	if !isFunction(rank) && w.r.Float64() < 2*topicShare {
		rank = w.topicRank(topic)
	}
	return spellings()[rank]
}

// topicRank returns the rank of a word of a topic; such words are neither frequent nor rare.
func (w *words) topicRank(topic int) int {
	for {
		k := int(w.r.ExpFloat64() * topicWords / 4)
		rank := 200 + (topic*7919+k*k*131)%20_000
		if k < topicWords && !isFunction(rank) {
			return rank
		}
	}
}

// content draws a content word of a question about a topic.
func (w *words) content(topic int) string {
	if w.r.Float64() < 0.5 {
		return spellings()[w.topicRank(topic)]
	}
	return spellings()[w.rankOf(false)]
}

// rankOf draws the rank of a function word, or of a content word.
func (w *words) rankOf(function bool) int {
	for {
		if rank := int(w.zipf.Uint64()); isFunction(rank) == function {
			return rank
		}
	}
}

// text writes n words about a topic as sentences of one line.
func (w *words) text(b *strings.Builder, topic, n int) {
	for sentence := 0; n > 0; n-- {
		if sentence == 0 {
			sentence = 6 + w.r.IntN(16)
		}
		b.WriteString(w.draw(topic))
		if sentence--; sentence == 0 || n == 1 {
			b.WriteByte('.')
		}
		if n > 1 {
			b.WriteByte(' ')
		}
	}
}

// entry writes a line of a daily log: 100 to 200 words about one topic.
func (w *words) entry(b *strings.Builder, day string) {
	topic := w.r.IntN(topics)
	fmt.Fprintf(b, `{"ts":"%sT%02d:%02d:00Z","category":"topic%d","content":"`, day, w.r.IntN(24), w.r.IntN(60), topic)
	w.text(b, topic, 100+w.r.IntN(100))
	b.WriteString("\"}\n")
}

// note writes a Markdown note of at least size bytes: sections with four sentences, a line each.
func (w *words) note(b *strings.Builder, title string, size int, japanese bool) {
	fmt.Fprintf(b, "# %s\n", title)
	for start := b.Len(); b.Len() == start || b.Len() < size; {
		topic := w.r.IntN(topics)
		fmt.Fprintf(b, "\n## %02d:%02d - %s\n\n", w.r.IntN(24), w.r.IntN(60), w.content(topic))
		for range 4 {
			if n := 10 + w.r.IntN(15); japanese {
				w.japanese(b, n)
			} else {
				w.text(b, topic, n)
			}
			b.WriteByte('\n')
		}
	}
}

// japanese writes n times a kanji and a kana, as a sentence.
func (w *words) japanese(b *strings.Builder, n int) {
	for range n {
		b.WriteRune(rune(0x4e00 + w.zipf.Uint64()%3000))
		b.WriteRune(rune(0x3042 + w.zipf.Uint64()%80))
	}
	b.WriteString("。")
}

// logSeed is the usual seed of writeLogs.
const logSeed = 42

// writeLogs writes daily logs with n entries, the same ones for a seed.
func writeLogs(ctx context.Context, workspace string, n int, seed uint64) error {
	w := newWords(seed)
	for day := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC); n > 0; day = day.AddDate(0, 0, 1) {
		var b strings.Builder
		name := day.Format(time.DateOnly)
		for range min(logEntries, n) {
			w.entry(&b, name)
		}
		n -= logEntries
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := writeFile(filepath.Join(workspace, "memory", "daily", name+".jsonl"), b.String()); err != nil {
			return err
		}
	}
	return nil
}

// note is a file of a workspace.
type note struct{ path, text string }

// writeNotes writes n notes of at least size bytes, every tenth in Japanese, and returns them. Their time is long past, so
// that an equal time proves that nothing changed.
func writeNotes(ctx context.Context, workspace string, n, size int) ([]note, error) {
	w := newWords(20)
	past := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	notes := make([]note, n)
	for i := range notes {
		path := notePath(workspace, i)
		var b strings.Builder
		w.note(&b, strings.TrimSuffix(filepath.Base(path), ".md"), size, i%10 == 9)
		notes[i] = note{path, b.String()}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := writeFile(path, notes[i].text); err != nil {
			return nil, err
		}
		if err := os.Chtimes(path, past, past); err != nil {
			return nil, err
		}
	}
	return notes, nil
}

// notePath returns the path of the note with number i: a hundred a folder, a day each.
func notePath(workspace string, i int) string {
	day := time.Date(1970, 1, 1+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	return filepath.Join(workspace, "memory", fmt.Sprintf("%03d", i/100), day+".md")
}

// writeFile writes a file and creates its folder.
func writeFile(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// questions returns n natural questions: two to six content words with as many function words between them as in English
// sentences.
func questions(n int) []string {
	w := newWords(7)
	starts := []string{"what did", "when was", "who has", "how did", "where is", "why was", "do you remember", "what are"}
	list := make([]string, n)
	for i := range list {
		topic := w.r.IntN(topics)
		q := []string{starts[w.r.IntN(len(starts))]}
		for range 2 + w.r.IntN(5) {
			for range w.r.IntN(3) {
				q = append(q, spellings()[w.rankOf(true)])
			}
			q = append(q, w.content(topic))
		}
		list[i] = strings.Join(slices.Compact(q), " ") + "?"
	}
	return list
}
