package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/agent/bootstrap"
	"kioku/agent/prompt"
	"kioku/agent/sidecar"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/render"
	"kioku/internal/testkit"
	"kioku/server"
)

// promptOf runs kioku prompt --json and returns what it prints.
func (s *sandbox) promptOf(args ...string) (got server.AgentPrompt) {
	s.t.Helper()
	out := s.must(append([]string{"prompt", "--json", "--now", "2026-01-20"}, args...)...)
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
	return got
}

func TestPromptWritesEveryByteToAPipe(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	got := s.run("prompt", "--now", "2026-01-20", "boiler pressure")
	made := s.promptOf("boiler pressure")
	if want := made.Prompt + "\n\n" + made.TurnBlock; got.stdout != want || made.TurnBlock == "" {
		t.Errorf("the text is not that of the JSON:\n%s", cmp.Diff(want, got.stdout))
	}
	for _, text := range []string{"\nlayer ", "\nmemory ", "\nall ", "\nkioku: recalled 0."} {
		if !strings.Contains(got.stderr, text) {
			t.Errorf("stderr lacks %q: %s", text, got.stderr)
		}
	}
	if json := s.run("prompt", "--json", "--now", "2026-01-20", "boiler pressure"); !strings.Contains(json.stderr, "\nlayer ") {
		t.Errorf("with --json the table is missing: %s", json.stderr)
	}
}

func TestPromptLayersAddUp(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	got := s.promptOf("boiler pressure")
	sum := 0
	for _, l := range got.Layers {
		sum += l.Tokens
	}
	if sum != got.Tokens || sum == 0 {
		t.Errorf("the layers have %d tokens, the prompt %d", sum, got.Tokens)
	}
}

func TestPromptIsTheSameInEveryProcess(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	args := []string{"prompt", "--json", "--now", "2026-01-20", "How high was the boiler pressure?"}
	alone := s.must(args...)
	if again := s.must(args...); again != alone || !strings.Contains(alone, "boiler pressure fell") {
		t.Errorf("the second prompt differs: %s", cmp.Diff(alone, again))
	}
	s.serve()
	if over := s.must(args...); over != alone {
		t.Errorf("the prompt with a daemon differs: %s", cmp.Diff(alone, over))
	}
}

func TestPromptWithADaemonReadsTheFolderItServes(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.write("SOUL.md", "Calm and brief.")
	s.serve()
	for _, args := range [][]string{{"boiler pressure"}, nil} {
		got := s.raw(append([]string{"prompt", "--state", s.state}, args...)...)
		if got.code != 0 || !strings.Contains(got.stdout, "Calm and brief.") {
			t.Errorf("%q: exit %d: %s%s", args, got.code, got.stdout, got.stderr)
		}
	}
	other := *s
	other.workspace = t.TempDir()
	if got := other.run("prompt", "--no-recall", "x"); got.code != exitOK || strings.Contains(got.stdout, "Calm and brief.") {
		t.Errorf("the prompt of another folder: exit %d: %s%s", got.code, got.stdout, got.stderr)
	}
	if got := other.run("prompt", "--no-recall", "--agent", "main", "x"); got.code != exitError || !strings.Contains(got.stderr, "the daemon serves agent main from") {
		t.Errorf("exit %d: %s", got.code, got.stderr)
	}
}

func TestPromptKnowsWhatWasJustWritten(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.promptOf("heron")
	s.write("memory/2026-01-19.md", "# 2026-01-19\nA heron stood at the pond.\n")
	if got := s.promptOf("heron"); len(got.Recall.Memories) != 1 || got.Recall.Memories[0].Path != "memory/2026-01-19.md" {
		t.Errorf("recalled %v", got.Recall.Memories)
	}
}

func TestPromptWithoutAMessageMakesNoIndex(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	for _, args := range [][]string{nil, {""}, {"--no-recall", "boiler"}, {"--mode", "minimal", "boiler"}, {"--set", "recall.enabled=false", "boiler"}} {
		if got := s.promptOf(args...); len(got.Recall.Memories) > 0 || got.Recall.Skipped == "" {
			t.Errorf("%q: recalled %v, skipped %q", args, got.Recall.Memories, got.Recall.Skipped)
		}
	}
	if _, err := os.Stat(filepath.Join(s.state, "memory")); !os.IsNotExist(err) {
		t.Errorf("an index was made: %v", err)
	}
}

