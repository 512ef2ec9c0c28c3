package transcripts_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/agent/transcripts"
)

// A transcript of Claude Code with lines of every kind is read as the clients for the Claude Agent SDK read it.
func TestReadIsAlikeInAllClients(t *testing.T) {
	t.Parallel()
	type message struct{ ID, Role, Text string }
	var want, got []message
	text, err := os.ReadFile("../../integrations/testdata/claude-code.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	said, _, err := transcripts.ClaudeCode.Read("../../integrations/testdata/claude-code.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range said {
		got = append(got, message{s.ID, string(s.Role), s.Text})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
