package skills

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"kioku/internal/files"
)

const (
	defaultMaxSkills = 150
	defaultMaxChars  = 30_000
	// maxBytes is the maximum size of a SKILL.md, and maxEntries the number of entries of a folder that are read.
	maxBytes   = 256_000
	maxEntries = 2_000
	fileName   = "SKILL.md"
)

// Options of a Loader. The zero value finds nothing.
type Options struct {
	// Extra are folders with skills, in ascending order of precedence.
	Extra []string
	// Workspace is the agent's folder and Project the folder in which it works. Both may be empty.
	Workspace, Project string
	// MaxSkills is the maximum number of skills; 0 means 150. The prompt says how many more there are.
	MaxSkills int
	// MaxChars is the maximum number of characters in the prompt; 0 means 30,000.
	MaxChars int
}

// Skill is a skill that can be used.
type Skill struct {
	Name, Description string // from the front matter
	// Invocation is what a user types to ask for the skill, such as "/review"; often empty.
	Invocation string
	// Path of the SKILL.md.
	Path string
	// Body is the text below the front matter.
	Body string
	// ModelInvocable reports that the skill is in the prompt. Users may ask for any skill.
	ModelInvocable bool
}

// Entry is a line of the report.
type Entry struct {
	// Name of the skill, or of its folder if it could not be read.
	Name string `json:"name"`
	Path string `json:"path"`
	// Loaded reports that the skill can be used, and InPrompt that it is in the prompt.
	Loaded   bool `json:"loaded"`
	InPrompt bool `json:"in_prompt"`
	// Reason says why the skill is not loaded, or why it is not in the prompt.
	Reason string `json:"reason,omitempty"`
}

// Set is the result of Load.
type Set struct {
	// Skills by name.
	Skills []Skill
	// Block is the section of the prompt, and Names its shortest form. Both are empty if there are no skills.
	Block, Names string
	// Note says how Block was shortened, and how many skills it does not name, and is part of it; empty if it lacks nothing.
	Note string
	// Report has an entry for each skill that was found, in ascending order of precedence.
	Report []Entry
}

// Loader finds the skills of an agent. Its methods may be called concurrently.
type Loader struct {
	opt   Options
	cache *files.Cache

	mu sync.Mutex
	// parsed contains the skills of the last Load by path.
	parsed map[string]*skill
	// set was made of found and reasons.
	found   []*skill
	reasons []string
	set     Set
}

// New returns a Loader.
func New(opt Options) *Loader {
	if opt.MaxSkills <= 0 {
		opt.MaxSkills = defaultMaxSkills
	}
	if opt.MaxChars <= 0 {
		opt.MaxChars = defaultMaxChars
	}
	return &Loader{opt: opt, cache: files.NewCache(maxBytes)}
}

// skillFolder is a folder with skills: rel below root, without a symbolic link in between.
type skillFolder struct{ root, rel string }

func (p skillFolder) String() string { return filepath.Join(p.root, p.rel) }

// folders returns the folders with skills in ascending order of precedence. A folder that is named twice has its later place.
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

// Load returns the skills that can be used now. The slices are shared and must not be changed.
func (l *Loader) Load() Set {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []*skill
	for _, p := range l.folders() {
		found = append(found, l.findSkills(p)...)
	}
	l.parsed = make(map[string]*skill, len(found))
	for _, s := range found {
		l.parsed[s.path] = s
	}
	reasons := l.refusals(found)
	if !slices.Equal(found, l.found) || !slices.Equal(reasons, l.reasons) {
		l.found, l.reasons, l.set = found, reasons, l.newSet(found, reasons)
	}
	return l.set
}

// findSkills returns the skills in a folder, sorted by file name.
func (l *Loader) findSkills(p skillFolder) []*skill {
	dir := p.String()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return []*skill{{path: dir, reason: files.Reason(err)}}
	}
	var all []*skill
	for i, e := range entries {
		if i == maxEntries {
			return append(all, &skill{path: dir, reason: fmt.Sprintf("only the first %d entries of the folder are looked at", maxEntries)})
		}
		if !e.IsDir() && e.Type()&fs.ModeSymlink == 0 {
			continue
		}
		path := filepath.Join(dir, e.Name(), fileName)
		source, err := l.cache.Read(p.root, filepath.Join(p.rel, e.Name(), fileName))
		switch known := l.parsed[path]; {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			all = append(all, &skill{path: path, reason: files.Reason(err)})
		case known != nil && known.source == source && source != "":
			all = append(all, known)
		default:
			all = append(all, parse(path, source))
		}
	}
	return all
}

// refusals returns for each skill why it is not used; empty if it is.
func (l *Loader) refusals(found []*skill) []string {
	reasons := make([]string, len(found))
	stronger := map[string]string{}
	loaded, inPath := 0, newInPath()
	for i, s := range slices.Backward(found) {
		name := strings.ToLower(s.Name)
		switch reasons[i] = s.reason; {
		case s.reason != "":
			continue
		case stronger[name] != "":
			reasons[i] = "the skill of the same name in " + stronger[name] + " counts"
			continue
		}
		stronger[name] = s.path
		if reasons[i] = s.obstacle(inPath); reasons[i] != "" {
			continue
		}
		if loaded++; loaded > l.opt.MaxSkills {
			reasons[i] = l.tooMany()
		}
	}
	return reasons
}

// tooMany is why a skill is not used if MaxSkills others have a higher precedence.
func (l *Loader) tooMany() string {
	return fmt.Sprintf("there are more than %d skills", l.opt.MaxSkills)
}

// newSet returns the result of Load.
func (l *Loader) newSet(found []*skill, reasons []string) Set {
	var set Set
	more := 0
	for i, s := range found {
		if reasons[i] == l.tooMany() && !s.UserOnly {
			more++
		}
		set.Report = append(set.Report, s.entry(reasons[i]))
		if reasons[i] == "" {
			set.Skills = append(set.Skills, Skill{
				Name: s.Name, Description: s.Description, Invocation: s.Invocation, Path: s.path, Body: s.body, ModelInvocable: !s.UserOnly,
			})
		}
	}
	slices.SortFunc(set.Skills, func(a, b Skill) int { return strings.Compare(a.Name, b.Name) })
	set.Block, set.Names, set.Note = render(set.Skills, l.opt.MaxChars, more)
	return set
}

// entry returns the line of the report for a skill that is not loaded for a reason, or is loaded if there is none.
func (s *skill) entry(reason string) Entry {
	e := Entry{Name: cmp.Or(s.Name, filepath.Base(strings.TrimSuffix(s.path, "/"+fileName))), Path: s.path, Reason: reason}
	e.Loaded = reason == ""
	e.InPrompt = e.Loaded && !s.UserOnly
	if e.Loaded && s.UserOnly {
		e.Reason = "disable-model-invocation: only users may ask for it"
	}
	return e
}
