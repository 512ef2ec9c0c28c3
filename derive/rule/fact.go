package rule

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"kioku/derive/vocab"
	"kioku/internal/text"
	"kioku/memory"
)

// maxObject and maxQuote are the maximum numbers of characters of an object and of a quotation.
const (
	maxObject = 120
	maxQuote  = 200
)

// found is a fact in a sentence.
type found struct {
	predicate, object string
	kind              objectKind
	// all is what follows the verb up to the end of the sentence.
	all string
}

// objects returns the objects of the fact: several if what follows the verb is a list of short ones and the predicate keeps them all.
func (f found) objects(class vocab.Class) []string {
	if class != vocab.Set || f.kind != thing {
		return []string{f.object}
	}
	list := f.all
	if at := strings.LastIndex(list, " and "); at > 0 && strings.Contains(list, ",") {
		list = strings.TrimSuffix(list[:at], ",") + ", " + list[at+len(" and "):]
	}
	items := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == '、' || r == '，' })
	for i, item := range items {
		item = strings.Trim(text.OneLine(item), " .。\"“”'")
		if item == "" || len(strings.Fields(item)) > 3 || utf8.RuneCountInString(item) > 30 || noThing.MatchString(item) || clauseWord.MatchString(item) {
			return []string{f.object}
		}
		items[i] = item
	}
	if len(items) < 2 {
		return []string{f.object}
	}
	return items
}

// clauseWord is in a clause, not in an item of a list.
var clauseWord = text.NewRegexp(`(?i)\b(?:is|are|was|were|it|he|she|they|i|we|you|who|which|that|because|but|so|as|when|if|or|not|especially)\b|所以|因为|但|けど|から|ので`)

var (
	// leadingDay is a day at the beginning of an item: "2026-01-15: ...".
	leadingDay = text.NewRegexp(`^\d{4}-\d{2}-\d{2}(?:[ T]\d{1,2}:\d{2})?\s*[:：,–—-]?\s+`)
	keyValue   = text.NewRegexp(`^([\p{L}][\p{L} \-]{0,24}?)\s*[:：]\s*(\S.*)$`)
	// clauseEnd is where the object of a fact ends in English.
	clauseEnd = text.NewRegexp(`(?i)\s*(?:[;,!?—]|\.(?:\s|$)|\s[–-]\s|\s(?:because|but|although|though|while|whereas|when|if|so that|so|and (?:i|he|she|they|we|is|has|works|lives|likes|prefers|uses|never|does|can|will)|which|who|where|since|for now|these days|at the moment|now)\b)`)
	placeEnd  = text.NewRegexp(`(?i)\s+(?:with|for|near|after|before|to|by|as|from|on|at|last|next|this|in (?:january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|winter|\d))\b`)
	roleEnd   = text.NewRegexp(`(?i)\s+(?:at|for|in|with|from|who|on)\s`)
	// noThing begins objects that say nothing by themselves.
	noThing = text.NewRegexp(`(?i)^(?:it|its|that|this|these|those|them|him|her|you|your|me|us|how|what|when|where|why|who|if|to|the (?:way|idea|fact|one|ones|first|second|former|latter|other|same|look|sound|new|suggestion|option|approach|plan|change|version)|one|something|anything|everything|nothing|both|all|some|any|more|each other|not|being|option|on)\b`)
	// noRole follows "works as" and is none: works as follows, as expected.
	noRole     = text.NewRegexp(`^(?:follows?|expected|intended|designed|described|documented|advertised|usual|before|normal|planned|well|is|if|it|long|soon|part)\b`)
	noThingHan = text.NewRegexp(`^(?:それ|これ|あれ|そこ|ここ|その|この|あの|そっち|こっち|どれ|何|みんな|这个|那个|这|那|它|他|她|什么|你|您|哪|一下)`)
	adverbs    = text.NewRegexp(`(?i)\s+(?:the most|very much|so much|a lot|too|as well|any ?more|any longer|either|at all|more|best|really|again)$`)
	passing    = text.NewRegexp(`(?i)^(?:the|my|his|her|our|their|such|so|a (?:good|nice|bit)|spending|seeing|hearing|getting|having|just)\b|\b(?:is|are|was|were|am|has|have|here|today|tonight)\b`)
	hedge      = text.NewRegexp(`\bmay\b|(?i)\b(?:would|might|could|should|if|wish|maybe|perhaps|probably|not sure|used to|no longer|never|hope to|plan to|want to|going to)\b|かもしれ|だろう|たい(?:です|と思|$)|ではな|じゃな|でした$|だった$|可能|也许|也許|如果|打算|想要|想去|曾经|以前|不再|吗[？?]?$|かな`)
)

// findFact returns the fact that a sentence without its subject states. curated is set in files of what stays true and of people.
func findFact(rest string, patterns []pattern, curated bool) (found, bool) {
	for i := range patterns {
		p := &patterns[i]
		if p.curated && !curated {
			continue
		}
		m := p.form.FindStringSubmatch(rest)
		if m == nil {
			continue
		}
		f := found{predicate: p.predicate, kind: p.object, all: m[1]}
		f.object = objectOf(m[1], p.predicate, p.object)
		if f.object == "" || !curated && isPassing(p.predicate, f.object) {
			return found{}, false
		}
		return f, true
	}
	return found{}, false
}

