package skills

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"kioku/internal/safefile"
)

const (
	maxSkills  = 150
	maxChars   = 30_000
	maxBytes   = 256_000
	maxEntries = 2_000
	fileName   = "SKILL.md"
)

// Options of a Loader.
type Options struct {
	// Extra are folders with skills, the weakest first.
	Extra []string
	// Workspace is the agent's and Project the folder that it works in; either may be empty.
	Workspace, Project string
	// MaxSkills is how many are used, 0 means 150. MaxChars is how many characters they have in the prompt, 0 means 30,000.
	MaxSkills, MaxChars int
}

// Skill is one that can be used.
type Skill struct {
	Name, Description string
	// Invocation is what a user types to ask for it, such as "/review"; often empty.
	Invocation string
	// Path of its SKILL.md.
	Path string
	// Body is the text below the front matter.
	Body string
	// ModelInvocable skills are in the prompt; any may be asked for by users.
	ModelInvocable bool
}

// Entry is a line of the report.
type Entry struct {
	// Name is the skill's, that of its folder if it could not be read.
	Name, Path string
	// Loaded says that the skill is among those that can be used, InPrompt that the model is told of it.
	Loaded, InPrompt bool
	// Reason is why it is not loaded or not in the prompt.
	Reason string
}

// Set is what Load has found.
type Set struct {
	// Skills by name.
	Skills []Skill
	// Block is what a prompt says of them and Names the same in its shortest form; both are empty if there are none.
	Block, Names string
	// Note is what was done to make Block short enough. It stands in Block as well. Empty if nothing was.
	Note string
	// Report has an entry for each skill found, in the order of the folders, with the strongest last.
	Report []Entry
}

// Loader finds the skills of an agent. Its methods may be called concurrently.
type Loader struct {
	opt   Options
	cache *safefile.Cache

	mu sync.Mutex
	// seen and state are what the set was made of.
	seen   []skillFile
	parsed []*skill
	state  string
	set    Set
}

// skillFile is a SKILL.md on the disk.
type skillFile struct {
	folder, path string
	version      uint64
	text, reason string
}

// skill is a SKILL.md as it was read.
type skill struct {
	skillFile
	header
	body string
}

// New returns a Loader.
func New(opt Options) *Loader {
	if opt.MaxSkills <= 0 {
		opt.MaxSkills = maxSkills
	}
	if opt.MaxChars <= 0 {
		opt.MaxChars = maxChars
	}
	return &Loader{opt: opt, cache: safefile.NewCache(maxBytes)}
}

// skillFolder is a folder with skills: rel below root, without a symbolic link in between.
type skillFolder struct{ root, rel string }

func (p skillFolder) String() string { return filepath.Join(p.root, p.rel) }

// folders returns the folders with skills, the weakest first: of two skills of one name that in the later folder counts. A
// folder that is named twice has its later place.
func (l *Loader) folders() []skillFolder {
	var all []skillFolder
	for _, dir := range l.opt.Extra {
		all = append(all, skillFolder{dir, "."})
	}
	w, p := l.opt.Workspace, l.opt.Project
	all = append(all, skillFolder{w, "skills"}, skillFolder{w, ".skills"}, skillFolder{w, ".agents/skills"}, skillFolder{p, ".agents/skills"}, skillFolder{p, "skills"})
	var once []skillFolder
	for i, p := range all {
		again := slices.ContainsFunc(all[i+1:], func(q skillFolder) bool { return q.root != "" && q.String() == p.String() })
		if p.root != "" && !again {
			once = append(once, p)
		}
	}
	return once
}

// Load returns the skills as they are now. The slices are shared and must not be changed.
func (l *Loader) Load() Set {
	l.mu.Lock()
	defer l.mu.Unlock()
	var seen []skillFile
	for _, p := range l.folders() {
		seen = append(seen, l.findSkills(p)...)
	}
	changed := !slices.EqualFunc(seen, l.seen, func(a, b skillFile) bool {
		return a.path == b.path && a.version == b.version && a.reason == b.reason
	})
	if changed {
		l.seen, l.parsed = seen, nil
		for _, f := range seen {
			l.parsed = append(l.parsed, parseSkill(f))
		}
	}
	if state := gateState(l.parsed); changed || state != l.state {
		l.state, l.set = state, l.choose()
	}
	return l.set
}

// findSkills returns the skills in a folder by the names of theirs.
func (l *Loader) findSkills(p skillFolder) []skillFile {
	dir := p.String()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return []skillFile{{folder: filepath.Base(dir), path: dir, reason: safefile.Reason(err)}}
	}
	var all []skillFile
	for i, e := range entries {
		if i == maxEntries {
			return append(all, skillFile{folder: filepath.Base(dir), path: dir, reason: fmt.Sprintf("only the first %d entries of the folder are looked at", maxEntries)})
		}
		if !e.IsDir() && e.Type()&fs.ModeSymlink == 0 {
			continue
		}
		f := skillFile{folder: e.Name(), path: filepath.Join(dir, e.Name(), fileName)}
		text, err := l.cache.Read(p.root, filepath.Join(p.rel, e.Name(), fileName))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			f.reason = safefile.Reason(err)
		}
		f.text, f.version = text.Text, text.Version
		all = append(all, f)
	}
	return all
}

// parseSkill makes a skill of a file.
func parseSkill(f skillFile) *skill {
	s := &skill{skillFile: f}
	if s.reason != "" {
		return s
	}
	var err error
	if s.header, s.body, err = parse(f.text); err != nil {
		s.reason = err.Error()
	}
	return s
}

// choose decides which skills are used.
func (l *Loader) choose() Set {
	reasons := make([]string, len(l.parsed))
	stronger := map[string]string{}
	loaded := 0
	for i, s := range slices.Backward(l.parsed) {
		name := strings.ToLower(s.Name)
		switch reasons[i] = s.reason; {
		case s.reason != "":
			continue
		case stronger[name] != "":
			reasons[i] = "the skill of the same name in " + stronger[name] + " counts"
			continue
		}
		stronger[name] = s.path
		if reasons[i] = s.refusal(); reasons[i] != "" {
			continue
		}
		if loaded++; loaded > l.opt.MaxSkills {
			reasons[i] = fmt.Sprintf("there are more than %d skills", l.opt.MaxSkills)
		}
	}
	var set Set
	for i, s := range l.parsed {
		set.Report = append(set.Report, s.entry(reasons[i]))
		if reasons[i] == "" {
			set.Skills = append(set.Skills, s.skill())
		}
	}
	slices.SortFunc(set.Skills, func(a, b Skill) int { return strings.Compare(a.Name, b.Name) })
	set.Block, set.Names, set.Note = render(set.Skills, l.opt.MaxChars)
	return set
}

func (s *skill) entry(reason string) Entry {
	e := Entry{Name: s.Name, Path: s.path, Reason: reason, Loaded: reason == ""}
	if e.Name == "" {
		e.Name = s.folder
	}
	e.InPrompt = e.Loaded && !s.ModelMayNot
	if e.Loaded && s.ModelMayNot {
		e.Reason = "disable-model-invocation: only users may ask for it"
	}
	return e
}

func (s *skill) skill() Skill {
	return Skill{
		Name: s.Name, Description: s.Description, Invocation: s.Invocation, Path: s.path, Body: s.body,
		ModelInvocable: !s.ModelMayNot,
	}
}
