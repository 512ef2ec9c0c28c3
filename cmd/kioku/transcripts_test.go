package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kioku/internal/testkit"
)

// claudeFile and codexFile write a transcript of a conversation in a project, as these programs do, in which one thing was said.
func (s *sandbox) claudeFile(project, name, said string) {
	folder := strings.Map(func(r rune) rune {
		if strings.ContainsRune("/._", r) {
			return '-'
		}
		return r
	}, project)
	s.writeHome(filepath.Join(".claude/projects", folder, name+".jsonl"), fmt.Sprintf(
		`{"type":"mode","mode":"normal"}
{"type":"user","uuid":"u1","timestamp":"2026-01-05T12:00:00Z","cwd":%q,"message":{"role":"user","content":%q}}
{"type":"user","uuid":"u2","timestamp":"2026-01-05T12:00:01Z","cwd":%[1]q,"message":{"role":"user","content":[{"type":"tool_result","content":"the tool said walrus"}]}}
{"type":"assistant","uuid":"a1","timestamp":"2026-01-05T12:00:02Z","cwd":%[1]q,"message":{"role":"assistant","content":[{"type":"text","text":"I see."}]}}
`, project, said))
}

func (s *sandbox) codexFile(project, name, said string) {
	s.writeHome(filepath.Join(".codex/sessions/2026/01/06", "rollout-"+name+".jsonl"), fmt.Sprintf(
		`{"timestamp":"2026-01-06T12:00:00Z","type":"session_meta","payload":{"id":"x","cwd":%q,"thread_source":"user"}}
{"timestamp":"2026-01-06T12:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"the harness said walrus"}]}}
{"timestamp":"2026-01-06T12:00:01Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","content":[{"type":"text","text":%q}]}}}
`, project, said))
}

// writeHome writes a file in the home of the sandbox.
func (s *sandbox) writeHome(path, text string) {
	s.t.Helper()
	file := filepath.Join(s.home, path)
	testkit.Must(s.t, os.MkdirAll(filepath.Dir(file), 0o700))
	testkit.Must(s.t, os.WriteFile(file, []byte(text), 0o600))
}

// Transcripts of Claude Code and Codex can be a source: of the conversations in the workspace, or in the projects of the settings,
// what was said is found by its source, and shown with the line numbers of the transcript, without what tools and the programs
// said and without secrets (C13). Those of other projects are neither found nor shown, and without the setting there are none.
func TestTranscriptsOfOtherAgentsAreASource(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	project, other := t.TempDir(), t.TempDir()
	s.claudeFile(s.workspace, "own", "The kite club meets under the pier. My key is sk-proj-Zq8LmN4vRt2XcB7yHs9KdF3w")
	s.claudeFile(project, "project", "凧のクラブは桟橋の下で会う")
	s.claudeFile(other, "other", "The kite club of others meets elsewhere.")
	s.codexFile(filepath.Join(s.workspace, "sub"), "own", "The kite club has a red flag.")
	s.codexFile(other, "other", "The kite club of others has a blue flag.")
	search := func(args ...string) string {
		t.Helper()
		got := s.run(append([]string{"search", "kite club"}, args...)...)
		if strings.Contains(got.stdout, "others") || strings.Contains(got.stdout, "sk-proj-Zq8") {
			t.Errorf("%q: %s", args, got.stdout)
		}
		return got.stdout
	}
	if got := search(); strings.Contains(got, "sessions/") {
		t.Errorf("without the setting: %s", got)
	}
	s.raw("config", "set", "sources", "memory,claude-code,codex").wants(t, exitOK)
	if got := search("--source", "claude-code"); !strings.Contains(got, "under the pier. My key is [secret sk-") || strings.Contains(got, "red flag") {
		t.Errorf("claude-code: %s", got)
	}
	if got := search("--source", "codex"); !strings.Contains(got, "red flag") || strings.Contains(got, "pier") {
		t.Errorf("codex: %s", got)
	}
	for source, folder := range map[string]string{"claude-code": ".claude/projects", "codex": ".codex/sessions"} {
		if got := s.run("status").stdout; !strings.Contains(got, source+", transcripts in "+filepath.Join(s.home, folder)+"\n") {
			t.Errorf("the status is silent about %s: %s", source, got)
		}
	}
	if got := s.run("search", "walrus").stdout; strings.Contains(got, "said walrus") {
		t.Errorf("what tools said: %s", got)
	}
	shown := func(path string) string { return s.run("get", path).stdout }
	const codexOwn, codexOther = "sessions/codex/2026/01/06/rollout-own.jsonl", "sessions/codex/2026/01/06/rollout-other.jsonl"
	if got := shown(codexOwn); strings.TrimRight(got, "\n") != "\n\nUser: The kite club has a red flag." {
		t.Errorf("%s is %q", codexOwn, got)
	}
	if got := shown(codexOther); got != "" {
		t.Errorf("%s is %q", codexOther, got)
	}
	if got := s.run("search", "凧のクラブ").stdout; strings.Contains(got, "桟橋") {
		t.Errorf("the project is not the workspace: %s", got)
	}
	s.raw("config", "set", "transcripts.projects", project).wants(t, exitOK)
	if got := s.run("search", "凧のクラブ").stdout; !strings.Contains(got, "桟橋") {
		t.Errorf("the project is not found: %s", got)
	}
	if got := search("--source", "codex"); strings.Contains(got, "red flag") {
		t.Errorf("the workspace is no project any longer: %s", got)
	}
	if got := s.run("search", "x", "--source", "claude"); got.code != exitUsage || !strings.Contains(got.stderr, "memory, extra, sessions, claude-code, codex") {
		t.Errorf("an unknown source: %+v", got)
	}
}

