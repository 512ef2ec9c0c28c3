package rule

import (
	"strings"
	"unicode/utf8"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/internal/text"
	"kioku/memory"
)

// maxObject is the maximum number of characters of an object, and maxNoted that of an item that is a fact as a whole.
const maxObject, maxNoted = 120, 300

var (
	// labelled is an item that says by its first words what the rest is: "Time zone: Asia/Tokyo".
	labelled = text.NewRegexp(`^([\p{L}][\p{L} \-]{0,24}?)\s*[:：]\s*(\S.*?)(?:[.。;；](?:\s.*)?)?$`)
	// within is when a fact holds, as the views write it: "(since 2026-10)", "(2026-03 to 2026-07)".
	within = text.NewRegexp(`\s*[(（](?:since (` + period + `)|until (` + period + `)|(` + period + `) ?(?:to|–|-|〜) ?(` + period + `))[)）]$`)
	email  = text.NewRegexp(`[\w.+-]+@[\w-]+(?:\.[\w-]+)+`)
)

// period is a day, a month or a year.
const period = `\d{4}(?:-\d{2}(?:-\d{2})?)?`

// factsOf returns the facts that a paragraph about a subject states: what follows a label, and else, in a file of what stays true, the
// item as it stands.
func (d *Document) factsOf(p *paragraph, subject memory.EntityRef, m *mentions, e memory.Episode) []unit.Claim {
	if p.speaker == unknownSpeaker || !vocab.MayTell(p.speaker, subject) {
		return nil
	}
	c := d.claim(unit.ClaimFact, p, e)
	c.Subject, c.Confidence = subject, confidence(p.speaker)
	var claims []unit.Claim
	if p.address != "" {
		c.Predicate, c.Object = "reached_at", p.address
		claims = append(claims, c)
	}
	words := vocab.Plain(p.text)
	if keyed, ok := d.readLabel(c, words); ok {
		if keyed[0].ObjectEntity != nil {
			m.add(*keyed[0].ObjectEntity, roleMentioned, c.Confidence)
		}
		return append(claims, keyed...)
	}
	if d.longTerm && p.item && p.indent == 0 && vocab.Norm(words) != "" {
		c.Predicate, c.Object = vocab.Noted, text.Shorten(words, maxNoted)
		claims = append(claims, c)
	}
	return claims
}

// readLabel returns the claims of a text that begins with a label, like c but for what they say; false if it begins with none.
func (d *Document) readLabel(c unit.Claim, words string) ([]unit.Claim, bool) {
	m := labelled.FindStringSubmatch(words)
	if m == nil {
		return nil, false
	}
	value := m[2]
	var ok bool
	if c.Predicate, ok = d.rules.opt.Vocabulary.Predicate(m[1]); !ok {
		return nil, false
	}
	if at := within.FindStringSubmatch(value); at != nil {
		value = strings.TrimSuffix(value, at[0])
		c.From, c.To = at[1]+at[3], vocab.Following(at[2]+at[4])
	}
	class, _ := d.rules.opt.Vocabulary.Class(c.Predicate)
	var claims []unit.Claim
	for _, object := range objects(strings.Trim(text.OneLine(value), ` ."“”'`), class) {
		if object == "" || utf8.RuneCountInString(object) > maxObject {
			return nil, false
		}
		c.Object, c.ObjectEntity = object, d.objectEntity(c.Predicate, object)
		claims = append(claims, c)
	}
	return claims, true
}

// objects returns the objects of a value: several if it is a list of short ones, and the predicate keeps them all.
func objects(value string, class vocab.Class) []string {
	if class != vocab.Set {
		return []string{value}
	}
	list := value
	if at := strings.LastIndex(list, " and "); at > 0 && strings.Contains(list, ",") {
		list = list[:at] + "," + list[at+len(" and "):]
	}
	items := strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(",、，", r) })
	for i, item := range items {
		if items[i] = strings.TrimSpace(item); len(strings.Fields(item)) > 3 || utf8.RuneCountInString(item) > 30 {
			return []string{value}
		}
	}
	return items
}

// objectEntity returns the place or the organisation that an object names, nil if it names none.
func (d *Document) objectEntity(predicate, object string) *memory.EntityRef {
	kind := map[string]string{"lives_in": vocab.Place, "works_at": vocab.Org}[predicate]
	if kind == "" || !fitsHeading(object, kind) {
		return nil
	}
	return &memory.EntityRef{Type: kind, Name: object}
}
