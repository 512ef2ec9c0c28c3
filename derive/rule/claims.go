package rule

import (
	"path"
	"slices"
	"strings"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/internal/text"
	"kioku/memory"
)

const (
	// ruleMaker is the maker of the claims of this package.
	ruleMaker = "rule"
	// maxQuote is the maximum number of characters of a quotation.
	maxQuote = 200
)

// claimsOf returns what the lines of an episode mention and claim.
func (d *Document) claimsOf(lines []line, e memory.Episode) unit.EpisodeClaims {
	out := unit.EpisodeClaims{Episode: e}
	m := mentions{owner: d.isUser}
	d.mentionFileSubject(&m)
	noted, open := d.isNoted(e), d.mayHaveLoops(e)
	var item itemSubject
	for _, p := range paragraphs(lines) {
		if p.speaker == memory.SpeakerTool {
			continue
		}
		m.byPerson = vocab.ByOwner(p.speaker)
		if isOther(p.speaker) && isPersonName(p.speaker) {
			m.add(memory.EntityRef{Type: vocab.Person, Name: p.speaker}, roleAuthor, 0.9)
		}
		m.find(&p, noted)
		if open {
			if c, ok := d.loopOf(&p, e); ok {
				out.Claims = append(out.Claims, c)
				continue
			}
		}
		if about, ok := d.subjectFor(&p, &item, noted, &m); ok {
			out.Claims = append(out.Claims, d.factsOf(&p, about, &m, e)...)
		}
	}
	out.Mentions, out.Claims = m.list, unique(out.Claims)
	return out
}

// isNoted reports whether the episode is of the owner's notes or conversations, not of some document.
func (d *Document) isNoted(e memory.Episode) bool {
	if foreignList.MatchString(path.Base(d.file.Path)) {
		return false
	}
	return d.longTerm || d.sectioned || memory.IsTranscript(d.file.Source) || isDailyLog(d.file.Path) || d.about.ref != (memory.EntityRef{}) ||
		e.Date != "" && d.file.Source == memory.SourceMemory
}

// mentionFileSubject adds what the front matter and the name of the file say.
func (d *Document) mentionFileSubject(m *mentions) {
	m.byPerson = true
	if d.about.ref != (memory.EntityRef{}) {
		m.add(d.about.ref, roleSubject, 0.9, d.about.aliases...)
	}
	for _, name := range d.about.people {
		if name, aliases := splitAliases(cleanName(name)); fitsKind(name, vocab.Person) || strings.HasPrefix(name, "@") {
			m.add(memory.EntityRef{Type: vocab.Person, Name: name}, roleMentioned, 0.9, aliases...)
		}
	}
}

// itemSubject is the entity that an item of a list begins with, and which the items in it are about.
type itemSubject struct {
	ref    memory.EntityRef
	indent int
	// nobody is set for an item that is a name and nothing else, such as "- Dario": who or what it is, nothing tells, and what is in it is
	// about that and not about the owner.
	nobody bool
}

// subjectFor returns what a paragraph is about, and adds the entities that its headings and its beginning name. The name at the
// beginning is removed from its text. It returns false if nothing tells what the paragraph is about.
func (d *Document) subjectFor(p *paragraph, item *itemSubject, noted bool, m *mentions) (memory.EntityRef, bool) {
	if p.item && p.indent > item.indent && (item.ref != (memory.EntityRef{}) || item.nobody) {
		return item.ref, !item.nobody
	}
	*item = itemSubject{}
	head := d.headingSubject(p.headings)
	if p.item && p.indent == 0 && (head.group != "" && noted || d.longTerm) {
		if ref, ok := d.listed(p, head.group, m); ok {
			*item = itemSubject{ref: ref}
			return ref, true
		}
		name := cleanName(tag.ReplaceAllString(p.text, ""))
		item.nobody = isPersonName(name) && !d.isUser(name)
	}
	switch {
	case head.ref != (memory.EntityRef{}):
		if !vocab.IsUser(head.ref) {
			m.add(head.ref, roleSubject, 0.9, head.aliases...)
		}
		return head.ref, noted
	case d.about.ref != (memory.EntityRef{}):
		return d.about.ref, true
	}
	return vocab.User(), d.longTerm
}

// tag is a tag of HTML.
var tag = text.NewRegexp(`<[^<>]*>`)

// isUser reports whether a name is the owner's.
func (d *Document) isUser(name string) bool {
	norm := vocab.Norm(name)
	return d.rules.users[norm] || d.about.users[norm] != ""
}

// confidence returns how sure a fact is by who says it.
func confidence(speaker string) float64 {
	switch speaker {
	case memory.SpeakerNote:
		return 0.9
	case memory.SpeakerUser:
		return 0.75
	}
	return 0.5
}

// claim returns a claim of the lines of a paragraph of an episode.
func (d *Document) claim(kind string, p *paragraph, e memory.Episode) unit.Claim {
	return unit.Claim{
		Kind: kind, EpisodeID: e.ID, EpisodeUID: e.UID, Maker: ruleMaker,
		StartLine: p.first - e.StartLine + 1, EndLine: p.last - e.StartLine + 1,
		Quote: text.Head(p.quote, maxQuote), Speaker: p.speaker, At: e.OccurredAt, Sensitivity: max(p.level, e.Sensitivity),
	}
}

// unique returns claims without those that say the same.
func unique(claims []unit.Claim) []unit.Claim {
	type key struct {
		kind, subject, predicate, object, from, to string
	}
	seen := map[key]bool{}
	return slices.DeleteFunc(claims, func(c unit.Claim) bool {
		k := key{c.Kind, vocab.EntityUID(c.Subject), c.Predicate, vocab.NormObject(c.Object), c.From, c.To}
		if c.Kind != unit.ClaimFact {
			k = key{kind: c.Kind, object: vocab.LoopKey(c.LoopText)}
		}
		known := seen[k]
		seen[k] = true
		return known
	})
}
