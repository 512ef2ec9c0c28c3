package setup

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Scope says for whom a client starts Kioku.
type Scope string

const (
	// User: for the user, in every folder.
	User Scope = "user"
	// Project: for those who work in one folder, whose files contain the configuration.
	Project Scope = "project"
)

// Server is the command with which a client starts Kioku.
type Server struct {
	// Name of the entry. If it is empty, Install chooses one that no other memory has.
	Name string
	// Memory is a short name of the memory, from which Install makes the name of a second entry.
	Memory string
	// Command is the program.
	Command string
	// Args are the arguments of the program.
	Args []string
}

// line returns the command line.
func (s Server) line() []string { return append([]string{s.Command}, s.Args...) }

// field is a key of an entry with its value: a string, a list of strings, or a bool.
type field struct {
	key   string
	value any
}

// format reads and edits the text of a configuration. All of its functions accept an empty text.
type format interface {
	// entries returns the command line of each entry by its name, nil for an entry without a command.
	entries(text []byte) (map[string][]string, error)
	// put returns the text with an entry. Keys of an existing entry that the server does not need stay.
	put(text []byte, name string, srv Server) ([]byte, error)
	// restore returns the text with the entry as it is in an earlier text. If the earlier text lacks the entry, restore removes
	// it, and the empty block around it if the earlier text lacks that too.
	restore(text []byte, name string, earlier []byte) ([]byte, error)
	// decode returns the content of the text.
	decode(text []byte) (map[string]any, error)
}

// Client is a program that starts MCP servers.
type Client struct {
	// ID is the name on the command line.
	ID string
	// Title is the name that people know.
	Title string
	// Next says what to do after the configuration is written.
	Next string

	format format
	// files are the paths of the configurations by scope.
	files map[Scope]func(*Machine) string
	// hooks are the paths of the files with commands at events by scope, nil if the client has none.
	hooks map[Scope]func(*Machine) string
	// allows says that the file of hooks also has which tools the client may call without a question.
	allows bool
	// program is the name of the executable, empty for none. signs are paths that exist where the client is used.
	program string
	signs   func(*Machine) []string
	// numbered says that entries have no names in the file, but are numbered.
	numbered bool
	// manual is the command with which the client itself adds an entry, empty for none.
	manual func(Server) string
}

// Scopes returns the scopes of which the client has a configuration, User first.
func (c Client) Scopes() []Scope {
	var scopes []Scope
	for _, s := range []Scope{User, Project} {
		if c.files[s] != nil {
			scopes = append(scopes, s)
		}
	}
	return scopes
}

// Path returns the path of the configuration, or an error if the client has none for that scope.
func (c Client) Path(m *Machine, s Scope) (string, error) {
	file := c.files[s]
	if file == nil {
		return "", fmt.Errorf("%s has no configuration for scope %q; use %s", c.Title, s, quoted(c.Scopes()))
	}
	path := file(m)
	if path == "" {
		return "", fmt.Errorf("no folder for the configuration of %s: HOME is not set", c.Title)
	}
	return path, nil
}

// quoted returns scopes for a message.
func quoted(scopes []Scope) string {
	var names []string
	for _, s := range scopes {
		names = append(names, fmt.Sprintf("%q", s))
	}
	return strings.Join(names, " or ")
}

// Found reports whether the client is used on this machine: its program is in the PATH, or it has left files.
func (c Client) Found(m *Machine) bool {
	if c.program != "" && m.LookPath(c.program) != "" {
		return true
	}
	return slices.ContainsFunc(c.signs(m), exists)
}

// isKioku reports whether a command line starts Kioku's MCP server.
func isKioku(line []string) bool {
	if len(line) < 2 {
		return false
	}
	program := strings.TrimSuffix(filepath.Base(line[0]), ".exe")
	return program == "kioku" && line[1] == "mcp"
}
