package derive

import (
	"context"
	"fmt"
	"slices"

	"kioku/derive/resolve"
	"kioku/derive/rule"
	"kioku/derive/unit"
	"kioku/memory"
)

const (
	// fileBatch and episodeBatch are how many files and episodes a transaction takes, and slotBatch how many slots.
	fileBatch, episodeBatch, slotBatch = 64, 512, 512
)

// cutFiles cuts the files into episodes that are not cut as they are now, or were by other rules. A file that has changed since it was
// indexed is left to the indexer. Claims move with texts to other files, and what no file says any more is deleted in the end.
func (s *Service) cutFiles(ctx context.Context, o passOptions) error {
	done := 0
	for changed := 0; ; { // files that have changed since they were indexed stay among those that are to be cut
		paths, err := s.store.Uncut(ctx, s.opt.Rules.Fingerprint(), changed+fileBatch)
		if err != nil {
			return err
		}
		before := done
		for _, path := range paths {
			written, err := s.cutFile(ctx, path, nil)
			if err != nil {
				return err
			}
			if written {
				done++
			}
		}
		if done == before {
			break
		}
		changed = len(paths) - (done - before)
		o.tell(unit.StepSegment, done, 0, fmt.Sprintf("cut %d files into episodes", done))
	}
	transcripts, err := s.cutTranscripts(ctx, o)
	if err != nil {
		return err
	}
	gone, err := s.store.DropDetached(ctx)
	if err != nil {
		return err
	}
	if done+transcripts+gone > 0 {
		s.changed()
	}
	return nil
}

// cutTranscripts cuts the transcripts that are not indexed and have settled, and returns how many.
func (s *Service) cutTranscripts(ctx context.Context, o passOptions) (done int, err error) {
	all, err := s.notes.Unindexed()
	if err != nil {
		return 0, err
	}
	paths, err := s.store.UncutTranscripts(ctx, s.opt.Rules.Fingerprint(), all)
	if err != nil {
		return 0, err
	}
	for i := range all {
		if !slices.Contains(paths, all[i].Path) || !o.now && s.opt.Now().Sub(all[i].ModTime) < s.opt.Settle {
			continue
		}
		written, err := s.cutFile(ctx, all[i].Path, &all[i])
		if err != nil {
			return done, err
		}
		if written {
			done++
		}
	}
	return done, nil
}

// cutFile writes the episodes of a file, which is a transcript that is not indexed or nil. It returns false for a file that is not what is
// indexed.
func (s *Service) cutFile(ctx context.Context, path string, unindexed *memory.File) (bool, error) {
	file, err := s.notes.ReadSource(ctx, path)
	if err != nil {
		return false, ctx.Err()
	}
	return s.store.PutEpisodes(ctx, file, unindexed, s.opt.Rules.Fingerprint(), s.opt.Rules.Episodes(file))
}

// Cut returns the episodes of a file as it is indexed, without writing them.
func (s *Service) Cut(ctx context.Context, path string) ([]memory.Episode, error) {
	file, err := s.notes.ReadSource(ctx, path)
	if err != nil {
		return nil, err
	}
	return s.opt.Rules.Episodes(file), nil
}

// claimByRule reads by rule what the episodes say that were not read yet.
func (s *Service) claimByRule(ctx context.Context, o passOptions) error {
	for done, changed := 0, 0; ; {
		pending, err := s.store.PendingEpisodes(ctx, rule.Version, changed+episodeBatch)
		if err != nil {
			return err
		}
		batch, err := s.claimsOf(ctx, pending)
		if err != nil {
			return err
		}
		stale, err := s.store.PutClaims(ctx, makerRule, rule.Version, batch)
		read := len(batch) - len(stale)
		if err != nil || read == 0 { // what is left has changed on the disk, and the indexer brings it anew
			return err
		}
		done, changed = done+read, len(pending)-read
		o.tell(unit.StepRules, done, 0, fmt.Sprintf("read %d episodes by rule", done))
		s.changed()
	}
}

// Classes of makers of claims.
const (
	makerRule  = "rule"
	makerModel = "model"
)

// claimsOf returns what episodes say by rule. Those of files that have changed are left out.
func (s *Service) claimsOf(ctx context.Context, episodes []memory.Episode) ([]unit.EpisodeClaims, error) {
	var batch []unit.EpisodeClaims
	read := s.newReader()
	for _, e := range episodes {
		file := read.document(ctx, e.Path)
		if file == nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			continue
		}
		if claims, ok := file.Claims(e); ok {
			batch = append(batch, claims)
		}
	}
	return batch, nil
}

// reader reads files, and remembers the last one: episodes come file by file.
type reader struct {
	service *Service
	path    string
	file    *rule.Document
}

func (s *Service) newReader() *reader { return &reader{service: s} }

// document returns a file as it is indexed, nil if it is gone or has changed since.
func (r *reader) document(ctx context.Context, path string) *rule.Document {
	if r.path != path {
		r.path, r.file = path, nil
		if file, err := r.service.notes.ReadSource(ctx, path); err == nil {
			r.file = r.service.opt.Rules.Read(file)
		}
	}
	return r.file
}

// resolveSlots makes the units anew whose claims or decisions have changed, and all of them if the predicates have other classes than
// before, or this program makes units in another way than the one before.
func (s *Service) resolveSlots(ctx context.Context, o passOptions) error {
	fingerprint := fmt.Sprintf("resolve v%d %s", resolve.Version, s.opt.Vocabulary.Fingerprint())
	if err := s.store.MakeAnew(ctx, fingerprint); err != nil {
		return err
	}
	done := 0
	for {
		left, err := s.store.ResolveDirty(ctx, slotBatch, s.opt.Now(), resolve.Units(s.opt.Vocabulary))
		if err != nil {
			return err
		}
		if left == 0 {
			return nil
		}
		done += min(left, slotBatch)
		o.tell(unit.StepResolve, done, done+max(left-slotBatch, 0), fmt.Sprintf("made the units of %d slots", done))
		s.changed()
		if left <= slotBatch {
			return nil
		}
	}
}
