package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/cmd/kioku/config"
	"kioku/internal/testkit"
)

// inFolder returns sources of a run in a workspace whose own file has a text.
func inFolder(t *testing.T, user, text string) config.Sources {
	t.Helper()
	src := write(t, user)
	src.Folder = t.TempDir()
	testkit.Must(t, os.WriteFile(filepath.Join(src.Folder, config.FolderFile), []byte(text), 0o600))
	return src
}

// What is indexed belongs to the folder: its settings are below flags and environment, and above the user's file.
func TestFolderFileIsBetweenTheUsersFileAndTheEnvironment(t *testing.T) {
	t.Parallel()
	src := inFolder(t, "timezone: UTC\nquery: {maxResults: 3, minScore: 0.1}\nchunking: {tokens: 200}\nmodel: m\n",
		"include: [\"docs/**/*.md\"]\nexclude: drafts/**\ntimezone: Asia/Tokyo\nquery: {maxResults: 4, minScore: 0.2}\nextraPaths: [more]\nchunking:\n  tokens: 300\n")
	src.Env = append(src.Env, "KIOKU_CHUNKING_TOKENS=500")
	src.Flags = []config.Flag{{Name: "--set", Key: "query.minScore", Value: "0.3"}}
	c := load(t, src)
	file := filepath.Join(src.Folder, config.FolderFile)
	for key, want := range map[string][2]string{
		"timezone": {"Asia/Tokyo", file + ":3:1"}, "query.maxResults": {"4", file + ":4:9"}, "query.minScore": {"0.3", "--set"},
		"chunking.tokens": {"500", "KIOKU_CHUNKING_TOKENS"}, "model": {"m", src.File + ":4:1"}, "include": {"docs/**/*.md", file + ":1:1"},
		"exclude": {"drafts/**", file + ":2:1"}, "extraPaths": {"more", file + ":5:1"},
	} {
		if text, origin := value(t, c, key); text != want[0] || origin != want[1] {
			t.Errorf("%s is %q from %q, want %q from %q", key, text, origin, want[0], want[1])
		}
	}
	if c.FolderFile != file {
		t.Errorf("read %q", c.FolderFile)
	}
}

// Nothing secret, nothing that runs or reaches out: of all settings only those of what is indexed and how it is ranked may be in
// the file of a workspace. Another one is an error with its line and the reason.
func TestFolderFileRefusesWhatAFolderMayNotSet(t *testing.T) {
	t.Parallel()
	var may []string
	for _, f := range config.Fields() {
		if f.InFolder() {
			may = append(may, f.Key)
			continue
		}
		_, err := config.Load(inFolder(t, "", "timezone: UTC\n"+f.Key+": x\n"))
		var wrong *config.Error
		if !errors.As(err, &wrong) || !strings.HasSuffix(wrong.Where, config.FolderFile+":2:1") || !strings.Contains(wrong.Problem, "a workspace may not set this") {
			t.Errorf("%s: %v", f.Key, err)
		}
	}
	others := slices.DeleteFunc(slices.Clone(may), func(key string) bool { return strings.HasPrefix(key, "query.") })
	want := []string{"timezone", "local.model", "include", "exclude", "extraPaths", "maxFileBytes", "chunking.tokens"}
	if diff := cmp.Diff(want, others); diff != "" {
		t.Errorf("what a workspace may set has changed; think of a folder that comes from elsewhere: %s", diff)
	}
	load(t, inFolder(t, "", "include: [a..b/*.md]\nexclude: [/etc/**]\n"))
	for text, problem := range map[string]string{
		"remote: {apiKey: x}\n":              "a workspace may not set this",
		"local: {model: ./model}\n":          "a workspace may only name a model that was added",
		"agents: {work: {workspace: /}}\n":   "a workspace may not set this",
		"memorySearch: {provider: openai}\n": "a workspace may not set this",
		"includ: [x]\n":                      "did you mean include?",
		"include: [\"[\"]\n":                 "malformed glob",
		"include: [\"../**\"]\n":             "include: glob \"../**\" leads out of the workspace",
		"include: /etc/**\n":                 "leads out of the workspace",
		"exclude:\n- a/../b/**\n":            "exclude: glob \"a/../b/**\" leads out of the workspace",
		"exclude: [./private/**]\n":          "exclude: glob \"./private/**\" matches nothing",
		"include: 5\n":                       "not a list",
		"extraPaths: [/etc]\n":               "outside of the workspace",
		"extraPaths: [../other]\n":           "outside of the workspace",
		"extraPaths: [~/notes]\n":            "outside of the workspace",
		"- a\n":                              "not a block",
		"include: [x\n":                      "did not find expected",
	} {
		if _, err := config.Load(inFolder(t, "", text)); err == nil || !strings.Contains(err.Error(), problem) || !strings.Contains(err.Error(), config.FolderFile+":1") && !strings.Contains(err.Error(), config.FolderFile+":2") {
			t.Errorf("%q: %v, want %q with its line", text, err, problem)
		}
	}
}

