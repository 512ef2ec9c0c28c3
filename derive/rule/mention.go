package rule

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/internal/text"
	"kioku/memory"
)

// maxAliases is the maximum number of other names that one episode gives an entity.
const maxAliases = 5

// Roles of mentions.
const (
	roleMentioned = "mentioned"
	roleSubject   = "subject"
	roleAuthor    = "author"
)

var (
	wikiLink = text.NewRegexp(`(!?)\[\[([^\[\]|#\n]{1,120})(?:#[^\[\]|]*)?(?:\|([^\[\]]{1,80}))?\]\](\(?)`)
	pathLink = text.NewRegexp(`\[([^\]\n]{1,80})\]\(([^)\s]{1,200}\.md)(?:#[^)]*)?\)`)
	atName   = text.NewRegexp(`(?:^|[\s(（,、，。：:])@([\p{L}][\p{L}\d_-]{1,30}(?:\.[\p{L}\d_-]+)*)([/.(]?)`)
	codeSpan = text.NewRegexp("`[^`]*`")
	saying   = gate{strings.Fields("said told asked replied called emailed promised suggested agreed mentioned confirmed answered explained apolog complained joked laughed phoned insisted"), text.NewRegexp(`(?:^|[.!?:,;]\s+|\b(?:and|but|then|when|because|that|as)\s+)(\p{Lu}\p{Ll}+(?: \p{Lu}\p{Ll}+){0,2}) (?:said|told|asked|replied|called|emailed|promised|suggested|agreed|mentioned|confirmed|answered|explained|apologi[sz]ed|complained|joked|laughed|phoned|insisted)\b`)}
	meeting  = gate{strings.Fields("met talked spoke lunch dinner coffee call emailed asked told"), text.NewRegexp(`\b(?:[Mm]et(?: with)?|[Tt]alked (?:to|with)|[Ss]poke (?:to|with)|[Ll]unch with|[Dd]inner with|[Cc]offee with|[Cc]all with|[Cc]alled|[Ee]mailed|[Aa]sked|[Tt]old) (\p{Lu}\p{Ll}+(?: \p{Lu}\p{Ll}+)?)\b`)}
	jaPerson = text.NewRegexp(`(?:^|[^\p{Han}\p{Katakana}々ー・])([\p{Han}々]{1,4}|[\p{Katakana}ー]{2,8}|\p{Lu}\p{Ll}+)(さん|くん|ちゃん)`)
	zhPerson = text.NewRegexp(`(?:^|[^\p{Han}]|[和跟与给问请找向对])([` + surnames + `])(先生|女士|老师|经理|医生|律师|教授|總|总|小姐|師傅|师傅|阿姨|同学)`)
	zhSaying = text.NewRegexp(`(?:^|[，。；！？：\s“])([` + surnames + `]\p{Han}{1,2})(?:说|說|表示|告诉|告訴|提到|回复|答应|建议|问我|跟我|和我|给我)`)
)

// notHonored are words before a form of address that are no names.
var notHonored = text.NewRegexp(`^(?:皆|奥|嫁|娘|息子|お|客|母|父|兄|姉|爺|婆|神|仏|王|赤|坊|主|旦那|殿|誰|何|本|子|孫|叔父|叔母|伯父|伯母|祖父|祖母|ママ|パパ|お子|住民|みな|地元)$|[屋者員士師人長家客親医様方達店側中校先御]$`)

// mentions collects the mentions of an episode.
type mentions struct {
	list []unit.Mention
	at   map[string]int // by norm
	// owner reports whether a name is that of the owner of the memory, who is not mentioned in the owner's own notes.
	owner func(name string) bool
	// byPerson reports that the owner has written what is read, so that its aliases count.
	byPerson bool
}

