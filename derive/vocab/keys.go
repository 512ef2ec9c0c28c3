package vocab

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"kioku/memory"
	"kioku/search/analysis"
)

// Norm returns the form in which names are compared: NFKC, lower case, Latin letters without accents, simplified for traditional
// Chinese characters, and single spaces. Japanese keeps its kana: ハル and はる are two names. It is empty for a name without a
// letter and a digit.
func Norm(name string) string {
	lower := analysis.FoldHan(analysis.Unaccented(analysis.ToLower(analysis.Normalize(name))))
	lower = strings.Join(strings.Fields(lower), " ")
	lower = strings.TrimFunc(lower, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsPunct(r) && r != '#' || r == '`'
	})
	if strings.IndexFunc(lower, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) < 0 {
		return ""
	}
	return lower
}

// BeginsName reports whether a longer name begins with a name, both as norms: "clara whitfield" with "clara", 田中太郎 with 田中. Of
// Latin letters and kana it begins with whole words.
func BeginsName(name, longer string) bool {
	rest, ok := strings.CutPrefix(longer, name)
	if !ok || rest == "" || name == "" {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(name)
	next, _ := utf8.DecodeRuneInString(rest)
	return next == ' ' || next == '・' || unicode.Is(unicode.Han, last) && unicode.Is(unicode.Han, next)
}

// article begins a noun in English.
var article = regexp.MustCompile(`^(?:the|an?) `)

// NormObject returns the form in which objects of facts are compared: that of names, without an English article.
func NormObject(text string) string { return article.ReplaceAllString(Norm(text), "") }

// EntityUID returns the UID of an entity: 32 hexadecimal digits of the hash of type, norm and qualifier.
func EntityUID(ref memory.EntityRef) string {
	return UnitUID("entity", ref.Type, Norm(ref.Name), Norm(ref.Qualifier))
}

// FactKey returns the hash of a fact, 64 hexadecimal digits: what it says of whom, whenever it holds. It is what a forgotten fact
// is recognised by.
func FactKey(subject memory.EntityRef, predicate, object string) string {
	return hashOf("fact", EntityUID(subject), predicate, NormObject(object))
}

// LoopKey returns the hash of what is open, 64 hexadecimal digits. Marks of lists, check boxes, words such as "TODO:" or "done:" and
// the day when it is due do not count: "- [x] call Ana" closes "TODO: call Ana by Friday".
func LoopKey(text string) string { return hashOf("loop", loopNorm(text)) }

// UnitUID returns 32 hexadecimal digits of the hash of parts.
func UnitUID(parts ...string) string { return hashOf(parts...)[:32] }

// hashOf returns the SHA-256 of parts in hexadecimal digits. Different parts are different inputs: their lengths are hashed too.
func hashOf(parts ...string) string {
	h := sha256.New()
	var size [8]byte
	for _, p := range parts {
		n := uint64(len(p))
		for i := range size {
			size[i] = byte(n >> (8 * i))
		}
		h.Write(size[:])
		h.Write([]byte(p))
	}
	return hex.EncodeToString(h.Sum(nil))
}

var (
	// loopMark is what stands before the text of a loop or of its end.
	loopMark = regexp.MustCompile(`^(?:\s*(?:[-*+]|\d+[.)]|\[[ xX]\]|` +
		`(?i:to-?do|open|done|finished|completed|closed|fixed|action item|要対応|要確認|対応待ち|やること|未対応|完了|済み?|対応済み?|待办(?:事项)?|待辦(?:事項)?|待处理|待處理|已完成|完成)\s*[:：]))+\s*`)
	// dueMark is the day at the end, or in brackets, when something is due.
	dueMark = regexp.MustCompile(`(?i)[\s,;(（【\[]*\b(?:(?:is )?due(?: date)?:?(?: on| by)?|by|before|until|no later than|deadline:?)\s+` +
		`(?:the |next |this |end of |early |mid-?)*` +
		`(?:\d{4}-\d{2}(?:-\d{2})?|\d{1,2}(?:st|nd|rd|th)?(?: of)?(?: (?:` + monthWord + `))?(?: \d{4})?|(?:` + monthWord + `)\.?(?: \d{1,2}(?:st|nd|rd|th)?)?(?:,? \d{4})?|` +
		`(?:mon|tues?|wednes|wed|thurs?|thu|fri|satur|sat|sun)(?:day)?|today|tonight|tomorrow|noon|week|month|year|weekend|eod|eow)\s*[)\]）】]*\s*[.!]*\s*$`)
	// taskDay are the days that plugins of editors write behind a task.
	taskDay = regexp.MustCompile(`(?:\s*[📅⏳🛫➕✅]\x{fe0f}?\s*\d{4}-\d{2}-\d{2})+\s*$`)
	// dueHan is the same in Japanese and Chinese, at the beginning or in brackets at the end.
	dueHan = regexp.MustCompile(`^(?:` + hanDay + `)(?:までに?|迄に?|之前|以前|前)[、,，\s]*|[\s,、，(（【\[]*(?:期限|締切|締め切り|截止(?:日期)?)?\s*[:：は]?\s*(?:` + hanDay + `)\s*(?:までに?|迄に?|之前|以前|前|截止)\s*[)）】\]]*\s*[。.!！]*\s*$`)
)

// monthWord are the names of months, and hanDay the days that Japanese and Chinese due dates are written with.
const (
	monthWord = `jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?`
	hanDay    = `(?:\d{4}年)?\d{1,2}月(?:\d{1,2}[日号號]?|末|底|初|中旬|上旬|下旬)?|\d{4}-\d{2}-\d{2}|\d{1,2}[日号號/]\d{0,2}|今日|明日|明後日|今天|明天|后天|後天|` +
		`(?:今|来|來|再来)?週(?:の?[月火水木金土日]曜?日?|末|中)?|[月火水木金土日]曜日?|(?:本|这|這|下|下个)?(?:周|星期|禮拜|礼拜)[一二三四五六日天末]?|今月末?|来月末?|月末|月底|年末|年底|今年中|(?:本|这个|下个?)月底?`
)

// SplitDue returns the text of a loop without the words at its end, or in Japanese and Chinese at its beginning, that say when it
// is due, and these words, which are empty if there are none. A text that is nothing else stays whole.
func SplitDue(text string) (rest, due string) {
	for _, expression := range []*regexp.Regexp{taskDay, dueMark, dueHan} {
		at := expression.FindStringIndex(text)
		if at == nil {
			continue
		}
		rest := strings.TrimSpace(text[:at[0]] + text[at[1]:])
		if Norm(rest) != "" {
			return rest, strings.TrimSpace(text[at[0]:at[1]])
		}
	}
	return text, ""
}

// TrimLoopMark returns the text of a loop without the marks of lists, check boxes and the words that say that it is open or done.
func TrimLoopMark(text string) string {
	return strings.TrimSpace(strings.TrimPrefix(text, loopMark.FindString(text)))
}

// loopNorm returns the form in which texts of loops are compared.
func loopNorm(text string) string {
	text = strings.Join(strings.Fields(analysis.Normalize(text)), " ")
	text, _ = SplitDue(TrimLoopMark(text))
	return NormObject(strings.NewReplacer("*", "", "`", "", "~~", "").Replace(text))
}

// Terms returns the set of the terms of a text.
func Terms(text string) map[string]bool { return set(analysis.Terms(text)) }

func set(terms []string) map[string]bool {
	all := make(map[string]bool, len(terms))
	for _, t := range terms {
		all[t] = true
	}
	return all
}

// ContentSet returns the same terms as a set.
func ContentSet(text string) map[string]bool { return set(analysis.ContentTerms(text)) }
