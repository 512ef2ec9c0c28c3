package transcripts_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/agent/transcripts"
	"kioku/llm"
)

const (
	claudeSaid   = `{"type":"user","uuid":"u1","timestamp":"2026-01-05T12:00:00.5Z","cwd":"/p","message":{"role":"user","content":"お茶が好き"}}`
	claudeAnswer = `{"type":"assistant","uuid":"a1","timestamp":"2026-01-05T12:00:01Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"no"},{"type":"text","text":"Noted,"},{"type":"tool_use","id":"t","name":"x","input":{"a":"no"}},{"type":"text","text":"and kept."}]}}`
	codexSaid    = `{"timestamp":"2026-01-05T12:00:00Z","ordinal":9,"type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","id":"i1","content":[{"type":"text","text":"お茶が好き","text_elements":[]},{"type":"image","image_url":"data:no"}]}}}`
	codexAnswer  = `{"timestamp":"2026-01-05T12:00:01Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"AgentMessage","id":"msg_1","content":[{"type":"Text","text":"Noted."}]}}}`
)

// Of a transcript counts what a person wrote and was answered: not tool calls and results, images, thoughts, sidechains, summaries,
// texts of the program itself, nor lines that are not understood, which are told.
func TestLineIsWhatSomebodySaid(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		program             transcripts.Program
		line, said, problem string
	}{
		{transcripts.ClaudeCode, claudeSaid, "user: お茶が好き", ""},
		{transcripts.ClaudeCode, claudeAnswer, "assistant: Noted,\n\nand kept.", ""},
		{transcripts.ClaudeCode, `{"type":"user","uuid":"u","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"no"}]}}`, "", ""},
		{transcripts.ClaudeCode, `{"type":"user","uuid":"u","message":{"role":"user","content":[{"type":"text","text":"Look:"},{"type":"image","source":{"data":"no"}}]}}`, "user: Look:", ""},
		{transcripts.ClaudeCode, `{"type":"user","uuid":"u","message":{"role":"user","content":[{"type":"text","text":"<system-reminder>no</system-reminder>"},{"type":"text","text":"yes"}]}}`, "user: yes", ""},
		{transcripts.ClaudeCode, `{"type":"user","uuid":"u","isSidechain":true,"message":{"role":"user","content":"no"}}`, "", ""},
		{transcripts.ClaudeCode, `{"type":"user","uuid":"u","isMeta":true,"message":{"role":"user","content":"no"}}`, "", ""},
		{transcripts.ClaudeCode, `{"type":"user","uuid":"u","isCompactSummary":true,"message":{"role":"user","content":"no"}}`, "", ""},
		{transcripts.ClaudeCode, `{"type":"assistant","uuid":"u","isApiErrorMessage":true,"message":{"role":"assistant","content":"API Error"}}`, "", ""},
		{transcripts.ClaudeCode, `{"type":"user","uuid":"u","message":{"role":"user","content":"<command-name>/compact</command-name>"}}`, "", ""},
		{transcripts.ClaudeCode, `{"type":"summary","summary":"no"}`, "", ""},
		{transcripts.ClaudeCode, `{"type":"hologram","text":"no"}`, "", transcripts.Unknown},
		{transcripts.ClaudeCode, `{"type":"user","uuid":"u","message":"no"}`, "", transcripts.NoJSON},
		{transcripts.ClaudeCode, `{"type":"user","uuid":"u","message":{"role":"robot","content":"no"}}`, "", transcripts.Unknown},
		{transcripts.ClaudeCode, claudeSaid[:40], "", transcripts.NoJSON},
		{transcripts.ClaudeCode, "[1]", "", transcripts.NoJSON},
		{transcripts.ClaudeCode, "null", "", transcripts.NoJSON},
		{transcripts.ClaudeCode, "", "", ""},
		{transcripts.ClaudeCode, strings.Repeat("x", transcripts.MaxLine+1), "", transcripts.TooLong},
		{transcripts.Codex, codexSaid, "user: お茶が好き", ""},
		{transcripts.Codex, codexAnswer, "assistant: Noted.", ""},
		{transcripts.Codex, `{"timestamp":"t","type":"event_msg","payload":{"type":"user_message","message":"older"}}`, "user: older", ""},
		{transcripts.Codex, `{"timestamp":"t","type":"event_msg","payload":{"type":"agent_message","message":"older"}}`, "assistant: older", ""},
		{transcripts.Codex, `{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"Reasoning","content":[{"type":"Text","text":"no"}]}}}`, "", ""},
		{transcripts.Codex, `{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>"}]}}`, "", ""},
		{transcripts.Codex, `{"type":"compacted","payload":{"message":"no"}}`, "", ""},
		{transcripts.Codex, `{"type":"hologram","payload":{}}`, "", transcripts.Unknown},
		{transcripts.Codex, codexSaid[:80], "", transcripts.NoJSON},
	} {
		said, problem := tc.program.Line([]byte(tc.line))
		got := ""
		if said.Text != "" {
			got = string(said.Role) + ": " + said.Text
		}
		if got != tc.said || problem != tc.problem || (said.ID == "") != (got == "") {
			t.Errorf("%s, %.200s: %q, %q, id %q", tc.program.ID, tc.line, got, problem, said.ID)
		}
	}
	anywhere := func(string) bool { return true }
	if text, at := transcripts.ClaudeCode.NewReader(anywhere).Spoken([]byte(claudeSaid)); text != "User: お茶が好き" || !at.Equal(time.Date(2026, 1, 5, 12, 0, 0, 5e8, time.UTC)) {
		t.Errorf("spoken: %q at %v", text, at)
	}
	if text, _ := transcripts.Codex.NewReader(anywhere).Spoken([]byte(codexAnswer)); text != "Assistant: Noted." {
		t.Errorf("spoken: %q", text)
	}
}

