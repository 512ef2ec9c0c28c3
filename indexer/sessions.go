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
	// sessionsName stands for the folder of transcripts in the paths of the index: "sessions/<id>.jsonl".
	sessionsName = "sessions"
	// sessionExt ends the name of a transcript.
	sessionExt = ".jsonl"
	// maxSessionBytes is the size above which a transcript is skipped. Most of one is what tools returned, which is left out.
	maxSessionBytes = 64 << 20

	// DefaultDeltaBytes and DefaultDeltaMessages are used where Sessions does not say.
	DefaultDeltaBytes    = 100_000
	DefaultDeltaMessages = 50
)

// Sessions says where the transcripts of an agent's conversations are, and how to read them. They are files of JSON lines
// that are only appended to.
type Sessions struct {
	// Folder with the transcripts, <id>.jsonl; empty for none. It need not exist. In the index they are "sessions/<id>.jsonl";
	// what a workspace holds in a folder of that name has absolute paths meanwhile.
	Folder string
	// Spoken returns what is said on a line of a transcript and the day (YYYY-MM-DD) of it, both empty where the line says
	// nothing to anybody or is no whole entry. It is called from several goroutines at once.
	Spoken func(line []byte) (text, day string)
	// DeltaBytes and DeltaMessages are the growth from which on a patient sync indexes a transcript again, whichever comes
	// first; 0 means the defaults. Messages are lines on which something is said.
	DeltaBytes    int64
	DeltaMessages int
}

// on reports whether there are transcripts to index.
func (s Sessions) on() bool { return s.Folder != "" && s.Spoken != nil }

func (s Sessions) withDefaults() Sessions {
	if s.DeltaBytes <= 0 {
		s.DeltaBytes = DefaultDeltaBytes
	}
	if s.DeltaMessages <= 0 {
		s.DeltaMessages = DefaultDeltaMessages
	}
	return s
}

// Render returns a transcript as it is indexed and shown: what is said on each of its lines, on one line each, so that line
// numbers are those of the file. Lines that say nothing are empty. It needs Spoken.
func (s Sessions) Render(src []byte) []byte {
	text, _ := s.render(src)
	return text
}

// render returns also the day of each line, empty where it says nothing.
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

// sessionTarget is the folder of transcripts.
func sessionTarget(folder string) target {
	return target{source: memory.SourceSessions, root: absolute(folder), base: ".", optional: true}
}

// session reports whether rel is a transcript in a folder of them.
func session(rel string) bool {
	return path.Ext(rel) == sessionExt && path.Dir(rel) == "."
}

// reserved reports whether a path in the workspace would read like that of a transcript.
func reserved(rel string) bool {
	return rel == sessionsName || strings.HasPrefix(rel, sessionsName+"/")
}

// waits reports whether a transcript that has grown is to be left as the index holds it. One that is shorter than it was
// has been replaced, which is no matter of patience.
func (r *run) waits(f *found, st Stored) bool {
	grown := int64(0)
	if f.info != nil {
		grown = f.info.Size() - st.Size
	}
	opt := r.x.opt.Sessions
	patient := r.req.patient && r.x.caughtUp && f.source == memory.SourceSessions
	if !patient || f.skip != "" || st.Skipped != "" || grown <= 0 || grown >= opt.DeltaBytes {
		return false
	}
	return r.messages(f, st.Size, grown) < opt.DeltaMessages
}

// messages counts the lines of a transcript from an offset on that say something. What cannot be read says nothing; whether
// that matters will show when the file is read as a whole.
func (r *run) messages(f *found, from, n int64) int {
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
		if text, _ := r.x.opt.Sessions.Spoken(line); text != "" {
			said++
		}
	}
	return said
}

// limitOf is the size above which a file of a source is skipped.
func limitOf(source string, limit int64) int64 {
	if source == memory.SourceSessions {
		return max(limit, maxSessionBytes)
	}
	return limit
}
