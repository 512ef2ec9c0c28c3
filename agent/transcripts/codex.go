package transcripts

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"kioku/llm"
)

// codexLine is a line of a transcript of Codex.
type codexLine struct {
	At      string `json:"timestamp"`
	Type    string `json:"type"`
	Payload struct {
		Type string `json:"type"`
		// Message is set on the lines "user_message" and "agent_message" of older versions.
		Message string `json:"message"`
		// Item is set on the lines "item_completed" of newer versions.
		Item struct {
			Type    string          `json:"type"`
			Content json.RawMessage `json:"content"`
		} `json:"item"`
	} `json:"payload"`
}

// codexTypes are the types of lines on which nobody speaks. What is said is on lines "event_msg"; the lines "response_item" repeat
// it among what the model is sent, such as instructions and summaries.
var codexTypes = []string{
	"session_meta", "response_item", "turn_context", "compacted", "world_state", "token_usage_record", "inter_agent_communication",
	"inter_agent_communication_metadata", "retained_history", "ghost_commit",
}

// readCodex reads a line of Codex.
func readCodex(line []byte) (Said, string) {
	var l codexLine
	if json.Unmarshal(line, &l) != nil || line[0] != '{' {
		return Said{}, NoJSON
	}
	if l.Type != "event_msg" {
		if slices.Contains(codexTypes, l.Type) {
			return Said{}, ""
		}
		return Said{}, Unknown
	}
	p, said := l.Payload, Said{At: timeOf(l.At)}
	switch p.Type + " " + p.Item.Type {
	case "user_message ":
		said.Role, said.Text = llm.RoleUser, p.Message
	case "agent_message ":
		said.Role, said.Text = llm.RoleAssistant, p.Message
	case "item_completed UserMessage":
		said.Role, said.Text = llm.RoleUser, textOf(p.Item.Content)
	case "item_completed AgentMessage":
		said.Role, said.Text = llm.RoleAssistant, textOf(p.Item.Content)
	default:
		return Said{}, "" // there are dozens of events, and new ones in each version
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{l.At, string(said.Role), said.Text}, "\x00")))
	said.ID = hex.EncodeToString(sum[:8])
	return said, ""
}

// codexDir returns the folder of a conversation from a line of its beginning or of that of a turn; empty for all other lines.
func codexDir(line []byte) string {
	var l struct {
		Type    string `json:"type"`
		Payload struct {
			Dir string `json:"cwd"`
		} `json:"payload"`
	}
	if json.Unmarshal(line, &l) != nil || l.Type != "session_meta" && l.Type != "turn_context" {
		return "" // commands have folders too
	}
	return l.Payload.Dir
}

// codexHead returns the folder of a conversation from the first line. It is empty for the conversation of a subagent.
func codexHead(line []byte) (dir string, done bool) {
	var l struct {
		Payload struct {
			Dir    string          `json:"cwd"`
			Thread string          `json:"thread_source"`
			Source json.RawMessage `json:"source"`
		} `json:"payload"`
	}
	_ = json.Unmarshal(line, &l) // it is no transcript then
	if p := l.Payload; strings.Contains(p.Thread, "subagent") || strings.Contains(string(p.Source), "subagent") {
		return "", true
	}
	return l.Payload.Dir, true
}

// codexEnters reports whether a folder is one of a year, a month or a day.
func codexEnters(_, rel string) bool {
	return strings.Count(rel, "/") < 3 && strings.Trim(rel, "0123456789/") == ""
}