// add adds a mention of an entity, with the better confidence and all aliases if it is there. An entity of a vague type gives way to
// one of the same name.
func (m *mentions) add(ref memory.EntityRef, role string, confidence float64, aliases ...string) {
	norm := vocab.Norm(ref.Name)
	if norm == "" || utf8.RuneCountInString(ref.Name) > 80 || m.owner(ref.Name) {
		return
	}
	if m.at == nil {
		m.at = map[string]int{}
	}
	i, known := m.at[norm]
	if !known {
		m.at[norm] = len(m.list)
		m.list = append(m.list, unit.Mention{Entity: ref, Role: role, Confidence: confidence})
		i = len(m.list) - 1
	}
	have := &m.list[i]
	if vague(have.Entity.Type) && !vague(ref.Type) {
		have.Entity = ref
	}
	have.Confidence = max(have.Confidence, confidence)
	if role != roleMentioned && have.Role == roleMentioned {
		have.Role = role
	}
	list := &have.Likely
	if m.byPerson {
		list = &have.Aliases
	}
	for _, a := range aliases {
		if vocab.Norm(a) != norm && vocab.Norm(a) != "" && !slices.Contains(have.Aliases, a) && !slices.Contains(*list, a) && len(*list) < maxAliases {
			*list = append(*list, a)
		}
	}
}

// addLikely adds names by which an entity that was added is likely called.
func (m *mentions) addLikely(ref memory.EntityRef, names []string) {
	defer func(before bool) { m.byPerson = before }(m.byPerson)
	m.byPerson = false
	m.add(ref, roleMentioned, 0, names...)
}

func vague(kind string) bool { return kind == vocab.Topic || kind == vocab.Other }

// find adds the entities that a paragraph names. noted is set in the owner's notes, where names are also told by what people do.
func (m *mentions) find(p *paragraph, noted bool) {
	bare := p.text
	if strings.Contains(bare, "`") {
		bare = codeSpan.ReplaceAllString(bare, "` `")
	}
	m.findLinks(bare)
	for _, at := range findAll(atName, bare, "@") {
		if at[2] != "/" && at[2] != "(" && noted && !decorators[strings.ToLower(at[1])] {
			m.add(memory.EntityRef{Type: vocab.Person, Name: strings.TrimRight(at[1], ".-")}, roleMentioned, 0.7)
		}
	}
	if !noted {
		return
	}
	bare, _ = namings(plain(bare))
	lower := strings.ToLower(bare)
	for _, g := range []*gate{&saying, &meeting} {
		if !g.opens(lower) {
			continue
		}
		for _, who := range g.form.FindAllStringSubmatch(bare, -1) {
			if name := withoutLead(who[1]); isPersonName(name) {
				m.add(memory.EntityRef{Type: vocab.Person, Name: name}, roleMentioned, 0.5)
			}
		}
	}
	m.findHan(bare)
}

// findAll returns the matches of an expression in a text that has one of some words.
func findAll(form *text.Regexp, text string, words ...string) [][]string {
	if !containsAny(text, words...) {
		return nil
	}
	return form.FindAllStringSubmatch(text, -1)
}

