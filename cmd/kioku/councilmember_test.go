package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kioku/internal/testkit"
)

// votes is a program that answers for panda; elsewhere it fails.
const votes = `#!/bin/sh
prompt=$(cat)
round=1
case "$prompt" in *"This is round 2"*) round=2 ;; esac
case "$prompt" in
*'"enum":["panda"]'*'"vote"'*) printf '{"reply":"{\\"node\\":\\"panda\\",\\"round\\":%s,\\"vote\\":\\"approve\\",\\"opinion\\":\\"It is safe.\\",\\"proposed_approach\\":\\"Do it.\\",\\"concerns\\":[],\\"confidence\\":0.9,\\"evidence\\":[]}"}' "$round" ;;
*) echo "nothing but votes" >&2; exit 1 ;;
esac
`

// claudeVotes is a Claude Code that answers for triceratops, with what it has found in its memory; its persona is in a file.
const claudeVotes = `#!/bin/sh
round=1
cat | grep -q "This is round 2" && round=2
socket=$(tr -d '\n ' < mcp.json | sed 's/.*--turn","\([^"]*\)".*/\1/')
mkfifo answered
found=$({ printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' \
	'{"jsonrpc":"2.0","method":"notifications/initialized"}' \
	'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory_search","arguments":{"query":"who waters the plants?"}}}'; read -r line < answered; } |
	KIOKU mcp --turn "$socket" | { read -r first; read -r second; echo > answered; echo "$second" | grep -o 'Aiko waters them'; })
case "$*" in
*--json-schema*'"enum":["triceratops"]'*'"vote"'*--system-prompt-file*--mcp-config*"--tools  --max-turns"*) printf '{"type":"result","is_error":false,"structured_output":{"node":"triceratops","round":%s,"vote":"approve","opinion":"It is safe.","proposed_approach":"%s.","concerns":[],"confidence":0.9,"evidence":[]},"total_cost_usd":0.5,"modelUsage":{"m":{"inputTokens":90000,"outputTokens":777,"cacheReadInputTokens":6000}}}' "$round" "$found" ;;
*) echo '{"type":"result","is_error":true,"result":"I only vote"}'; exit 1 ;;
esac
`

// Members elsewhere take the turns of a council over HTTP, each with a token that lets it do nothing else: one by a program, one by a
// preset, and one by a program that fails, whose reason the council logs (issue 35, point 12).
func TestCouncilMemberTakesTurns(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, nil)
	folder := filepath.Join(s.workspace, "council")
	s.must("council", "init", folder, "--llm", "remote")
	script := filepath.Join(s.home, "votes")
	testkit.Must(t, os.WriteFile(script, []byte(votes), 0o700))
	testkit.Must(t, os.WriteFile(filepath.Join(s.home, "claude"), []byte(strings.ReplaceAll(claudeVotes, "KIOKU", program)), 0o700))
	testkit.Must(t, os.WriteFile(filepath.Join(folder, "members/triceratops/MEMORY.md"), []byte("# Memory\n\n- The plants: Aiko waters them.\n"), 0o600))
	var entries []string
	for _, name := range []string{"panda", "gorilla", "triceratops"} {
		testkit.Must(t, os.WriteFile(filepath.Join(s.home, name+".token"), []byte("for "+name), 0o600))
		entries = append(entries, fmt.Sprintf("{name: %s, sha256: %s, agents: [], council: [\"member:%[1]s\"]}", name, hashToken("for "+name)))
	}
	s.env = append(s.env, "PATH="+s.home+":"+os.Getenv("PATH"), "KIOKU_TOKENS=tokens: ["+strings.Join(entries, ", ")+"]")
	p := s.start("council", "--folder", folder, "serve", "--listen", "127.0.0.1:0")
	_, address, _ := strings.Cut(p.waits(p.err, "listening on tcp:"), "tcp:")
	p.waits(p.err, "ready: ")

	member := func(name, token string, how ...string) *process {
		return s.start(append([]string{"council", "member", name, "--target", address, "--token-file", filepath.Join(s.home, token+".token")}, how...)...)
	}
	panda := member("panda", "panda", "--command", "["+script+"]", "--output", "reply")
	gorilla := member("gorilla", "gorilla", "--command", script)
	triceratops := member("triceratops", "triceratops", "--preset", "claude-think")
	got := s.council("ask", "--description", "echo: *=approve", "Water the plants")
	if got.code != exitOK || !strings.Contains(got.stdout, "panda yes; triceratops yes") {
		t.Errorf("exit %d: %s%s", got.code, got.stdout, got.stderr)
	}
	panda.waits(panda.err, "opinion of ask_")
	if !strings.Contains(got.stdout, "Aiko waters them") {
		t.Errorf("triceratops has found nothing in its memory: %s", got.stdout)
	}
	if usage := s.read("council/host_metrics/token_usage.jsonl"); !strings.Contains(usage, `"input_tokens":90000,"output_tokens":777,"cache_read_tokens":6000,"cache_creation_tokens":0,"cost":0.5`) {
		t.Errorf("what the program has told of its usage is lost: %s", usage)
	}
	gorilla.waits(gorilla.err, "nothing but votes")
	if got := s.council("logs", "gorilla"); !strings.Contains(got.stdout, "nothing but votes") {
		t.Errorf("the council does not know why gorilla has no answer: %s", got.stdout)
	}
	for _, p := range []*process{panda, gorilla, triceratops} {
		p.terminates()
	}
	if other := member("panda", "gorilla", "--llm", "echo"); true {
		other.waits(other.err, "lacks the right member:panda")
		if code, _ := other.ends(); code != exitError {
			t.Errorf("with the token of another: exit %d", code)
		}
	}
	for says, how := range map[string][]string{"--preset or --command": nil, "there are claude-think": {"--preset", "cursor"}, "name the folder": {"--preset", "claude-look"},
		"reads no folder": {"--preset", "codex-think", "--reads", "."}, "leave out --command": {"--preset", "claude-think", "--command", "claude"}} {
		s.run(append([]string{"council", "member", "panda", "--target", address}, how...)...).wants(t, exitUsage, says)
	}
}
