package indexer

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"kioku/internal/files"
	"kioku/internal/text"
	"kioku/memory"
)

const (
	// sessionsName is the folder of transcripts in the paths of the index: "sessions/<id>.jsonl".
	sessionsName = "sessions"
	// transcriptExt is the extension of a transcript.
	transcriptExt = ".jsonl"
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
	// Unindexed keeps the agent's own transcripts out of the index: they are only read where somebody names them.
	Unindexed bool
	// Others are the transcripts of other programs.
	Others []Transcripts
}

// Transcripts are those that another program keeps.
type Transcripts struct {
	// Source of the files: one for which memory.IsTranscript is true. Their paths in the index are below "sessions/<source>/".
	Source string
	// Folder contains the transcripts, *.jsonl; it need not exist.
	Folder string
	// Unindexed keeps the transcripts out of the index.
	Unindexed bool
	// Enters reports whether a folder in Folder, by its path there, may contain transcripts too. Nil means that none does.
	Enters func(rel string) bool
	// Admits reports whether a transcript is one of this memory by its beginning, and whether that is certain before it grows. No
	// other transcript comes into the index, nor is it shown. Nil admits all.
	Admits func(beginning io.Reader) (admitted, certain bool)
	// Read begins to read one transcript. It is called concurrently.
	Read func() Reading
}

// Reading reads the lines of one transcript in their order.
type Reading interface {
	// Spoken returns what is said on the next line, as Sessions.Spoken does.
	Spoken(line []byte) (text, day string)
	// LeftOut says which lines were not understood so far, as "2 lines too long"; empty if there are none.
	LeftOut() string
}

// eachLine reads lines that do not depend on each other.
type eachLine func(line []byte) (text, day string)

// Spoken returns what is said on a line.
func (f eachLine) Spoken(line []byte) (text, day string) { return f(line) }

// LeftOut returns "": the agent's own transcripts have no lines of another form.
func (f eachLine) LeftOut() string { return "" }

// all returns the transcripts of all programs, the agent's own last.
func (s Sessions) all() []Transcripts {
	list := slices.Clone(s.Others)
	if s.Folder != "" && s.Spoken != nil {
		list = append(list, Transcripts{Source: memory.SourceSessions, Folder: s.Folder, Unindexed: s.Unindexed, Read: func() Reading { return eachLine(s.Spoken) }})
	}
	return list
}

// prefix returns the folder of the transcripts in the paths of the index.
func (t Transcripts) prefix() string {
	if t.Source == memory.SourceSessions {
		return sessionsName
	}
	return path.Join(sessionsName, t.Source)
}

// target returns the target of the transcripts, whose Folder is absolute.
func (t Transcripts) target() target {
	return target{source: t.Source, root: t.Folder, base: ".", optional: true, enters: t.Enters}
}

func (s Sessions) withDefaults() Sessions {
	if s.DeltaBytes <= 0 {
		s.DeltaBytes = DefaultDeltaBytes
	}
	if s.DeltaMessages <= 0 {
		s.DeltaMessages = DefaultDeltaMessages
	}
	return s
}

// Render returns a transcript at a path of the index as it is indexed and shown: what is said on each of its lines, on one line
// each, so that the line numbers stay the same. Lines that say nothing are empty.
func (x *Indexer) Render(p string, src []byte) []byte {
	for _, t := range x.layout.transcripts {
		if _, ok := below(t.prefix(), p); ok {
			text, _ := render(t.Read(), src)
			return text
		}
	}
	return nil
}

// render also returns the day of each line; empty if the line says nothing.
func render(r Reading, src []byte) (lines []byte, days []string) {
	var out bytes.Buffer
	for line := range bytes.Lines(src) {
		said, day := r.Spoken(line)
		out.WriteString(text.OneLine(said))
		if bytes.HasSuffix(line, []byte("\n")) {
			out.WriteByte('\n')
		}
		days = append(days, day)
	}
	return out.Bytes(), days
}