func TestPromptInAGroupLeavesPrivateNotesOut(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	for _, tc := range []struct {
		args  []string
		group bool
	}{
		{nil, false}, {[]string{"--channel", "slack"}, true}, {[]string{"--group"}, true},
		{[]string{"--channel", "telegram"}, false}, {[]string{"--channel", "slack", "--group=false"}, false},
	} {
		got := s.promptOf(append(tc.args, "tanuki task runner")...)
		if got.Group != tc.group || strings.Contains(got.Prompt, "tanuki") == tc.group {
			t.Errorf("%q: group %v, prompt %s", tc.args, got.Group, got.Prompt)
		}
	}
}

func TestPromptSearchesSharedMemories(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	team := t.TempDir()
	testkit.Must(t, os.WriteFile(filepath.Join(team, "MEMORY.md"), []byte("# Memory\n- The team meets at the boiler house.\n"), 0o600))
	known := []string{"--set", "agents=team=" + team, "--set", "recall.shared=team"}
	from := func(got server.AgentPrompt) (agents []string) {
		for _, m := range got.Recall.Memories {
			agents = append(agents, m.Agent)
		}
		slices.Sort(agents)
		return agents
	}
	if diff := cmp.Diff([]string{"main", "team"}, from(s.promptOf(append(known, "boiler house")...))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"team"}, from(s.promptOf(append(known, "--channel", "slack", "boiler house")...))); diff != "" {
		t.Error(diff)
	}
	got := s.run("prompt", "--json", "--shared", "nobody", "boiler pressure")
	if got.code != 0 || !strings.Contains(got.stderr, "it has no workspace; set agents.nobody.workspace") || !strings.Contains(got.stdout, "boiler pressure fell") {
		t.Errorf("exit %d: %s", got.code, got.stderr)
	}
	s.run("prompt", "--shared", "../x", "boiler").wants(t, exitUsage, `"../x" is not an agent id`)
}

func TestPromptUsesTheFilesOfAgentDir(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, map[string]string{"SOUL.md": "Calm.", "own/SOUL.md": "Lively.", "MEMORY.md": "# Memory\n"})
	got := s.promptOf("--set", "agentDir="+filepath.Join(s.workspace, "own"))
	if !strings.Contains(got.Prompt, "Lively.") || strings.Contains(got.Prompt, "Calm.") {
		t.Errorf("got %s", got.Prompt)
	}
	i := slices.IndexFunc(got.Files, func(f bootstrap.File) bool { return f.Name == bootstrap.Soul })
	if i < 0 || !got.Files[i].Override {
		t.Errorf("the report has %+v", got.Files)
	}
}

func TestPromptSkillsComeFromAllFolders(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	skill := func(dir, name string) {
		path := filepath.Join(dir, name, "SKILL.md")
		testkit.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		testkit.Must(t, os.WriteFile(path, []byte("---\nname: "+name+"\ndescription: From "+dir+".\n---\nDo it.\n"), 0o600))
	}
	extra := t.TempDir()
	skill(filepath.Join(s.workspace, "skills"), "one")
	skill(extra, "two")
	skill(filepath.Join(s.home, "skills"), "three")
	got := s.promptOf("--set", "skills.extraDirs="+extra)
	var names []string
	for _, e := range got.Skills {
		if e.InPrompt {
			names = append(names, e.Name)
		}
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"one", "three", "two"}, names); diff != "" {
		t.Error(diff)
	}
}

func TestPromptReadsTheMessageFromStandardInput(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.stdin = "boiler\npressure\n"
	if got := s.promptOf("-"); got.Recall.Query != "boiler\npressure" || len(got.Recall.Memories) == 0 {
		t.Errorf("searched %q, recalled %v", got.Recall.Query, got.Recall.Memories)
	}
}

