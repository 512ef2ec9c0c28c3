package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
)

// Limits of merging. FTS5 writes the words of each commit as a new segment, and a look-up of a word searches every segment.
// FTS5 merges segments while it writes, but leaves a dozen.
const (
	// maxSegments is the number of segments that are left as they are. Twice as many are left if only a merge with the largest
	// would help.
	maxSegments = 4
	// mergePages is the number of pages (4 KB) that one step writes: it locks the writer for about 30 ms, and the write-ahead
	// log stays small.
	mergePages = 256
	// wholeShare is 1 / the share of the pages outside the largest segment from which all segments are merged to one. So the
	// whole is rewritten only after many edits.
	wholeShare = 8
)

// segments are the segments of the words in FTS5 by levels, the newest and smallest level first.
type segments []level

// level contains the segments of one level, oldest first.
type level struct {
	pages   []int // of each segment
	merging int   // number of segments that are being merged into the last segment of the next level
}

// mergeSegments implements Store.MergeSegments.
func (x *index) mergeSegments(ctx context.Context) error {
	if !x.mergeMu.TryLock() {
		return nil
	}
	defer x.mergeMu.Unlock()
	for before := ""; ; {
		segs, record, err := x.readSegments(ctx)
		if err != nil {
			return err
		}
		pages := segs.mergeArgument()
		if pages == 0 || record == before {
			return nil
		}
		before = record
		_, err = x.db.writer.ExecContext(ctx, "INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('merge', ?)", pages)
		if err != nil {
			return fmt.Errorf("merge segments: %w", err)
		}
	}
}

// readSegments returns the segments of the words, and the record that describes them.
func (x *index) readSegments(ctx context.Context) (segments, string, error) {
	var record []byte
	err := x.db.readers.QueryRowContext(ctx, "SELECT block FROM chunks_fts_data WHERE id = 10").Scan(&record)
	if err != nil {
		return nil, "", fmt.Errorf("read segments: %w", err)
	}
	segs, err := decodeSegments(record)
	if err != nil {
		return nil, "", fmt.Errorf("read segments: %w", err)
	}
	return segs, string(record), nil
}

// mergeArgument returns the argument of the next 'merge' command of FTS5: the number of pages that it may write, negative to
// merge all segments to one, 0 if there is nothing to merge. With a positive argument, FTS5 merges the level with the most
// segments, if it has two.
func (s segments) mergeArgument() int {
	count, total, largest := 0, 0, 0
	for _, l := range s {
		count += len(l.pages)
		total += l.size()
		largest = max(largest, l.largest())
	}
	next := s.nextLevel()
	switch {
	case count <= maxSegments:
		return 0
	case (total-largest)*wholeShare < total && next.size()*wholeShare <= total:
		// Merges only small segments: a merge of the largest with a few pages would rewrite all of it for one edit. With no more
		// pages than the result will have, FTS5 does not continue with another level.
		if len(next.pages) > 1 {
			return min(next.largest(), mergePages)
		}
		return 0
	case (total-largest)*wholeShare < total && count <= 2*maxSegments:
		return 0
	case (total-s.mergingPages())*wholeShare < total:
		return mergePages // a negative argument would restart the merge after a commit
	}
	return -mergePages
}

// nextLevel returns the level that FTS5 merges next.
func (s segments) nextLevel() level {
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

// mergingPages returns the number of pages of the segments in the unfinished merge that was started last.
func (s segments) mergingPages() int {
	for i, l := range s {
		if l.merging > 0 && i+1 < len(s) && len(s[i+1].pages) > 0 {
			out := s[i+1].pages
			return l.size() + out[len(out)-1]
		}
	}
	return 0
}

// size returns the number of pages of all segments.
func (l level) size() int {
	n := 0
	for _, p := range l.pages {
		n += p
	}
	return n
}

// largest returns the number of pages of the largest segment.
func (l level) largest() int {
	n := 0
	for _, p := range l.pages {
		n = max(n, p)
	}
	return n
}

// errSegments: the structure record of FTS5 has an unknown format.
var errSegments = errors.New("unknown structure of chunks_fts")

// segmentsV2 follows the cookie if segments contain tombstones, as in a table with contentless_delete.
const segmentsV2 = 0xff000001

// decodeSegments decodes the structure record of FTS5: a cookie of 4 bytes and, as varints, the numbers of levels, of segments
// and of writes; for each level the numbers of segments that are being merged and of all segments; for each segment its id, its
// first and last page, and with segmentsV2 five more numbers.
func decodeSegments(b []byte) (segments, error) {
	d := varints{b: b[min(4, len(b)):]}
	rest := 0
	if len(d.b) >= 4 && binary.BigEndian.Uint32(d.b) == segmentsV2 {
		d.b, rest = d.b[4:], 5
	}
	levels := d.nextVarint()
	d.nextVarint()
	d.nextVarint()
	var s segments
	for i := 0; i < levels && !d.short; i++ {
		l := level{merging: d.nextVarint()}
		for n := d.nextVarint(); n > 0 && !d.short; n-- {
			d.nextVarint()
			first, last := d.nextVarint(), d.nextVarint()
			l.pages = append(l.pages, max(last-first+1, 0))
			for range rest {
				d.nextVarint()
			}
		}
		s = append(s, l)
	}
	if d.short {
		return nil, errSegments
	}
	return s, nil
}

// varints decodes the varints of SQLite: big-endian, seven bits a byte, eight in the ninth.
type varints struct {
	b     []byte
	short bool // there were too few bytes
}

// nextVarint returns the next number, 0 if there is none.
func (v *varints) nextVarint() int {
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