// isPassing reports whether a sentence in a conversation is about what is just talked of: "I love the colours".
func isPassing(predicate, object string) bool {
	switch predicate {
	case "likes", "dislikes", "prefers":
		return utf8.RuneCountInString(object) > 60 || passing.MatchString(object)
	}
	return false
}

// findKeyed returns the fact of "key: value".
func (d *Document) findKeyed(sentence string) (found, bool) {
	m := keyValue.FindStringSubmatch(sentence)
	if m == nil {
		return found{}, false
	}
	predicate, ok := keys[strings.ToLower(strings.TrimSpace(m[1]))]
	if !ok {
		return found{}, false
	}
	f := found{predicate: predicate, object: text.OneLine(strings.TrimRight(m[2], ".。 ")), all: m[2]}
	switch predicate {
	case "likes", "dislikes", "interested_in", "uses", "avoids", "values":
		f.kind = thing
	case "lives_in":
		f.kind = placeName
	case "works_at":
		f.kind = orgName
	case "birthday_is", "deadline_is":
		if !hasDigit.MatchString(f.object) {
			return found{}, false
		}
	}
	return f, f.object != "" && utf8.RuneCountInString(f.object) <= 2*maxObject
}

// objectOf returns the object of a fact from what follows its verb, empty if that is none.
func objectOf(s, predicate string, kind objectKind) string {
	if at := clauseEnd.FindStringIndex(s); at != nil && predicate != "prefers" || at != nil && predicate == "prefers" && strings.ContainsAny(s[at[0]:at[1]], ";!?.") {
		s = s[:at[0]]
	}
	switch kind {
	case placeName, orgName:
		if at := placeEnd.FindStringIndex(s); at != nil {
			s = s[:at[0]]
		}
		if at := strings.Index(s, " and "); at > 0 {
			s = s[:at]
		}
	}
	s = adverbs.ReplaceAllString(s, "")
	if predicate == "role_is" {
		if at := roleEnd.FindStringIndex(s + " "); at != nil {
			s = s[:at[0]]
		}
		if noRole.MatchString(s) {
			return ""
		}
	}
	s = strings.Trim(text.OneLine(s), " 　.。,、，:：;\"“”'「」『』")
	switch {
	case s == "" || utf8.RuneCountInString(s) > maxObject:
		return ""
	case kind == placeName || kind == orgName:
		if !isProperName(s) {
			return ""
		}
	case kind == dateText:
		if !hasDigit.MatchString(s) {
			return ""
		}
	case kind == thing:
		if noThing.MatchString(s) || noThingHan.MatchString(s) {
			return ""
		}
	}
	return s
}

// particle begins a word that stands beside names in lower case.
var nameParticle = map[string]bool{"of": true, "the": true, "de": true, "da": true, "do": true, "la": true, "le": true, "van": true, "der": true, "am": true,
	"del": true, "di": true, "e": true, "y": true, "and": true, "&": true, "upon": true}

// isProperName reports whether all words of a text are capitalised or written in a script without capitals.
func isProperName(s string) bool {
	words := strings.Fields(s)
	if len(words) > 5 || len(words) == 0 {
		return false
	}
	capital := false
	for _, w := range words {
		r, _ := utf8.DecodeRuneInString(strings.TrimLeft(w, "(\"'"))
		switch {
		case unicode.IsUpper(r) || isWide(r) || unicode.In(r, unicode.Hangul, unicode.Cyrillic):
			capital = true
		case unicode.IsDigit(r) || nameParticle[strings.ToLower(w)]:
		default:
			return false
		}
	}
	first := strings.ToLower(strings.Trim(words[0], ".,"))
	return capital && !(len(words) == 1 && common[first]) && first != "i" && !noThingHan.MatchString(s)
}

// plain returns a sentence without the marks of emphasis, links and code.
func plain(s string) string {
	if strings.Contains(s, "[") {
		s = wikiMarks.ReplaceAllString(linkMarks.ReplaceAllString(s, "$1"), "$1")
	}
	return strings.TrimSpace(strings.NewReplacer("**", "", "__", "", "`", "").Replace(s))
}

var (
	linkMarks = text.NewRegexp(`\[([^\]]+)\]\([^)\s]*\)`)
	wikiMarks = text.NewRegexp(`\[\[(?:[^|\]]*\|)?([^|\]]+)\]\]`)
)

// placeRef returns the entity that an object names, nil if it names none for sure.
func placeRef(f found) *memory.EntityRef {
	kind := map[objectKind]string{placeName: vocab.Place, orgName: vocab.Org}[f.kind]
	if kind == "" || !isProperName(f.object) || utf8.RuneCountInString(f.object) > 40 {
		return nil
	}
	return &memory.EntityRef{Type: kind, Name: f.object}
}
