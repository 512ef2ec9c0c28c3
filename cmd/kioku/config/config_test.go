package config_test

import (
	"errors"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/cmd/kioku/config"
	"kioku/internal/testkit"
	"kioku/search"
)

// write makes a config file and returns the sources of a run that reads it.
func write(t *testing.T, text string) config.Sources {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
	return config.Sources{File: path, Dir: t.TempDir(), Env: []string{"HOME=" + t.TempDir()}}
}

func load(t *testing.T, src config.Sources) *config.Config {
	t.Helper()
	c, err := config.Load(src)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// value returns the text and origin of a setting.
func value(t *testing.T, c *config.Config, key string) (text, origin string) {
	t.Helper()
	v, err := c.Value(key)
	if err != nil {
		t.Fatal(err)
	}
	return v.Text, v.Origin
}

func TestLoadWithoutSourcesReturnsTheDefaults(t *testing.T) {
	t.Parallel()
	c := load(t, config.Sources{Dir: t.TempDir()})
	want := search.DefaultOptions()
	if diff := cmp.Diff(want, c.Search); diff != "" {
		t.Error(diff)
	}
	if c.Embed.Provider != "none" || c.Listen != "127.0.0.1:7600" || c.Agent != "main" || c.LogLevel != slog.LevelInfo {
		t.Errorf("provider %q, listen %q, agent %q, level %v", c.Embed.Provider, c.Listen, c.Agent, c.LogLevel)
	}
	for _, v := range c.Values() {
		if v.Origin != "default" {
			t.Errorf("%s comes from %s", v.Key, v.Origin)
		}
	}
}

func TestLoadReadsEveryKindOfValueFromTheFile(t *testing.T) {
	t.Parallel()
	src := write(t, `
workspace: notes
listen: none
timezone: Asia/Tokyo
logLevel: debug
agents:
  nova: {workspace: /srv/nova, extraPaths: [docs, "~/shared"]}
provider: openai
model: "123"
dims: 512
remote:
  baseUrl: http://127.0.0.1:9/v1
  headers: {X-Team: blue}
extraPaths: [a.md, "b/*.md"]
maxFileBytes: 1_000_000
chunking: {tokens: 200}
sync: {watchDebounceMs: 100, intervalMinutes: 0.5}
query:
  maxResults: 9
  minScore: 0
  hybrid:
    enabled: false
    vectorWeight: 0.5
    temporalDecay: {halfLifeDays: 7, evergreen: ["memory/people/*"]}
`)
	c := load(t, src)
	home, base := strings.TrimPrefix(src.Env[0], "HOME="), filepath.Dir(src.File)
	got := []any{
		c.Workspace, c.Listen, c.Location.String(), c.LogLevel, c.Agents["nova"], c.Embed.Provider, c.Embed.Model, c.Embed.Dims,
		c.Embed.BaseURL, c.Embed.Headers["X-Team"], c.Index.ExtraPaths, c.Index.MaxFileBytes, c.Chunking.Tokens, c.Chunking.Overlap,
		c.Chunking.Encoding, c.Index.Debounce, c.Index.Interval, c.Search.MaxResults, *c.Search.MinScore,
		*c.Search.Hybrid, *c.Search.VectorWeight,
		c.Search.HalfLife, c.Search.Evergreen,
	}
	want := []any{
		filepath.Join(base, "notes"), "none", "Asia/Tokyo", slog.LevelDebug,
		config.Agent{Workspace: "/srv/nova", ExtraPaths: []string{"docs", filepath.Join(home, "shared")}}, "openai", "123", 512,
		"http://127.0.0.1:9/v1", "blue", []string{"a.md", "b/*.md"}, int64(1_000_000), 200, 40,
		"cl100k_base", 100 * time.Millisecond, 30 * time.Second, 9, 0.0,
		false, 0.5,
		7 * 24 * time.Hour, []string{"memory/people/*"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if text, origin := value(t, c, "query.hybrid.temporalDecay.halfLifeDays"); text != "7" || origin != src.File+":24:21" {
		t.Errorf("the half life is %s, from %s", text, origin)
	}
}

// Hazard G02: a typo, a wrong type, a value out of range: refused with line and column, and with what was meant.
func TestLoadNamesThePlaceOfAFault(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, text, want string }{
		{"typo in a block", "query:\n  maxResult: 5\n", `:2:3: query.maxResult: no such setting; did you mean query.maxResults?`},
		{"right name, wrong block", "chunking:\n  tokens: 100\nmaxResults: 5\n", `:3:1: maxResults: no such setting; did you mean query.maxResults?`},
		{"swapped letters", "porvider: none\n", `did you mean provider?`},
		{"nothing near", "zzzzzzzzzz: 1\n", `:1:1: zzzzzzzzzz: no such setting; kioku config list shows all`},
		{"text for a number", "query: {maxResults: six}\n", `:1:21: query.maxResults: "six" is not a whole number`},
		{"fraction for a whole number", "dims: 1.5\n", `:1:7: dims: "1.5" is not a whole number`},
		{"number for a text", "model: 5\n", `:1:8: model: "5" is not a text; put it in quotes`},
		{"text for a switch", "query: {hybrid: {enabled: \"yes\"}}\n", `"yes" is not true or false`},
		{"text for a list", "extraPaths: a.md\n", `:1:13: extraPaths: "a.md" is not a list of texts`},
		{"number in a list", "extraPaths: [1]\n", `extraPaths: "1" is not a text`},
		{"block for a value", "provider: {name: x}\n", `a block is not a text`},
		{"value for a block", "query: 5\n", `:1:1: query: not a block of settings`},
		{"out of range", "query:\n  minScore: 1.5\n", `:2:13: query.minScore: 1.5 is not between 0 and 1`},
		{"not a number", "query: {minScore: .nan}\n", `query.minScore: ".nan" is not a number`},
		{"no such choice", "provider: gemni\n", `:1:11: provider: "gemni" is not possible; choose auto, none, local, hash, openai, gemini`},
		{"time zone", "timezone: Mars/Olympus\n", `timezone: "Mars/Olympus" is not a time zone`},
		{"agent id", "agents:\n  ../b: {workspace: /x}\n", `is not an agent id`},
		{"agent setting", "agents: {a: {workspce: /x}}\n", `did you mean agents.a.workspace?`},
		{"given twice", "dims: 1\ndims: 2\n", `:2:1: dims: set twice, first at 1:1`},
		{"given twice by blocks", "query: {maxResults: 1}\nquery: {maxResults: 2}\n", `query.maxResults: set twice`},
		{"of an earlier version", "cache:\n  maxEntries: 5\n", `:2:3: cache.maxEntries: is no longer a setting: 250,000 embeddings are kept in addition to those of indexed texts; kioku config unset cache.maxEntries removes it`},
		{"no YAML", "a: [1\n", `:`},
		{"a list", "- a\n", `:1:1: not a block of settings`},
		{"two documents", "dims: 1\n---\ndims: 2\n", `more than one document`},
		{"itself in itself", "query: &q {query: *q}\n", `query.query: no such setting`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			src := write(t, tc.text)
			_, err := config.Load(src)
			var bad *config.Error
			if !errors.As(err, &bad) {
				t.Fatalf("got %v, want a *config.Error", err)
			}
			if !strings.HasPrefix(err.Error(), src.File) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got  %s\nwant %s", strings.TrimPrefix(err.Error(), src.File), tc.want)
			}
		})
	}
}

