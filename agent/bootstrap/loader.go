package bootstrap

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"kioku/agent/standing"
	"kioku/internal/files"
	"kioku/internal/text"
	"kioku/note/forgotten"
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

// Mode says which files a prompt contains.
type Mode string

// Modes. The empty mode means Full.
const (
	Full    Mode = "full"    // all files
	Minimal Mode = "minimal" // AGENTS.md and TOOLS.md, for sub-agents and scheduled turns
	None    Mode = "none"    // no file
)

// Valid reports whether m is a mode.
func (m Mode) Valid() bool { return slices.Contains([]Mode{"", Full, Minimal, None}, m) }

const (
	defaultMax   = 20_000
	defaultTotal = 150_000
	// memoryChars is the part of the total that is reserved for MEMORY.md if it is that long; at most half.
	memoryChars = 10_000
	// maxBytes is the maximum size of a file.
	maxBytes = 2 << 20
)

// Reasons why nothing of a file is in the prompt, in addition to those of package files.
const (
	ReasonMode  = "not in this mode"
	ReasonGroup = "private: this is a group or channel session"
	ReasonEmpty = "empty"
	ReasonTotal = "the files before it have used up the limit of all files"
)

// File is a file with its text for the prompt.
type File struct {
	// Name of the file, one of Names.
	Name string `json:"name"`
	// Path on the disk; empty if there is no such file.
	Path string `json:"path,omitempty"`
	// Override reports that the file is in Options.Override.
	Override bool `json:"overriding,omitempty"`
	// Text for the prompt, without blank space around it and without Kioku's marks, which would cost tokens.
	Text string `json:"-"`
	// Whole is the text of the file without Kioku's marks, whose lines have the numbers of the file; empty if the session must not
	// contain it.
	Whole string `json:"-"`
	// FromTool has the numbers of the lines of Whole that [standing.FromTool] finds.
	FromTool map[int]bool `json:"-"`
	// RawChars is the number of characters of the file, and InjectedChars that of Text, with the marker of a cut.
	RawChars      int `json:"raw_chars"`
	InjectedChars int `json:"injected_chars"`
	// Cut reports that the middle was left out.
	Cut bool `json:"cut,omitempty"`
	// Reason says why Text is empty; empty if it is not.
	Reason string `json:"reason,omitempty"`
}

// Loader reads the files of one workspace. Its methods may be called concurrently.
type Loader struct {
	opt       Options
	cache     *files.Cache
	forgotten *forgotten.Reader
}

// Options of a Loader.
type Options struct {
	// Workspace is the folder with the files.
	Workspace string
	// Override is a folder of the agent's own; empty for none. A file in it replaces the workspace's, even if it is empty or
	// cannot be read.
	Override string
	// Instead names the file that is read in the place of a missing one, by the name of the missing one.
	Instead map[string]string
	// MaxChars is the maximum number of characters of one file, 0 means 20,000; TotalMaxChars that of all, 0 means 150,000.
	MaxChars, TotalMaxChars int
}

// New returns a Loader.
func New(opt Options) *Loader {
	if opt.MaxChars <= 0 {
		opt.MaxChars = defaultMax
	}
	if opt.TotalMaxChars <= 0 {
		opt.TotalMaxChars = defaultTotal
	}
	return &Loader{opt: opt, cache: files.NewCache(maxBytes), forgotten: forgotten.NewReader()}
}

// Load returns a File for each of Names, in that order, with the text for a prompt. group says that a session has more than
// one person in it; then MEMORY.md is left out.
func (l *Loader) Load(mode Mode, group bool) []File {
	if mode == "" {
		mode = Full
	}
	var files []File
	for _, name := range Names() {
		f := File{Reason: "missing"}
		if l.opt.Override != "" {
			f = l.readFile(l.opt.Override, name)
			f.Override = f.Path != ""
		}
		if f.Path == "" {
			f = l.readFile(l.opt.Workspace, name)
		}
		if instead := l.opt.Instead[name]; f.Path == "" && instead != "" {
			f = l.readFile(l.opt.Workspace, instead)
			f.Name = name
		}
		if why := Excluded(name, mode, group); why != "" && f.Path != "" {
			f.Reason, f.Text, f.Whole, f.FromTool = why, "", "", nil
		}
		files = append(files, f)
	}
	l.fit(files)
	return files
}

// readFile returns a file with its whole text. Its path is empty if it is missing.
func (l *Loader) readFile(dir, name string) File {
	source, err := l.cache.Read(dir, name)
	gone, _ := l.forgotten.In(dir) // a file that cannot be read is told by the memory
	whole := string(gone.Mask(text.StripMarks([]byte(source))))
	f := File{Name: name, Path: filepath.Join(dir, name), Text: strings.TrimSpace(whole), Whole: whole, RawChars: utf8.RuneCountInString(source), FromTool: standing.FromTool(source)}
	if err != nil {
		f.Reason = files.Reason(err)
	} else if f.Text == "" {
		f.Reason = ReasonEmpty
	}
	if f.Reason == "missing" {
		f.Path = ""
	}
	return f
}

// fit cuts the texts to the limits. The total is spent in the order of the files.
func (l *Loader) fit(files []File) {
	left, reserved := l.opt.TotalMaxChars, l.reserve(files)
	for i := range files {
		f := &files[i]
		if f.Name == Memory {
			reserved = 0
		}
		if f.Reason != "" {
			continue
		}
		whole := f.Text
		f.Text = text.CutMiddle(f.Name, whole, min(l.opt.MaxChars, left-reserved))
		f.InjectedChars = utf8.RuneCountInString(f.Text)
		left -= f.InjectedChars
		if f.Text == "" {
			f.Reason = ReasonTotal
		} else {
			f.Cut = f.Text != whole
		}
	}
}

// reserve returns the number of characters that the files before MEMORY.md have to leave for it.
func (l *Loader) reserve(files []File) int {
	at := slices.IndexFunc(files, func(f File) bool { return f.Name == Memory })
	return min(memoryChars, l.opt.TotalMaxChars/2, l.opt.MaxChars, utf8.RuneCountInString(files[at].Text))
}

// Excluded returns ReasonMode or ReasonGroup for a file that a session must not contain; empty for others.
func Excluded(name string, mode Mode, group bool) string {
	switch {
	case mode == None, mode == Minimal && name != Agents && name != Tools:
		return ReasonMode
	case group && name == Memory:
		return ReasonGroup
	}
	return ""
}
