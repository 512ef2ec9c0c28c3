package indexer

import (
	"bytes"
	"io"
	"path"
	"strings"

	"kioku/internal/safefile"
	"kioku/internal/text"
	"kioku/memory"
)

const (
	// sessionsName is the folder of transcripts in the paths of the index: "sessions/<id>.jsonl".
	sessionsName = "sessions"
	// sessionExt is the extension of a transcript.
	sessionExt = ".jsonl"
	// maxSessionBytes is the maximum size of a transcript. Most of it is output of tools, which is not indexed.
	maxSessionBytes = 64 << 20

	// DefaultDeltaBytes and DefaultDeltaMessages are the defaults of Sessions.
	DefaultDeltaBytes    = 100_000
	DefaultDeltaMessages = 50
)

// Sessions says where the transcripts of an agent's conversations are, and how to read them. Transcripts are files of JSON
// lines that only grow.
type Sessions struct {
	// Folder contains the transcripts, <id>.jsonl; it need not exist. Empty means that there are none. Their paths in the index
	// are "sessions/<id>.jsonl"; files in a folder "sessions" of the workspace then have absolute paths.
	Folder string
	// Spoken returns what is said on a line of a transcript, and its day (YYYY-MM-DD). Both are empty if the line says nothing
	// or is incomplete. It is called concurrently. Nil means that there are no transcripts.
	Spoken func(line []byte) (text, day string)
	// Origin returns who has said what is said on a line, nil for the owner in private. Nil means that the owner has said it all.
	Origin func(line []byte) *memory.Origin
	// DeltaBytes is the growth after which a sync with DeferSessions indexes a transcript again; 0 means 100,000.
	DeltaBytes int64
	// DeltaMessages is the same growth in lines on which something is said; whichever comes first counts. 0 means 50.
	DeltaMessages int
}

// enabled reports whether there are transcripts to index.
func (s Sessions) enabled() bool { return s.Folder != "" && s.Spoken != nil }

func (s Sessions) withDefaults() Sessions {
	if s.DeltaBytes <= 0 {
		s.DeltaBytes = DefaultDeltaBytes
	}
	if s.DeltaMessages <= 0 {
		s.DeltaMessages = DefaultDeltaMessages
	}
	return s
}

// Render returns a transcript as it is indexed and shown: what is said on each of its lines, on one line each, so that the
// line numbers stay the same. Lines that say nothing are empty. Spoken must be set.
func (s Sessions) Render(src []byte) []byte {
	text, _ := s.render(src)
	return text
}

// render also returns the day of each line; empty if the line says nothing.
func (s Sessions) render(src []byte) (lines []byte, days []string) {
	var out bytes.Buffer
	for line := range bytes.Lines(src) {
		said, day := s.Spoken(line)
		out.WriteString(text.OneLine(said))
		if bytes.HasSuffix(line, []byte("\n")) {
			out.WriteByte('\n')
		}
		days = append(days, day)
	}
	return out.Bytes(), days
}

// dateChunks gives each chunk of a transcript the first day of its lines.
func dateChunks(chunks []Chunk, days []string) {
	for i := range chunks {
		c := &chunks[i]
		for _, day := range days[min(c.StartLine-1, len(days)):min(c.EndLine, len(days))] {
			if day != "" {
				c.Date = day
				break
			}
		}
	}
}

// sessionTarget returns the target for a folder of transcripts.
func sessionTarget(folder string) target {
	return target{source: memory.SourceSessions, root: absolute(folder), base: ".", optional: true}
}

// isTranscript reports whether rel is a transcript in a folder of transcripts.
func isTranscript(rel string) bool {
	return path.Ext(rel) == sessionExt && path.Dir(rel) == "."
}

// reserved reports whether a path in the workspace looks like the path of a transcript.
func reserved(rel string) bool {
	return rel == sessionsName || strings.HasPrefix(rel, sessionsName+"/")
}

// deferred reports whether a transcript has grown by so little that this sync skips it. One that has become shorter was
// replaced, and is never skipped.
func (r *syncRun) deferred(f *foundFile, st Stored) bool {
	if !r.req.DeferSessions || !r.caughtUp || f.source != memory.SourceSessions || f.skip != "" || st.Skipped != "" {
		return false
	}
	grown := f.info.Size() - st.Size
	if grown <= 0 || grown >= r.opt.Sessions.DeltaBytes {
		return false
	}
	return r.countMessages(f, st.Size, grown) < r.opt.Sessions.DeltaMessages
}

// countMessages counts the lines of a transcript after an offset on which something is said. A part that cannot be read
// counts as nothing; the error shows when the whole file is read.
func (r *syncRun) countMessages(f *foundFile, from, n int64) int {
	file, _, err := safefile.OpenRegular(f.root, f.rel)
	if err != nil {
		return 0
	}
	defer file.Close()
	tail, err := io.ReadAll(io.NewSectionReader(file, from, n))
	if err != nil {
		return 0
	}
	said := 0
	for line := range bytes.Lines(tail) {
		if text, _ := r.opt.Sessions.Spoken(line); text != "" {
			said++
		}
	}
	return said
}

// limitOf returns the maximum size in bytes of a file of a source.
func limitOf(source string, limit int64) int64 {
	if source == memory.SourceSessions {
		return max(limit, maxSessionBytes)
	}
	return limit
}