// isASCII reports whether a text has only ASCII characters.
func isASCII(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// withoutLead returns a name without the common words before it: "Yesterday Bo Linden".
func withoutLead(name string) string {
	for {
		first, rest, more := strings.Cut(name, " ")
		if !more || !commonTitle(first) {
			return name
		}
		name = rest
	}
}

// decorators are words behind @ that are no names.
var decorators = map[string]bool{"param": true, "return": true, "returns": true, "override": true, "deprecated": true, "todo": true, "here": true,
	"channel": true, "all": true, "everyone": true, "media": true, "import": true, "latest": true, "next": true, "property": true, "retry": true, "test": true, "before": true, "after": true, "nullable": true, "inject": true, "type": true, "see": true}

// findHan adds the people whom a Japanese or Chinese text names with a form of address, or by a surname and what they say.
func (m *mentions) findHan(text string) {
	if isASCII(text) {
		return
	}
	for _, who := range findAll(jaPerson, text, "さん", "くん", "ちゃん") {
		one := utf8.RuneCountInString(who[1]) == 1
		if !notHonored.MatchString(who[1]) && !hanCommon[who[1]] && !common[strings.ToLower(who[1])] && !(one && who[2] != "さん") {
			m.add(memory.EntityRef{Type: vocab.Person, Name: who[1]}, roleMentioned, 0.7, who[1]+who[2])
		}
	}
	if strings.ContainsFunc(text, isKana) {
		return
	}
	if !strings.ContainsFunc(text, isHan) {
		return
	}
	for _, who := range zhPerson.FindAllStringSubmatch(text, -1) {
		m.add(memory.EntityRef{Type: vocab.Person, Name: who[1] + who[2]}, roleMentioned, 0.7)
	}
	for _, who := range zhSaying.FindAllStringSubmatch(text, -1) {
		if utf8.RuneCountInString(who[1]) == 3 && !hanCommon[who[1]] && !zhNoName.MatchString(who[1]) {
			m.add(memory.EntityRef{Type: vocab.Person, Name: who[1]}, roleMentioned, 0.6)
		}
	}
}

// zhNoName matches words of three characters that begin with a surname and are no names.
var zhNoName = text.NewRegexp(`^(?:谢谢|謝謝|方[面法式案]|金[额融]|高[中考层]|马上|周[一二三四五六日末围]|任[何务]|万一|常[常见]|石[油头]|江[南西苏]|黄[金河]|白[天色]|黎明|易[用]|武[汉]|康复|于是|江湖)|[也都就还又才再却没不已]$`)

// findLinks adds what links in a text name.
func (m *mentions) findLinks(text string) {
	for _, link := range findAll(wikiLink, text, "[[") {
		if link[1] == "" && link[4] == "" { // neither a picture nor [[text]](path)
			m.addLinked(link[2], link[3])
		}
	}
	for _, link := range findAll(pathLink, text, "](") {
		if kind := groupOf(path.Base(path.Dir(link[2]))); kind != "" && !strings.Contains(link[2], "://") {
			m.addLinked(strings.TrimSuffix(link[2], ".md"), link[1])
		}
	}
}

// addLinked adds the entity of a link to a note. The folder of the note tells its type.
func (m *mentions) addLinked(target, shown string) {
	target = strings.TrimSuffix(strings.TrimSpace(target), ".md")
	kind := groupOf(path.Base(path.Dir(target)))
	name := path.Base(target)
	if r, _ := utf8.DecodeRuneInString(name); !unicode.IsLetter(r) && !unicode.IsDigit(r) {
		return
	}
	if noteDay.MatchString(name) || strings.ContainsAny(name, `<>{}=\*"$`) || strings.HasPrefix(name, ".") || utf8.RuneCountInString(name) > 60 {
		return
	}
	if kind != "" {
		name = titleCase(strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' }), " "))
	}
	if shown = cleanName(shown); kind != "" && fitsKind(shown, kind) {
		m.add(memory.EntityRef{Type: kind, Name: shown}, roleMentioned, 0.8, name)
		return
	}
	switch {
	case kind != "" && fitsKind(name, kind):
		m.add(memory.EntityRef{Type: kind, Name: name}, roleMentioned, 0.8)
	case kind == "" && !commonTitle(name) && hasLetter(name) && !looksLikeCode(name):
		var aliases []string
		if shown != "" && isAliasOf(shown, name) {
			aliases = []string{shown}
		}
		m.add(memory.EntityRef{Type: vocab.Topic, Name: name}, roleMentioned, 0.6, aliases...)
	}
}

// directive begins a text between double brackets that a program reads: [[tts:...]].
var directive = text.NewRegexp(`^[a-z_-]+:`)

// looksLikeCode reports whether a text between double brackets is a directive, a condition of a shell or a list of lists.
func looksLikeCode(s string) bool {
	return directive.MatchString(s) || strings.HasPrefix(s, "-") || strings.ContainsAny(s, "()&;~`+@%^,") || strings.Contains(s, "==")
}
