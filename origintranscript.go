package kioku

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"kioku/internal/files"
	"kioku/memory"
	"kioku/note"
)

const (
	// offsetEvery is the number of lines between two known offsets of a transcript.
	offsetEvery = 256
	// maxOriginLine is the maximum length in bytes of a line of a transcript whose origin is read.
	maxOriginLine = 1 << 20
	// tailBytes is how much before the last known offset is compared, to find out whether a transcript has only grown.
	tailBytes = 256
)

// lineOffsets are where lines of a transcript begin, so that a search reads little more of it than the lines of its hits.
type lineOffsets struct {
	// info is that of the file when it was read.
	info fs.FileInfo
	// at[i] is the offset of line 1+i*offsetEvery; at[0] is 0.
	at []int64
	// tail are the bytes before the last offset.
	tail []byte
}

// sessionOrigin returns the origin of a hit in a transcript, which only grows.
func (m *Memory) sessionOrigin(h *memory.Hit) *memory.Origin {
	originOf := m.opt.Index.Sessions.Origin
	dir, rel, ok := m.indexer.Owns(h.Path)
	if originOf == nil || !ok {
		return nil
	}
	notes, err := m.origins.ofTranscript(dir, rel, h.SnippetStart, h.SnippetEnd, originOf)
	if err != nil {
		return unknownOrigin
	}
	return note.JoinOrigins(notes, h.SnippetStart, h.SnippetEnd)
}

// ofTranscript returns the origins of some lines of a transcript. Searches that read at the same time do not wait for each other.
func (c *originCache) ofTranscript(dir, rel string, from, to int, originOf func(line []byte) *memory.Origin) ([]note.Origin, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file, info, err := files.OpenRegular(root, rel)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	key := dir + "\x00" + rel
	c.mu.Lock()
	known := c.transcripts[key]
	c.mu.Unlock()
	if !known.holdFor(file, info) {
		known = lineOffsets{at: []int64{0}}
	}
	known.info = info
	var notes []note.Origin
	known, err = known.scan(file, from, to, func(number int, line []byte) {
		origin := unknownOrigin // of a line that is too long
		if line != nil {
			origin = originOf(line)
		}
		if origin != nil {
			notes = append(notes, note.Origin{From: number, To: number, Origin: origin})
		}
	})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.transcripts == nil || len(c.transcripts) >= maxOriginFiles {
		c.transcripts = make(map[string]lineOffsets)
	}
	c.transcripts[key] = known
	return notes, nil
}

// holdFor reports whether the offsets are those of a file: it has only grown since.
func (o lineOffsets) holdFor(file io.ReaderAt, info fs.FileInfo) bool {
	if len(o.at) == 0 || !os.SameFile(o.info, info) || info.Size() < o.at[len(o.at)-1] {
		return false
	}
	tail, err := tailBefore(file, o.at[len(o.at)-1])
	return err == nil && bytes.Equal(tail, o.tail)
}

// tailBefore returns the bytes before an offset.
func tailBefore(file io.ReaderAt, offset int64) ([]byte, error) {
	tail := make([]byte, min(offset, tailBytes))
	_, err := file.ReadAt(tail, offset-int64(len(tail)))
	return tail, err
}

// scan reads the lines between two, from the nearest known offset on, and returns the offsets with those that it has come across. A line
// that is too long is nil.
func (o lineOffsets) scan(file io.ReaderAt, from, to int, each func(number int, line []byte)) (lineOffsets, error) {
	near := min((from-1)/offsetEvery, len(o.at)-1)
	number, offset := 1+near*offsetEvery, o.at[near]
	grown := slices.Clip(o.at) // other searches have the same array
	in := bufio.NewReaderSize(io.NewSectionReader(file, offset, 1<<62), 64<<10)
	for ; number <= to; number++ {
		if number == 1+len(grown)*offsetEvery {
			grown = append(grown, offset)
		}
		line, n, err := readOriginLine(in, number >= from)
		if offset += n; number >= from && n > 0 {
			each(number, line)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return o, err
		}
	}
	if len(grown) > len(o.at) {
		o.at = grown
		var err error
		if o.tail, err = tailBefore(file, grown[len(grown)-1]); err != nil {
			return o, err
		}
	}
	return o, nil
}

// readOriginLine reads a line and returns it, nil if it is not wanted or too long, and its length with the line break.
func readOriginLine(in *bufio.Reader, wanted bool) (line []byte, n int64, err error) {
	for {
		part, err := in.ReadSlice('\n')
		n += int64(len(part))
		if wanted = wanted && n <= maxOriginLine; wanted {
			line = append(line, part...)
		} else {
			line = nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, n, err
		}
	}
}
