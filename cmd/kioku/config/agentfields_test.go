package config_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kioku/agent/flush"
	"kioku/agent/prune"
	"kioku/cmd/kioku/config"
	"kioku/llm"
)

func TestDefaultAgentSideIsThatOfThePackages(t *testing.T) {
	t.Parallel()
	c := load(t, config.Sources{Dir: t.TempDir()})
	if diff := cmp.Diff(prune.Defaults(), c.Prune); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(flush.Defaults(), c.Flush); diff != "" {
		t.Error(diff)
	}
	if c.LLM.Provider != "none" || c.OldOrder || !c.RecallEnabled || c.Recall.MinScore != nil || c.Flush.KeepTokens != 20_000 {
		t.Errorf("provider %q, old order %v, recall %v, minScore %v, keep %d",
			c.LLM.Provider, c.OldOrder, c.RecallEnabled, c.Recall.MinScore, c.Flush.KeepTokens)
	}
}

func TestLoadReadsTheAgentSideFromTheFile(t *testing.T) {
	t.Parallel()
	src := write(t, `
bootstrapMaxChars: 5000
agentDir: own
skills: {extraDirs: [team, "~/skills", /srv/skills]}
cacheFriendly: false
recall: {enabled: false, topK: 5, deadlineMs: 250, shared: [team]}
compaction:
  reserveTokensFloor: 1000
  keepRecentTokens: 2000
  memoryFlush: {enabled: false, softThresholdTokens: 100, softThresholdRatio: 0.75, onEnd: false, idleSeconds: 60, groups: separate}
contextPruning:
  mode: "off"
  tools: {deny: [memory_append]}
llm:
  provider: anthropic
  model: m
  allowHttp: true
  window: 100000
  maxTokens: 50
  timeoutSeconds: 9.5
  limits: {tokensPerDay: 2}
sidecar: {listen: none}
`)
	c := load(t, src)
	home, base := strings.TrimPrefix(src.Env[0], "HOME="), filepath.Dir(src.File)
	got := []any{
		c.Bootstrap.MaxChars, c.AgentDir, c.Skills.Extra, !c.OldOrder,
		c.RecallEnabled, c.Recall.TopK, c.Recall.Deadline, c.Shared, c.Flush.KeepTokens, c.Flush,
		c.Prune.Mode, c.Prune.Tools, c.LLM, c.AgentListen,
	}
	want := []any{
		5000, filepath.Join(base, "own"), []string{filepath.Join(base, "team"), filepath.Join(home, "skills"), "/srv/skills"}, false,
		false, 5, 250 * time.Millisecond, []string{"team"}, 2000,
		flush.Settings{ReserveTokens: 1000, SoftThresholdTokens: 100, SoftThresholdRatio: 0.75, KeepTokens: 2000, Groups: flush.GroupsSeparate, TranscriptBytes: flush.Defaults().TranscriptBytes, Idle: time.Minute},
		prune.ModeOff, prune.Tools{Deny: []string{"memory_append"}},
		llm.Config{
			Provider: "anthropic", Model: "m", AllowHTTP: true, Window: 100_000, MaxTokens: 50, Timeout: 9500 * time.Millisecond,
			Limits: llm.Limits{TokensPerDay: 2},
		},
		"none",
	}
	for i := range want {
		if diff := cmp.Diff(want[i], got[i], cmpopts.IgnoreFields(llm.Config{}, "Transport")); diff != "" {
			t.Errorf("%d: %s", i, diff)
		}
	}
}

// Hazard G02: what the packages find wrong is told with its place too.
func TestLoadNamesThePlaceOfAFaultOfTheAgentSide(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, text, want string }{
		{"typo", "compaction: {memoryFlush: {softTreshold: 1}}\n", `did you mean compaction.memoryFlush.softThreshold`},
		{"mode", "contextPruning: {mode: always}\n", `:1:24: contextPruning.mode: "always" is not possible; choose cache-ttl, off`},
		{"ratio", "compaction: {memoryFlush: {softThresholdRatio: 1}}\n", `:1:28: compaction.memoryFlush.softThresholdRatio: must be at least 0 and below 1, not 1`},
		{"agent id", "recall: {shared: [../x]}\n", `recall.shared: "../x" is not an agent id`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			src := write(t, tc.text)
			_, err := config.Load(src)
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), src.File) {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
		})
	}
}

