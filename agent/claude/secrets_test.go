package claude_test

import (
	"strings"
	"testing"
)

// Secrets are not written to notes by the memory tool: a reference takes the place of each, and the model is told. What a file has
// already stays. (C13)
func TestCallWritesNoSecrets(t *testing.T) {
	t.Parallel()
	const secret = "sk-" + "proj-Ab3dE6gH9jK2mN5pQ8sT1vX4z9f2a"
	n := open(t, map[string]string{"old.md": "password: h8Kq2!xZ\n"})
	for _, c := range []map[string]any{
		{"command": "create", "path": "/memories/a.md", "file_text": "one\nkey " + secret + "\n"},
		{"command": "insert", "path": "/memories/a.md", "insert_line": 1, "insert_text": "again " + secret},
		{"command": "str_replace", "path": "/memories/old.md", "old_str": "password: h8Kq2!xZ", "new_str": "password: h8Kq2!xZ and " + secret},
	} {
		said, err := n.call(c)
		if err != nil || !strings.Contains(said, "[secret sk-…9f2a left out]") || !strings.Contains(said, "Tell the user") {
			t.Errorf("%v: said %q, %v", c["command"], said, err)
		}
	}
	files := tree(t, n.folder)
	if want := "one\nagain [secret sk-…9f2a left out]\nkey [secret sk-…9f2a left out]\n"; files["a.md"] != want {
		t.Errorf("%q", files["a.md"])
	}
	if want := "password: h8Kq2!xZ and [secret sk-…9f2a left out]\n"; files["old.md"] != want {
		t.Errorf("%q", files["old.md"])
	}
}
