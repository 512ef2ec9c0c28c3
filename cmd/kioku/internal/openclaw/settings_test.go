package openclaw

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/cmd/kioku/config"
	"kioku/internal/testkit"
)

// home returns a state folder with a configuration.
func home(t *testing.T, conf string) *Home {
	t.Helper()
	dir := t.TempDir()
	testkit.Must(t, os.WriteFile(filepath.Join(dir, "openclaw.json"), []byte(conf), 0o600))
	h, err := Open(dir, []string{"HOME=/home/ann"})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Settings takes over what Kioku has, by its own names, and says of everything else why not. Secrets are never copied.
func TestSettingsAreThoseOfKioku(t *testing.T) {
	t.Parallel()
	type taken struct {
		Changes []config.Change
		Left    []string
	}
	for name, c := range map[string]struct {
		conf string
		want taken
	}{
		"nothing": {"{}", taken{}},
		"a provider with a reference to its key": {
			"{memory: {search: {provider: 'voyage', model: 'voyage-4', remote: {apiKey: '${MY_KEY}'}, query: {maxResults: 4, minScore: 0.3}}}}",
			taken{Changes: []config.Change{
				{Key: "model", Value: "voyage-4"}, {Key: "provider", Value: "voyage"}, {Key: "query.maxResults", Value: "4"},
				{Key: "query.minScore", Value: "0.3"}, {Key: "remote.apiKey", Value: "env:MY_KEY"},
			}},
		},
		"a compatible server with a key in plain text": {
			"{memory: {search: {provider: 'openai-compatible', outputDimensionality: 512, remote: {baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'sk-1'}}}}",
			taken{Left: []string{"memory.search.remote.apiKey"}, Changes: []config.Change{
				{Key: "dims", Value: "512"}, {Key: "provider", Value: "openai"}, {Key: "remote.baseUrl", Value: "http://127.0.0.1:1/v1"},
			}},
		},
		"a provider of models.providers": {
			"{models: {providers: {gpu: {api: 'ollama', baseUrl: 'http://gpu:1'}}}, memory: {search: {provider: 'gpu', model: 'm'}}}",
			taken{Changes: []config.Change{
				{Key: "model", Value: "m"}, {Key: "provider", Value: "ollama"}, {Key: "remote.baseUrl", Value: "http://gpu:1"},
			}},
		},
		"a provider that Kioku lacks": {
			"{memory: {search: {provider: 'bedrock', model: 'm', query: {maxResults: 3}}}}",
			taken{Left: []string{"memory.search.provider"}, Changes: []config.Change{{Key: "query.maxResults", Value: "3"}}},
		},
		"weights and chunks of earlier versions": {
			"{agents: {defaults: {memorySearch: {chunking: {tokens: 300, overlap: 60}, query: {hybrid: {vectorWeight: 0.6, textWeight: 0.4}}, store: {path: 'x'}, sync: {watch: true}}}}}",
			taken{Left: []string{"memory.search.chunking.overlap", "memory.search.query.hybrid.textWeight", "memory.search.store", "memory.search.sync.watch"}, Changes: []config.Change{
				{Key: "chunking.tokens", Value: "300"}, {Key: "query.hybrid.vectorWeight", Value: "0.6"},
			}},
		},
		"flushes, and a value that cannot be": {
			"{agents: {defaults: {userTimezone: 'Asia/Tokyo', compaction: {memoryFlush: {enabled: false, softThresholdTokens: -1}}}}}",
			taken{Left: []string{"agents.defaults.compaction.memoryFlush.softThresholdTokens"}, Changes: []config.Change{
				{Key: "compaction.memoryFlush.enabled", Value: "false"}, {Key: "timezone", Value: "Asia/Tokyo"},
			}},
		},
		"paths, and what one agent has": {
			"{agents: {defaults: {workspace: '/w'}, entries: {main: {memory: {search: {enabled: false}}}}}, memory: {search: {extraPaths: ['docs', {path: '/srv', pattern: '*.md'}], newKey: 1}}}",
			taken{Left: []string{"agents.entries.main.memory", "memory.search.newKey"}, Changes: []config.Change{{Key: "extraPaths", Value: `["/w/docs","/srv/*.md"]`}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got taken
			var left []Left
			got.Changes, left = home(t, c.conf).Settings()
			for _, l := range left {
				if l.Why == "" || strings.Contains(l.Why, "sk-1") {
					t.Errorf("%s is left because of %q", l.Key, l.Why)
				}
				got.Left = append(got.Left, l.Key)
			}
			slices.Sort(got.Left)
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// Agents are those of the configuration, the default one first, each with the folder that OpenClaw gives it.
func TestAgentsHaveTheirFolders(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		conf string
		want [][2]string
	}{
		"none":             {"{}", [][2]string{{"main", "STATE/workspace"}}},
		"one folder":       {"{agents: {defaults: {workspace: '~/w'}}}", [][2]string{{"main", "/home/ann/w"}}},
		"several":          {"{agents: {defaults: {workspace: '/w'}, entries: {work: {}, main: {}, own: {workspace: '/own'}}}}", [][2]string{{"main", "/w"}, {"own", "/own"}, {"work", "/w/work"}}},
		"without a folder": {"{agents: {entries: {b: {}, a: {default: true}}}}", [][2]string{{"a", "STATE/workspace"}, {"b", "STATE/workspace-b"}}},
		"a list":           {"{agents: {list: [{id: 'a', default: true, workspace: '${HOME}/a'}, {id: 'b'}]}}", [][2]string{{"a", "/home/ann/a"}, {"b", "STATE/workspace-b"}}},
	} {
		t.Run(name, func(t *testing.T) {
			h := home(t, c.conf)
			var got [][2]string
			for _, a := range h.Agents() {
				got = append(got, [2]string{a.ID, strings.Replace(a.Workspace, h.Dir, "STATE", 1)})
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none"), nil); err == nil || !strings.Contains(err.Error(), "--from") {
		t.Errorf("a folder that is missing: %v", err)
	}
}
