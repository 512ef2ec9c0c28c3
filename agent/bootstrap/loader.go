package bootstrap

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"kioku/internal/safefile"
	"kioku/internal/text"
)

// Names of the files.
const (
	Identity  = "IDENTITY.md"
	Soul      = "SOUL.md"
	Tools     = "TOOLS.md"
	Memory    = "MEMORY.md"
	Heartbeat = "HEARTBEAT.md"
	Bootstrap = "BOOTSTRAP.md"
	Agents    = "AGENTS.md"
	User      = "USER.md"
)

// Names returns the names of all files in the order in which a prompt has them.
func Names() []string {
	return []string{Identity, Soul, Tools, Memory, Heartbeat, Bootstrap, Agents, User}
}

// Mode is how much of itself an agent is told.
type Mode string

// Modes. The empty mode is Full.
const (
	Full    Mode = "full"    // everything
	Minimal Mode = "minimal" // AGENTS.md and TOOLS.md, for sub-agents and scheduled turns
	None    Mode = "none"    // no file
)

// Valid reports whether m is a mode.
func (m Mode) Valid() bool { return slices.Contains([]Mode{"", Full, Minimal, None}, m) }

const (
	defaultMax   = 20_000
	defaultTotal = 150_000
	// memoryChars of all are kept for MEMORY.md, as far as it needs them, though never more than half.
	memoryChars = 10_000
	// maxBytes bounds what is read of one file.
	maxBytes = 2 << 20
)

// Reasons for which nothing of a file is injected, beside those of reading it.
const (
	ReasonMode  = "not in this mode"
	ReasonGroup = "private: this is a group or channel session"
	ReasonEmpty = "empty"
	ReasonTotal = "the files before it have used up the limit of all files"
)

// File is what became of one file: its text for the prompt and the report.
type File struct {
	Name string
	// Path on the disk, empty if there is no such file; Override says that it is the agent's own.
	Path     string
	Override bool
	// Text is what is injected, without blank space around it.
	Text string
	// RawChars are the characters of the file and InjectedChars those of Text, with the marker of a cut.
	RawChars, InjectedChars int
	// Cut says that the middle was left out.
	Cut bool
	// Reason is why Text is empty, and empty if it is not.
	Reason string
}

// Loader reads the files of one workspace. Its methods may be called concurrently.
type Loader struct {
	opt   Options
	cache *safefile.Cache
}

// Options of a Loader.
type Options struct {
	// Workspace is the folder with the files.
	Workspace string
	// Override is a folder of the agent's own. A file in it replaces the workspace's, even if it is empty or
	// cannot be read. Empty for none.
	Override string
	// MaxChars of one file, 0 means 20,000; TotalMaxChars of all, 0 means 150,000.
	MaxChars, TotalMaxChars int
}

// fileOnDisk is a file as it is on the disk.
type fileOnDisk struct {
	File
	text string
}

// New returns a Loader.
func New(opt Options) *Loader {
	if opt.MaxChars <= 0 {
		opt.MaxChars = defaultMax
	}
	if opt.TotalMaxChars <= 0 {
		opt.TotalMaxChars = defaultTotal
	}
	return &Loader{opt: opt, cache: safefile.NewCache(maxBytes)}
}

// Load returns a File for each of Names, in that order, with the texts for a prompt. group is a session with more than
// one person in it, which MEMORY.md stays out of.
func (l *Loader) Load(mode Mode, group bool) []File {
	if mode == "" {
		mode = Full
	}
	all := l.findFiles()
	files := make([]File, len(all))
	for i, f := range all {
		files[i] = f.File
		if why := Excluded(f.Name, mode, group); why != "" && f.Path != "" {
			files[i].Reason = why
		}
	}
	l.fit(files, all)
	return files
}

// findFiles finds all files, reading those that have changed.
func (l *Loader) findFiles() []fileOnDisk {
	var all []fileOnDisk
	for _, name := range Names() {
		f := fileOnDisk{File: File{Name: name, Reason: "missing"}}
		if l.opt.Override != "" {
			f = l.readFile(l.opt.Override, name)
			f.Override = f.Path != ""
		}
		if f.Path == "" {
			f = l.readFile(l.opt.Workspace, name)
		}
		all = append(all, f)
	}
	return all
}

// readFile reads one file. Its path is empty if it is missing.
func (l *Loader) readFile(dir, name string) fileOnDisk {
	f := fileOnDisk{File: File{Name: name}}
	read, err := l.cache.Read(dir, name)
	if err != nil {
		f.Reason = safefile.Reason(err)
	}
	if f.Reason != "missing" {
		f.Path = filepath.Join(dir, name)
	}
	f.text = strings.TrimSpace(read.Text)
	f.RawChars = utf8.RuneCountInString(read.Text)
	if f.Reason == "" && f.text == "" {
		f.Reason = ReasonEmpty
	}
	return f
}

// fit decides how much of each file goes into a prompt. The limit of all is spent in the order of the files.
func (l *Loader) fit(files []File, all []fileOnDisk) {
	left, reserved := l.opt.TotalMaxChars, l.reserve(files, all)
	for i := range files {
		f := &files[i]
		if f.Name == Memory {
			reserved = 0
		}
		if f.Reason != "" {
			continue
		}
		f.Text = text.CutMiddle(f.Name, all[i].text, min(l.opt.MaxChars, left-reserved))
		f.Cut = f.Text != all[i].text
		f.InjectedChars = utf8.RuneCountInString(f.Text)
		left -= f.InjectedChars
		if f.Text == "" {
			f.Cut, f.Reason = false, ReasonTotal
		}
	}
}

// reserve is how many characters the files before MEMORY.md have to leave for it.
func (l *Loader) reserve(files []File, all []fileOnDisk) int {
	at := slices.IndexFunc(files, func(f File) bool { return f.Name == Memory })
	if files[at].Reason != "" {
		return 0
	}
	return min(memoryChars, l.opt.TotalMaxChars/2, l.opt.MaxChars, utf8.RuneCountInString(all[at].text))
}

// Excluded returns why a file is not for a session of this mode, ReasonMode or ReasonGroup; empty if it is.
func Excluded(name string, mode Mode, group bool) string {
	switch {
	case mode == None, mode == Minimal && name != Agents && name != Tools:
		return ReasonMode
	case group && name == Memory:
		return ReasonGroup
	}
	return ""
}