// spokenOrigins returns the origins of what is said on the lines of a transcript; rendered is what render returned for it.
func (x *Indexer) spokenOrigins(source string, src, rendered []byte) (origins []memory.LineOrigin) {
	if source != memory.SourceSessions || x.opt.Sessions.Origin == nil {
		return nil
	}
	said, number := bytes.Split(rendered, []byte("\n")), 0
	for line := range bytes.Lines(src) {
		number++
		if len(said[number-1]) == 0 {
			continue
		}
		if o := x.opt.Sessions.Origin(line); o != nil {
			origins = append(origins, memory.LineOrigin{From: number, To: number, Origin: o})
		}
	}
	return origins
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

// TranscriptFolder is a folder of transcripts that are indexed.
type TranscriptFolder struct {
	// Source of the transcripts.
	Source string `json:"source"`
	// Folder is its absolute path; it need not exist.
	Folder string `json:"folder"`
}

// TranscriptFolders returns the folders of transcripts that searches find; nil if there are none.
func (x *Indexer) TranscriptFolders() []TranscriptFolder {
	var all []TranscriptFolder
	for _, t := range x.layout.transcripts {
		if !t.Unindexed {
			all = append(all, TranscriptFolder{t.Source, t.Folder})
		}
	}
	return all
}

// of returns the transcripts of a source, nil if they are not indexed.
func (l layout) of(source string) *Transcripts {
	for i := range l.transcripts {
		if l.transcripts[i].Source == source {
			return &l.transcripts[i]
		}
	}
	return nil
}

// Unindexed returns the transcripts that are not indexed, by their paths in the index.
func (x *Indexer) Unindexed() ([]memory.File, error) {
	t := x.layout.of(memory.SourceSessions)
	if t == nil || !t.Unindexed {
		return nil, nil
	}
	entries, err := os.ReadDir(t.Folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var list []memory.File
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && path.Ext(e.Name()) == transcriptExt {
			list = append(list, memory.File{Path: path.Join(t.prefix(), e.Name()), Source: t.Source, ModTime: info.ModTime(), Size: info.Size()})
		}
	}
	return list, nil
}

// IsUnindexed reports whether a path is that of a transcript that is not indexed.
func (x *Indexer) IsUnindexed(p string) bool {
	t := x.layout.of(memory.SourceSessions)
	if t == nil || !t.Unindexed {
		return false
	}
	_, ok := below(t.prefix(), p)
	return ok
}

// read begins to read a transcript of a source, whose transcripts are indexed.
func (l layout) read(source string) Reading { return l.of(source).Read() }

// verdict is whether a transcript is one of this memory, as far as its beginning told when it was as info says.
type verdict struct {
	info              fs.FileInfo
	admitted, certain bool
}

// verdicts remembers verdicts by the absolute path of the transcript.
type verdicts struct {
	mu sync.Mutex
	// by path. Guarded by mu.
	known map[string]verdict
}

// ownsTranscript reports whether a file of a source, at rel in an open folder, is no transcript, or one of this memory. Its absolute
// path is its name in the cache.
func (l layout) ownsTranscript(source string, dir *os.Root, rel, abs string) bool {
	t := l.of(source)
	if t == nil || t.Admits == nil {
		return true
	}
	info, err := dir.Lstat(rel)
	if err != nil {
		return false
	}
	l.verdicts.mu.Lock()
	v, ok := l.verdicts.known[abs]
	l.verdicts.mu.Unlock()
	if ok && os.SameFile(v.info, info) && (v.certain && info.Size() >= v.info.Size() || info.Size() == v.info.Size()) {
		return v.admitted
	}
	f, _, err := files.OpenRegular(dir, rel)
	if err != nil {
		return false
	}
	defer f.Close()
	v = verdict{info: info}
	v.admitted, v.certain = t.Admits(f)
	l.verdicts.mu.Lock()
	l.verdicts.known[abs] = v
	l.verdicts.mu.Unlock()
	return v.admitted
}

// reserved reports whether a path in the workspace looks like the path of a transcript.
func reserved(rel string) bool {
	return rel == sessionsName || strings.HasPrefix(rel, sessionsName+"/")
}

// deferred reports whether a transcript has grown by so little that this sync skips it. One that has become shorter was
// replaced, and is never skipped.
func (r *syncRun) deferred(f *foundFile, st Stored) bool {
	if !r.req.DeferSessions || !r.caughtUp || !memory.IsTranscript(f.source) || f.skip != "" || st.Skipped != "" {
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
	file, _, err := files.OpenRegular(f.root, f.rel)
	if err != nil {
		return 0
	}
	defer file.Close()
	tail, err := io.ReadAll(io.NewSectionReader(file, from, n))
	if err != nil {
		return 0
	}
	said, reading := 0, r.layout.read(f.source)
	for line := range bytes.Lines(tail) {
		if text, _ := reading.Spoken(line); text != "" {
			said++
		}
	}
	return said
}

// limitOf returns the maximum size in bytes of a file of a source.
func limitOf(source string, limit int64) int64 {
	if memory.IsTranscript(source) {
		return max(limit, maxSessionBytes)
	}
	return limit
}
