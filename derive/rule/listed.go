package rule

import (
	"slices"
	"strings"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/internal/text"
	"kioku/memory"
)

var (
	// listedName is the name at the beginning of an item of a list of people, projects or the like: "Dario Venn (dario@example.com): ...".
	listedName = text.NewRegexp(`^((?:\*\*|\[\[)?[^:：()（）—–]{1,60}?(?:\*\*|\]\])?\s*(?:[(（][^()（）]{1,80}[)）])?(?:\*\*)?)\s*(?:[:：]\*{0,2}|\s[—–-]\s|$)\s*`)
	email      = text.NewRegexp(`[\w.+-]+@[\w-]+(?:\.[\w-]+)+`)
)

// firstNameOf returns the first word of the name of a person in a list, as which notes know a person, unless another person in the
// file has it too.
func (d *Document) firstNameOf(ref memory.EntityRef) []string {
	first, _, more := strings.Cut(ref.Name, " ")
	if ref.Type != vocab.Person || !more || !isPersonName(first) || strings.HasSuffix(first, ".") {
		return nil
	}
	if d.firstNames == nil {
		d.firstNames = map[string]map[string]bool{}
		for i := range d.lines {
			if name := d.listedPerson(&d.lines[i]); name != "" {
				first, _, _ := strings.Cut(name, " ")
				if d.firstNames[first] == nil {
					d.firstNames[first] = map[string]bool{}
				}
				d.firstNames[first][vocab.Norm(name)] = true
			}
		}
	}
	if len(d.firstNames[first]) > 1 {
		return nil
	}
	return []string{first}
}

// listedPerson returns the name of the person with which an item of a list begins, empty if it begins with none.
func (d *Document) listedPerson(l *line) string {
	if l.role != prose || !d.longTerm && d.headingSubject(l.headings).group != vocab.Person {
		return ""
	}
	mark := bullet.FindString(l.text)
	if mark == "" {
		return ""
	}
	m := listedName.FindStringSubmatch(l.text[len(mark):])
	if m == nil {
		return ""
	}
	name, _ := splitAliases(cleanName(m[1]))
	if !isPersonName(name) {
		return ""
	}
	return name
}

// listed returns the entity with which an item of a list begins; false if it begins with none. Without a group, only what follows can
// tell that a name is meant.
func (d *Document) listed(p *paragraph, group string, m *mentions, out *unit.EpisodeClaims, e memory.Episode) (memory.EntityRef, bool) {
	at := listedName.FindStringSubmatchIndex(p.text)
	if at == nil {
		return memory.EntityRef{}, false
	}
	head := p.text[at[2]:at[3]]
	name, aliases := splitAliases(cleanName(head))
	kind := group
	address := email.FindString(head)
	if group == "" {
		// In MEMORY.md a name with an address, or with a short name in brackets, is a person.
		short := func(alias string) bool { return isPersonName(alias) && shortens(alias, name) }
		if address == "" && !slices.ContainsFunc(aliases, short) || !fitsKind(name, vocab.Person) {
			return memory.EntityRef{}, false
		}
		kind = vocab.Person
	}
	if !fitsKind(name, kind) || keys[strings.ToLower(name)] != "" {
		return memory.EntityRef{}, false
	}
	ref := memory.EntityRef{Type: kind, Name: name}
	if d.isUser(name) {
		ref = vocab.User()
	} else {
		m.add(ref, roleSubject, 0.9, aliases...)
		m.addLikely(ref, d.firstNameOf(ref))
	}
	if address != "" && entitled(ref, p.speaker) {
		c := d.claim(unit.ClaimFact, p.text, p.first, p.last, p, e)
		c.Subject, c.Predicate, c.Object, c.Confidence = ref, "reached_at", address, confidence(said{curated: true}, p.speaker)
		out.Claims = append(out.Claims, c)
	}
	rest := p.text[at[1]:]
	cut := len(p.text) - len(rest)
	for i := range p.starts {
		p.starts[i] = max(0, p.starts[i]-cut)
	}
	p.text = rest
	return ref, true
}
