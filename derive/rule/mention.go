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
)

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

func vague(kind string) bool { return kind == vocab.Topic || kind == vocab.Other }

// find adds the entities that a paragraph links, and in the owner's notes those with an @.
func (m *mentions) find(p *paragraph, noted bool) {
	bare := p.text
	if strings.Contains(bare, "`") {
		bare = codeSpan.ReplaceAllString(bare, "` `")
	}
	m.findLinks(bare)
	if !noted {
		return
	}
	for _, at := range findAll(atName, bare, "@") {
		if at[2] != "/" && at[2] != "(" && !decorators[strings.ToLower(at[1])] {
			m.add(memory.EntityRef{Type: vocab.Person, Name: strings.TrimRight(at[1], ".-")}, roleMentioned, 0.7)
		}
	}
}

// findAll returns the matches of an expression in a text that has one of some words.
func findAll(form *text.Regexp, text string, words ...string) [][]string {
	if !containsAny(text, words...) {
		return nil
	}
	return form.FindAllStringSubmatch(text, -1)
}

// decorators are words behind @ that are no names.
var decorators = map[string]bool{"param": true, "return": true, "returns": true, "override": true, "deprecated": true, "todo": true, "here": true,
	"channel": true, "all": true, "everyone": true, "media": true, "import": true, "latest": true, "next": true, "property": true, "retry": true, "test": true, "before": true, "after": true, "nullable": true, "inject": true, "type": true, "see": true}

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

// listedName is the name at the beginning of an item of a list of people, projects or the like: "Dario Venn (dario@example.com): ...".
var listedName = text.NewRegexp(`^((?:\*\*|\[\[)?[^:：()（）—–]{1,60}?(?:\*\*|\]\])?\s*(?:[(（][^()（）]{1,80}[)）])?(?:\*\*)?)\s*(?:[:：]\*{0,2}|\s[—–-]\s|$)\s*`)

// listed returns the entity with which an item of a list begins, and removes it from the item; false if it begins with none. Without a
// group, only what follows can tell that a name is meant.
func (d *Document) listed(p *paragraph, group string, m *mentions) (memory.EntityRef, bool) {
	at := listedName.FindStringSubmatchIndex(p.text)
	if at == nil {
		return memory.EntityRef{}, false
	}
	head := p.text[at[2]:at[3]]
	name, aliases := splitAliases(cleanName(head))
	kind, address := group, email.FindString(head)
	if group == "" {
		// In MEMORY.md a name with an address, or with a short name in brackets, is a person.
		short := func(alias string) bool { return isPersonName(alias) && shortens(alias, name) }
		if address == "" && !slices.ContainsFunc(aliases, short) {
			return memory.EntityRef{}, false
		}
		kind = vocab.Person
	}
	if _, isLabel := d.rules.opt.Vocabulary.Predicate(name); isLabel || !fitsKind(name, kind) {
		return memory.EntityRef{}, false
	}
	ref := memory.EntityRef{Type: kind, Name: name}
	if d.isUser(name) {
		ref = vocab.User()
	} else {
		m.add(ref, roleSubject, 0.9, aliases...)
	}
	p.text, p.address = p.text[at[1]:], address
	return ref, true
}
