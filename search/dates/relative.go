package dates

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"kioku/search/analysis"
)

// relativeRules return the rules of each tongue, which are made when they are first needed, and tongueWords contains, for each word without which a tongue names no day, the tongues
// that have it. Most texts contain none of these words.
var (
	relativeRules []func() []dateRule
	tongueWords   = make(map[string][]int)
)

func init() {
	for i, t := range tongues {
		r := newTongueReader(t)
		relativeRules = append(relativeRules, sync.OnceValue(r.rules))
		words := []string{strings.ReplaceAll(plain(t.ago), "#", "")}
		for _, list := range []map[string]int{r.days, r.years, r.weekdays} {
			words = slices.AppendSeq(words, maps.Keys(list))
		}
		for w, meaning := range r.beside {
			if meaning != beforeWeekday {
				words = append(words, w)
			}
		}
		for _, w := range words {
			w = longestOf(wordsOf(w))
			tongueWords[w] = append(tongueWords[w], i)
		}
	}
}

// wordsOf returns the words of a text.
func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
}

// appendRelative appends the days that a text names in the tongues. Korean words have particles after them, so that any is tried.
func appendRelative(found []dated, norm, low string, today time.Time) []dated {
	seen := make([]bool, len(tongues))
	for w := range strings.FieldsFuncSeq(low, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if r, _ := utf8.DecodeRuneInString(w); unicode.Is(unicode.Hangul, r) {
			seen[len(tongues)-1] = true
		}
		for _, i := range tongueWords[analysis.Unaccented(w)] {
			seen[i] = true
		}
	}
	for i, rules := range relativeRules {
		if seen[i] {
			found = appendDates(found, rules(), norm, low, today)
		}
	}
	return found
}

// tongueReader reads the days of a tongue. Its words have no accents.
type tongueReader struct {
	tongue
	days, years, weekdays, numbers, beside, units map[string]int
}

// What a word beside a unit or a weekday means: -1 is the past, 0 this one, 1 the future; beforeWeekday only leads to one.
const beforeWeekday = 2

func newTongueReader(t tongue) *tongueReader {
	r := &tongueReader{tongue: t, days: numbered(t.days), years: numbered(t.years), weekdays: make(map[string]int), numbers: make(map[string]int),
		beside: make(map[string]int), units: make(map[string]int)}
	list := strings.Fields(t.units)
	for i := 0; i+1 < len(list); i += 2 {
		r.units[plain(list[i])] = int(list[i+1][0])
	}
	for i, names := range strings.Fields(t.weekdays) {
		for name := range strings.SplitSeq(names, "|") {
			r.weekdays[plain(name)] = i
		}
	}
	for i, names := range strings.Fields(t.numbers) {
		for name := range strings.SplitSeq(names, "|") {
			r.numbers[plain(name)] = i + 1
		}
	}
	for few := range strings.FieldsSeq(t.few) {
		r.numbers[plain(few)] = 0
	}
	for meaning, words := range map[int]string{-1: t.past, 0: t.this, 1: t.ahead, beforeWeekday: t.on} {
		for w := range strings.FieldsSeq(words) {
			r.beside[plain(w)] = meaning
		}
	}
	return r
}

func longestOf(list []string) string {
	return slices.MaxFunc(list, func(a, b string) int { return len(a) - len(b) })
}

// plain returns a word of a table as it is looked up.
func plain(word string) string { return analysis.Unaccented(strings.ReplaceAll(word, "_", " ")) }

// numbered reads a list of words with a number after each.
func numbered(list string) map[string]int {
	words, fields := make(map[string]int), strings.Fields(list)
	for i := 0; i+1 < len(fields); i += 2 {
		words[plain(fields[i])], _ = strconv.Atoi(fields[i+1])
	}
	return words
}

