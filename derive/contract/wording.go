package contract

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"kioku/derive/vocab"
	"kioku/search/analysis"
)

// ReasonInvented is a number, a date, an address, a name or a quotation that the input does not have.
const ReasonInvented = "not in the input"

// wording finds what a text of a model says and its input does not.
type wording struct {
	// input is what the prompt shows but for the numbers of lines and episodes, folded for names.
	input string
	// numbers are the runs of digits of the input, without zeros before them, and terms its terms.
	numbers, terms map[string]bool
	// spelt are the words of the input, and two and three of them in a row as one: "vs code" is "vscode".
	spelt map[string]bool
	// months and weekdays of the dates of the input, in lower case.
	calendar map[string]bool
}

// newWording prepares the words of an input.
func newWording(whole string) *wording {
	s := &wording{input: foldName(whole), numbers: map[string]bool{}, terms: vocab.Terms(whole), calendar: map[string]bool{}, spelt: map[string]bool{}}
	for _, n := range append(digits.FindAllString(s.input, -1), spelledNumbers(s.input)...) {
		s.numbers[plainNumber(n)] = true
	}
	all := partsOf(s.input)
	for i := range all {
		all.rows(i, i, func(row string) bool {
			s.spelt[row] = true
			return false
		})
	}
	for _, day := range isoDate.FindAllString(s.input, -1) {
		if t, err := time.Parse(time.DateOnly, day); err == nil {
			for _, layout := range []string{"January", "Jan", "Monday", "Mon"} {
				s.calendar[strings.ToLower(t.Format(layout))] = true
			}
		}
	}
	return s
}

var (
	// digits is a number with the separators within it.
	digits = regexp.MustCompile(`\d+(?:[,.]\d+)*`)
	// isoDate is a day.
	isoDate = regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}\b`)
	// address is a URL, an address of mail, or a path.
	address = regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]*://[^\s<>"'」』）)]+|\bwww\.[^\s<>"'」』）)]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+`)
	// quotation is a phrase between quotation marks.
	quotation = regexp.MustCompile(`"([^"\n]{2,})"|“([^”\n]{2,})”|「([^」\n]{2,})」|『([^』\n]{2,})』|«([^»\n]{2,})»`)
	// honoured is a name with what is said after names in Japanese and Chinese.
	honoured = regexp.MustCompile(`([\p{Han}\p{Katakana}ー]{1,12})(?:さん|さま|氏|先生|ちゃん|くん|女士|小姐|老师|同学)`)
	// foreign is a name of several parts in Katakana.
	foreign = regexp.MustCompile(`[\p{Katakana}ー]+(?:[・＝][\p{Katakana}ー]+)+`)
	// word is one of a script that has capital letters, with what joins names. Characters of other scripts end it.
	word = regexp.MustCompile(`[\p{Ll}\p{Lu}\p{Lt}\p{M}\p{N}]+(?:['’-][\p{Ll}\p{Lu}\p{N}]+)*`)
)

// honouredWords are no names, but are said with an honorific.
var honouredWords = strings.Fields(`皆 客 母 父 兄 姉 奥 妹 弟 娘 息子 祖母 祖父 叔母 伯母 叔父 伯父 義母 義父 孫 嫁 婿 隣 医者 店員 赤
小学 中学 初中 高中 大学 同班 老 新 男 女`)

// plainNumber returns a number without separators of thousands and zeros before it.
func plainNumber(n string) string {
	n = strings.ReplaceAll(n, ",", "")
	if trimmed := strings.TrimLeft(n, "0"); trimmed != "" && trimmed[0] != '.' {
		return trimmed
	}
	return n
}

// problem returns why a text may not stand in a summary, empty strings if it may.
func (s *wording) problem(text string) (reason, rule string) {
	if commandsReader(text) {
		return ReasonInstruction, "must not tell anybody what to do"
	}
	return s.invented(text)
}

// invented is problem for a text that may tell somebody what to do.
func (s *wording) invented(text string) (reason, rule string) {
	normalized := analysis.Normalize(text)
	for _, find := range []func(string) string{s.inventedAddress, s.inventedDate, s.inventedNumber, s.inventedIdentifier, s.inventedQuote, s.inventedName} {
		if found := find(normalized); found != "" {
			return ReasonInvented, fmt.Sprintf("%.60q does not stand in the data", found)
		}
	}
	return "", ""
}

func (s *wording) inventedAddress(text string) string {
	for _, a := range address.FindAllString(text, -1) {
		if !strings.Contains(s.input, foldName(strings.TrimRight(a, ".,;:!?"))) {
			return a
		}
	}
	return ""
}

