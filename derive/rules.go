package derive

import (
	"context"
	"fmt"

	"kioku/derive/resolve"
	"kioku/derive/rule"
	"kioku/derive/seam"
	"kioku/memory"
)

const (
	// fileBatch and episodeBatch are how many files and episodes a transaction takes, and slotBatch how many slots.
	fileBatch, episodeBatch, slotBatch = 64, 512, 512
)

// cutFiles cuts the files into episodes that were indexed without these rules: derivation was off, or the rules were others. A file that
// has changed since it was indexed is left to the indexer.
func (s *Service) cutFiles(ctx context.Context, o passOptions) error {
	done, skipped := 0, 0
	for {
		paths, err := s.store.UncutFiles(ctx, s.opt.Rules.Fingerprint(), skipped+fileBatch)
		if err != nil {
			return err
		}
		if len(paths) <= skipped {
			break
		}
		before := done
		for _, path := range paths {
			written, err := s.cutFile(ctx, path)
			if err != nil {
				return err
			}
			if written {
				done++
			}
		}
		skipped = len(paths) - (done - before)
		o.tell(memory.StepSegment, done, 0, fmt.Sprintf("cut %d files into episodes", done))
		if done == before {
			break
		}
	}
	if done > 0 {
		s.changed()
	}
	return nil
}

// cutFile writes the episodes of a file. It returns false for a file that is not what is indexed.
func (s *Service) cutFile(ctx context.Context, path string) (bool, error) {
	file, err := s.notes.ReadSource(ctx, path)
	if err != nil {
		return false, ctx.Err()
	}
	return s.store.PutEpisodes(ctx, file, s.opt.Rules.Fingerprint(), s.opt.Rules.Episodes(file))
}

// claimByRule reads by rule what the episodes say that were not read yet.
func (s *Service) claimByRule(ctx context.Context, o passOptions) error {
	done, skipped := 0, 0
	for {
		pending, err := s.store.PendingEpisodes(ctx, rule.Version, skipped+episodeBatch)
		if err != nil {
			return err
		}
		if len(pending) <= skipped {
			return nil
		}
		batch, err := s.claimsOf(ctx, pending)
		if err != nil {
			return err
		}
		stale, err := s.store.PutClaims(ctx, makerRule, rule.Version, batch)
		if err != nil {
			return err
		}
		read := len(batch) - len(stale)
		done, skipped = done+read, len(pending)-read
		o.tell(memory.StepRules, done, 0, fmt.Sprintf("read %d episodes by rule", done))
		if read == 0 {
			return nil // what is left has changed on the disk, and the indexer brings it anew
		}
		s.changed()
	}
}

// Classes of makers of claims.
const (
	makerRule  = "rule"
	makerModel = "model"
)

// claimsOf returns what episodes say by rule. Those of files that have changed are left out.
func (s *Service) claimsOf(ctx context.Context, episodes []memory.Episode) ([]seam.EpisodeClaims, error) {
	var batch []seam.EpisodeClaims
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
		o.tell(memory.StepResolve, done, done+max(left-slotBatch, 0), fmt.Sprintf("made the units of %d slots", done))
		s.changed()
		if left <= slotBatch {
			return nil
		}
	}
}