// anyOf returns an expression for any of some words, the longest first. A vowel also matches with an accent, as do c and n.
func anyOf(words []string) string {
	words = slices.Clone(words)
	slices.SortFunc(words, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	for i, w := range words {
		words[i] = accents.Replace(regexp.QuoteMeta(w))
	}
	return strings.Join(slices.Compact(words), "|")
}

var accents = strings.NewReplacer("a", "[aàáâãäå]", "e", "[eèéêë]", "i", "[iìíîï]", "o", "[oòóôõö]", "u", "[uùúûü]", "c", "[cç]", "n", "[nñ]", "_", " ")

// romance are the languages that put an adjective after its noun.
var romance = []analysis.Language{analysis.French, analysis.Spanish, analysis.Italian, analysis.Portuguese}

// rules returns the rules of the tongue.
func (r *tongueReader) rules() []dateRule {
	space := " "
	if r.language == korean {
		space = " ?"
	}
	words := func(m map[string]int) string {
		var list []string
		for w := range m {
			list = append(list, w)
		}
		return anyOf(list)
	}
	number := `(?:(?P<n>\d{1,4}|` + words(r.numbers) + `)` + space + `)?`
	unit := `(?P<unit>` + words(r.units) + `)`
	ago := strings.NewReplacer("##", number+unit, "#_#", number+unit, "_", space).Replace(r.ago)
	ago = strings.Replace(ago, "ha", "h[aá]", 1)
	before, after := `(?:(?P<pre>`+words(r.beside)+`)`+space+`)?`, ""
	if slices.Contains(romance, r.language) {
		after = `(?: (?P<post>` + words(r.beside) + `))?`
	}
	rules := []dateRule{
		{regexp.MustCompile(`(?P<word>` + words(r.days) + `)`), r.readDay},
		{regexp.MustCompile(ago), r.readAgo},
		{regexp.MustCompile(before + unit + after), r.readUnit},
		{regexp.MustCompile(before + `(?P<weekday>` + words(r.weekdays) + `)` + after), r.readWeekday},
	}
	if len(r.years) > 0 {
		rules = append(rules, dateRule{regexp.MustCompile(`(?P<word>` + words(r.years) + `)`), func(m match) (days, bool) {
			return yearOf(m.today.Year() - r.years[m.get("word")]), r.isWhole(m)
		}})
	}
	return rules
}

// isWhole reports whether the expression is no part of longer words.
func (r *tongueReader) isWhole(m match) bool {
	before, _ := utf8.DecodeLastRuneInString(m.before())
	after, _ := utf8.DecodeRuneInString(m.after())
	return !unicode.IsLetter(before) && (r.language == korean || !unicode.IsLetter(after))
}

// readDay reads gestern, avant-hier and 어제.
func (r *tongueReader) readDay(m match) (days, bool) {
	word := plain(m.get("word"))
	n := r.days[word]
	switch {
	case !r.isWhole(m), word == "hier" && !isFrench(m.low):
		return days{}, false
	case n < 0:
		return days{ahead: true}, true
	}
	d := oneDay(m.today.AddDate(0, 0, -n))
	d.near = true
	return d, true
}

// isFrench reports whether a text with hier, which is "here" in German and Dutch, is French.
func isFrench(low string) bool {
	french, other := 0, 0
	for w := range strings.FieldsFuncSeq(low, func(r rune) bool { return !unicode.IsLetter(r) }) {
		switch {
		case w == "hier":
		case analysis.IsStopWord(w, analysis.Word, analysis.French):
			french++
		case analysis.IsStopWord(w, analysis.Word, analysis.German), analysis.IsStopWord(w, analysis.Word, analysis.Dutch):
			other++
		}
	}
	if french == other {
		return analysis.Detect(low).Guess(analysis.French, analysis.German, analysis.Dutch) == analysis.French
	}
	return french > other
}

// readAgo reads vor zwei Wochen, il y a 3 jours and 3일 전. Only Russian leaves one out (неделю назад).
func (r *tongueReader) readAgo(m match) (days, bool) {
	number, unit := m.get("n"), byte(r.units[plain(m.get("unit"))])
	n, isWord := r.numbers[plain(number)]
	switch {
	case !r.isWhole(m), unit == 'e':
		return days{}, false
	case number == "":
		return ago(m.today, 1, unit)
	case isWord && n == 0:
		return aFewAgo(m.today, unit)
	case !isWord:
		n = m.number("n")
	}
	return ago(m.today, n, unit)
}

// meaning returns what the words beside a unit or a weekday mean, and false if there are none.
func (r *tongueReader) meaning(m match) (int, bool) {
	for _, group := range []string{"post", "pre"} {
		if word := m.get(group); word != "" && r.beside[plain(word)] != beforeWeekday {
			return r.beside[plain(word)], true
		}
	}
	return 0, false
}

// readUnit reads letzte Woche, le mois dernier and 지난달.
func (r *tongueReader) readUnit(m match) (days, bool) {
	back, ok := r.meaning(m)
	unit := byte(r.units[plain(m.get("unit"))])
	switch {
	case !ok, !r.isWhole(m), unit == 'd':
		return days{}, false
	case back > 0:
		return days{ahead: true}, true
	case unit == 'e':
		return weekOf(m.today, back).weekend(), true
	}
	return ago(m.today, -back, unit)
}

// readWeekday reads letzten Freitag, vendredi dernier and в пятницу.
func (r *tongueReader) readWeekday(m match) (days, bool) {
	name := m.get("weekday")
	n := r.weekdays[plain(name)]
	which, ok := r.meaning(m)
	unsure := slices.Contains(strings.Fields(r.unsure), name) && m.get("pre")+m.get("post") == ""
	switch {
	case !r.isWhole(m), unsure:
		return days{}, false
	case !ok:
		return recentWeekday(m.today, n), true
	case which > 0:
		return days{ahead: true}, true
	case which == 0:
		return weekOf(m.today, 0).weekday(n), true
	}
	return recentWeekday(m.today.AddDate(0, 0, -1), n), true
}