func (s *wording) inventedDate(text string) string {
	for _, day := range isoDate.FindAllString(text, -1) {
		if !strings.Contains(s.input, day) {
			return day
		}
	}
	return ""
}

// inventedNumber checks the runs of digits of a text: 13 in the input is no 3. A number with a fraction is one number, and
// 2026-11-20 are three.
func (s *wording) inventedNumber(text string) string {
	for _, n := range digits.FindAllString(text, -1) {
		if !s.numbers[plainNumber(n)] {
			return n
		}
	}
	return ""
}

func (s *wording) inventedIdentifier(text string) string {
	a := analysis.NewAnalyzer()
	defer a.Release()
	a.Add(text)
	for _, id := range a.Identifiers() {
		if digits.FindString(id) != id && !s.terms[id] && !hasName(s.input, foldName(id)) && !s.spells(partsOf(id), 0, len(id)) {
			return id
		}
	}
	return ""
}

func (s *wording) inventedQuote(text string) string {
	for _, m := range quotation.FindAllStringSubmatch(text, -1) {
		phrase := strings.Join(m[1:], "")
		if !strings.Contains(s.input, foldName(strings.TrimRight(phrase, ".,;:!?。、，！？ "))) && !s.hasTerms(phrase) {
			return phrase
		}
	}
	return ""
}

// inventedName returns a name that the input does not have: a word with a capital in the middle of a sentence, a name with an honorific
// in Japanese or Chinese, or a name of several parts in Katakana. In German, in which all nouns have capitals, it finds only words
// that end in one.
func (s *wording) inventedName(text string) string {
	for _, m := range honoured.FindAllStringSubmatch(text, -1) {
		plain := slices.ContainsFunc(honouredWords, func(w string) bool { return m[1] == w || len([]rune(w)) > 1 && strings.HasSuffix(m[1], w) })
		if !plain && !s.endsWithName(m[1]) {
			return m[0]
		}
	}
	for _, name := range foreign.FindAllString(text, -1) {
		for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '・' || r == '＝' }) {
			if !strings.Contains(s.input, foldName(part)) {
				return name
			}
		}
	}
	german, parts := analysis.Detect(text).Language() == analysis.German, partsOf(text)
	for _, at := range word.FindAllStringIndex(text, -1) {
		w := text[at[0]:at[1]]
		if strings.ContainsFunc(w, unicode.IsUpper) && !s.knowsWord(w, text[:at[0]], german) && !s.spells(parts, at[0], at[1]) {
			return w
		}
	}
	return ""
}

// part is a run of letters of a script that has capitals, or of digits.
type part struct {
	from, to int
	text     string // folded
	apart    bool   // more than a blank, a hyphen or an apostrophe is before it
}

type parts []part

var (
	partPattern = regexp.MustCompile(`[\p{Ll}\p{Lu}\p{Lt}\p{M}]+|\p{N}+`)
	partsJoin   = regexp.MustCompile(`^[ '’‐-]?$`)
)

func partsOf(text string) parts {
	var all parts
	end := 0
	for _, at := range partPattern.FindAllStringIndex(text, -1) {
		all = append(all, part{at[0], at[1], foldName(text[at[0]:at[1]]), !partsJoin.MatchString(text[end:at[0]])})
		end = at[1]
	}
	return all
}

// rows calls do with the rows of up to three parts that begin at first and have the part i, as one word, until it returns true.
func (p parts) rows(first, i int, do func(row string) bool) bool {
	row := ""
	for n := first; n < min(first+3, len(p)) && (n == first || !p[n].apart); n++ {
		if row += p[n].text; n >= i && do(row) {
			return true
		}
	}
	return false
}

// spells reports whether the input has what stands in a part of a text, with blanks and hyphens in other places: Wi-Fi is WiFi, and
// Windows 11 is Windows11.
func (s *wording) spells(all parts, from, to int) bool {
	known := false
	for i, p := range all {
		if p.from < from || p.to > to {
			continue
		}
		known = false
		for first := max(0, i-2); first <= i && !known; first++ {
			known = all.rows(first, i, func(row string) bool { return s.spelt[row] })
		}
		if !known {
			return false
		}
	}
	return known
}

// Numbers in words, and in Chinese characters, which texts write with digits too.
var (
	numberWords = strings.Fields("one two three four five six seven eight nine ten eleven twelve")
	hanNumber   = regexp.MustCompile(`[〇零一二两三四五六七八九十百]+`)
	hanDigits   = map[rune]int{'〇': 0, '零': 0, '一': 1, '二': 2, '两': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9}
	hanTens     = map[rune]int{'十': 10, '百': 100}
)

