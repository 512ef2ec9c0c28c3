package speed

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

const (
	// vocabularySize is how many different words the texts are made of.
	vocabularySize = 60_000
	// topics is how many subjects the texts are about, topicWords how many words belong to each, and topicShare the part of
	// a text that they are: the words of a text belong together.
	topics, topicWords = 1000, 40
	topicShare         = 0.25
)

// functionWords are what English sentences are held together with, the most frequent first. Up to the rank firstContent
// there is nothing else, from there on they take turns with words of content.
var functionWords = strings.Fields(`the of and to in a is that it was for on with as he be at by i this had not are but from
or have an they which one you were her all she there would their we him been has when who will more no if out so said what
up its about into than them can only other new some could time these two may then do first any my now such like our over
man me even most made after also did many before must through back years where much your way well down should because each
just those people how too little good very make world still own see men work long get here between both life being under
never day same another know while last might us great old year off come since against go came right used take three`)

const firstContent = 45

// words draws words as English has them: their frequency falls with their rank (Zipf and Mandelbrot), and the most frequent
// say nothing about a text.
type words struct {
	r    *rand.Rand
	zipf *rand.Zipf
}

func newWords(seed uint64) *words {
	r := rand.New(rand.NewPCG(seed, 42))
	return &words{r: r, zipf: rand.NewZipf(r, 1.07, 2.7, vocabularySize-1)}
}

// spellings are the words by rank.
var spellings = func() []string {
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
}()

// spell makes a word of three syllables or more for a number.
func spell(n int) string {
	const consonants, vowels = "bcdfghjklmnprstvwz", "aeiou"
	var w []byte
	for n += 90 * 90; n > 0; n /= 90 {
		w = append(w, consonants[n%18], vowels[n/18%5])
	}
	return string(w)
}

// isFunction reports whether the word of a rank is one of functionWords.
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
	return spellings[rank]
}

// topicRank returns the rank of a word of a topic: they are neither frequent nor rare.
func (w *words) topicRank(topic int) int {
	for {
		k := int(w.r.ExpFloat64() * topicWords / 4)
		rank := 200 + (topic*7919+k*k*131)%20_000
		if k < topicWords && !isFunction(rank) {
			return rank
		}
	}
}

// content draws a word that a question asks for.
func (w *words) content(topic int) string {
	if w.r.Float64() < 0.5 {
		return spellings[w.topicRank(topic)]
	}
	for {
		if rank := int(w.zipf.Uint64()); !isFunction(rank) {
			return spellings[rank]
		}
	}
}

// function draws a function word.
func (w *words) function() string {
	for {
		if rank := int(w.zipf.Uint64()); isFunction(rank) {
			return spellings[rank]
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

// questions returns n natural questions: two to six words of content, held together with as many function words as in
// English sentences.
func questions(n int) []string {
	w := newWords(7)
	starts := []string{"what did", "when was", "who has", "how did", "where is", "why was", "do you remember", "what are"}
	list := make([]string, n)
	for i := range list {
		topic := w.r.IntN(topics)
		q := []string{starts[w.r.IntN(len(starts))]}
		for range 2 + w.r.IntN(5) {
			for range w.r.IntN(3) {
				q = append(q, w.function())
			}
			q = append(q, w.content(topic))
		}
		list[i] = strings.Join(slices.Compact(q), " ") + "?"
	}
	return list
}

// entry writes a line of a daily log: about one topic, some 100 to 200 words.
func (w *words) entry(b *strings.Builder, day string) {
	topic := w.r.IntN(topics)
	fmt.Fprintf(b, `{"ts":"%sT%02d:%02d:00Z","category":"topic%d","content":"`, day, w.r.IntN(24), w.r.IntN(60), topic)
	w.text(b, topic, 100+w.r.IntN(100))
	b.WriteString("\"}\n")
}
