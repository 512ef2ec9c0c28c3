package rule

import (
	"strings"
	"unicode"

	"kioku/derive/vocab"
	"kioku/internal/text"
	"kioku/memory"
)

// said is what is known where a sentence stands.
type said struct {
	// about is what the headings and the file are about; zero if they tell nothing. tentative is set if only the sentence can
	// tell that the heading is a name.
	about     memory.EntityRef
	tentative bool
	// curated is set in files of what stays true and of people.
	curated bool
	// noted is set in the owner's notes and conversations: elsewhere nobody knows who "I" is.
	noted   bool
	speaker string
	users   func(name string) bool
}

var (
	firstPerson = text.NewRegexp(`^(?:I'm|I’m|I am|I've|I’ve|I have|I)\s+`)
	// mine begins "My time zone is ...", "My birthday: ...".
	mine    = text.NewRegexp(`^(?:[Mm]y|[Tt]he user's|[Uu]ser's)\s+([a-z -]{2,24}?)(?:\s+is|:)\s+(\S.*)$`)
	theUser = text.NewRegexp(`^(?:[Tt]he )?(?:[Uu]ser|USER)(?:'s|’s)?\s+`)
	// baseVerb is a verb that no single other person goes with: "Unconditional love is ...".
	baseVerb  = text.NewRegexp(`^(?:really |also |now |still )?(?:live|reside|work|like|love|enjoy|dislike|hate|prefer|avoid|use|own|am|do)\b`)
	pronoun   = text.NewRegexp(`^(?:He|She|They)(?:'s|’s)?\s+`)
	nameFirst = text.NewRegexp(`^(\p{Lu}[\p{L}'’.-]*?(?: \p{Lu}[\p{L}'’.-]*?){0,2}?)('s|’s)?\s+([\p{Ll}].*)$`)
	jaUser    = text.NewRegexp(`^(?:私|わたし|僕|ぼく|俺|自分|ユーザー?|本人)(?:の|は、?|も、?|が)`)
	jaTopic   = text.NewRegexp(`^([\p{Han}々\p{Katakana}ー・A-Za-z ]{2,20}?)(さん|くん|ちゃん|氏|先生)?(?:は、?|の)`)
	zhUser    = text.NewRegexp(`^(?:我|用户|使用者)`)
	zhPlural  = text.NewRegexp(`^我们|^我們`)
)

// read returns the subject of a sentence and what it states about it; false if nothing is sure.
func (c said) read(d *Document, text string) (memory.EntityRef, found, bool) {
	text = plain(text)
	if strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？") {
		return memory.EntityRef{}, found{}, false
	}
	text = strings.TrimRight(text, " .。!！;；")
	if c.curated {
		if f, ok := d.findKeyed(text); ok {
			subject, ok := c.aboutFor(f.predicate)
			return subject, f, ok
		}
	}
	subject, f, ok := c.readSentence(d, text)
	return subject, f, ok && !hedge.MatchString(text) // last, because few sentences get so far
}

// readSentence is read for a sentence that is no key with its value, whether or not it is sure.
func (c said) readSentence(d *Document, text string) (memory.EntityRef, found, bool) {
	switch {
	case strings.ContainsFunc(text, isKana):
		return c.readJapanese(text)
	case strings.ContainsFunc(text, isHan) && !startsLatin(text):
		return c.readChinese(text)
	}
	return c.readEnglish(d, text)
}

func isKana(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana) }

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) }

func startsLatin(s string) bool { return s != "" && s[0] < 0x80 }

// aboutFor returns what headings and file are about, if it can be the subject of a predicate.
func (c said) aboutFor(predicate string) (memory.EntityRef, bool) {
	if c.about == (memory.EntityRef{}) {
		return c.about, false
	}
	if !c.tentative {
		// Of projects people say where they are, not where they live.
		if c.about.Type != vocab.Person && personal[predicate] && predicate != "prefers" {
			return memory.EntityRef{}, false
		}
		return c.about, c.about.Type != vocab.Person || !businesslike[predicate]
	}
	kind := kindFor(predicate)
	return memory.EntityRef{Type: kind, Name: c.about.Name}, kind != ""
}

// speaking returns the entity that "I" is, false if that is not known.
func (c said) speaking() (memory.EntityRef, bool) {
	switch {
	case !c.noted:
		return memory.EntityRef{}, false
	case byOwner(c.speaker):
		return vocab.User(), true
	case isOther(c.speaker) && isPersonName(c.speaker):
		return memory.EntityRef{Type: vocab.Person, Name: c.speaker}, true
	}
	return memory.EntityRef{}, false
}