func TestLoadReportsAllErrorsAtOnce(t *testing.T) {
	t.Parallel()
	src := write(t, "dims: x\nmodle: a\n")
	src.Env = append(src.Env, "KIOKU_QUERY_MAX_RESULTS=0")
	src.Flags = []config.Flag{{Name: "--set", Key: "chunking.tokenss", Value: "1"}}
	_, err := config.Load(src)
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 4 || !strings.HasPrefix(lines[2], "KIOKU_QUERY_MAX_RESULTS: query.maxResults: 0 is not between") ||
		!strings.HasPrefix(lines[3], "--set: chunking.tokenss: no such setting; did you mean chunking.tokens?") {
		t.Error(err)
	}
}

func TestLoadPrecedenceIsFlagEnvironmentFileDefault(t *testing.T) {
	t.Parallel()
	src := write(t, "query: {maxResults: 2}\nmodel: file\nprovider: hash\n")
	src.Env = append(src.Env, "KIOKU_QUERY_MAX_RESULTS=3", "KIOKU_MODEL=env", "KIOKU_DIMS=")
	src.Flags = []config.Flag{{Name: "--set", Key: "query.maxResults", Value: "4"}}
	c := load(t, src)
	for _, tc := range []struct{ key, text, origin string }{
		{"query.maxResults", "4", "--set"},
		{"model", "env", "KIOKU_MODEL"},
		{"provider", "hash", src.File + ":3:1"},
		{"dims", "0", "default"},
	} {
		if text, origin := value(t, c, tc.key); text != tc.text || origin != tc.origin {
			t.Errorf("%s is %q from %s, want %q from %s", tc.key, text, origin, tc.text, tc.origin)
		}
	}
}