// A conversation that began in a project and goes on elsewhere shows only what was said in the project: the folder of each line decides,
// or that of the latest line which has one. Lines that are not understood are counted, but for one that is still being written.
func TestReaderLeavesOutWhatWasSaidElsewhere(t *testing.T) {
	t.Parallel()
	at := func(dir, text string) string {
		return strings.NewReplacer("/p", dir, "お茶が好き", text).Replace(claudeSaid)
	}
	turn := func(dir string) string { return `{"type":"turn_context","payload":{"cwd":"` + dir + `"}}` }
	for _, tc := range []struct {
		program transcripts.Program
		lines   []string
		want    string
		left    string
	}{
		{transcripts.ClaudeCode, []string{claudeAnswer, at("/p", "one"), claudeAnswer, at("/secret", "two"), claudeAnswer, `{"type":"system","cwd":"/p/sub"}`, claudeAnswer, at("/px", "three")},
			"Assistant: Noted,\n\nand kept.|User: one|Assistant: Noted,\n\nand kept.||||Assistant: Noted,\n\nand kept.|", ""},
		{transcripts.ClaudeCode, []string{`{"type":"attachment","x":"` + strings.Repeat("x", transcripts.MaxLine) + `","cwd":"/secret"}`, claudeAnswer, `{"type":"hologram"}`, claudeSaid[:40]}, "|||", "1 line too long, 1 line of an unknown type"},
		{transcripts.Codex, []string{turn("/p"), codexSaid, turn("/secret"), codexSaid, codexAnswer, `{"type":"event_msg","payload":{"type":"exec","cwd":"/p"}}`, codexSaid, turn("/p/sub"), codexSaid},
			"|User: お茶が好き|||||||User: お茶が好き", ""},
	} {
		r := tc.program.NewReader(func(dir string) bool { return transcripts.Within("/p", dir) })
		var got []string
		for i, line := range tc.lines {
			if i+1 < len(tc.lines) {
				line += "\n"
			}
			text, _ := r.Spoken([]byte(line))
			got = append(got, text)
		}
		if left := r.LeftOut().String(); strings.Join(got, "|") != tc.want || left != tc.left {
			t.Errorf("%s: %q, left out %q", tc.program.ID, got, left)
		}
	}
}

