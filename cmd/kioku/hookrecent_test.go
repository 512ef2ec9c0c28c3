package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kioku/internal/testkit"
)

// spoken returns the line of a transcript on which the user or the agent says something, as a program writes it.
func spoken(program, role, text string) string {
	var line any
	switch {
	case program == "claude-code" && role == "user":
		line = map[string]any{"type": role, "uuid": text, "message": map[string]any{"role": role, "content": text}}
	case program == "claude-code":
		content := []any{map[string]string{"type": "thinking", "thinking": "Not said"}, map[string]string{"type": "text", "text": text}}
		line = map[string]any{"type": role, "uuid": text, "message": map[string]any{"role": role, "content": content}}
	default:
		kind := map[string]string{"user": "UserMessage", "assistant": "AgentMessage"}[role]
		item := map[string]any{"type": kind, "content": []any{map[string]string{"type": "Text", "text": text}}}
		line = map[string]any{"type": "event_msg", "timestamp": "2026-01-05T12:00:00Z", "payload": map[string]any{"type": "item_completed", "item": item}}
	}
	out, _ := json.Marshal(line)
	return string(out) + "\n"
}

// conversation writes the transcript of a program, in which user and agent speak in turn, and returns its path.
func (s *sandbox) conversation(program string, said ...string) string {
	s.t.Helper()
	var text strings.Builder
	for i, message := range said {
		text.WriteString(spoken(program, []string{"user", "assistant"}[i%2], message))
	}
	return s.transcriptOf(text.String())
}

// transcriptOf writes a transcript and returns its path.
func (s *sandbox) transcriptOf(text string) string {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), "transcript.jsonl")
	testkit.Must(s.t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// pointing are conversations whose last message points at what was said before, with what its note says.
var pointing = map[string]struct {
	said          []string
	message, want string
}{
	"English":  {said: []string{"Did Marta Ruiz call today?", "Yes, Marta Ruiz called at noon."}, message: "And what about her brother?", want: "Bilbao"},
	"Japanese": {said: []string{"温室の修理を折戸さんに頼んだ。", "温室の修理の件、承知しました。"}, message: "その後どうなった？", want: "硝子"},
	"Chinese":  {said: []string{"鹿小满今天来电话了吗？", "来了，鹿小满中午打来的。"}, message: "那她哥哥呢？", want: "厦门"},
}

// newPointingSandbox is a sandbox with derivation on, with notes that the pointing messages do not find by themselves.
func newPointingSandbox(t *testing.T) *sandbox {
	s := newHookSandbox(t, map[string]string{
		"memory/2026-02-02.md": "# 2026-02-02\n\nMarta Ruiz has a brother, Iker, who builds boats in Bilbao.\n",
		"memory/2026-02-03.md": "# 2026-02-03\n\n温室の修理は硝子が届くまで待つことになった。\n",
		"memory/2026-02-04.md": "# 2026-02-04\n\n鹿小满的哥哥在厦门开茶馆。\n",
		"memory/2026-02-05.md": "# 2026-02-05\n\nThe boiler lost pressure; the valve behind the stairs was open.\n",
		"memory/2026-02-06.md": "# 2026-02-06\n\nTita's brother plays the cello.\n",
		"memory/2026-02-07.md": "# 2026-02-07\n\nDario's brother is a vet.\n",
	})
	s.must("config", "set", "derive.enabled", "true")
	s.must("config", "set", "recall.topK", "2")
	return s
}

// A message that points at what was said before is recalled for with the transcript of both programs, and not without it.
func TestHookRecallsWithWhatWasSaidBefore(t *testing.T) {
	t.Parallel()
	s := newPointingSandbox(t)
	for i, c := range []struct {
		program, language, path string
		found                   bool
	}{
		{"claude-code", "English", "/no/transcript", false},
		{"claude-code", "English", "", false},
		{"claude-code", "English", s.conversation("claude-code", pointing["English"].said...), true},
		{"claude-code", "Japanese", s.conversation("claude-code", pointing["Japanese"].said...), true},
		{"codex", "English", s.conversation("codex", append(pointing["English"].said, pointing["English"].message)...), true}, // with the message
		{"codex", "Chinese", s.conversation("codex", pointing["Chinese"].said...), true},
	} {
		p := pointing[c.language]
		got, context := s.contextOf(c.program, "UserPromptSubmit", map[string]string{"session_id": fmt.Sprint(i), "prompt": p.message, "transcript_path": c.path})
		if got.stderr != "" || strings.Contains(context, p.want) != c.found {
			t.Errorf("%+v: %s in %q: %s", c, p.want, context, got.stderr)
		}
	}
}

// A transcript that is broken or huge fails no hook and does not make it slow: the messages at its end are found, or none.
func TestHookRecallsWithABrokenTranscript(t *testing.T) {
	t.Parallel()
	s := newPointingSandbox(t)
	c := pointing["English"]
	said := spoken("claude-code", "user", c.said[0]) + spoken("claude-code", "assistant", c.said[1])
	tool := `{"type":"user","uuid":"t","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"` + strings.Repeat("x", 1<<16) + `"}]}}` + "\n"
	for name, c := range map[string]struct {
		text  string
		found bool
	}{
		"empty":                      {"", false},
		"no JSON":                    {strings.Repeat("\x00\xff{", 1<<16), false},
		"broken lines before":        {"{\n\xff\n" + said, true},
		"a line being written":       {said + tool[:100], true},
		"4 MB before":                {strings.Repeat(tool, 60) + said, true},
		"results of tools behind":    {said + strings.Repeat(tool, 20), true},
		"more of them than are read": {said + strings.Repeat(tool, 50), false},
		"one line of 4 MB":           {said + `{"x":"` + strings.Repeat("x", 4<<20), false},
	} {
		path := s.transcriptOf(c.text)
		got, context := s.contextOf("claude-code", "UserPromptSubmit", map[string]string{"session_id": name, "prompt": pointing["English"].message, "transcript_path": path})
		if got.stderr != "" || strings.Contains(context, "Bilbao") != c.found {
			t.Errorf("%s: %s%s", name, context, got.stderr)
		}
	}
	got, context := s.contextOf("claude-code", "UserPromptSubmit", map[string]string{"prompt": "What was wrong with the boiler pressure?", "transcript_path": s.home})
	if !strings.Contains(context, "valve behind the stairs") || !strings.Contains(got.stderr, "is not a regular file") {
		t.Errorf("a folder: %s%s", context, got.stderr)
	}
}
