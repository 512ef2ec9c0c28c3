package contract

import (
	"fmt"
	"slices"
	"strings"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/memory"
)

const (
	maxEntities  = 10
	maxAliases   = 5
	maxRelations = 10
	maxName      = 120

	entityFloor   = 0.4
	relationFloor = 0.4
	factFloor     = 0.5
	loopFloor     = 0.5
)

// episodeReader reads what an answer says about one episode.
type episodeReader struct {
	c      Contracts
	r      *reader
	source *source
	loops  []memory.Loop // offered
	known  []unit.Entity // offered
	model  string

	// mentions of entities that were accepted, without the owner of the memory.
	mentions []unit.Mention
	claims   []unit.Claim
	// wording of the text, made when it is needed.
	wording *wording
}

// invents drops an item whose text says what its episode does not: numbers, dates, addresses, identifiers, quotations and names.
func (e *episodeReader) invents(i *item, key, text string) {
	if e.wording == nil {
		whole := e.source.names + "\n" + e.source.Date
		for _, known := range e.known {
			whole += "\n" + known.Name + "\n" + strings.Join(known.Aliases, "\n")
		}
		e.wording = newWording(whole)
	}
	if i.dropped {
		return
	}
	if reason, rule := e.wording.invented(text); reason != "" {
		i.fail(key, reason, rule)
	}
}

// pronouns are words for the owner of the memory in the mouth of the owner, folded by foldName.
var pronouns = []string{"i", "me", "my", "myself", "the user", "the owner", "user", "owner",
	"私", "わたし", "僕", "ぼく", "俺", "自分", "ユーザー", "ユーザ", "我", "本人", "用户", "用戶"}

// others are words for somebody or something that no reader knows without the sentence before, folded by foldName.
var others = []string{"he", "him", "she", "her", "they", "them", "it", "we", "us", "you", "this", "that", "someone", "somebody", "everyone", "nobody",
	"彼", "彼女", "彼ら", "あなた", "君", "私たち", "我々", "これ", "それ", "あれ", "誰か", "他", "她", "它", "他们", "她们", "你", "您", "我们", "咱们", "大家", "有人", "这个", "那个"}

// ref returns an entity. It drops the item if the type is unknown, or the name stands neither in the text nor among the known names.
func (e *episodeReader) ref(i *item, said named) memory.EntityRef {
	etype, name := said.Type, cleanLine(said.Name)
	if !slices.Contains(e.c.entityTypes(), etype) {
		i.fail("etype", ReasonValue, "the type must be one of "+strings.Join(e.c.entityTypes(), ", "))
		return memory.EntityRef{}
	}
	if e.isUser(etype, name) {
		return vocab.User()
	}
	ref := memory.EntityRef{Type: etype, Name: name}
	switch {
	case vocab.Norm(name) == "" || len([]rune(name)) > maxName:
		i.fail("name", ReasonText, fmt.Sprintf("a name must have 1 to %d characters, with a letter or digit", maxName))
	case slices.Contains(others, foldName(name)), !e.occurs(ref):
		i.fail("name", ReasonName, "the name must stand in the text as it is written there, and be no pronoun")
	}
	if known, ok := e.knownAs(func(known unit.Entity) bool { return known.Type == etype }, name); ok {
		return known
	}
	return ref
}

// isUser reports whether a name stands for the owner of the memory. A model that calls the owner a thing does not get around what is
// asked of claims about the owner; a project or company may have the name of its owner.
func (e *episodeReader) isUser(etype, name string) bool {
	return slices.Contains(pronouns, foldName(name)) ||
		slices.Contains([]string{vocab.Person, vocab.Topic, vocab.Other}, etype) && e.isUserName(name)
}

// isUserName reports whether a name is one that the owner of the memory has.
func (e *episodeReader) isUserName(name string) bool {
	return slices.ContainsFunc(e.c.UserNames, func(user string) bool { return foldName(user) == foldName(name) })
}

// occurs reports whether a name stands in the text, or is one of the names of a known entity of which another one does.
func (e *episodeReader) occurs(ref memory.EntityRef) bool {
	_, known := e.knownAs(func(unit.Entity) bool { return true }, ref.Name)
	return known || hasName(e.source.names, foldName(ref.Name))
}

// knownAs returns the one known entity that admits accepts, has a name and occurs in the text by one of its names. It returns false
// if there is none, or more than one.
func (e *episodeReader) knownAs(admits func(unit.Entity) bool, name string) (memory.EntityRef, bool) {
	folded := foldName(name)
	var found []memory.EntityRef
	for _, known := range e.known {
		names := append([]string{known.Name}, known.Aliases...)
		isOne := slices.ContainsFunc(names, func(n string) bool { return foldName(n) == folded })
		if admits(known) && isOne && slices.ContainsFunc(names, func(n string) bool { return hasName(e.source.names, foldName(n)) }) {
			found = append(found, memory.EntityRef{Type: known.Type, Name: known.Name, Qualifier: known.Qualifier})
		}
	}
	if len(found) != 1 {
		return memory.EntityRef{}, false
	}
	return found[0], true
}

