package store_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"kioku/chunker"
	"kioku/derive/store"
	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/indexer"
	"kioku/memory"
	indexstore "kioku/store"
	"kioku/store/slab"
)

// derivedNow is the time of the tests of what is derived.
var derivedNow = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// derivedStore is what is derived with its index and a clock that the test sets.
type derivedStore struct {
	*store.Store
	index *indexstore.Store
	path  string
	now   *time.Time
	notes map[string]indexer.File
}

// openDerived opens what is derived in a folder, with its index.
func openDerived(t testing.TB, dir string) derivedStore {
	t.Helper()
	now := derivedNow
	s := derivedStore{path: store.Path(dir, "main"), now: &now, notes: map[string]indexer.File{}}
	s.Store = store.New(s.path, indexstore.Path(dir, "main"), store.Options{Now: func() time.Time { return *s.now }})
	s.openIndex(t, dir)
	t.Cleanup(func() { s.close(t) })
	return s
}

// openIndex opens the index in a folder.
func (s *derivedStore) openIndex(t testing.TB, dir string) {
	t.Helper()
	var err error
	s.index, err = indexstore.Open(t.Context(), indexstore.Path(dir, "main"), indexstore.Options{Workspace: "/notes", Chunking: "test",
		Vectors: slab.NewBudget(slab.DefaultBudget), Now: func() time.Time { return *s.now }, Log: slog.New(slog.DiscardHandler), Adopt: s.Adopt})
	if err != nil {
		t.Fatal(err)
	}
}

// close closes both files.
func (s derivedStore) close(t testing.TB) {
	t.Helper()
	if err := errors.Join(s.Close(), s.index.Close()); err != nil {
		t.Error(err)
	}
}

// noteFile returns a file of a day in which each line is an episode.
func noteFile(path string, lines ...string) indexer.File {
	text := strings.Join(lines, "\n")
	f := indexer.File{Path: path, Source: memory.SourceMemory, SHA256: sha256.Sum256([]byte(text)), ModTime: time.Unix(1, 2),
		Size: int64(len(text)), Date: indexer.DateOf(path)}
	for i, line := range lines {
		f.Chunks = append(f.Chunks, indexer.Chunk{Chunk: chunker.Chunk{StartLine: i + 1, EndLine: i + 1, Text: line, Tokens: 1}, Hash: sha256.Sum256([]byte(line))})
	}
	return f
}

// episodesOf returns the episodes of a file of noteFile.
func episodesOf(f indexer.File) (list []memory.Episode) {
	count := map[string]int{}
	for i, c := range f.Chunks {
		line := c.Text
		if line == "" {
			continue
		}
		count[line]++
		e := memory.Episode{UID: vocab.UnitUID("episode", line, f.Date, fmt.Sprint(count[line])), StartLine: i + 1, EndLine: i + 1,
			TextSHA256: sha256.Sum256([]byte(line)), Date: f.Date, Speakers: []string{memory.SpeakerNote}, Trust: memory.SpeakerNote, Salience: .5}
		if f.Date != "" {
			day, _ := time.Parse(time.DateOnly, f.Date)
			e.OccurredAt = day.Add(12 * time.Hour)
		}
		if strings.Contains(line, "(private)") {
			e.Sensitivity = memory.Private
		}
		list = append(list, e)
	}
	return list
}

// sync writes files like a sync, and cuts them into episodes.
func (s derivedStore) sync(t testing.TB, files ...indexer.File) {
	t.Helper()
	if _, err := s.index.ReplaceFile(t.Context(), files...); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		s.notes[f.Path] = f
	}
	s.cut(t)
}

// rebuild writes files and removes all others, like the rebuild of an index.
func (s derivedStore) rebuild(t testing.TB, files ...indexer.File) {
	t.Helper()
	before, err := s.index.Files(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]bool{}
	for _, f := range files {
		kept[f.Path] = true
	}
	for path := range before {
		if !kept[path] {
			files = append(files, indexer.File{Path: path, Gone: true})
		}
	}
	if _, err := s.index.ReplaceFile(t.Context(), files...); err != nil {
		t.Fatal(err)
	}
	s.cut(t)
}

