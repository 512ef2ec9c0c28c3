package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// DefaultName is the name of the entry of the first memory.
const DefaultName = "kioku"

// maxConfig is the maximum size of a configuration.
const maxConfig = 32 << 20

// ErrNotSetUp: the configuration has no entry that could be undone.
var ErrNotSetUp = errors.New("not set up")

// Plan is a change of one configuration that is not written yet.
type Plan struct {
	// Client whose configuration it is.
	Client Client
	// Scope of the configuration.
	Scope Scope
	// Name of the entry.
	Name string
	// Path of the configuration.
	Path string
	// Copy is the path of the copy of it from before the first setup.
	Copy string
	// Before is the text now.
	Before []byte
	// After is the text that Write gives it.
	After []byte

	// existed is true if there is a file, and removes if Write removes it.
	existed, removes bool
	// keepsCopy is true if Write leaves a copy beside the file.
	keepsCopy bool
}

// Entry is an entry of a configuration that starts Kioku.
type Entry struct {
	// Name of the entry.
	Name string `json:"name"`
	// Command is the command line.
	Command []string `json:"command"`
}

// Entries returns the entries of a configuration that start Kioku, by name.
func (c Client) Entries(m *Machine, s Scope) ([]Entry, error) {
	p, err := c.open(m, s)
	if err != nil {
		return nil, err
	}
	lines, err := c.format.entries(p.Before)
	if err != nil {
		return nil, p.broken(err)
	}
	return ours(lines), nil
}

// ours returns the entries that start Kioku.
func ours(lines map[string][]string) []Entry {
	entries := []Entry{}
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		if isKioku(lines[name]) {
			entries = append(entries, Entry{name, lines[name]})
		}
	}
	return entries
}

// Install returns the plan that adds a server to a configuration, or brings its entry up to date. After equals Before if there
// is nothing to do.
func (c Client) Install(m *Machine, s Scope, srv Server) (*Plan, error) {
	p, err := c.open(m, s)
	if err != nil {
		return nil, err
	}
	lines, err := c.format.entries(p.Before)
	if err != nil {
		if c.manual != nil {
			srv.Name = c.nameFor(nil, srv)
			return nil, fmt.Errorf("%w; or have the client itself write it:\n%s", p.broken(err), c.manual(srv))
		}
		return nil, p.broken(err)
	}
	srv.Name = c.nameFor(lines, srv)
	p.Name = srv.Name
	if p.After, err = c.format.put(p.Before, srv.Name, srv); err != nil {
		return nil, p.broken(err)
	}
	p.keepsCopy = p.existed && (p.copied(lines) || !p.isCreated(lines))
	return p, p.check()
}

// copied reports whether the copy is from before the entries that the configuration has now.
func (p *Plan) copied(lines map[string][]string) bool { return len(ours(lines)) > 0 && exists(p.Copy) }

// isCreated reports whether the configuration contains only what setup writes into a new file.
func (p *Plan) isCreated(lines map[string][]string) bool {
	var text []byte
	for _, e := range ours(lines) {
		text, _ = p.Client.put(text, e) // it has no other entries
	}
	return text != nil && p.Client.sameContent(text, p.Before)
}

// nameFor returns the name of the entry: the given one, that of an entry with the same arguments, or one that is free.
func (c Client) nameFor(lines map[string][]string, srv Server) string {
	if srv.Name != "" && !c.numbered {
		return srv.Name
	}
	for _, e := range ours(lines) {
		if slices.Equal(e.Command[1:], srv.Args) {
			return e.Name
		}
	}
	name := DefaultName
	if c.numbered && len(lines) > 0 {
		return fmt.Sprint(name, "-", len(lines)+1)
	}
	for n := 1; ; n++ {
		if _, taken := lines[name]; !taken {
			return name
		}
		name = DefaultName + "-" + slug(srv.Memory)
		if n > 1 {
			name = fmt.Sprint(name, "-", n)
		}
	}
}

// slug returns a name in letters, digits and hyphens that clients accept.
func slug(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	if len(words) == 0 {
		return "memory"
	}
	return strings.Join(words, "-")
}

// Undo returns the plan that takes an entry out of a configuration: the one with the name of the server, or of the entries that
// setup added the one with its arguments, or the only one. If nothing else has changed since setup, the file is as it was before.
// Undo returns ErrNotSetUp if there is no such entry.
func (c Client) Undo(m *Machine, s Scope, srv Server) (*Plan, error) {
	p, err := c.open(m, s)
	if err != nil {
		return nil, err
	}
	lines, err := c.format.entries(p.Before)
	if err != nil {
		return nil, p.broken(err)
	}
	earlier, err := readFile(p.Copy)
	hadFile := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	entries := ours(lines)
	added := p.added(entries, earlier, hadFile)
	entry, err := chooseEntry(entries, added, srv)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Path, err)
	}
	p.Name = entry.Name
	if !slices.ContainsFunc(added, func(e Entry) bool { return e.Name == entry.Name }) {
		earlier, p.keepsCopy = nil, hadFile // there is nothing to go back to
		if p.After, err = c.format.restore(p.Before, entry.Name, nil); err != nil {
			return nil, p.broken(err)
		}
		return p, p.check()
	}
	if set, err := c.put(earlier, entry); err == nil && bytes.Equal(set, p.Before) {
		p.After, p.removes = earlier, !hadFile
		return p, nil
	}
	if p.After, err = c.format.restore(p.Before, entry.Name, earlier); err != nil {
		return nil, p.broken(err)
	}
	content, err := c.format.decode(p.After)
	if err != nil {
		return nil, p.broken(err)
	}
	p.removes = !hadFile && len(content) == 0 && len(bytes.Trim(p.After, "{} \t\r\n")) == 0
	if p.removes {
		p.After = nil
	}
	p.keepsCopy = hadFile && len(added) > 1
	return p, p.check()
}

