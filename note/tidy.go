package note

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"kioku/memory"
	"kioku/search/analysis"
)

const (
	// maxTidyEntries is the maximum number of entries of a file, or of some days, that are compared with each other.
	maxTidyEntries = 1000
	// sameEntry is the part of their terms that two entries have in common if they say the same.
	sameEntry = 0.85
	// minApart is the number of terms of entries below different headings that say the same: a short line may mean something else there.
	minApart = 4
	// minFrame is the number of words that two entries have in common at least if they contradict each other, and maxDiffering how many
	// each has beside them.
	minFrame, maxDiffering = 3, 2
	// maxApart is the number of terms that one of two entries that contradict each other has beside the other at most.
	maxApart = 8
)

// entry is a line of a file that says something.
type entry struct {
	line    int // from 1
	text    string
	terms   map[string]bool
	heading string
}

// Tidy returns what may be tidied in a text of a file of what stays true: entries that say the same, of which the more detailed or later one
// stays, and entries that contradict each other, of which the later one stays.
func Tidy(path string, src []byte) (all []memory.Untidy) {
	entries := entriesOf(src)
	gone := map[int]bool{}
	for i := range entries {
		for j := i + 1; j < len(entries) && !gone[i]; j++ {
			a, b := entries[i], entries[j]
			if gone[j] {
				continue
			}
			u := memory.Untidy{Path: path, Line: a.line, Text: a.text, OtherLine: b.line, Other: b.text}
			switch {
			case sayTheSame(a, b):
				u.Kind = memory.UntidyDuplicate
				if len(a.terms) > len(b.terms) {
					u.Line, u.Text, u.OtherLine, u.Other = b.line, b.text, a.line, a.text
					gone[j] = true
				}
			case contradict(a, b):
				u.Kind = memory.UntidyContradiction
			default:
				continue
			}
			gone[i] = gone[i] || !gone[j]
			u.ID = fmt.Sprintf("%s#L%d:%s", path, u.Line, fingerprint(u.Text)[:8])
			all = append(all, u)
		}
	}
	return all
}

// entriesOf returns the lines of a text that say something: items of lists and paragraphs of one line.
func entriesOf(src []byte) (all []entry) {
	heading := ""
	for n, line := range linesOf(src) {
		said := strings.TrimSpace(markerPattern.ReplaceAllString(line.Text, ""))
		switch {
		case line.Level > 0:
			heading = said
			continue
		case line.Fence != "", said == "", strings.ContainsAny(said[:1], "|<["):
			continue
		}
		said = strings.TrimSpace(said[len(listPrefix.FindString(said)):])
		if terms := contentSet(said); len(terms) >= minSimilarTerms && len(all) < maxTidyEntries {
			all = append(all, entry{n + 1, said, terms, heading})
		}
	}
	return all
}

func contentSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range analysis.ContentTerms(text) {
		set[w] = true
	}
	return set
}

// sayTheSame reports whether two entries say the same, in nearly the same words.
func sayTheSame(a, b entry) bool {
	if a.heading != b.heading && (len(a.terms) < minApart || len(b.terms) < minApart) || dice(a.terms, b.terms) < sameEntry {
		return false
	}
	onlyA, onlyB := beside(a, b), beside(b, a)
	return len(onlyA) == 0 || len(onlyB) == 0
}

// beside returns the words of an entry that another one lacks, as they are written.
func beside(a, b entry) (words []string) {
	for _, w := range wordPattern.FindAllString(a.text, -1) {
		for _, term := range analysis.ContentTerms(w) {
			if a.terms[term] && !b.terms[term] {
				words = append(words, w)
				break
			}
		}
	}
	return words
}

var (
	wordPattern = regexp.MustCompile(`[\p{L}\p{M}\p{N}][\p{L}\p{M}\p{N}.:/-]*`)
	numeric     = regexp.MustCompile(`^\d[\d.:/-]*$`)
	calendar    = analysis.WordSet(`monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays
january february march april may june july august september october november december morning evening noon night yes no true false on off
montag dienstag mittwoch donnerstag freitag samstag sonntag lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes miércoles jueves viernes sábado domingo`)
)

