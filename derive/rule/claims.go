package rule

import (
	"path"
	"strings"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/internal/text"
	"kioku/memory"
)

// ruleMaker is the maker of the claims of this package.
const ruleMaker = "rule"

// claimsOf returns what the lines of an episode mention and claim.
func (d *Document) claimsOf(lines []line, e memory.Episode) unit.EpisodeClaims {
	out := unit.EpisodeClaims{Episode: e}
	m := mentions{owner: d.isUser, byPerson: true}
	d.mentionFileSubject(&m)
	open := d.mayHaveLoops(e)
	var item itemSubject
	for _, p := range paragraphs(lines) {
		if p.speaker == memory.SpeakerTool {
			continue
		}
		m.byPerson = byOwner(p.speaker)
		if isOther(p.speaker) && isPersonName(p.speaker) {
			m.add(memory.EntityRef{Type: vocab.Person, Name: p.speaker}, roleAuthor, 0.9)
		}
		m.find(&p, d.isNoted(e))
		if open {
			if c, ok := d.loopOf(&p, e); ok {
				out.Claims = append(out.Claims, c)
				continue
			}
		}
		text := p.text
		about := d.subjectFor(&p, &item, &m, &out, e)
		out.Claims = append(out.Claims, d.factsOf(&p, about, &m, e)...)
		if d.isNoted(e) {
			m.addNamings(text)
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
}

// subjectFor returns what a paragraph is about, and adds the entities that its headings and its beginning name. The name at the
// beginning is removed from its text.
func (d *Document) subjectFor(p *paragraph, item *itemSubject, m *mentions, out *unit.EpisodeClaims, e memory.Episode) said {
	s := said{speaker: p.speaker, curated: d.longTerm || d.about.ref != (memory.EntityRef{}), noted: d.isNoted(e), users: d.isUser}
	head := d.headingSubject(p.headings)
	switch {
	case p.item && p.indent > item.indent && item.ref != (memory.EntityRef{}):
		s.about = item.ref
		return s
	case head.ref != (memory.EntityRef{}):
		s.about, s.tentative = head.ref, !head.sure
		if head.sure && !vocab.IsUser(head.ref) {
			s.curated = s.curated || d.isNoted(e)
			m.add(head.ref, roleSubject, 0.9, head.aliases...)
		}
	case d.about.ofUser:
		s.about = vocab.User()
	default:
		s.about = d.about.ref
	}
	*item = itemSubject{}
	if p.item && p.indent == 0 && (head.group != "" && d.isNoted(e) || d.longTerm) {
		if ref, ok := d.listed(p, head.group, m, out, e); ok {
			*item = itemSubject{ref: ref}
			s.about, s.tentative, s.curated = ref, false, true
		}
	}
	if s.tentative && d.isUser(s.about.Name) {
		s.about, s.tentative = vocab.User(), false
	}
	return s
}

// isUser reports whether a name is the owner's.
func (d *Document) isUser(name string) bool {
	norm := vocab.Norm(name)
	return d.rules.users[norm] || d.about.users[norm] != ""
}

// factsOf returns the facts that a paragraph states.
func (d *Document) factsOf(p *paragraph, c said, m *mentions, e memory.Episode) []unit.Claim {
	var claims []unit.Claim
	for _, s := range p.sentences() {
		if !mayState(s.text, c.curated) {
			continue
		}
		sentence, _ := namings(s.text)
		words := strings.TrimRight(leadingDay.ReplaceAllString(sentence, ""), " .。!！;；")
		words, from, to := takeValidity(words, e.OccurredAt)
		if from+to == "" {
			words, from = takeChangeDay(words, e.OccurredAt)
		}
		subject, f, ok := c.read(d, words)
		if !ok && from+to != "" { // the day may be what is said
			from, to = "", ""
			subject, f, ok = c.read(d, leadingDay.ReplaceAllString(sentence, ""))
		} else if ok && (f.kind == dateText || f.predicate == "birthday_is") {
			if whole, g, fine := c.read(d, sentence); fine && g.predicate == f.predicate {
				subject, f, from, to = whole, g, "", ""
			}
		}
		if !ok || !entitled(subject, p.speaker) {
			continue
		}
		class, known := d.rules.opt.Vocabulary.Class(f.predicate)
		if !known {
			continue
		}
		claim := d.claim(unit.ClaimFact, s.text, s.first, s.last, p, e)
		claim.Subject, claim.Predicate, claim.From, claim.To = subject, f.predicate, from, to
		claim.Confidence = confidence(c, p.speaker)
		claim.ObjectEntity = placeRef(f)
		for _, object := range f.objects(class) {
			claim.Object = object
			claims = append(claims, claim)
		}
		if !vocab.IsUser(subject) {
			m.add(subject, roleSubject, claim.Confidence)
		}
		if claim.ObjectEntity != nil {
			m.add(*claim.ObjectEntity, roleMentioned, claim.Confidence)
		}
	}
	return claims
}

// entitled reports whether a speaker may say something about a subject: what is said of the owner is said by the owner, or in a note of
// a person.
func entitled(subject memory.EntityRef, speaker string) bool {
	if speaker == memory.SpeakerTool || speaker == unknownSpeaker {
		return false
	}
	return !vocab.IsUser(subject) || byOwner(speaker)
}

// byOwner reports whether a speaker is the owner of the memory.
func byOwner(speaker string) bool {
	return speaker == memory.SpeakerUser || speaker == memory.SpeakerNote
}

// confidence returns how sure a fact is by where it stands and who says it.
func confidence(c said, speaker string) float64 {
	switch {
	case speaker == memory.SpeakerNote && c.curated && !c.tentative:
		return 0.9
	case speaker == memory.SpeakerNote && c.curated:
		return 0.8
	case speaker == memory.SpeakerUser:
		return 0.75
	case speaker == memory.SpeakerNote:
		return 0.6
	}
	return 0.5
}

// claim returns a claim of lines of an episode.
func (d *Document) claim(kind, quote string, first, last int, p *paragraph, e memory.Episode) unit.Claim {
	return unit.Claim{
		Kind: kind, EpisodeID: e.ID, EpisodeUID: e.UID, Maker: ruleMaker,
		StartLine: first - e.StartLine + 1, EndLine: last - e.StartLine + 1,
		Quote: text.Head(quote, maxQuote), Speaker: p.speaker, At: e.OccurredAt, Sensitivity: max(p.level, e.Sensitivity),
	}
}

// unique returns claims without those that say the same.
func unique(claims []unit.Claim) []unit.Claim {
	type key struct {
		kind, subject, predicate, object, from, to string
	}
	seen := map[key]bool{}
	out := claims[:0]
	for _, c := range claims {
		k := key{c.Kind, vocab.EntityUID(c.Subject), c.Predicate, vocab.NormObject(c.Object), c.From, c.To}
		if c.Kind != unit.ClaimFact {
			k = key{kind: c.Kind, object: vocab.LoopKey(c.LoopText)}
		}
		if !seen[k] {
			seen[k] = true
			out = append(out, c)
		}
	}
	return out
}