// Secrets in what was said are left out (C13). Read skips and counts the lines that it does not understand, is not stopped by a line without end, and waits for the rest of a
// line that is being written.
func TestReadTellsWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	older := strings.NewReplacer("item_completed", "agent_message", `"item":`, `"message":"Noted.","was":`).Replace(codexAnswer)
	for _, tc := range []struct {
		program transcripts.Program
		lines   []string
		want    []string
		left    string
	}{
		{transcripts.ClaudeCode, []string{claudeSaid, "{", `{"type":"hologram"}`, strings.Repeat("x", 3<<20), claudeAnswer, claudeSaid[:30]}, []string{"お茶が好き", "Noted,\n\nand kept."}, "1 line no JSON, 1 line too long, 1 line of an unknown type"},
		{transcripts.ClaudeCode, []string{strings.Replace(claudeSaid, "お茶", "My key is sk-proj-Zq8LmN4vRt2XcB7yHs9KdF3w, お茶", 1), claudeAnswer}, []string{"My key is [secret sk-…dF3w left out], お茶が好き", "Noted,\n\nand kept."}, "1 secret"},
		{transcripts.ClaudeCode, []string{"{", "{", claudeSaid}, []string{"お茶が好き"}, "2 lines no JSON"},
		{transcripts.Codex, []string{codexSaid, older, codexAnswer, ""}, []string{"お茶が好き", "Noted."}, ""},
	} {
		path := filepath.Join(t.TempDir(), "t.jsonl")
		if err := os.WriteFile(path, []byte(strings.Join(tc.lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		said, left, err := tc.program.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, s := range said {
			texts = append(texts, s.Text)
		}
		if diff := cmp.Diff(tc.want, texts); diff != "" || left.String() != tc.left {
			t.Errorf("%s: left out %q, %s", tc.program.ID, left, diff)
		}
		if said[0].Role != llm.RoleUser {
			t.Errorf("the first is of %s", said[0].Role)
		}
	}
	if _, _, err := transcripts.Codex.Read(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("a folder: %v", err)
	}
}

// ReadLatest returns the end of a transcript of any size, and reads as much of it as it needs.
func TestReadLatestReturnsTheEnd(t *testing.T) {
	t.Parallel()
	tool := `{"type":"progress","x":"` + strings.Repeat("x", 64<<10) + `"}`
	many := func(n int) []string { return slices.Repeat([]string{tool}, n) }
	first := strings.Replace(claudeSaid, "お茶が好き", "first", 1)
	for name, tc := range map[string]struct {
		lines, want []string
	}{
		"a short one":       {[]string{first, claudeSaid, claudeAnswer}, []string{"first", "お茶が好き", "Noted,\n\nand kept."}},
		"enough at the end": {slices.Concat([]string{first}, many(8), []string{claudeSaid, claudeAnswer}), []string{"お茶が好き", "Noted,\n\nand kept."}},
		"further up":        {slices.Concat([]string{first, claudeSaid, claudeAnswer}, many(8)), []string{"first", "お茶が好き", "Noted,\n\nand kept."}},
		"too far up":        {slices.Concat([]string{first, claudeSaid}, many(40), []string{claudeAnswer}), []string{"Noted,\n\nand kept."}},
		"cut in a line":     {slices.Concat([]string{first + strings.Repeat(" ", 3<<20)}, many(1)), nil},
		"empty":             {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "t.jsonl")
			if err := os.WriteFile(path, []byte(strings.Join(tc.lines, "\n")), 0o600); err != nil {
				t.Fatal(err)
			}
			said, err := transcripts.ClaudeCode.ReadLatest(path, 1)
			if err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, s := range said {
				texts = append(texts, s.Text)
			}
			if diff := cmp.Diff(tc.want, texts); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := transcripts.Codex.ReadLatest(filepath.Join(t.TempDir(), "no"), 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
}

// A transcript belongs to the project in whose folder its conversation began; that of a subagent, or of nobody, to none.
func TestProjectIsWhereTheConversationBegan(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		program   transcripts.Program
		text, dir string
		certain   bool
	}{
		{transcripts.ClaudeCode, `{"type":"mode"}` + "\n" + claudeSaid + "\n" + strings.ReplaceAll(claudeSaid, "/p", "/q") + "\n", "/p", true},
		{transcripts.ClaudeCode, `{"type":"mode"}` + "\n" + claudeSaid, "", false},
		{transcripts.ClaudeCode, strings.Repeat("{}\n", 100) + claudeSaid + "\n", "", true},
		{transcripts.Codex, `{"type":"session_meta","payload":{"cwd":"/p","thread_source":"user","source":"cli"}}` + "\n", "/p", true},
		{transcripts.Codex, `{"type":"session_meta","payload":{"cwd":"/p"}}` + "\n", "/p", true},
		{transcripts.Codex, `{"type":"session_meta","payload":{"cwd":"/p","source":{"subagent":{"thread_spawn":{}}}}}` + "\n", "", true},
		{transcripts.Codex, `{"type":"session_meta","payload":{"cwd":"/p","thread_source":"subagent"}}` + "\n", "", true},
		{transcripts.Codex, `{"type":"session_meta","pay`, "", false},
		{transcripts.Codex, "no JSON\n", "", true},
	} {
		if dir, certain := tc.program.Project(strings.NewReader(tc.text)); dir != tc.dir || certain != tc.certain {
			t.Errorf("%s, %.120s: %q, %v", tc.program.ID, tc.text, dir, certain)
		}
	}
}

// Folders of transcripts are entered only if some of the project may be in them.
func TestEntersOnlyTheFoldersOfTheProject(t *testing.T) {
	t.Parallel()
	long := "/" + strings.Repeat("long/", 50)
	for _, tc := range []struct {
		program      transcripts.Program
		project, rel string
		want         bool
	}{
		{transcripts.ClaudeCode, "/home/me/my.app", "-home-me-my-app", true},
		{transcripts.ClaudeCode, "/home/me/my.app", "-home-me-my-app-sub", true},
		{transcripts.ClaudeCode, "/home/me/my.app", "-home-me-my-application", false},
		{transcripts.ClaudeCode, "/home/me/my.app", "-home-me", false},
		{transcripts.ClaudeCode, "/home/me/my.app", "-home-me-my-app-sub/4f2c/subagents", false},
		{transcripts.ClaudeCode, "/日記", "---", true},
		{transcripts.ClaudeCode, "/😀", "---", true},
		{transcripts.ClaudeCode, long, strings.Repeat("-long", 40) + "-x7f3", true},
		{transcripts.ClaudeCode, long, strings.Repeat("-long", 30), false},
		{transcripts.Codex, "/p", "2026", true},
		{transcripts.Codex, "/p", "2026/11/23", true},
		{transcripts.Codex, "/p", "2026/11/23/1", false},
		{transcripts.Codex, "/p", "other", false},
	} {
		if got := tc.program.Enters(tc.project, tc.rel); got != tc.want {
			t.Errorf("%s, %.40s, %.40s: %v", tc.program.ID, tc.project, tc.rel, got)
		}
	}
	for _, tc := range []struct {
		project, dir string
		want         bool
	}{{"/p", "/p", true}, {"/p", "/p/sub", true}, {"/p", "/pq", false}, {"/p", "/", false}, {"/p/", "/p/../q", false}} {
		if got := transcripts.Within(tc.project, tc.dir); got != tc.want {
			t.Errorf("%s in %s: %v", tc.dir, tc.project, got)
		}
	}
}

// The folders are those that the programs use, which variables of theirs can move.
func TestFolderIsThatOfTheProgram(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		program transcripts.Program
		want    string
		env     []string
	}{
		{transcripts.ClaudeCode, "/h/.claude/projects", []string{"HOME=/h"}},
		{transcripts.ClaudeCode, "/c/projects", []string{"HOME=/h", "CLAUDE_CONFIG_DIR=/c"}},
		{transcripts.Codex, "/h/.codex/sessions", []string{"HOME=/h"}},
		{transcripts.Codex, "/c/sessions", []string{"HOME=/h", "CODEX_HOME=/c"}},
		{transcripts.Codex, "", nil},
	} {
		if got := tc.program.Folder(tc.env); got != tc.want {
			t.Errorf("%s with %q: %q, want %q", tc.program.ID, tc.env, got, tc.want)
		}
	}
}

// Lines are foreign bytes.
func FuzzLine(f *testing.F) {
	for _, line := range []string{claudeSaid, claudeAnswer, codexSaid, codexAnswer, "{}", `{"type":"user","message":{"role":"user","content":[{"text":1}]}}`} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for _, p := range transcripts.Programs() {
			said, problem := p.Line([]byte(line))
			if said.Text != "" && (said.ID == "" || problem != "" || said.Role != llm.RoleUser && said.Role != llm.RoleAssistant) {
				t.Errorf("%s: %+v, %q", p.ID, said, problem)
			}
			p.Project(strings.NewReader(line))
		}
	})
}
