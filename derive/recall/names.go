package recall

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"kioku/derive/store"
	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/memory"
	"kioku/search/analysis"
)

const (
	// nameWords is the maximum number of words of a name that is looked up, and nameGlyphs that of its Japanese or Chinese characters.
	nameWords, nameGlyphs = 3, 6
	// maxCandidates bounds what is looked up for one query, and maxNames what comes of it.
	maxCandidates, maxNames = 1500, 8
)

// name is an entity that a message or its background names.
type name struct {
	// uid of the entity.
	uid string
	// surface is its name as it is shown.
	surface string
	// inMessage reports that the message itself names it.
	inMessage bool
	// at is where its last mention begins among the candidates: the greater, the later.
	at int
}

// candidates are the texts that may be names, by their norms, each with the place of its last mention.
type candidates struct {
	at    map[string]int
	order []string
}

// add adds a text that may be a name.
func (c *candidates) add(text string) {
	norm := vocab.Norm(text)
	if norm == "" || utf8.RuneCountInString(norm) < 2 {
		return
	}
	if _, known := c.at[norm]; !known {
		if len(c.order) >= maxCandidates {
			return
		}
		c.order = append(c.order, norm)
	}
	c.at[norm] = len(c.at)
}

var (
	latinRun = regexp.MustCompile(`[\p{L}\p{N}][\p{L}\p{N}\p{M}'’._-]*`)
	// honorifics follow names.
	honorifics = regexp.MustCompile(`(?:さん|さま|様|氏|先生|君|くん|ちゃん|殿)`)
)

// collect adds what may be a name in a text: runs of up to three words, and of Japanese and Chinese texts parts of runs of one script.
func (c *candidates) collect(text string) {
	for line := range strings.Lines(text) {
		for _, phrase := range strings.FieldsFunc(line, endsPhrase) {
			words := latinRun.FindAllString(phrase, -1)
			for i := range words {
				for n := 1; n <= nameWords && i+n <= len(words); n++ {
					if isStop(words[i]) || isStop(words[i+n-1]) {
						continue
					}
					joined := strings.Join(words[i:i+n], " ")
					c.add(strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(joined, "'s"), "’s"), "'’._-"))
				}
			}
		}
		c.collectGlyphs(line)
	}
}

// endsPhrase reports whether a character ends a phrase, so that no name goes across it.
func endsPhrase(r rune) bool {
	return strings.ContainsRune(",;:!?()[]{}\"“”「」『』、。，；：！？（）《》【】|", r)
}

// isStop reports whether a word is an English function word, with which no name begins or ends.
func isStop(word string) bool { return analysis.IsStopWord(strings.ToLower(word), analysis.Word) }

// collectGlyphs adds parts of the runs of Han characters and of katakana in a line. In a line with hiragana, words are mostly whole runs,
// their beginnings and their ends; in Chinese a name may be anywhere in a run.
func (c *candidates) collectGlyphs(line string) {
	japanese := strings.ContainsFunc(line, func(r rune) bool { return unicode.Is(unicode.Hiragana, r) })
	for _, run := range strings.FieldsFunc(honorifics.ReplaceAllString(line, "\n"), func(r rune) bool { return !isGlyph(r) }) {
		glyphs := []rune(run)
		for i := range glyphs {
			for n := 2; n <= len(glyphs)-i; n++ {
				whole := i == 0 && n == len(glyphs)
				edge := i == 0 || i+n == len(glyphs)
				if whole || n <= nameGlyphs && (!japanese || edge) {
					c.add(string(glyphs[i : i+n]))
				}
			}
		}
	}
}

// isGlyph reports whether a character may be part of a Japanese or Chinese name.
func isGlyph(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Katakana) || r == 'ー' || r == '・'
}

// findNames returns the entities below a ceiling that a message and its background name: those of the message first, then the latest.
func findNames(ctx context.Context, units Units, message, background string, ceiling memory.Sensitivity) ([]name, error) {
	inMessage := candidates{at: map[string]int{}}
	inMessage.collect(message)
	all := candidates{at: map[string]int{}}
	all.collect(background)
	for _, norm := range inMessage.order {
		all.add(norm)
	}
	if len(all.order) == 0 {
		return nil, nil
	}
	entities, err := units.Entities(ctx, store.EntityQuery{Norms: all.order, Limit: 100, MaxSensitivity: ceiling})
	if err != nil {
		return nil, err
	}
	var names []name
	for _, e := range entities {
		n := name{uid: cmp.Or(e.MergedInto, e.UID), surface: e.Name, at: -1}
		if isUserEntity(e) || slices.ContainsFunc(names, func(o name) bool { return o.uid == n.uid }) {
			continue
		}
		for _, alias := range append([]string{e.Name}, e.Aliases...) {
			norm := vocab.Norm(alias)
			if _, ok := inMessage.at[norm]; ok {
				n.inMessage = true
			}
			if at, ok := all.at[norm]; ok {
				n.at = max(n.at, at)
			}
		}
		names = append(names, n)
	}
	slices.SortStableFunc(names, func(a, b name) int { return cmp.Or(one(b.inMessage)-one(a.inMessage), cmp.Compare(b.at, a.at)) })
	return names[:min(len(names), maxNames)], nil
}

func isUserEntity(e unit.Entity) bool {
	return vocab.IsUser(memory.EntityRef{Type: e.Type, Name: e.Name, Qualifier: e.Qualifier})
}