// contradict reports whether two entries below one heading say different values of the same thing: they have the same words in the same order
// but for numbers, days or names.
func contradict(a, b entry) bool {
	if both := common(a.terms, b.terms); both == 0 || max(len(a.terms), len(b.terms))-both > maxApart {
		return false
	}
	onlyA, onlyB := beside(a, b), beside(b, a)
	if a.heading != b.heading || len(onlyA) == 0 || len(onlyB) == 0 || len(onlyA) > maxDiffering || len(onlyB) > maxDiffering {
		return false
	}
	frame := frameOf(a, onlyA)
	return len(frame) >= minFrame && slices.Equal(frame, frameOf(b, onlyB)) && kindOf(onlyA) != "" && kindOf(onlyA) == kindOf(onlyB)
}

// common returns the number of terms that two sets have in common.
func common(a, b map[string]bool) (n int) {
	for term := range a {
		if b[term] {
			n++
		}
	}
	return n
}

// frameOf returns the words of an entry but for some.
func frameOf(e entry, without []string) (frame []string) {
	for _, w := range wordPattern.FindAllString(e.text, -1) {
		if !slices.Contains(without, w) {
			frame = append(frame, strings.ToLower(w))
		}
	}
	return frame
}

// kindOf returns what kind of value words are; empty if they are of several kinds, or no values.
func kindOf(words []string) (kind string) {
	for _, w := range words {
		k := ""
		first := []rune(w)[0]
		switch {
		case numeric.MatchString(w):
			k = "number"
		case calendar[strings.ToLower(w)]:
			k = "day"
		case unicode.IsUpper(first):
			k = "name"
		}
		if k == "" || kind != "" && k != kind {
			return ""
		}
		kind = k
	}
	return kind
}

// Untidy returns what is proposed for MEMORY.md and USER.md: what Tidy finds, and what the notes of the last days say.
func (f *Folder) Untidy(ctx context.Context) (all []memory.Untidy, err error) {
	all = []memory.Untidy{}
	days := f.lastDays()
	for _, name := range []string{longTermFile, userFile} {
		src, err := f.read(name)
		if errors.Is(err, memory.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, slices.Concat(Tidy(name, src), proposals(name, src, days))...)
	}
	return all, ctx.Err()
}

// TidyUp does what is proposed by some ids of Untidy, one update a file, and returns the updates. It returns a *memory.InputError, and
// changes nothing in that file, for an entry that was changed since.
func (f *Folder) TidyUp(ctx context.Context, ids []string) (done []memory.Updated, err error) {
	byFile := map[string][]string{}
	for _, id := range ids {
		name, _, _ := strings.Cut(id, "#")
		byFile[name] = append(byFile[name], id)
	}
	days := f.lastDays()
	for _, name := range slices.Sorted(maps.Keys(byFile)) {
		if name != longTermFile && name != userFile {
			return done, &memory.InputError{Field: "accept", Problem: fmt.Sprintf("%.80q is no entry of %s or %s", byFile[name][0], longTermFile, userFile)}
		}
		u, err := f.edit(ctx, name, func(src []byte) (patch, change, error) {
			out, left := src, slices.Clone(byFile[name])
			all := slices.Concat(Tidy(name, src), proposals(name, src, days))
			slices.SortStableFunc(all, func(a, b memory.Untidy) int { return b.Line - a.Line }) // what is missing comes last
			for _, u := range all {
				if i := slices.Index(left, u.ID); i >= 0 {
					left = slices.Delete(left, i, i+1)
					out = accepted(out, u)
				}
			}
			if len(left) > 0 {
				return patch{}, change{}, &memory.InputError{Field: "accept", Problem: fmt.Sprintf("%.80q was changed since; list the entries again", left[0])}
			}
			return narrow(patch{0, len(src), string(out)}, src), change{Reason: "tidied", Source: memory.NoteFromUser}, nil
		})
		if err != nil {
			return done, err
		}
		done = append(done, u)
	}
	return done, nil
}

// accepted returns a text with a proposal.
func accepted(src []byte, u memory.Untidy) []byte {
	from := offsetOf(src, u.Line-1)
	switch u.Kind {
	case memory.UntidyOutdated:
		from += strings.Index(string(src[from:]), u.Text)
		return patch{from, from + len(u.Text), u.Other}.apply(src)
	case memory.UntidyMissing:
		if len(src) > 0 && src[len(src)-1] != '\n' {
			src = append(slices.Clone(src), '\n')
		}
		return patch{len(src), len(src), "- " + u.Other + "\n"}.apply(src)
	}
	return removal(src, from, endOfLine(src, from)).apply(src)
}