// readEntities reads a list of entities.
func (e *episodeReader) readEntities(list string, said []saidEntity) {
	var read []unit.Mention
	for n, entity := range said {
		i := e.r.nth(list, n)
		if m := e.mention(i, entity, read); !i.dropped {
			read = append(read, m)
		}
	}
	read = best(e.r, list, read, maxEntities, func(m unit.Mention) float64 { return m.Confidence })
	e.mentions = slices.DeleteFunc(slices.Clone(read), func(m unit.Mention) bool { return vocab.IsUser(m.Entity) })
	e.r.report.Accepted += len(read)
}

// mention checks one entity, which is none of those before it.
func (e *episodeReader) mention(i *item, said saidEntity, before []unit.Mention) unit.Mention {
	m := unit.Mention{Entity: e.ref(i, said.named), Role: i.choice("role", said.Role, []string{"mentioned"}), Confidence: i.confidence(said.Confidence, entityFloor)}
	if slices.ContainsFunc(before, func(other unit.Mention) bool { return sameEntity(other.Entity, m.Entity) }) {
		i.fail("name", ReasonRepeated, "stands twice")
	}
	if i.dropped || vocab.IsUser(m.Entity) {
		return m
	}
	for n, alias := range said.Aliases {
		m.Aliases = e.addAlias(m.Aliases, alias, m.Entity.Name, fmt.Sprintf("%s[%d]", i.at("aliases"), n))
	}
	return m
}

// addAlias appends an alias if it stands in the text and is another name. What is wrong with it drops only the alias.
func (e *episodeReader) addAlias(list []string, alias, name, path string) []string {
	alias = cleanLine(alias)
	same := func(other string) bool { return vocab.Norm(other) == vocab.Norm(alias) }
	switch {
	case vocab.Norm(alias) == "" || len([]rune(alias)) > maxName:
		e.r.drop(path, ReasonText, fmt.Sprintf("a name must have 1 to %d characters, with a letter or digit", maxName))
	case !hasName(e.source.names, foldName(alias)), slices.Contains(pronouns, foldName(alias)), slices.Contains(others, foldName(alias)), e.isUserName(alias):
		e.r.drop(path, ReasonName, "an alias must stand in the text, and be no pronoun and no name of the owner")
	case same(name) || slices.ContainsFunc(list, same):
		e.r.drop(path, ReasonRepeated, "stands twice")
	case len(list) == maxAliases:
		e.r.drop(path, ReasonLimit, "is one too many")
	default:
		return append(list, alias)
	}
	return list
}

func sameEntity(a, b memory.EntityRef) bool {
	return a.Type == b.Type && vocab.Norm(a.Name) == vocab.Norm(b.Name)
}

// relation checks one relation.
func (e *episodeReader) relation(i *item, said saidRelation) draft {
	d := draft{confidence: i.confidence(said.Confidence, relationFloor)}
	src, dst := e.endpoint(i, "src", said.Src), e.endpoint(i, "dst", said.Dst)
	d.claim = unit.Claim{Kind: unit.ClaimRelation, Subject: src, Predicate: vocab.Relation(said.Rel), Object: dst.Name, ObjectEntity: &dst}
	if !i.dropped && sameEntity(src, dst) {
		i.fail("dst", ReasonValue, "must be another entity than src")
	}
	d.evidence = e.source.evidence(i, said.Evidence, e.namesOf(src)+"\n"+e.namesOf(dst), src, dst)
	return d
}

// endpoint reads "TYPE:NAME", one of the entities of the answer, one that was offered, or the owner of the memory.
func (e *episodeReader) endpoint(i *item, key, said string) memory.EntityRef {
	etype, name, ok := strings.Cut(said, ":")
	etype, name = strings.TrimSpace(etype), strings.TrimSpace(name)
	if !ok {
		i.fail(key, ReasonValue, "must be TYPE:NAME")
		return memory.EntityRef{}
	}
	if e.isUser(etype, name) {
		return vocab.User()
	}
	for _, m := range e.mentions {
		names := append([]string{m.Entity.Name}, m.Aliases...)
		if m.Entity.Type == etype && slices.ContainsFunc(names, func(n string) bool { return vocab.Norm(n) == vocab.Norm(name) }) {
			return m.Entity
		}
	}
	if known, ok := e.knownAs(func(known unit.Entity) bool { return known.Type == etype }, name); ok {
		return known
	}
	i.fail(key, ReasonName, "must be one of the entities of this answer or of the known ones")
	return memory.EntityRef{}
}

// namesOf returns the names that an entity has in this answer and among the known ones, one a line.
func (e *episodeReader) namesOf(ref memory.EntityRef) string {
	names := []string{ref.Name}
	for _, m := range e.mentions {
		if sameEntity(m.Entity, ref) {
			names = append(names, m.Aliases...)
		}
	}
	for _, known := range e.known {
		if known.Type == ref.Type && known.Name == ref.Name {
			names = append(names, known.Aliases...)
		}
	}
	return strings.Join(names, "\n")
}
