package transcripts

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kioku/llm"
)

// claudeLine is a line of a transcript of Claude Code.
type claudeLine struct {
	Type      string `json:"type"`
	ID        string `json:"uuid"`
	At        string `json:"timestamp"`
	Sidechain bool   `json:"isSidechain"`
	Meta      bool   `json:"isMeta"`
	Summary   bool   `json:"isCompactSummary"`
	Error     bool   `json:"isApiErrorMessage"`
	Message   struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

// claudeTypes are the types of lines on which nobody speaks, as versions 1 to 2.1 of Claude Code write them.
var claudeTypes = []string{
	"agent-name", "ai-title", "attachment", "attribution-snapshot", "bridge-session", "content-replacement", "custom-title", "file-history-delta",
	"file-history-snapshot", "last-prompt", "marble-origami-commit", "mode", "permission-mode", "pr-link", "progress", "queue-operation",
	"relocated", "result", "started", "summary", "system", "tag", "task-summary", "worktree-state",
}

// inserted begins texts that Claude Code writes into a conversation under the name of the user: of its own commands, of tasks in the
// background, and of interruptions.
var inserted = []string{
	"<command-name>", "<command-message>", "<command-args>", "<local-command-", "<bash-input>", "<bash-stdout>", "<bash-stderr>",
	"<system-reminder>", "<task-notification>", "<user-memory-input>", "[Request interrupted by user",
}

// isInserted reports whether a program wrote a text into a conversation.
func isInserted(text string) bool {
	text = strings.TrimSpace(text)
	return slices.ContainsFunc(inserted, func(begin string) bool { return strings.HasPrefix(text, begin) })
}

// readClaude reads a line of Claude Code.
func readClaude(line []byte) (Said, string) {
	var l claudeLine
	if json.Unmarshal(line, &l) != nil || line[0] != '{' {
		return Said{}, NoJSON
	}
	role := llm.Role(l.Type)
	if role != llm.RoleUser && role != llm.RoleAssistant {
		if slices.Contains(claudeTypes, l.Type) {
			return Said{}, ""
		}
		return Said{}, Unknown
	}
	if l.ID == "" || l.Type != l.Message.Role || l.Message.Content == nil {
		return Said{}, Unknown
	}
	said := textOf(l.Message.Content)
	if l.Sidechain || l.Meta || l.Summary || l.Error || isInserted(said) {
		return Said{}, ""
	}
	return Said{ID: l.ID, Role: role, Text: said, At: timeOf(l.At)}, ""
}

// claudeDir returns the folder of a conversation from a line; empty if the line does not tell.
func claudeDir(line []byte) string {
	var l struct {
		Dir string `json:"cwd"`
	}
	_ = json.Unmarshal(line, &l) // the next line may tell
	return l.Dir
}

// claudeHead returns the folder in which a conversation began from one of its first lines.
func claudeHead(line []byte) (dir string, done bool) {
	dir = claudeDir(line)
	return dir, dir != ""
}

// maxMangled is how much of a folder's path is in the name that Claude Code gives it; a hash may follow.
const maxMangled = 200

// claudeEnters reports whether Claude Code keeps transcripts of a project, or of folders in it, in a folder of its own: it names
// that by the path of the project, in which it replaces all but letters and digits of ASCII by hyphens.
func claudeEnters(project, rel string) bool {
	name := mangled(project)
	if strings.Contains(rel, "/") {
		return false // what subagents said, and outputs of tools
	}
	if len(name) > maxMangled {
		return strings.HasPrefix(rel, name[:maxMangled])
	}
	return rel == name || strings.HasPrefix(rel, strings.TrimSuffix(name, "-")+"-")
}

// mangled returns the name that Claude Code gives the folder of a project.
func mangled(path string) string {
	var name strings.Builder
	for _, r := range path {
		switch {
		case r < 0x80 && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'):
			name.WriteRune(r)
		case r > 0xffff:
			name.WriteString("--") // two units of UTF-16
		default:
			name.WriteByte('-')
		}
	}
	return name.String()
}

// ClaudeProjects returns the folders that a name of Claude Code may stand for, of those that exist. It is not certain that there are no others
// if folders cannot be read, or if the name does not tell the whole path.
func ClaudeProjects(name string) (dirs []string, certain bool) {
	certain = strings.HasPrefix(name, "-") && len(name) <= maxMangled
	var walk func(dir, rest string)
	walk = func(dir, rest string) {
		entries, err := os.ReadDir(dir)
		certain = certain && err == nil
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			below, ok := strings.CutPrefix(rest, mangled(e.Name()))
			if !ok || below != "" && below[0] != '-' {
				continue
			}
			info, err := os.Stat(path)
			switch {
			case err != nil:
				certain = certain && errors.Is(err, fs.ErrNotExist)
			case info.IsDir() && below == "":
				dirs = append(dirs, path)
			case info.IsDir():
				walk(path, below[1:])
			}
		}
	}
	if certain {
		walk("/", name[1:])
	}
	return dirs, certain
}
