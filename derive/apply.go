package derive

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"kioku/derive/contract"
	"kioku/derive/store"
	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/memory"
	"kioku/search/analysis"
)

// extracted is what a model has said of one episode and what was accepted of it, as it is cached. Lines are relative to the
// episode.
type extracted struct {
	Mentions []unit.Mention `json:"mentions,omitempty"`
	Claims   []unit.Claim   `json:"claims,omitempty"`
	// Reflection is nil if the model was not asked for one.
	Reflection *memory.Reflection `json:"reflection,omitempty"`
	// Invalid is set if the answers about the episode were invalid, so that it is not asked about again by itself.
	Invalid bool `json:"invalid,omitempty"`
}

// inputOf returns the hash of what the answer about an episode depends on, apart from the contract and the model. What else was
// offered does not count, so that a rebuilt index finds the answers whatever the order in which its files come.
func (s *Service) inputOf(a unit.EpisodeText) [32]byte {
	h := sha256.New()
	for _, part := range []string{fmt.Sprint(s.opt.Reflect), a.Date, a.Heading, fmt.Sprint(a.LongTerm)} {
		fmt.Fprintf(h, "%d %s\n", len(part), part)
	}
	for _, l := range a.Lines {
		fmt.Fprintf(h, "%d %d %s%s\n", len(l.Speaker), len(l.Text), l.Speaker, l.Text)
	}
	return [32]byte(h.Sum(nil))
}

// cached returns what the model has said of an episode before, nil if that is not known.
func (s *Service) cached(ctx context.Context, a unit.EpisodeText) (*extracted, error) {
	answer, err := s.store.CachedAnswer(ctx, contract.NameExtract, s.modelID(), s.inputOf(a))
	if err != nil || answer == "" {
		return nil, err
	}
	x := new(extracted)
	if json.Unmarshal([]byte(answer), x) != nil {
		return nil, nil // of another version of this program
	}
	return x, nil
}

// applyExtracted stores what the model says of a batch, and caches it.
func (s *Service) applyExtracted(ctx context.Context, batch []unit.EpisodeText, said []extracted, tokens used) error {
	for i, a := range batch {
		raw, err := json.Marshal(said[i])
		if err != nil {
			return err
		}
		err = s.store.PutAnswer(ctx, contract.NameExtract, s.modelID(), s.inputOf(a), string(raw), []string{a.UID}, tokens.in/len(batch), tokens.out/len(batch))
		if err != nil {
			return err
		}
	}
	return s.putModelClaims(ctx, batch, said)
}

// applyNothing notes that the answers about episodes are invalid, so that they are not asked about again by themselves.
func (s *Service) applyNothing(ctx context.Context, batch []unit.EpisodeText) error {
	return s.applyExtracted(ctx, batch, slices.Repeat([]extracted{{Invalid: true}}, len(batch)), used{})
}

// putModelClaims stores the claims of the model. Episodes that have changed since are left out: they come anew.
func (s *Service) putModelClaims(ctx context.Context, batch []unit.EpisodeText, said []extracted) error {
	claims := make([]unit.EpisodeClaims, 0, len(batch))
	for i, a := range batch {
		ec := unit.EpisodeClaims{Episode: a.Episode, Maker: s.maker(), Mentions: slices.Clone(said[i].Mentions), Claims: slices.Clone(said[i].Claims)}
		if r := said[i].Reflection; r != nil && r.Emotion != "" { // without one it is of another version of this program
			ec.Reflection = r
			for _, tag := range r.Tags {
				ec.Mentions = append(ec.Mentions, unit.Mention{Entity: memory.EntityRef{Type: vocab.Topic, Name: tag}, Confidence: r.Confidence})
			}
		}
		for j := range ec.Claims {
			c := &ec.Claims[j]
			c.EpisodeID, c.EpisodeUID, c.At, c.LongTerm = a.ID, a.UID, a.OccurredAt, a.LongTerm
			c.Sensitivity = max(c.Sensitivity, a.Sensitivity)
		}
		claims = append(claims, ec)
	}
	if _, err := s.store.PutClaims(ctx, makerModel, extractVersion, claims); err != nil {
		return err
	}
	s.changed()
	return nil
}

// contracts returns the contracts with the model.
func (s *Service) contracts() contract.Contracts {
	return contract.Contracts{Vocabulary: s.opt.Vocabulary, EntityTypes: s.opt.EntityTypes, UserNames: s.opt.Rules.UserNames(), Reflections: s.opt.Reflect}
}

// offeredLoops returns the open loops that a model may close while it reads a batch: those below the ceiling that share a word with
// it, the newest first.
func (s *Service) offeredLoops(ctx context.Context, batch []unit.EpisodeText) ([]memory.Loop, error) {
	list, err := s.store.Units(ctx, memory.UnitQuery{Kinds: []string{memory.KindLoop}, MaxSensitivity: s.opt.Ceiling, Limit: 1000})
	if err != nil {
		return nil, err
	}
	words := vocab.Terms(textOf(batch))
	var loops []memory.Loop
	for _, u := range list.Units {
		if u.Loop != nil && u.Loop.Status == memory.LoopOpen && sharesWord(words, u.Loop.Text) {
			loops = append(loops, *u.Loop)
		}
	}
	return loops, nil
}

// offeredEntities returns the known entities whose names occur in a batch, so that offering them tells the model nothing that the
// batch does not say.
func (s *Service) offeredEntities(ctx context.Context, batch []unit.EpisodeText) ([]unit.Entity, error) {
	all, err := s.store.Entities(ctx, store.EntityQuery{Limit: 5000, MaxSensitivity: s.opt.Ceiling})
	if err != nil {
		return nil, err
	}
	text := vocab.Norm(textOf(batch))
	var offered []unit.Entity
	for _, e := range all {
		if norm := vocab.Norm(e.Name); norm != "" && e.MergedInto == "" && strings.Contains(text, norm) {
			e.Aliases = slices.DeleteFunc(slices.Clone(e.Aliases), func(alias string) bool { return !strings.Contains(text, vocab.Norm(alias)) })
			offered = append(offered, e)
		}
	}
	return offered, nil
}

// textOf returns the lines of a batch that a model may see.
func textOf(batch []unit.EpisodeText) string {
	var b strings.Builder
	for _, a := range batch {
		for _, l := range a.Lines {
			b.WriteString(l.Text)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// sharesWord reports whether a text has one of the analysed words.
func sharesWord(words map[string]bool, text string) bool {
	for _, w := range analysis.Terms(text) {
		if words[w] {
			return true
		}
	}
	return false
}