func TestEnvironmentWithAnUnknownNameIsANotice(t *testing.T) {
	t.Parallel()
	c := load(t, config.Sources{Dir: t.TempDir(), Env: []string{"KIOKU_QUERY_MAXRESULTS=3", "KIOKU_QUERY_TYPOS=false", "OTHER=1"}})
	want := []string{
		"the environment variable KIOKU_QUERY_MAXRESULTS has no effect; did you mean KIOKU_QUERY_MAX_RESULTS?",
		"the environment variable KIOKU_QUERY_TYPOS has no effect: words with one typo are always matched",
	}
	if diff := cmp.Diff(want, c.Notices); diff != "" {
		t.Error(diff)
	}
}

func TestFieldEnvIsUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, f := range config.Fields() {
		if other := seen[f.Env()]; other != "" {
			t.Errorf("%s and %s share %s", f.Key, other, f.Env())
		}
		seen[f.Env()] = f.Key
	}
	for env, key := range map[string]string{
		"KIOKU_QUERY_MAX_RESULTS": "query.maxResults", "KIOKU_CHUNKING_TOKENS": "chunking.tokens", "KIOKU_PROVIDER": "provider",
		"KIOKU_REMOTE_BASE_URL": "remote.baseUrl", "KIOKU_TLS_CLIENT_CA": "tls.clientCA",
		"KIOKU_QUERY_HYBRID_VECTOR_WEIGHT": "query.hybrid.vectorWeight",
	} {
		t.Run(env, func(t *testing.T) {
			if seen[env] != key {
				t.Errorf("%s is %q, want %s", env, seen[env], key)
			}
		})
	}
}

func TestFieldsAreDocumentedAndTakeTheirDefaults(t *testing.T) {
	t.Parallel()
	for _, v := range load(t, config.Sources{Dir: t.TempDir()}).Values() {
		if v.Doc == "" || !strings.HasSuffix(v.Doc, ".") || v.Type == "" {
			t.Errorf("%s: type %q, doc %q", v.Key, v.Type, v.Doc)
		}
		if v.Text == "" {
			continue
		}
		src := config.Sources{Dir: t.TempDir(), Flags: []config.Flag{{Name: "--set", Key: v.Key, Value: v.Text}}}
		if text, _ := value(t, load(t, src), v.Key); text != v.Text {
			t.Errorf("%s: %q comes back as %q", v.Key, v.Text, text)
		}
	}
}