// cut cuts the files of a complete index into episodes.
func (s derivedStore) cut(t testing.TB) {
	t.Helper()
	_, err := s.index.Files(t.Context())
	if err == nil {
		err = s.index.RecordSync(t.Context(), *s.now)
	}
	if err != nil {
		t.Fatal(err)
	}
	paths, err := s.Uncut(t.Context(), "rules", 10_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		f := s.notes[path]
		put, err := s.PutEpisodes(t.Context(), memory.SourceFile{Path: path, Source: f.Source, SHA256: f.SHA256}, nil, "rules", episodesOf(f))
		if err != nil || !put {
			t.Fatal(path, put, err)
		}
	}
	if _, err := s.DropDetached(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// claimOf returns what a line of a note says: "Dario lives_in Porto", "TODO call Ana", "DONE call Ana", "Ana friend= Dario".
func claimOf(e memory.Episode, line string) (unit.Claim, bool) {
	c := unit.Claim{Maker: "rule", StartLine: 1, EndLine: 1, Quote: line, Speaker: memory.SpeakerNote, Confidence: .8, At: e.OccurredAt}
	words := strings.SplitN(strings.TrimSuffix(line, " (private)"), " ", 3)
	switch {
	case words[0] == "TODO":
		c.Kind, c.LoopText = unit.ClaimLoop, strings.Join(words[1:], " ")
	case words[0] == "DONE":
		c.Kind, c.LoopText = unit.ClaimClose, strings.Join(words[1:], " ")
		c.Closes = vocab.LoopKey(c.LoopText)
	case len(words) < 3:
		return c, false
	default:
		c.Kind, c.Subject, c.Predicate, c.Object = unit.ClaimFact, person(words[0]), words[1], words[2]
		if rel, ok := strings.CutSuffix(words[1], "="); ok {
			other := person(words[2])
			c.Kind, c.Predicate, c.ObjectEntity, c.Object = unit.ClaimRelation, rel, &other, ""
		}
	}
	return c, true
}

func person(name string) memory.EntityRef {
	return memory.EntityRef{Type: vocab.Person, Name: name}
}

// derive reads all pending episodes, whose text is that of the files, and makes all units. A line such as
// "PERSON: Dario Venn = Dario" mentions an entity, with an alias behind = that a person has written, or behind ~ a likely one. It returns
// how many episodes it has read.
func (s derivedStore) derive(t testing.TB, files ...indexer.File) int {
	t.Helper()
	lines := map[string]string{}
	for _, f := range files {
		for _, c := range f.Chunks {
			lines[fmt.Sprint(f.Path, c.StartLine)] = c.Text
		}
	}
	pending, err := s.PendingEpisodes(t.Context(), 1, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	var batch []unit.EpisodeClaims
	for _, e := range pending {
		ec := unit.EpisodeClaims{Episode: e, Maker: "rule"}
		if kind, name, ok := strings.Cut(lines[fmt.Sprint(e.Path, e.StartLine)], ": "); ok && slices.Contains(vocab.EntityTypes, kind) {
			ec.Mentions = append(ec.Mentions, mentionOf(kind, name))
		} else if c, ok := claimOf(e, lines[fmt.Sprint(e.Path, e.StartLine)]); ok {
			ec.Claims = append(ec.Claims, c)
		}
		batch = append(batch, ec)
	}
	stale, err := s.PutClaims(t.Context(), "rule", 1, batch)
	if err != nil || len(stale) > 0 {
		t.Fatalf("stale %v, %v", stale, err)
	}
	s.resolve(t)
	return len(pending)
}

// mentionOf returns the mention of an entity with its aliases.
func mentionOf(kind, name string) unit.Mention {
	m := unit.Mention{Confidence: .6}
	if full, alias, ok := strings.Cut(name, " = "); ok {
		name, m.Aliases = full, []string{alias}
	}
	if full, alias, ok := strings.Cut(name, " ~ "); ok {
		name, m.Likely = full, []string{alias}
	}
	m.Entity = memory.EntityRef{Type: kind, Name: name}
	return m
}

// resolve makes all units whose claims have changed.
func (s derivedStore) resolve(t testing.TB) {
	t.Helper()
	s.resolveAll(t, 100)
}

// resolveAll makes all units whose claims have changed, a number of slots at a time.
func (s derivedStore) resolveAll(t testing.TB, slots int) {
	t.Helper()
	for {
		left, err := s.ResolveDirty(t.Context(), slots, *s.now, resolveSlot)
		if err != nil {
			t.Fatal(err)
		}
		if left == 0 {
			return
		}
	}
}

// resolveSlot is a small resolver: of lives_in, the newest holds; of others, all do; a loop is closed by any close.
func resolveSlot(slot unit.Slot) []memory.Unit {
	claims := slices.Clone(slot.Claims)
	slices.SortFunc(claims, func(a, b unit.Claim) int {
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}
		return strings.Compare(a.Quote, b.Quote)
	})
	var units []memory.Unit
	byUID := map[string]int{}
	for _, c := range claims {
		u := memory.Unit{Kind: slot.Kind, State: memory.StateValidated, OccurredAt: c.At, Source: "rule", Trust: c.Speaker, Confidence: c.Confidence,
			Sensitivity: c.Sensitivity, Evidence: []memory.Evidence{{EpisodeUID: c.EpisodeUID, StartLine: c.StartLine, EndLine: c.EndLine, Quote: c.Quote, Maker: c.Maker}}}
		if slot.Kind == memory.KindLoop {
			u.UID = vocab.UnitUID("loop", slot.Name)
			u.Loop = &memory.Loop{Key: slot.Name, Status: memory.LoopOpen, Text: c.LoopText, OpenedAt: c.At, ExpiresAt: c.At.AddDate(0, 1, 0)}
			if c.Kind == unit.ClaimClose {
				u.State, u.Loop.Status, u.Loop.ClosedAt = memory.StateArchived, memory.LoopClosed, c.At
			}
		} else {
			u.UID = vocab.UnitUID("fact", vocab.EntityUID(slot.Subject), c.Predicate, c.Object)
			u.Fact = &memory.Fact{Subject: slot.Subject, Predicate: c.Predicate, Slot: slot.Name, Object: c.Object, EffectiveAt: c.At,
				Key: vocab.FactKey(slot.Subject, c.Predicate, c.Object)}
			if !c.At.IsZero() {
				u.Fact.From = c.At.Format(time.DateOnly)
			}
		}
		if i, ok := byUID[u.UID]; ok {
			if u.Loop != nil {
				u.Loop.Text, u.Loop.OpenedAt = units[i].Loop.Text, units[i].Loop.OpenedAt
				u.Evidence = append(units[i].Evidence, u.Evidence...)
				units[i] = u
			} else {
				units[i].Evidence = append(units[i].Evidence, u.Evidence...)
				units[i].OccurredAt = u.OccurredAt
			}
			continue
		}
		byUID[u.UID] = len(units)
		units = append(units, u)
	}
	if slot.Name == "lives_in" {
		for i := range units[:max(len(units)-1, 0)] {
			units[i].State, units[i].Fact.To, units[i].Fact.SupersededBy = memory.StateSuperseded, units[i+1].Fact.From, units[i+1].UID
		}
	}
	return applyPins(units, slot.Decisions)
}

// applyPins applies the decisions that the small resolver knows.
func applyPins(units []memory.Unit, decisions []unit.Decision) []memory.Unit {
	for _, d := range decisions {
		for i := range units {
			if units[i].UID == d.Target {
				units[i].Pinned = d.Verb == unit.DecidePin
			}
		}
	}
	return units
}

// said returns what units say, with their citations: "Dario lives in Porto @memory/2026-11-01.md:1".
func said(units []memory.Unit) []string {
	var list []string
	for _, u := range units {
		text := vocab.Text(u)
		for _, e := range u.Evidence {
			text += fmt.Sprintf(" @%s:%d", e.Path, e.StartLine)
		}
		list = append(list, text)
	}
	return list
}

// units returns what the units of a query say.
func (s derivedStore) units(t testing.TB, q memory.UnitQuery) []string {
	t.Helper()
	list, err := s.Units(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return said(list.Units)
}