func TestPromptRefusesWrongFlags(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	for _, tc := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--mode", "most"}, exitUsage, `--mode is "most"; it must be full, minimal or none`},
		{[]string{"--mode", ""}, exitUsage, `--mode is ""`},
		{[]string{"--budget", "0"}, exitUsage, "--budget is 0; it must be at least 1"},
		{[]string{"--budget", "x"}, exitUsage, "not a whole number"},
		{[]string{"--channel", "a\nb"}, exitUsage, "--channel must have no control characters"},
		{[]string{"--now", "soon"}, exitUsage, "--now must be a day like 2026-01-20"},
		{[]string{"-x"}, exitUsage, "kioku prompt -- -x"},
		{[]string{"--workspace", filepath.Join(s.home, "none")}, exitError, "none: no such file or folder"},
		{[]string{"--workspace", filepath.Join(s.home, "none"), "boiler"}, exitError, "none"},
	} {
		got := s.raw(append(append([]string{"prompt", "--state", s.state, "--workspace", s.workspace}, tc.args...), "x")...)
		got.wants(t, tc.code, tc.want)
		if got.stdout != "" {
			t.Errorf("%q prints %q", tc.args, got.stdout)
		}
	}
	s.raw("prompt", "--state", s.state).wants(t, exitUsage, "no workspace")
}

// Hazard F04: what a note holds controls no terminal, neither in the prompt nor in what is said about it.
func TestPromptCannotControlTheTerminal(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.write("memory/2026-01-18.md", "# 2026-01-18\nA walrus \x1b[2J\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\ and \u202egnp.exe\n")
	s.write("SOUL.md", "Red \x1b[31mletters\u202e.")
	s.write("skills/a\x1b[2Jb/SKILL.md", "none")
	var out, errs bytes.Buffer
	a := &app{Output: render.Output{Stdout: &out, Stderr: &errs, Env: s.env}, stdin: strings.NewReader(""), dir: s.home}
	if code := a.execute(t.Context(), []string{"prompt", "--workspace", s.workspace, "--state", s.state, "walrus"}); code != exitOK {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	if strings.ContainsFunc(errs.String(), render.Forbidden) {
		t.Errorf("stderr holds %q", errs.String())
	}
	if !strings.Contains(out.String(), "\x1b[31m") {
		t.Errorf("a pipe does not get every byte: %q", out.String())
	}
	if got := render.Clean(out.String()); strings.ContainsFunc(got, render.Forbidden) || !strings.Contains(got, "Red letters.") {
		t.Errorf("a terminal gets %q", got)
	}
}

func TestPromptNotesTellWhatTheBudgetCosts(t *testing.T) {
	t.Parallel()
	made := sidecar.Prompt{Result: prompt.Result{
		Over: true, Cuts: []prompt.Cut{{Part: "HEARTBEAT.md", From: 120, To: 0}, {Part: "skills", From: 90, To: 1}},
		LeftOut: []prompt.LeftOut{{Memory: prompt.Memory{Path: "a.md", StartLine: 3, EndLine: 3, Score: 0.5}, Reason: "over the budget"}},
	}}
	got := strings.Join(render.PromptNotes(made), "\n")
	for _, want := range []string{
		"the budget cuts HEARTBEAT.md from 120 to 0 tokens", "the budget cuts skills from 90 to 1 token\n", "exceeds the budget, and",
		"left out 0.50 a.md#L3: over the budget",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the notes lack %q: %s", want, got)
		}
	}
}

func TestMomentOfIsInTheZoneOfTheSettings(t *testing.T) {
	t.Parallel()
	conf, err := config.Load(config.Sources{Dir: t.TempDir(), Flags: []config.Flag{{Key: "timezone", Value: "Asia/Tokyo"}}})
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"2026-01-20": "2026-01-20T12:00:00+09:00", "2026-01-20T23:30:00Z": "2026-01-21T08:30:00+09:00",
	} {
		if got, err := momentOf(in, conf.Location); err != nil || got.Format("2006-01-02T15:04:05Z07:00") != want {
			t.Errorf("%s is %v, %v", in, got, err)
		}
	}
}

func TestFrameKeyThatIsDamagedIsReportedOnce(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	testkit.Must(t, os.MkdirAll(s.state, 0o700))
	testkit.Must(t, os.WriteFile(filepath.Join(s.state, "frame.key"), []byte("short"), 0o600))
	got := s.run("prompt", "boiler pressure")
	if got.code != exitOK || !strings.Contains(got.stdout, "boiler pressure fell") || strings.Count(got.stderr, "frame.key, has 5 bytes") != 1 {
		t.Errorf("exit %d: %s%s", got.code, got.stdout, got.stderr)
	}
}