// Blocks of OpenClaw are not read: the error names the command that takes them over.
func TestOpenClawBlockIsTakenOverByACommand(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"memorySearch: {provider: hash}\n", "memory: {search: {provider: hash}}\n"} {
		if _, err := config.Load(write(t, text)); err == nil || !strings.Contains(err.Error(), ":1:1: memory") || !strings.Contains(err.Error(), "kioku config openclaw takes its settings over") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestFilePathMustExistOnlyIfItWasNamed(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "none.yaml")
	if _, err := config.Load(config.Sources{File: missing, Dir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("got %v", err)
	}
	if _, err := config.Load(config.Sources{Dir: t.TempDir(), Env: []string{"KIOKU_CONFIG=" + missing}}); err == nil {
		t.Error("a file named by KIOKU_CONFIG may be missing")
	}
	load(t, config.Sources{Dir: t.TempDir(), Env: []string{"XDG_CONFIG_HOME=" + t.TempDir()}})
}

func TestFilePathIsInXDGConfigHomeOrHome(t *testing.T) {
	t.Parallel()
	for _, dirs := range [][2]string{{"XDG_CONFIG_HOME", "kioku"}, {"HOME", ".config/kioku"}} {
		base := t.TempDir()
		testkit.Must(t, os.MkdirAll(filepath.Join(base, dirs[1]), 0o700))
		file := filepath.Join(base, dirs[1], "config.yaml")
		testkit.Must(t, os.WriteFile(file, []byte("dims: 7\n"), 0o600))
		c := load(t, config.Sources{Dir: t.TempDir(), Env: []string{dirs[0] + "=" + base}})
		if c.Embed.Dims != 7 || c.File != file {
			t.Errorf("%s: dims %d from %q", dirs[0], c.Embed.Dims, c.File)
		}
	}
}

func TestChangedNamesTheKeysThatDiffer(t *testing.T) {
	t.Parallel()
	src := write(t, "agents: {a: {workspace: /a}}\nremote: {apiKey: one}\n")
	before := load(t, src)
	src.Flags = []config.Flag{
		{Name: "--set", Key: "remote.apiKey", Value: "two"}, {Name: "--set", Key: "logLevel", Value: "warn"},
		{Name: "--agent", Key: "agents", Value: "b=/b"},
	}
	got := config.Changed(before, load(t, src))
	want := []string{"agents.b.agentDir", "agents.b.extraPaths", "agents.b.projects", "agents.b.workspace", "logLevel", "remote.apiKey"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if same := config.Changed(before, before); len(same) > 0 {
		t.Errorf("%q differ from themselves", same)
	}
}

var update = flag.Bool("update", false, "rewrite docs/settings.md")

func TestMarkdownIsDocsSettings(t *testing.T) {
	t.Parallel()
	const path = "../../../docs/settings.md"
	if *update {
		testkit.Must(t, os.WriteFile(path, []byte(config.Markdown()), 0o644))
	}
	if diff := cmp.Diff(read(t, path), config.Markdown()); diff != "" {
		t.Errorf("docs/settings.md is stale; go test ./cmd/kioku/config -update rewrites it: %s", diff)
	}
}

func TestMarkdownListsEachSettingOnce(t *testing.T) {
	t.Parallel()
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(config.Markdown(), -1)
	var got, want []string
	for _, row := range rows {
		got = append(got, row[1])
	}
	for _, f := range config.Fields() {
		want = append(want, f.Key)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}

func FuzzLoadFile(f *testing.F) {
	for _, seed := range []string{
		"", "a", "query: {maxResults: 3}", "memorySearch: &m {query: *m}", "agents: &a {x: *a}", "? [a]\n: b",
		"remote: {headers: {a: b, a: c}}", "{\"a\": [1,2", "<<: {dims: 1}", "dims: !!binary aGk=", "\x00", "agents: {a: }",
		"memory: {search: {extraPaths: [{path: a, pattern: b}, {path: [c]}], remote: {apiKey: \"${X}\"}}}", "memory: &m {search: *m}", "memory: []",
		"include: a\nexclude: [b]\nextraPaths: [..]", "agents: {a.: {memory: 1}}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "c.yaml")
		testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
		c, err := config.Load(config.Sources{File: path, Dir: "/"})
		if (c == nil) == (err == nil) {
			t.Errorf("config %v with error %v", c, err)
		}
		dir := filepath.Dir(path)
		testkit.Must(t, os.Rename(path, filepath.Join(dir, config.FolderFile)))
		c, err = config.Load(config.Sources{Dir: "/", Folder: dir})
		if (c == nil) == (err == nil) {
			t.Errorf("of a workspace: config %v with error %v", c, err)
		}
		if c != nil && (c.Embed.Provider != "none" || c.Workspace != "" || len(c.Agents) > 0 || c.Listen != config.Default().Listen) {
			t.Errorf("%q sets what a workspace may not set", text)
		}
	})
}