// What was said in a project that is not allowed is not found, also if the conversation began in one that is. Lines that are too long
// or of an unknown form are counted and told.
func TestTranscriptsTellTheirFoldersAndLinesApart(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	allowed, secret := t.TempDir(), t.TempDir()
	s.claudeFile(allowed, "moved", "The kite club meets under the pier.")
	s.codexFile(allowed, "moved", "The kite club has a red flag.")
	s.appendHome(".codex/sessions/2026/01/06/rollout-moved.jsonl", fmt.Sprintf(`{"type":"turn_context","payload":{"cwd":%q}}
{"type":"event_msg","payload":{"type":"user_message","message":"the puffin cd-ed into secret"}}
`, secret))
	claude := filepath.Join(".claude/projects", strings.NewReplacer("/", "-", ".", "-", "_", "-").Replace(allowed), "moved.jsonl")
	s.appendHome(claude, fmt.Sprintf(`{"type":"user","uuid":"u9","cwd":%q,"message":{"role":"user","content":"the puffin cd-ed into secret"}}
{"type":"user","uuid":"u10","cwd":%q,"message":{"role":"user","content":%q}}
{"type":"hologram"}
`, secret, allowed, strings.Repeat("x", 2<<20)))
	s.raw("config", "set", "sources", "memory,claude-code,codex").wants(t, exitOK)
	s.raw("config", "set", "transcripts.projects", allowed).wants(t, exitOK)
	if got := s.run("index"); !strings.Contains(got.stdout, " 0 skipped,") || !strings.Contains(got.stderr, "not everything is indexed") {
		t.Errorf("index: %+v", got)
	}
	for _, command := range []string{"status", "doctor"} {
		if got := s.run(command).stdout; !strings.Contains(got, "1 line too long, 1 line of an unknown type") || !strings.Contains(got, "moved.jsonl") {
			t.Errorf("%s: %s", command, got)
		}
	}
	if got := s.run("search", "puffin").stdout; strings.Contains(got, "cd-ed") {
		t.Errorf("what was said elsewhere: %s", got)
	}
	if got := s.run("search", "kite club").stdout; !strings.Contains(got, "pier") || !strings.Contains(got, "red flag") {
		t.Errorf("what was said in the project: %s", got)
	}
	if got := s.run("get", "sessions/codex/2026/01/06/rollout-moved.jsonl").stdout; strings.Contains(got, "puffin") || !strings.Contains(got, "red flag") {
		t.Errorf("shown: %q", got)
	}
}

// How a running daemon takes over a setting is told by the command that sets it.
func TestConfigSetSaysHowADaemonTakesItOver(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	const old = "else after kioku restart"
	if got := s.run("config", "set", "sources", "memory"); strings.Contains(got.stderr, "takes it over") {
		t.Errorf("no daemon runs: %+v", got)
	}
	s.serve()
	for _, args := range [][]string{{"set", "sources", "memory,claude-code"}, {"unset", "sources"}} {
		if got := s.run(append([]string{"config"}, args...)...); got.code != exitOK || !strings.Contains(got.stderr, old) {
			t.Errorf("%q: %+v", args, got)
		}
	}
	if got := s.run("config", "set", "query.maxResults", "7"); !strings.Contains(got.stderr, "takes it over by itself\n") {
		t.Errorf("a setting that is reloaded: %+v", got)
	}
}

// appendHome appends to a file in the home of the sandbox.
func (s *sandbox) appendHome(path, text string) {
	s.t.Helper()
	before, err := os.ReadFile(filepath.Join(s.home, path))
	if err != nil {
		s.t.Fatal(err)
	}
	s.writeHome(path, string(before)+text)
}

// The projects of the settings are those of the memory that the settings name: a folder that is a memory by itself, and another
// agent, get no conversations but their own.
func TestTranscriptsOfProjectsBelongToOneMemory(t *testing.T) {
	t.Parallel()
	s := newHookSandbox(t, notes())
	project, work := t.TempDir(), folder(t, map[string]string{"MEMORY.md": "# Work\n"})
	s.claudeFile(project, "project", "The kite club meets under the pier.")
	s.raw("config", "set", "sources", "memory,claude-code").wants(t, exitOK)
	s.raw("config", "set", "transcripts.projects", project).wants(t, exitOK)
	s.raw("config", "set", "agents", "work="+work).wants(t, exitOK)
	if got := s.raw("search", "kite club"); !strings.Contains(got.stdout, "pier") {
		t.Errorf("the memory of the settings: %+v", got)
	}
	if got := s.raw("search", "--agent", "work", "kite club"); strings.Contains(got.stdout, "pier") {
		t.Errorf("another agent: %+v", got)
	}
	own := folder(t, map[string]string{"MEMORY.md": "# Own\n", ".kioku.yaml": "include: [\"**/*.md\"]\n"})
	there := *s
	there.home = own
	if got := there.raw("search", "kite club"); strings.Contains(got.stdout, "pier") {
		t.Errorf("another folder: %+v", got)
	}
	s.raw("config", "set", "agents.work.projects", project).wants(t, exitOK)
	if got := s.raw("search", "--agent", "work", "kite club"); !strings.Contains(got.stdout, "pier") {
		t.Errorf("an agent with projects of its own: %+v", got)
	}
}