// named returns the entity with a name at the beginning of a sentence, false if it is no person.
func (c said) named(name string) (memory.EntityRef, bool) {
	name = cleanName(name)
	norm := vocab.Norm(name)
	switch {
	case c.users(name):
		return vocab.User(), true
	case c.about != (memory.EntityRef{}) && !c.tentative && (norm == vocab.Norm(c.about.Name) || isAliasOf(name, c.about.Name)):
		return c.about, true
	}
	return memory.EntityRef{Type: vocab.Person, Name: name}, isPersonName(name)
}

func (c said) readEnglish(d *Document, text string) (memory.EntityRef, found, bool) {
	if m := mine.FindStringSubmatch(text); m != nil {
		if predicate, ok := keys[strings.ToLower(m[1])]; ok {
			subject, ok := c.speaking()
			if !strings.HasPrefix(strings.ToLower(text), "my") {
				subject, ok = vocab.User(), true
			}
			f, found := d.findKeyed(m[1] + ": " + m[2])
			f.predicate = predicate
			return subject, f, ok && found
		}
		return memory.EntityRef{}, found{}, false
	}
	if lead := firstPerson.FindString(text); lead != "" {
		subject, ok := c.speaking()
		f, has := findFact(text[len(lead):], english, c.curated)
		return subject, f, ok && has
	}
	if lead := theUser.FindString(text); lead != "" {
		f, ok := findFact(text[len(lead):], english, c.curated)
		return vocab.User(), f, ok
	}
	if lead := pronoun.FindString(text); lead != "" && c.curated && !c.tentative {
		f, ok := findFact(text[len(lead):], english, true)
		subject, about := c.aboutFor(f.predicate)
		return subject, f, ok && about
	}
	if m := nameFirst.FindStringSubmatch(text); m != nil {
		rest := m[3]
		if m[2] != "" {
			rest = "'s " + rest
		}
		f, ok := findFact(rest, english, c.curated)
		if subject, person := c.named(m[1]); ok && person && !baseVerb.MatchString(rest) {
			return subject, f, true
		}
	}
	if !c.curated {
		return memory.EntityRef{}, found{}, false
	}
	f, ok := findFact(text, english, true)
	subject, about := c.aboutFor(f.predicate)
	return subject, f, ok && about
}

func (c said) readJapanese(text string) (memory.EntityRef, found, bool) {
	if lead := jaUser.FindString(text); lead != "" {
		subject, ok := c.speaking()
		if strings.HasPrefix(lead, "ユーザ") {
			subject, ok = vocab.User(), true
		}
		f, has := findFact(text[len(lead):], japanese, c.curated)
		return subject, f, ok && has
	}
	if m := jaTopic.FindStringSubmatch(text); m != nil {
		if f, ok := findFact(text[len(m[0]):], japanese, c.curated); ok {
			subject, person := c.named(m[1])
			return subject, f, person
		}
	}
	f, ok := findFact(text, japanese, c.curated)
	if !ok {
		return memory.EntityRef{}, found{}, false
	}
	if c.curated {
		subject, ok := c.aboutFor(f.predicate)
		return subject, f, ok
	}
	// A sentence without a subject is about who says it.
	subject, ok := c.speaking()
	return subject, f, ok && c.speaker == memory.SpeakerUser
}

func (c said) readChinese(text string) (memory.EntityRef, found, bool) {
	if lead := zhUser.FindString(text); lead != "" && !zhPlural.MatchString(text) {
		subject, ok := c.speaking()
		if lead != "我" {
			subject, ok = vocab.User(), true
		}
		f, has := findFact(text[len(lead):], chinese, true)
		return subject, f, ok && has
	}
	if name, rest := chineseSubject(text); name != "" {
		if f, ok := findFact(rest, chinese, c.curated); ok {
			subject, person := c.named(name)
			return subject, f, person
		}
	}
	if !c.curated {
		return memory.EntityRef{}, found{}, false
	}
	f, ok := findFact(text, chinese, true)
	subject, about := c.aboutFor(f.predicate)
	return subject, f, ok && about
}

// chineseSubject returns a name of two or three characters that begins with a surname at the beginning of a text, and what follows;
// empty if there is none.
func chineseSubject(text string) (name, rest string) {
	runes := []rune(text)
	if len(runes) < 4 || !strings.ContainsRune(surnames, runes[0]) {
		return "", ""
	}
	for _, n := range []int{3, 2} {
		rest := strings.TrimPrefix(string(runes[n:]), "的")
		for i := range chinese {
			if chinese[i].form.MatchString(rest) && isPersonName(string(runes[:n])) {
				return string(runes[:n]), rest
			}
		}
	}
	return "", ""
}

// surnames are the commonest Chinese surnames of one character that begin few other words.
const surnames = `王李张刘陈杨赵黄周吴徐孙胡朱林何郭罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文張劉陳楊趙黃吳孫羅鄭謝韓馮許蘇盧蔣賈葉閻鄧蕭呂鍾譚鄒陸顧龍萬錢湯喬賀賴龔鹿岳`