// A workspace does not raise the user's limit.
func TestFolderFileKeepsTheUsersLimit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"maxFileBytes: 500\n": 500, "maxFileBytes: 5000\n": 1000} {
		c := load(t, inFolder(t, "maxFileBytes: 1000\n", text))
		if c.Index.MaxFileBytes != want || (len(c.Notices) == 1) != (want == 1000) {
			t.Errorf("%q: %d, notices %q", text, c.Index.MaxFileBytes, c.Notices)
		}
	}
}

// The file is a plain one of the folder: no link, nothing that waits, nothing large.
func TestFolderFileIsAPlainFile(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "settings.yaml")
	testkit.Must(t, os.WriteFile(outside, []byte("timezone: UTC\n"), 0o600))
	for name, put := range map[string]func(path string) error{
		"link":   func(path string) error { return os.Symlink(outside, path) },
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"large":  func(path string) error { return os.WriteFile(path, make([]byte, 65<<10), 0o600) },
	} {
		src := write(t, "")
		src.Folder = t.TempDir()
		testkit.Must(t, put(filepath.Join(src.Folder, config.FolderFile)))
		if c, err := config.Load(src); err == nil || !strings.Contains(err.Error(), config.FolderFile) {
			t.Errorf("%s: %v, %v", name, c, err)
		}
	}
	src := inFolder(t, "", "extraPaths: [link/sub]\n")
	testkit.Must(t, os.Symlink(filepath.Dir(outside), filepath.Join(src.Folder, "link")))
	if _, err := config.Load(src); err == nil || !strings.Contains(err.Error(), "outside of the workspace") {
		t.Errorf("a link leads out: %v", err)
	}
}

// The paths of a workspace's file go before those of its agent in the user's file.
func TestExtraPathsOfTheFolderGoBeforeThoseOfItsAgent(t *testing.T) {
	t.Parallel()
	src := inFolder(t, "extraPaths: [common]\nagents: {work: {workspace: /w, extraPaths: [own]}}\n", "extraPaths: [folder]\n")
	if got := load(t, src).ExtraPaths("work"); !slices.Equal(got, []string{"folder"}) {
		t.Errorf("got %q", got)
	}
	src.Folder = ""
	if got := load(t, src).ExtraPaths("work"); !slices.Equal(got, []string{"own"}) {
		t.Errorf("got %q", got)
	}
}