// A language model without a key, or with a wrong name, takes only the model away: the other settings load, and the fault is told
// with its place. A flag of this run, and a file that is edited, must be right.
func TestLoadGoesOnWithoutALanguageModel(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ text, want string }{
		{"llm: {provider: gpt}\n", `:1:17: llm.provider: "gpt" is not possible; choose none, anthropic, openai, gemini, ollama, echo`},
		{"llm: {provider: openai, model: m, apiKey: env:NO_SUCH_KEY}\n", `llm.apiKey: the environment variable NO_SUCH_KEY is not set`},
		{"llm: {modle: m}\n", `did you mean llm.model?`},
	} {
		src := write(t, tc.text+"query: {maxResults: 7}\n")
		c, err := config.Load(src)
		if err != nil || c.Search.MaxResults != 7 || c.LLMErr == nil || !strings.Contains(c.LLMErr.Error(), tc.want) {
			t.Errorf("%s: %v, the model has %v", tc.text, err, c.LLMErr)
		}
	}
	src := write(t, "")
	if _, err := config.Edit(src, "llm.provider", "gpt"); err == nil {
		t.Error("a wrong name is written into the file")
	}
	src.Flags = []config.Flag{{Name: "--set", Key: "llm.provider", Value: "gpt"}}
	if _, err := config.Load(src); err == nil {
		t.Error("a wrong name on the command line is accepted")
	}
	if c := load(t, write(t, "llm: {provider: ollama, model: m}\n")); c.LLMErr != nil {
		t.Errorf("a good one has %v", c.LLMErr)
	}
}

// A key of the environment goes only to the server of its own provider.
func TestLLMKeyOfTheEnvironmentGoesOnlyToItsProvider(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ text, want string }{
		{"llm: {provider: anthropic}", "sk-a"},
		{"llm: {provider: openai}", "sk-o"},
		{"llm: {provider: ollama}", ""},
		{"llm: {provider: none}", ""},
		{"llm: {provider: openai, baseUrl: \"http://127.0.0.1:1\"}", ""},
		{"llm: {provider: anthropic, apiKey: \"env:MINE\"}", "sk-m"},
		{"llm: {provider: openai, baseUrl: \"http://127.0.0.1:1\", apiKey: written}", "written"},
	} {
		src := write(t, tc.text)
		src.Env = append(src.Env, "ANTHROPIC_API_KEY=sk-a", "OPENAI_API_KEY=sk-o", "MINE=sk-m")
		if c := load(t, src); c.LLM.APIKey != tc.want {
			t.Errorf("%s: the key is %q, want %q", tc.text, c.LLM.APIKey, tc.want)
		}
	}
}

// Hazard C13: neither the key of the model nor the token of the memory service is shown, and a change of either is noticed.
func TestLLMKeyAndClientTokenAreHiddenAndCompared(t *testing.T) {
	t.Parallel()
	src := write(t, "llm: {apiKey: sk-verysecret}\nclient: {token: t-verysecret}\n")
	before := load(t, src)
	for _, v := range before.Values() {
		if strings.Contains(v.Text, "verysecret") {
			t.Errorf("%s shows %q", v.Key, v.Text)
		}
	}
	src.Flags = []config.Flag{{Name: "--set", Key: "llm.apiKey", Value: "other"}, {Name: "--set", Key: "client.token", Value: "other"}}
	if diff := cmp.Diff([]string{"client.token", "llm.apiKey"}, config.Changed(before, load(t, src))); diff != "" {
		t.Error(diff)
	}
	_, err := config.Load(write(t, "client: {token: \"env:NO_SUCH_TOKEN\"}\n"))
	if err == nil || !strings.Contains(err.Error(), ":1:10: client.token: the environment variable NO_SUCH_TOKEN is not set") {
		t.Errorf("got %v", err)
	}
}

func TestPlaceHasTheAgentDirOfItsAgent(t *testing.T) {
	t.Parallel()
	src := write(t, "agentDir: all\nagents:\n  nova: {workspace: /srv/nova, agentDir: nova}\n  ryo: {workspace: /srv/ryo}\n")
	c := load(t, src)
	base := filepath.Dir(src.File)
	for id, want := range map[string]string{"nova": filepath.Join(base, "nova"), "ryo": filepath.Join(base, "all")} {
		t.Run(id, func(t *testing.T) {
			if p, err := c.Place(id); err != nil || p.AgentDir != want {
				t.Errorf("%s: got %+v, %v, want %s", id, p, err, want)
			}
		})
	}
	if _, origin := value(t, c, "agents.nova.agentDir"); origin != src.File+":3:32" {
		t.Errorf("it comes from %s", origin)
	}
	if p, err := c.Place("other"); err == nil || p.AgentDir != filepath.Join(base, "all") || p.Agent != "other" {
		t.Errorf("without a workspace the place is %+v, %v", p, err)
	}
}
