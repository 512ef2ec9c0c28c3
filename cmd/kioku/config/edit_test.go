package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kioku/cmd/kioku/config"
	"kioku/internal/testkit"
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestEditKeepsCommentsAndOrder(t *testing.T) {
	t.Parallel()
	src := write(t, "# mine\nquery:\n  maxResults: 3 # few\nprovider: hash\n")
	for _, kv := range [][2]string{
		{"query.maxResults", "8"}, {"query.minScore", "0.5"}, {"extraPaths", "a, b"}, {"model", "123"},
		{"agents.nova.workspace", "/n"}, {"remote.headers", "X-A=1"},
	} {
		if _, err := config.Edit(src, kv[0], kv[1]); err != nil {
			t.Fatal(err)
		}
	}
	want := `# mine
query:
  maxResults: 8 # few
  minScore: 0.5
provider: hash
extraPaths:
  - a
  - b
model: "123"
agents:
  nova:
    workspace: /n
remote:
  headers:
    X-A: "1"
`
	if got := read(t, src.File); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	load(t, src)
}

// Hazard C14: the config file may hold a key.
func TestEditMakesAPrivateFile(t *testing.T) {
	t.Parallel()
	base := filepath.Join(t.TempDir(), "fresh")
	src := config.Sources{Env: []string{"XDG_CONFIG_HOME=" + base}, Dir: t.TempDir()}
	path, err := config.Edit(src, "remote.apiKey", "k")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700 | os.ModeDir} {
		t.Run(name, func(t *testing.T) {
			if info, err := os.Stat(name); err != nil || info.Mode() != want {
				t.Errorf("%s has mode %v, %v; want %v", name, info.Mode(), err, want)
			}
		})
	}
	if c := load(t, src); c.Embed.APIKey != "k" {
		t.Errorf("the key comes back as %q", c.Embed.APIKey)
	}
}

func TestEditWritesNothingThatWouldNotLoad(t *testing.T) {
	t.Parallel()
	const text = "provider: hash\n"
	for _, kv := range [][2]string{{"query.maxResults", "many"}, {"query.minScore", "2"}, {"no.such", "1"}, {"provider", "x"}} {
		src := write(t, text)
		if _, err := config.Edit(src, kv[0], kv[1]); err == nil || read(t, src.File) != text {
			t.Errorf("%s=%s: got %v, and the file is %q", kv[0], kv[1], err, read(t, src.File))
		}
	}
}

func TestEditFollowsALink(t *testing.T) {
	t.Parallel()
	src := write(t, "dims: 1\n")
	link := filepath.Join(t.TempDir(), "link.yaml")
	testkit.Must(t, os.Symlink(src.File, link))
	if _, err := config.Edit(config.Sources{File: link}, "dims", "2"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, src.File); !strings.Contains(got, "dims: 2") {
		t.Errorf("the file behind the link is %q", got)
	}
}

func TestEditReadsPathsFromWhereItsUserIs(t *testing.T) {
	t.Parallel()
	src := write(t, "")
	src.Dir = "/here"
	for _, kv := range [][2]string{{"workspace", "notes"}, {"state", "~/state"}, {"remote.apiKey", "file:key"}, {"agents", "a=nova,b=/b"}, {"skills.extraDirs", "team, ~/skills"}} {
		if _, err := config.Edit(src, kv[0], kv[1]); err != nil {
			t.Fatal(err)
		}
	}
	want := "workspace: /here/notes\nstate: ~/state\nremote:\n  apiKey: file:/here/key\nagents:\n  a:\n    workspace: /here/nova\n  b:\n    workspace: /b\nskills:\n  extraDirs:\n    - /here/team\n    - ~/skills\n"
	if got := read(t, src.File); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestEditWritesNoValueThatDoesNotFitTheOthers(t *testing.T) {
	t.Parallel()
	src := write(t, "tls:\n  cert: a.pem\n  key: b.pem\n")
	before := read(t, src.File)
	for _, kv := range [][2]string{{"tls.cert", ""}, {"client.key", "c.pem"}, {"sources", "sessions"}, {"cache.maxEntries", "10"}} {
		if _, err := config.Edit(src, kv[0], kv[1]); err == nil {
			t.Errorf("%s=%s was taken", kv[0], kv[1])
		}
	}
	if after := read(t, src.File); after != before {
		t.Errorf("the file was changed: %s", after)
	}
	if _, err := config.Edit(src, "tls.cert", "c.pem"); err != nil {
		t.Error(err)
	}
}

// FuzzEdit sets a key in foreign files: the file stays as it is, or sets this key and otherwise what it set before.
func FuzzEdit(f *testing.F) {
	for _, text := range []string{
		"", "# mine\nquery:\n  maxResults: 3 # few\nprovider: hash\n", "memorySearch: {query: {maxResults: 4}}", "query: &q {maxResults: 3}\n", "query: null",
		"query.maxResults: 3", "? query\n: {maxResults: 1}\n", "agents: {a: {workspace: /a}, b: /b}\n", "--- # x\nmodel: |\n  a\n", "\ufeffdims: 1\r\n", "...\n", "# only\n# this",
	} {
		f.Add(text, uint8(0), "5")
		f.Add(text, uint8(1), "a: #b\n")
	}
	keys := []string{"query.maxResults", "model", "extraPaths", "remote.headers", "agents.nova.workspace", "log.level"}
	folder := f.TempDir()
	src := config.Sources{File: filepath.Join(folder, "c.yaml"), Dir: "/", Env: []string{"HOME=" + folder}}
	f.Fuzz(func(t *testing.T, text string, which uint8, value string) {
		testkit.Must(t, os.WriteFile(src.File, []byte(text), 0o600))
		key := keys[int(which)%len(keys)]
		before, problem := config.Load(src)
		if _, err := config.Edit(src, key, value); err != nil {
			if got := read(t, src.File); got != text {
				t.Errorf("%v, and %q becomes %q", err, text, got)
			}
			return
		}
		after, err := config.Load(src)
		if err != nil {
			t.Fatalf("%q becomes %q: %v", text, read(t, src.File), err)
		}
		if !after.Explicit(key) && key == "model" { // others are unset by an empty value
			t.Errorf("%q becomes %q without %s", text, read(t, src.File), key)
		}
		if problem != nil {
			return
		}
		for _, changed := range config.Changed(before, after) {
			if changed != key && !strings.HasPrefix(changed, "agents.nova.") { // a new agent has several
				t.Errorf("%s=%q also changes %s: %q becomes %q", key, value, changed, text, read(t, src.File))
			}
		}
	})
}