// spelledNumbers returns the numbers in a folded text that are written in words, with digits.
func spelledNumbers(text string) (all []string) {
	for i, w := range numberWords {
		if hasName(text, w) {
			all = append(all, strconv.Itoa(i+1))
		}
	}
	for _, run := range hanNumber.FindAllString(text, -1) {
		sum, digit, plain := 0, 0, ""
		for _, r := range run {
			if tens, ok := hanTens[r]; ok {
				sum, digit, plain = sum+max(1, digit)*tens, 0, plain+"?"
				continue
			}
			digit = hanDigits[r]
			plain += strconv.Itoa(digit)
		}
		if all = append(all, strconv.Itoa(sum+digit)); !strings.Contains(plain, "?") {
			all = append(all, plain) // 二〇二六
		}
	}
	return all
}

// endsWithName reports whether the end of a run of characters, of at least two if it has as many, stands in the input: the characters
// before a name belong to other words.
func (s *wording) endsWithName(run string) bool {
	runes := []rune(run)
	for from := range runes {
		if len(runes)-from < min(2, len(runes)) {
			return false
		}
		if strings.Contains(s.input, foldName(string(runes[from:]))) {
			return true
		}
	}
	return false
}

// knowsWord reports whether a word with a capital is one of the input, a month or weekday of it, or a plain word that begins a
// sentence.
func (s *wording) knowsWord(word, before string, german bool) bool {
	before = strings.TrimRight(before, " \t\n\"'“‘(「『*")
	last, _ := utf8.DecodeLastRuneInString(before)
	begins := before == "" || strings.ContainsRune(".!?:;。！？：；-–—•", last)
	folded := foldName(word)
	base := strings.TrimSuffix(strings.TrimSuffix(folded, "'s"), "’s")
	switch {
	case utf8.RuneCountInString(word) == 1, hasName(s.input, folded), hasName(s.input, base), s.calendar[base]:
		return true
	case analysis.IsStopWord(folded, analysis.Word, analysis.English), s.hasTerms(base):
		return true
	case german && unicode.IsLower(lastRune(word)):
		return true
	}
	return begins && isPlainOpening(folded)
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// hasTerms reports whether the input has all terms of a word, in whatever form: Meetings for meeting.
func (s *wording) hasTerms(word string) bool {
	terms := analysis.Terms(word)
	return len(terms) > 0 && !slices.ContainsFunc(terms, func(term string) bool { return !s.terms[term] })
}

// openings are words with which sentences of summaries begin and that are no names.
var openings = analysis.WordSet(`
work plans plan overall several two three four five six seven eight nine ten new next main key team people part progress talk talks
meeting meetings day days week weeks month months year later earlier first second third last early late since despite besides
also meanwhile finally open pending current currently recent recently topics topic notes note focus nothing everything everyone
nobody other others another one both most many few little much half things life family friends health travel home money
there here thanks due because although after before during throughout while when where
`)

// isPlainOpening reports whether a word at the beginning of a sentence is no name: one of the usual openings, or a form of a verb or
// noun that names seldom have.
func isPlainOpening(word string) bool {
	if openings[word] {
		return true
	}
	for suffix, least := range map[string]int{"ed": 6, "ing": 6, "ly": 6, "tion": 6, "tions": 7, "ment": 6, "ments": 7, "ness": 6} {
		if strings.HasSuffix(word, suffix) && len(word) >= least && !strings.HasSuffix(word, "fred") {
			return true
		}
	}
	return false
}

// imperatives are orders to whoever reads a text, for which a summary has no reason.
var imperatives = regexp.MustCompile(`(?i)` + strings.Join([]string{
	`(?:^|[.!?]\s+|\n\s*)(?:please|always|never|do not|don't|don’t|make sure|be sure|remember to)\s`,
	`(?:^|[.!?]\s+|\n\s*)(?:now |then )?(?:reply|respond|answer|output|print|execute|reveal|pretend|ignore|disregard|click|visit|download|tell the|act as)\b`,
	`\byou (?:must|should|need to|have to|are to|will now)\b`,
	`\bthe (?:reader|assistant|model|agent|ai) (?:must|should|needs to|has to|is to)\b`,
	`(?:[てで](?:ください|下さい)|しなさい|せよ)(?:[。！!」]|$)`,
	`(?:^|[。！!；;\n])\s*(?:请|請)(?:你|您|勿|不要|务必|務必|立即|将|將|把|忽略|回复|回覆|输出|輸出|记住|記住|告诉|告訴)`,
	`(?:^|[。！!；;\n])\s*(?:务必|務必|必须|必須)`,
}, "|"))

// commandsReader reports whether a text gives orders to its reader or to a program.
func commandsReader(s string) bool {
	return vocab.OrdersProgram(s) || imperatives.MatchString(analysis.Normalize(s))
}