// put returns the text with an entry as setup writes it.
func (c Client) put(text []byte, e Entry) ([]byte, error) {
	return c.format.put(text, e.Name, Server{Command: e.Command[0], Args: e.Command[1:]})
}

// added returns the entries that setup added or changed: what they are in the copy from before differs. Without a copy it returns
// those that are written as setup writes them.
func (p *Plan) added(entries []Entry, earlier []byte, hadFile bool) []Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool {
		if hadFile {
			restored, err := p.Client.format.restore(p.Before, e.Name, earlier)
			return err == nil && p.Client.sameContent(restored, p.Before)
		}
		set, err := p.Client.put(p.Before, e)
		return err != nil || !p.Client.sameContent(set, p.Before) || p.Scope == User && !filepath.IsAbs(e.Command[0])
	})
}

// sameContent reports whether two texts have the same content.
func (c Client) sameContent(one, other []byte) bool {
	a, errA := c.format.decode(one)
	b, errB := c.format.decode(other)
	return errA == nil && errB == nil && reflect.DeepEqual(a, b)
}

// chooseEntry returns the entry that an undo means.
func chooseEntry(entries, added []Entry, srv Server) (Entry, error) {
	if srv.Name != "" {
		for _, e := range entries {
			if e.Name == srv.Name {
				return e, nil
			}
		}
		if len(entries) > 0 {
			return Entry{}, fmt.Errorf("%w as %s, only as %s", ErrNotSetUp, srv.Name, namesOf(entries))
		}
	}
	for _, e := range added {
		if slices.Equal(e.Command[1:], srv.Args) {
			return e, nil
		}
	}
	switch {
	case len(entries) == 0:
		return Entry{}, ErrNotSetUp
	case len(added) == 0:
		return Entry{}, fmt.Errorf("%w by setup, but by hand as %s; --name %s takes that out", ErrNotSetUp, namesOf(entries), entries[0].Name)
	case len(added) > 1:
		return Entry{}, fmt.Errorf("set up for %d memories; name one with --name: %s", len(added), namesOf(added))
	}
	return added[0], nil
}

// namesOf returns the names of entries for a message.
func namesOf(entries []Entry) string {
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
	}
	return strings.Join(names, ", ")
}

// open reads the configuration of a scope.
func (c Client) open(m *Machine, s Scope) (*Plan, error) {
	path, err := c.Path(m, s)
	if err != nil {
		return nil, err
	}
	p := &Plan{Client: c, Scope: s, Path: path, Copy: path + ".before-kioku"}
	p.Before, err = readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	p.existed = err == nil
	return p, err
}

// readFile reads a regular file of at most maxConfig bytes.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxConfig {
		return nil, fmt.Errorf("%s is not a file of settings; nothing was changed", path)
	}
	return os.ReadFile(path)
}

// broken returns an error of the text of the configuration.
func (p *Plan) broken(err error) error {
	return fmt.Errorf("%s: %w; nothing was changed: mend it first", p.Path, err)
}

// check returns an error if the change would touch anything but the entry.
func (p *Plan) check() error {
	before, err := p.Client.format.decode(p.Before)
	if err != nil {
		return p.broken(err)
	}
	after, err := p.Client.format.decode(p.After)
	if err != nil {
		return fmt.Errorf("%s cannot be edited without harm (%w); nothing was changed: edit it by hand", p.Path, err)
	}
	if !reflect.DeepEqual(without(before, p.Name), without(after, p.Name)) {
		return fmt.Errorf("%s cannot be edited without harm to other entries; nothing was changed: edit it by hand", p.Path)
	}
	return nil
}

// without returns content without the entry of a name, and without the blocks that are empty then.
func without(content map[string]any, name string) map[string]any {
	for _, block := range []string{"mcpServers", "mcp_servers", "mcp"} {
		entries, _ := content[block].(map[string]any)
		if servers, ok := entries["servers"].(map[string]any); ok && block == "mcp" {
			if delete(servers, name); len(servers) == 0 {
				delete(entries, "servers")
			}
		}
		if delete(entries, name); entries != nil && len(entries) == 0 {
			delete(content, block)
		}
	}
	return content
}

// Changed reports whether Write would change the configuration.
func (p *Plan) Changed() bool { return p.removes || !bytes.Equal(p.Before, p.After) }

// Removes reports whether Write removes the file, which setup had created.
func (p *Plan) Removes() bool { return p.removes }

// Target returns the file that Write replaces: behind a symbolic link, also one to a file that does not exist.
func (p *Plan) Target() (string, error) {
	path := p.Path
	for range 40 {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		if err != nil {
			return "", err
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", fmt.Errorf("%s: too many symbolic links", p.Path)
}
