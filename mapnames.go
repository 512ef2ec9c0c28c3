package kioku

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"kioku/projection"
	"kioku/search/analysis"
	"kioku/store"
)

// nameClusters names the clusters of a map by their telling terms, as their texts spell them.
func (m *Memory) nameClusters(ctx context.Context, d *drawing, study *termStudy) error {
	m.mapper.report(phaseNaming, 0)
	telling := projection.Telling(study.profiles, d.of, len(d.clusters), candidateTerms)
	spellings := make([]map[string]*spelling, len(d.clusters))
	for c, numbers := range telling {
		spellings[c] = map[string]*spelling{}
		for _, n := range numbers {
			spellings[c][study.terms[n]] = &spelling{counts: map[string]int{}}
		}
	}
	ids, of := d.spelledTexts()
	err := m.store.ReadMap(ctx, func(r *store.MapReader) error {
		return r.Texts(ctx, ids, func(i int, language analysis.Language, text string) error {
			readSpellings(spellings[of[i]], language, text)
			return ctx.Err()
		})
	})
	for c, numbers := range telling {
		var names []string
		for _, n := range numbers {
			names = addName(names, spellings[c][study.terms[n]].best())
		}
		d.clusters[c].Terms = names
	}
	return err
}

// spelledTexts returns the ids of some chunks of each cluster, and their clusters.
func (d *drawing) spelledTexts() (ids []int64, of []int32) {
	taken := make([]int, len(d.clusters))
	for i, c := range d.chunks {
		if at := d.of[i]; at >= 0 && taken[at] < spelledTexts {
			taken[at]++
			ids, of = append(ids, c.ID), append(of, at)
		}
	}
	return ids, of
}

// spelling is how texts spell a term.
type spelling struct {
	// counts are the numbers of each spelling.
	counts map[string]int
	// runs are the places of a bigram in runs of its script.
	runs []glyphRun
}

// glyphRun is a run of characters of one script in which a bigram is found.
type glyphRun struct {
	text []rune
	at   int
}

const (
	// maxRun is the number of characters that are looked at on each side of a bigram.
	maxRun = 16
	// maxWord is the maximum number of characters of a word that a bigram is extended to.
	maxWord = 8
)

// readSpellings notes how a text spells terms.
func readSpellings(terms map[string]*spelling, language analysis.Language, text string) {
	eachTerm(language, text, func(a *analysis.Analyzer, t analysis.Token) {
		s, ok := terms[t.Term]
		switch {
		case !ok:
		case t.Kind == analysis.Gram:
			s.runs = append(s.runs, runAround(a.Text, int(t.Start)))
		default:
			s.counts[strings.Clone(a.Text[t.Start:t.End])]++
		}
	})
}

// runAround returns the characters of the same script around an offset.
func runAround(text string, at int) glyphRun {
	first, _ := utf8.DecodeRuneInString(text[at:])
	script := scriptOf(first)
	var run glyphRun
	for before := text[:at]; len(run.text) < maxRun; {
		r, size := utf8.DecodeLastRuneInString(before)
		if size == 0 || scriptOf(r) != script {
			break
		}
		run.text = append(run.text, r)
		before = before[:len(before)-size]
	}
	slices.Reverse(run.text)
	run.at = len(run.text)
	for _, r := range text[at:] {
		if scriptOf(r) != script || len(run.text) > run.at+maxRun {
			break
		}
		run.text = append(run.text, r)
	}
	return run
}

// best returns the most frequent spelling of a word, or the word that a bigram is most often a part of; empty if the term was not found.
func (s *spelling) best() string {
	if len(s.runs) > 0 {
		return wordAround(s.runs)
	}
	return mostFrequent(s.counts)
}

// mostFrequent returns the word with the highest count, the shorter one of two; empty if there is none.
func mostFrequent(counts map[string]int) string {
	best := ""
	for word, n := range counts {
		if c := cmp.Or(cmp.Compare(n, counts[best]), cmp.Compare(len(best), len(word)), strings.Compare(best, word)); best == "" || c > 0 {
			best = word
		}
	}
	return best
}

// wordAround returns the word that a bigram is a part of. In katakana, where words end with the script, it is the most frequent run.
// Elsewhere the bigram is extended as long as most of its places continue alike (the idea of the
// branching entropy of Jin, Tanaka-Ishii: Unsupervised segmentation of Chinese text, COLING/ACL 2006: within a word the next character
// is certain).
func wordAround(runs []glyphRun) string {
	if first := runs[0]; scriptOf(first.text[first.at]) == unicode.Katakana {
		return mostFrequentRun(runs)
	}
	from, to := 0, 2
	for to-from < maxWord {
		next, right := mostFrequentAt(runs, to)
		before, left := mostFrequentAt(runs, from-1)
		switch {
		case right >= left && isWord(right, len(runs)):
			runs = keepRuns(runs, to, next)
			to++
		case isWord(left, len(runs)):
			runs = keepRuns(runs, from-1, before)
			from--
		default:
			return string(runs[0].text[runs[0].at+from : runs[0].at+to])
		}
	}
	return string(runs[0].text[runs[0].at+from : runs[0].at+to])
}

// mostFrequentRun returns the whole run that occurs most often, the shorter one of two.
func mostFrequentRun(runs []glyphRun) string {
	counts := map[string]int{}
	for _, run := range runs {
		counts[string(run.text)]++
	}
	return mostFrequent(counts)
}

// isWord reports whether so many of all places continue alike that it is by a word.
func isWord(n, all int) bool { return n >= 2 && 3*n >= 2*all }

// mostFrequentAt returns the most frequent character at an offset from the bigram, and its number.
func mostFrequentAt(runs []glyphRun, offset int) (best rune, n int) {
	counts := map[rune]int{}
	for _, run := range runs {
		if at := run.at + offset; at >= 0 && at < len(run.text) {
			counts[run.text[at]]++
		}
	}
	for r, c := range counts {
		if c > n || c == n && r < best {
			best, n = r, c
		}
	}
	return best, n
}

// keepRuns returns the runs with a character at an offset.
func keepRuns(runs []glyphRun, offset int, r rune) []glyphRun {
	var kept []glyphRun
	for _, run := range runs {
		if at := run.at + offset; at >= 0 && at < len(run.text) && run.text[at] == r {
			kept = append(kept, run)
		}
	}
	return kept
}

// addName adds a word to the names of a cluster, unless there are enough, or it is a part of another or another of it.
func addName(names []string, word string) []string {
	if word == "" || len(names) >= clusterTerms {
		return names
	}
	lower := strings.ToLower(word)
	for i, other := range names {
		other = strings.ToLower(other)
		if strings.Contains(other, lower) {
			return names
		}
		if strings.Contains(lower, other) && scriptOf([]rune(lower)[0]) != nil {
			names[i] = word // the longer one is the whole word
			return names
		}
	}
	return append(names, word)
}
