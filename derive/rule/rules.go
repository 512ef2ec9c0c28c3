package rule

import (
	"fmt"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/memory"
)

// Version is the number of these rules. Episodes that were read by rules of another version are read again.
const Version = 7

// maxEpisodeTokens is about how many tokens an episode of Markdown has at most, unless one line has more.
const maxEpisodeTokens = 800

// Options of rules. The zero value is useful.
type Options struct {
	// Private are globs of files that are private. They are matched with the paths of files and of the folders above them.
	Private []string
	// Transcript begins to read a transcript of a source: it returns a function that is given the lines of one file in their order, and
	// returns what is said on a line, "User: ...", "User: [Ana] ..." or "Assistant: ...", and when; empty if nothing is said there.
	// It returns nil for a source that is not known. A nil Transcript means that transcripts have no episodes.
	Transcript func(source string) func(line []byte) (text string, at time.Time)
	// UserNames are names of the owner of the memory, who is the subject of "Rin likes tea" then.
	UserNames []string
	// Location is the time zone of days; nil means UTC.
	Location *time.Location
	// Vocabulary of predicates; nil means that without settings.
	Vocabulary *vocab.Vocabulary
}

// Rules cut files into episodes and find in them what can be found without a model. They are safe for use by many goroutines.
type Rules struct {
	opt   Options
	users map[string]bool // norms of the names of the owner
}

// New returns rules with options. It returns a *memory.InputError for a glob that is none.
func New(opt Options) (*Rules, error) {
	for _, glob := range opt.Private {
		if glob == "" || !doublestar.ValidatePattern(glob) {
			return nil, &memory.InputError{Field: "derive.private", Problem: fmt.Sprintf("%.80q is no glob: write it as memory/family/** or diary-*.md", glob)}
		}
	}
	if opt.Location == nil {
		opt.Location = time.UTC
	}
	if opt.Vocabulary == nil {
		opt.Vocabulary = vocab.Default()
	}
	r := &Rules{opt: opt, users: map[string]bool{}}
	for _, name := range opt.UserNames {
		r.users[vocab.Norm(name)] = true
	}
	delete(r.users, "")
	return r, nil
}

// UserNames returns the names of the owner of the memory.
func (r *Rules) UserNames() []string { return r.opt.UserNames }

// Fingerprint identifies what decides how files are cut and what is found in them. An index must not contain episodes with different
// fingerprints.
func (r *Rules) Fingerprint() string {
	parts := []string{fmt.Sprint("rules ", Version), r.opt.Location.String()}
	parts = append(parts, r.opt.Private...)
	parts = append(parts, "")
	parts = append(parts, r.opt.UserNames...)
	return fmt.Sprintf("rules v%d %.8s", Version, vocab.UnitUID(parts...))
}

// Episodes returns the episodes of a file in the order of its lines; none of a derived file, and none of a file without text.
func (r *Rules) Episodes(f memory.SourceFile) []memory.Episode { return r.Read(f).Episodes() }

// Document is a file that was read by rules. It is used by one goroutine at a time.
type Document struct {
	rules *Rules
	file  memory.SourceFile
	raw   []string // lines of the file as they stand there
	lines []line
	about fileSubject
	// sensitivity of the whole file, and sectioned says that each section of level 2 is an episode.
	sensitivity memory.Sensitivity
	longTerm    bool
	sectioned   bool
	// asForm is set if the front matter is that of the template of an issue.
	asForm   bool
	episodes []memory.Episode
	spans    []span         // of the episodes in lines
	byUID    map[string]int // indices of the episodes
}

// span is a run of lines of a document, to excluded.
type span struct{ from, to int }

// Read reads a file. To draw claims from many episodes of a file, read it once.
func (r *Rules) Read(f memory.SourceFile) *Document {
	d := &Document{rules: r, file: f}
	if isDerivedPath(f.Path) {
		return d
	}
	switch {
	case memory.IsTranscript(f.Source):
		d.readTranscript()
	case isDailyLog(f.Path):
		d.readDailyLog()
	default:
		d.readMarkdown()
	}
	d.makeEpisodes()
	return d
}

// Episodes returns the episodes of the file in the order of its lines; none if it has none.
func (d *Document) Episodes() []memory.Episode { return d.episodes }

// find returns the lines of an episode of the file; false if the file has no such episode (any more).
func (d *Document) find(e memory.Episode) ([]line, memory.Episode, bool) {
	i, ok := d.byUID[e.UID]
	if !ok {
		return nil, memory.Episode{}, false
	}
	return d.lines[d.spans[i].from:d.spans[i].to], d.episodes[i], true
}

// Lines returns the lines of an episode with their speakers. Memories that were recalled into the text, front matter, comments, orders
// to programs and lines of derived views are left out; quotations and code are those of memory.SpeakerTool. It returns false if the file has no such
// episode (any more).
func (d *Document) Lines(e memory.Episode) ([]unit.Line, bool) {
	lines, _, ok := d.find(e)
	var out []unit.Line
	for _, l := range lines {
		if l.role == hidden || l.role == order {
			continue
		}
		speaker := l.speaker
		if l.role == code && speaker != memory.SpeakerAssistant {
			speaker = memory.SpeakerTool
		}
		out = append(out, unit.Line{Number: l.number, Speaker: speaker, Text: l.text})
	}
	return out, ok
}

// Claims returns what the rules find in an episode of the file: the names that it mentions, and its facts, open loops and ends of
// loops. It returns false if the file has no such episode (any more).
func (d *Document) Claims(e memory.Episode) (unit.EpisodeClaims, bool) {
	lines, have, ok := d.find(e)
	if !ok {
		return unit.EpisodeClaims{}, false
	}
	have.ID = e.ID
	return d.claimsOf(lines, have), true
}
