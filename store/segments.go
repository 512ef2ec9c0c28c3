package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
)

// Bounds of merging. FTS5 writes the words of each commit as a segment of their own, and a look-up of a word searches
// every segment. FTS5 merges segments itself while it writes, but leaves a dozen.
const (
	// maxSegments is how many segments are let be, and twice as many where only the largest could be merged with others.
	maxSegments = 4
	// mergePages is how many pages (4 KB) one step writes: the writer is held for some 30 ms, and the write-ahead log stays
	// small.
	mergePages = 256
	// wholeShare: all segments are merged to one once those beside the largest hold this part of the pages (1/8). So the
	// whole is written again for many edits together, never for one.
	wholeShare = 8
)

// segments is how FTS5 keeps the words: levels, the newest and smallest first.
type segments []level

// level is the segments of one level, the oldest first.
type level struct {
	pages   []int // of each segment
	merging int   // how many of them are being merged into the last segment of the next level
}

// MergeSegments merges the segments of the words, a transaction a step, until few are left. It does nothing where few are
// there or another call is at it. Once ctx is done it returns its error, and the next call goes on from there. Searches
// answer the same at any moment, so the generation stays.
func (s *Store) MergeSegments(ctx context.Context) error {
	if !s.merging.TryLock() {
		return nil
	}
	defer s.merging.Unlock()
	for before := ""; ; {
		found, record, err := s.readSegments(ctx)
		if err != nil {
			return err
		}
		pages := found.due()
		if pages == 0 || record == before {
			return nil
		}
		before = record
		_, err = s.db.writer.ExecContext(ctx, "INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('merge', ?)", pages)
		if err != nil {
			return fmt.Errorf("merge segments: %w", err)
		}
	}
}

// readSegments returns the segments of the words, and the record that tells of them.
func (s *Store) readSegments(ctx context.Context) (segments, string, error) {
	var record []byte
	err := s.db.readers.QueryRowContext(ctx, "SELECT block FROM chunks_fts_data WHERE id = 10").Scan(&record)
	if err != nil {
		return nil, "", fmt.Errorf("read segments: %w", err)
	}
	found, err := decodeSegments(record)
	if err != nil {
		return nil, "", fmt.Errorf("read segments: %w", err)
	}
	return found, string(record), nil
}

// due returns the argument of FTS5's next 'merge': how many pages it may write, negative where all segments are to become
// one, 0 where nothing is to be done. A positive one merges the level with the most segments, if it has two.
func (s segments) due() int {
	count, total, largest := 0, 0, 0
	for _, l := range s {
		count += len(l.pages)
		total += l.size()
		largest = max(largest, l.largest())
	}
	next := s.next()
	switch {
	case count <= maxSegments:
		return 0
	case (total-largest)*wholeShare < total && next.size()*wholeShare <= total:
		// Small segments alone: to merge the largest with a few pages would write all of it for one edit. With no more pages
		// than the result will have, FTS5 does not go on to another level.
		if len(next.pages) > 1 {
			return min(next.largest(), mergePages)
		}
		return 0
	case (total-largest)*wholeShare < total && count <= 2*maxSegments:
		return 0
	case (total-s.underway())*wholeShare < total:
		return mergePages // a negative one would begin anew where a commit came between
	}
	return -mergePages
}

// next returns the level that FTS5 merges next.
func (s segments) next() level {
	var best level
	for _, l := range s {
		if l.merging > 0 {
			if l.merging > len(best.pages) {
				best = l
			}
			break
		}
		if len(l.pages) > len(best.pages) {
			best = l
		}
	}
	return best
}

// underway returns the pages of the segments that take part in the merge which was begun last and is not done.
func (s segments) underway() int {
	for i, l := range s {
		if l.merging > 0 && i+1 < len(s) && len(s[i+1].pages) > 0 {
			out := s[i+1].pages
			return l.size() + out[len(out)-1]
		}
	}
	return 0
}

// size returns the pages of all segments.
func (l level) size() int {
	n := 0
	for _, p := range l.pages {
		n += p
	}
	return n
}

// largest returns the pages of the largest segment.
func (l level) largest() int {
	n := 0
	for _, p := range l.pages {
		n = max(n, p)
	}
	return n
}

// errSegments: the record is not one of FTS5.
var errSegments = errors.New("unknown structure of chunks_fts")

// segmentsV2 stands after the cookie where segments know their tombstones, as those of a table with contentless_delete do.
const segmentsV2 = 0xff000001

// decodeSegments reads FTS5's structure record: a cookie of 4 bytes and, as varints, how many levels and segments there
// are and how much was ever written; of each level how many segments are being merged and how many there are; of each
// segment its id, its first and its last page, and five more numbers.
func decodeSegments(b []byte) (segments, error) {
	d := varints{b: b[min(4, len(b)):]}
	rest := 0
	if len(d.b) >= 4 && binary.BigEndian.Uint32(d.b) == segmentsV2 {
		d.b, rest = d.b[4:], 5
	}
	levels := d.next()
	d.next()
	d.next()
	var s segments
	for i := 0; i < levels && !d.short; i++ {
		l := level{merging: d.next()}
		for n := d.next(); n > 0 && !d.short; n-- {
			d.next()
			first, last := d.next(), d.next()
			l.pages = append(l.pages, max(last-first+1, 0))
			for range rest {
				d.next()
			}
		}
		s = append(s, l)
	}
	if d.short {
		return nil, errSegments
	}
	return s, nil
}

// varints reads SQLite's varints: big-endian, seven bits a byte, eight in the ninth.
type varints struct {
	b     []byte
	short bool // the bytes did not suffice
}

// next returns the next number, 0 where there is none.
func (v *varints) next() int {
	var n uint64
	for i, c := range v.b {
		if i == 8 {
			v.b = v.b[9:]
			return int(n<<8 | uint64(c))
		}
		n = n<<7 | uint64(c&0x7f)
		if c < 0x80 {
			v.b = v.b[i+1:]
			return int(n)
		}
	}
	v.b, v.short = nil, true
	return 0
}
