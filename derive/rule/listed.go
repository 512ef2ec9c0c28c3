package rule

import (
	"slices"

	"kioku/derive/vocab"
	"kioku/internal/text"
	"kioku/memory"
)

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