func TestEditWritesTheFileOfAFolder(t *testing.T) {
	t.Parallel()
	src := write(t, "")
	src.Folder = t.TempDir()
	path, err := config.Edit(src, "include", "**/*.md")
	if err != nil || path != filepath.Join(src.Folder, config.FolderFile) {
		t.Fatalf("%q, %v", path, err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "include:\n  - '**/*.md'\n" {
		t.Errorf("wrote %q, %v", text, err)
	}
	if _, err := config.Edit(src, "provider", "openai"); err == nil || !strings.Contains(err.Error(), "a workspace may not set this") {
		t.Errorf("got %v", err)
	}
	if c := load(t, src); !slices.Equal(c.Index.Include, []string{"**/*.md"}) {
		t.Errorf("got %q", c.Index.Include)
	}
}

func TestUnsetRemovesASettingAndEmptyBlocks(t *testing.T) {
	t.Parallel()
	const text = "# mine\nquery: # of searches\n  hybrid: {enabled: false}\n  maxResults: 9\nmodel: m # the model\ndims: 5\n"
	for key, want := range map[string]string{
		"query.maxResults":     "# mine\nquery: # of searches\n  hybrid: {enabled: false}\nmodel: m # the model\ndims: 5\n",
		"query.hybrid.enabled": "# mine\nquery: # of searches\n  maxResults: 9\nmodel: m # the model\ndims: 5\n",
		"query":                "model: m # the model\ndims: 5\n",
		"dims":                 "# mine\nquery: # of searches\n  hybrid: {enabled: false}\n  maxResults: 9\nmodel: m # the model\n",
	} {
		t.Run(key, func(t *testing.T) {
			src := write(t, text)
			if _, removed, err := config.Unset(src, key); err != nil || !removed {
				t.Fatalf("%v, %v", removed, err)
			}
			got, err := os.ReadFile(src.File)
			if err != nil || strings.TrimPrefix(string(got), "# mine\n\n") != want && string(got) != want {
				t.Errorf("%v: %s", err, cmp.Diff(want, string(got)))
			}
			load(t, src)
		})
	}
	src := write(t, text)
	if _, removed, err := config.Unset(src, "provider"); removed || err != nil {
		t.Errorf("a setting that is not there: %v, %v", removed, err)
	}
	if _, _, err := config.Unset(src, "query.maxResult"); err == nil || !strings.Contains(err.Error(), "did you mean query.maxResults?") {
		t.Errorf("got %v", err)
	}
	broken := write(t, "quer: {x: 1}\nmodel: m\n")
	if _, removed, err := config.Unset(broken, "quer"); err != nil || !removed {
		t.Errorf("an unknown key cannot be removed: %v", err)
	}
	load(t, broken)
	bound := write(t, "tls: {cert: a.pem, key: b.pem}\n")
	if _, _, err := config.Unset(bound, "tls.key"); err == nil || !strings.Contains(err.Error(), "belong together") {
		t.Errorf("a file that does not load is written: %v", err)
	}
}

// YAML errors name the line.
func TestLoadNamesTheLineOfWhatIsNotYAML(t *testing.T) {
	t.Parallel()
	for text, line := range map[string]string{
		"a: b: c\n": ":1", "model: m\na: b: c\n": ":2", "model: m\n\tdims: 2\n": ":2", "model: m\nx: 'y\ndims: 2\n": ":2",
		"model: *x\n": ":1", "dims: 1\nmodel: *x\n": ":2", "model: \"\\z\"\n": ":1", "dims: 1\nmodel: \x01\n": ":2", "dims: 1\nmodel: \xff\n": ":2",
		"dims: 1\nagents: [a, b\n\n\nmodel: m\n": ":2", "dims: 1\nquery: [1, 2]]\n": ":2", "query:\n  - x\n y: 2\n": ":3",
		"dims: 1\nlogLevel\nmodel: m\n": ":2", "%YAML 9\n": ":1", "dims: 1\n---\nmodel: m\n": ":2",
	} {
		src := write(t, text)
		_, err := config.Load(src)
		var wrong *config.Error
		if !errors.As(err, &wrong) || wrong.Where != src.File+line && !strings.HasPrefix(wrong.Where, src.File+line+":") {
			t.Errorf("%q: %v, want %s", text, err, line)
		}
	}
}

// Values from flags are not reported as if they stood in the file.
func TestLoadBlamesTheValueThatGoesBefore(t *testing.T) {
	t.Parallel()
	src := write(t, "tokenFile: /t\n")
	src.Flags = []config.Flag{{Name: "--set", Key: "tokens", Value: "t"}}
	_, err := config.Load(src)
	if err == nil || err.Error() != "--set: tokens: tokens and tokenFile are both set; set one" {
		t.Errorf("got %v", err)
	}
	src = write(t, "agents: {a: {workspace: /a}, b: {workspace: /b}}\n")
	src.Flags = []config.Flag{{Name: "--agent", Key: "agents", Value: "a=/c"}}
	for key, want := range map[string]string{"agents.a.workspace": "--agent", "agents.b.workspace": src.File + ":1:34"} {
		if _, origin := value(t, load(t, src), key); origin != want {
			t.Errorf("%s comes from %q, want %q", key, origin, want)
		}
	}
}

// The last setting of a workspace goes with its file, which would still mark the folder as a workspace. Comments stay.
func TestUnsetLeavesNoEmptyFolderFile(t *testing.T) {
	t.Parallel()
	for before, want := range map[string]string{
		"query:\n  maxResults: 4\n": "", "# Ours {}\n\nquery:\n  maxResults: 4\n": "# Ours {}\n", "timezone: UTC\nquery:\n  maxResults: 4\n": "timezone: UTC\n",
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, config.FolderFile)
		testkit.Must(t, os.WriteFile(path, []byte(before), 0o600))
		src := write(t, "")
		src.Folder = dir
		if _, removed, err := config.Unset(src, "query.maxResults"); err != nil || !removed {
			t.Fatalf("%v, %v", removed, err)
		}
		got, err := os.ReadFile(path)
		if string(got) != want || (want == "") != os.IsNotExist(err) {
			t.Errorf("%q becomes %q, %v; want %q", before, got, err, want)
		}
	}
}

// A list may be written as YAML has it, wherever it is written in one line.
func TestListSettingTakesAListOfYAML(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`["private/**"]`: "private/**", `['a/**', "b/**"]`: "a/**,b/**", "[]": "", "a/**, b/**": "a/**,b/**", "[ab]*.md": "[ab]*.md",
	} {
		c, err := config.Load(config.Sources{Env: []string{"KIOKU_EXCLUDE=" + text}, Dir: t.TempDir()})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := strings.Join(c.Index.Exclude, ","); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
