package setup_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"

	"kioku/cmd/kioku/internal/setup"
	"kioku/internal/testkit"
)

// A new configuration has the entry that the client's documentation describes, and no other key.
func TestInstallWritesTheEntryOfEachClient(t *testing.T) {
	t.Parallel()
	stdio := `{"mcpServers": {"kioku": {"type": "stdio", "command": "/usr/bin/kioku", "args": ["mcp", "--workspace", "/my notes"]}}}`
	plain := strings.Replace(stdio, `"type": "stdio", `, "", 1)
	for id, want := range map[string]string{
		"claude-code": stdio, "cursor": stdio, "claude-desktop": plain, "gemini-cli": plain,
		"opencode": `{"mcp": {"kioku": {"type": "local", "command": ["/usr/bin/kioku", "mcp", "--workspace", "/my notes"], "enabled": true}}}`,
		"openclaw": `{"mcp": {"servers": {"kioku": {"command": "/usr/bin/kioku", "args": ["mcp", "--workspace", "/my notes"]}}}}`,
		"codex":    `{"mcp_servers": {"kioku": {"command": "/usr/bin/kioku", "args": ["mcp", "--workspace", "/my notes"]}}}`,
	} {
		t.Run(id, func(t *testing.T) {
			d, c := newDesk(t), client(t, id)
			text := d.install(c, notes("--workspace", "/my notes"))
			var got, wanted map[string]any
			decode := func(text string, v any) error { return json.Unmarshal([]byte(text), v) }
			if id == "codex" {
				decode = func(text string, v any) error { return toml.Unmarshal([]byte(text), v) }
			}
			testkit.Must(t, errors.Join(decode(text, &got), json.Unmarshal([]byte(want), &wanted)))
			if diff := cmp.Diff(wanted, got); diff != "" {
				t.Error(diff)
			}
			info, err := os.Stat(d.path(c, setup.User))
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the file has %v, %v", info.Mode(), err)
			}
			if got := d.undo(c, setup.Server{}); got != "-" {
				t.Errorf("undo leaves the file that setup created: %q", got)
			}
		})
	}
}

// each runs f for each client with each configuration that it accepts.
func each(t *testing.T, f func(t *testing.T, c setup.Client, text string)) {
	for _, c := range setup.Clients() {
		texts := map[string]string{}
		add := func(from map[string]string, block string) {
			for name, text := range from {
				texts[name+" of "+block] = strings.ReplaceAll(text, "SERVERS", block)
			}
		}
		switch c.ID {
		case "codex":
			add(tomlTexts, "mcp_servers")
		case "opencode":
			add(commentedTexts, "mcp")
			add(jsonTexts, "mcp")
		case "openclaw":
			add(commentedTexts, "mcp")
		case "cursor", "gemini-cli":
			add(commentedTexts, "mcpServers")
			add(jsonTexts, "mcpServers")
		default:
			add(jsonTexts, "mcpServers")
		}
		for name, text := range texts {
			t.Run(c.ID+"/"+name, func(t *testing.T) { f(t, c, text) })
		}
	}
}

// content returns what a configuration says.
func content(t *testing.T, c setup.Client, text string) map[string]any {
	t.Helper()
	text = strings.TrimPrefix(text, "\ufeff")
	got := map[string]any{}
	if c.ID == "codex" {
		if err := toml.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		return got
	}
	if strings.TrimSpace(text) == "" {
		return got
	}
	standard, err := hujson.Standardize([]byte(text))
	if err == nil {
		err = json.Unmarshal(standard, &got)
	}
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return got
}

// setup keeps everything that is there, byte for byte: each line of before, but for the comma behind the last entry, is a line of
// after. Undo restores the file exactly.
func TestInstallKeepsWhatIsThereAndUndoRestoresItExactly(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c setup.Client, text string) {
		d := newDesk(t)
		path := d.write(c, text)
		after := d.install(c, notes("--workspace", "/n"))
		entries, err := c.Entries(d.Machine, setup.User)
		want := []setup.Entry{{Name: "kioku", Command: []string{"/usr/bin/kioku", "mcp", "--workspace", "/n"}}}
		if diff := cmp.Diff(want, entries); diff != "" || err != nil {
			t.Errorf("%v %s in\n%s", err, diff, after)
		}
		if !strings.Contains(text, "/old/kioku") {
			checkKept(t, text, after)
		}
		if strings.Contains(text, "\r\n") && strings.Count(after, "\n") != strings.Count(after, "\r\n") {
			t.Errorf("line ends are mixed: %q", after)
		}
		if again := d.install(c, notes("--workspace", "/n")); again != after {
			t.Errorf("a second setup changes the file:\n%s", again)
		}
		if copied := read(t, path+".before-kioku"); copied != text {
			t.Errorf("the copy is %q", copied)
		}
		if back := d.undo(c, notes("--workspace", "/n")); back != text {
			t.Errorf("undo leaves %q, want %q", back, text)
		}
		if left, _ := filepath.Glob(filepath.Dir(path) + "/*kioku*"); len(left) > 0 {
			t.Errorf("undo leaves %q", left)
		}
	})
}

// checkKept fails unless every line of a text is in another one, in this order.
func checkKept(t *testing.T, before, after string) {
	t.Helper()
	rest := after
	for _, piece := range strings.FieldsFunc(before, func(r rune) bool { return strings.ContainsRune("\r\n ", r) }) {
		var found bool
		for _, p := range pieces(piece) {
			if _, rest, found = strings.Cut(rest, p); !found {
				t.Fatalf("%q is gone from\n%s", p, after)
			}
		}
	}
}

// pieces cuts a text at the brackets between which setup inserts.
func pieces(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("{},", r) })
}

// If the file has changed since setup, undo takes out the entry and leaves everything else.
func TestUndoTakesOutTheEntryOnlyIfTheFileHasChanged(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c setup.Client, text string) {
		d := newDesk(t)
		path := d.write(c, text)
		after := d.install(c, notes("--workspace", "/n"))
		comment := "// changed\n"
		switch {
		case c.ID == "codex":
			comment = "# changed\n"
		case c.ID == "claude-code" || c.ID == "claude-desktop":
			comment = " \n"
		}
		changed := comment + after
		if strings.HasPrefix(after, "\ufeff") {
			changed = "\ufeff" + comment + strings.TrimPrefix(after, "\ufeff")
		}
		testkit.Must(t, os.WriteFile(path, []byte(changed), 0o600))
		back := d.undo(c, notes("--workspace", "/n"))
		if diff := cmp.Diff(content(t, c, text), content(t, c, back)); diff != "" {
			t.Errorf("undo leaves something else: %s in\n%s", diff, back)
		}
		if text != "" && text != "\n" {
			checkKept(t, comment+strings.TrimPrefix(text, "\ufeff"), back)
		}
	})
}

// An older entry is brought up to date where it stands; keys that the user added to it stay, and undo gives the old one back.
func TestInstallUpdatesAnEntry(t *testing.T) {
	t.Parallel()
	d, c := newDesk(t), client(t, "claude-code")
	old := "{\"mcpServers\": {\n  \"mine\": {\n    \"args\": [\"mcp\"],\n    \"command\": \"/old/kioku\",\n    \"env\": {\"A\": \"1\"}\n  }\n}}\n"
	path := d.write(c, old)
	want := "{\"mcpServers\": {\n  \"mine\": {\n    \"args\": [\"mcp\"],\n    \"command\": \"/usr/bin/kioku\",\n    \"env\": {\"A\": \"1\"},\n    \"type\": \"stdio\"\n  }\n}}\n"
	if diff := cmp.Diff(want, d.install(c, notes())); diff != "" {
		t.Error(diff)
	}
	testkit.Must(t, os.WriteFile(path, []byte(strings.Replace(want, "\n}}", "\n}, \"x\": 1}", 1)), 0o600))
	if diff := cmp.Diff(strings.Replace(old, "\n}}", "\n}, \"x\": 1}", 1), d.undo(c, notes())); diff != "" {
		t.Errorf("undo: %s", diff)
	}
}

// Two workspaces, or two agents, have entries of their own, and undo takes out the one that is meant.
func TestInstallGivesEachMemoryANameOfItsOwn(t *testing.T) {
	t.Parallel()
	for _, id := range clientIDs() {
		t.Run(id, func(t *testing.T) {
			d, c := newDesk(t), client(t, id)
			names := func() (names []string) {
				entries, err := c.Entries(d.Machine, setup.User)
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range entries {
					names = append(names, e.Name)
				}
				return names
			}
			work := setup.Server{Memory: "My Work", Command: "/usr/bin/kioku", Args: []string{"mcp", "--workspace", "/home/My Work"}}
			other := setup.Server{Memory: "my work", Command: "/usr/bin/kioku", Args: []string{"mcp", "--agent", "my work"}}
			japanese := setup.Server{Memory: "日記", Command: "/usr/bin/kioku", Args: []string{"mcp", "--workspace", "/日記"}}
			first := d.install(c, notes())
			for _, srv := range []setup.Server{work, other, japanese, notes(), work} {
				d.install(c, srv)
			}
			if diff := cmp.Diff([]string{"kioku", "kioku-memory", "kioku-my-work", "kioku-my-work-2"}, names()); diff != "" {
				t.Error(diff)
			}
			if _, err := c.Undo(d.Machine, setup.User, setup.Server{}); err == nil || !strings.Contains(err.Error(), "--name: kioku, kioku-memory, kioku-my-work, kioku-my-work-2") {
				t.Errorf("an undo of nothing in particular: %v", err)
			}
			d.undo(c, setup.Server{Name: "kioku-memory"})
			d.undo(c, work)
			if diff := cmp.Diff([]string{"kioku", "kioku-my-work-2"}, names()); diff != "" {
				t.Error(diff)
			}
			if got := d.undo(c, other); got != first {
				t.Errorf("got %q, want %q", got, first)
			}
			if got := d.undo(c, notes()); got != "-" {
				t.Errorf("the last undo leaves %q", got)
			}
			if _, err := c.Undo(d.Machine, setup.User, notes()); !errors.Is(err, setup.ErrNotSetUp) {
				t.Errorf("once more: %v", err)
			}
		})
	}
}

// Undo takes out only what setup added. An entry that the user wrote stays, whether or not there is a copy of the file from before,
// unless it is named.
func TestUndoLeavesAnEntryThatSetupDidNotAdd(t *testing.T) {
	t.Parallel()
	for id, own := range map[string]string{
		"claude-code": `{"mcpServers": {"kioku": {"command": "kioku", "args": ["mcp"]}}}`,
		"cursor":      `{"mcpServers": {"kioku": {"type": "stdio", "command": "kioku", "args": ["mcp"]}}}`,
		"codex":       "[mcp_servers.kioku]\ncommand = \"kioku\"\nargs = [\"mcp\"]\n",
	} {
		t.Run(id, func(t *testing.T) {
			d, c := newDesk(t), client(t, id)
			d.write(c, own)
			refused := func(srv setup.Server) {
				t.Helper()
				if _, err := c.Undo(d.Machine, setup.User, srv); !errors.Is(err, setup.ErrNotSetUp) || !strings.Contains(err.Error(), "--name kioku") {
					t.Errorf("undo of %+v: %v", srv, err)
				}
			}
			refused(setup.Server{})
			refused(notes())
			d.install(c, notes("--workspace", "/b"))
			if got := d.undo(c, setup.Server{}); got != own {
				t.Errorf("undo leaves %q", got)
			}
			refused(setup.Server{})
			if got := d.undo(c, setup.Server{Name: "kioku"}); strings.Contains(got, "kioku") || got == "-" {
				t.Errorf("undo of the name leaves %q", got)
			}

			d.write(c, own)
			d.install(c, notes("--workspace", "/b"))
			if got := d.undo(c, setup.Server{Name: "kioku"}); !strings.Contains(got, "kioku-notes") || strings.Contains(got, `"mcp"]`) {
				t.Errorf("undo of the name leaves %q", got)
			}
			if got := d.undo(c, setup.Server{}); strings.Contains(got, "kioku") {
				t.Errorf("undo leaves %q", got)
			}
		})
	}
}

func clientIDs() (ids []string) {
	for _, c := range setup.Clients() {
		ids = append(ids, c.ID)
	}
	return ids
}

// An entry of that name which starts another program is not touched.
func TestInstallLeavesAForeignEntryOfItsName(t *testing.T) {
	t.Parallel()
	d, c := newDesk(t), client(t, "cursor")
	d.write(c, `{"mcpServers": {"kioku": {"command": "npx", "args": ["kioku"]}}}`)
	got := d.install(c, notes())
	if want := `{"mcpServers": {"kioku": {"command": "npx", "args": ["kioku"]}, "kioku-notes": {"type":"stdio","command":"/usr/bin/kioku","args":["mcp"]}}}`; got != want {
		t.Errorf("got %s", got)
	}
	if _, err := c.Undo(d.Machine, setup.User, setup.Server{Name: "kioku"}); !errors.Is(err, setup.ErrNotSetUp) {
		t.Errorf("undo would take it out: %v", err)
	}
}

// A broken file is refused with its line and column, and stays as it is.
func TestInstallRefusesABrokenFile(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ client, text, want string }{
		{"claude-code", "{\n  \"a\": 1,\n  b\n}", "line 3, column 3"},
		{"claude-code", "{\n  \"a\": 1, // mine\n}", "line 2, column 11"},
		{"claude-desktop", "{\"mcpServers\": {}", "line 1, column"},
		{"claude-desktop", "[]", "not a JSON object"},
		{"cursor", "{\n  \"mcpServers\": []\n}", "mcpServers is not an object"},
		{"cursor", "{\n  \"mcpServers\": null\n}", "mcpServers is not an object"},
		{"gemini-cli", "{\n  // c\n  \"a\" 1\n}", "line 3, column 7"},
		{"opencode", "{\"mcp\": \"x\"}", "mcp is not an object"},
		{"openclaw", "{\n  mcp: {servers: {}},\n}", "openclaw mcp set kioku '{\"args\":[\"mcp\"],\"command\":\"/usr/bin/kioku\"}'"},
		{"openclaw", "{\n  mcp: {},\n}", "line 2, column 3"},
		{"codex", "a = 1\nb = \n", "line 2, column"},
		{"codex", "mcp_servers = {a = {command = \"x\"}}\n", "mcp_servers is an inline table"},
		{"codex", "[mcp_servers]\nkioku = {command = \"/usr/bin/kioku\", args = [\"mcp\"]}\n", "not written as a table of its own"},
		{"cursor", "{\"a\": \"\xff\"}", "line 1, column 8: not valid UTF-8"},
	} {
		t.Run(tc.client+"/"+tc.text, func(t *testing.T) {
			d, c := newDesk(t), client(t, tc.client)
			path := d.write(c, tc.text)
			p, err := c.Install(d.Machine, setup.User, notes())
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "nothing was changed") {
				t.Errorf("got %v, %v; want %s", p, err, tc.want)
			}
			if got := read(t, path); got != tc.text {
				t.Errorf("the file is %q", got)
			}
		})
	}
}

// A file with brackets within brackets without end is refused like a broken one: it must not exhaust the stack. Brackets in texts
// and comments do not count.
func TestInstallRefusesADeepFile(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000)
	for _, id := range clientIDs() {
		d, c := newDesk(t), client(t, id)
		text, place := "{\n\"a\": "+deep+"}\n", "line 2, column"
		if id == "codex" {
			text = "b = 1\na = " + deep + "\n"
		}
		path := d.write(c, text)
		for what, err := range map[string]error{
			"install": lastError(c.Install(d.Machine, setup.User, notes())), "undo": lastError(c.Undo(d.Machine, setup.User, notes())),
			"list": lastError(c.Entries(d.Machine, setup.User)),
		} {
			if err == nil || !strings.Contains(err.Error(), place) || !strings.Contains(err.Error(), "nothing was changed") || len(err.Error()) > 1000 {
				t.Errorf("%s, %s: %.300v", id, what, err)
			}
		}
		if read(t, path) != text {
			t.Errorf("%s: the file is another", id)
		}
	}
	d, c := newDesk(t), client(t, "cursor")
	d.write(c, "// "+deep+"\n/* "+deep+" */ {\"a\\\"\": \""+deep+"\"}\n")
	if got := d.install(c, notes()); !strings.Contains(got, "/usr/bin/kioku") {
		t.Error("brackets in a text count")
	}
}

// lastError returns the error of two results.
func lastError[T any](_ T, err error) error { return err }

func TestPathIsTheOneThatTheClientReads(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		client, scope, os, env, want string
	}{
		{"claude-code", "user", "linux", "", "/h/.claude.json"},
		{"claude-code", "user", "linux", "CLAUDE_CONFIG_DIR=/c", "/c/.claude.json"},
		{"claude-code", "project", "linux", "", "/p/.mcp.json"},
		{"claude-desktop", "user", "darwin", "", "/h/Library/Application Support/Claude/claude_desktop_config.json"},
		{"claude-desktop", "user", "linux", "", "/h/.config/Claude/claude_desktop_config.json"},
		{"claude-desktop", "user", "linux", "XDG_CONFIG_HOME=/x", "/x/Claude/claude_desktop_config.json"},
		{"claude-desktop", "user", "windows", "APPDATA=/a", "/a/Claude/claude_desktop_config.json"},
		{"codex", "user", "linux", "", "/h/.codex/config.toml"},
		{"codex", "user", "linux", "CODEX_HOME=/c", "/c/config.toml"},
		{"codex", "project", "linux", "", "/p/.codex/config.toml"},
		{"cursor", "user", "linux", "", "/h/.cursor/mcp.json"},
		{"cursor", "project", "linux", "", "/p/.cursor/mcp.json"},
		{"gemini-cli", "user", "linux", "", "/h/.gemini/settings.json"},
		{"gemini-cli", "project", "linux", "", "/p/.gemini/settings.json"},
		{"opencode", "user", "linux", "", "/h/.config/opencode/opencode.json"},
		{"opencode", "user", "darwin", "XDG_CONFIG_HOME=/x", "/x/opencode/opencode.json"},
		{"opencode", "project", "linux", "", "/p/opencode.json"},
		{"openclaw", "user", "linux", "", "/h/.openclaw/openclaw.json"},
		{"openclaw", "user", "linux", "OPENCLAW_STATE_DIR=/s", "/s/openclaw.json"},
		{"openclaw", "user", "linux", "OPENCLAW_CONFIG_PATH=/s/my.json", "/s/my.json"},
		{"openclaw", "project", "linux", "", ""},
		{"claude-desktop", "project", "linux", "", ""},
		{"codex", "elsewhere", "linux", "", ""},
	} {
		m := &setup.Machine{OS: tc.os, Env: []string{"HOME=/h", "USERPROFILE=/h", tc.env}, Dir: "/p"}
		got, err := client(t, tc.client).Path(m, setup.Scope(tc.scope))
		if got != tc.want || (err == nil) != (tc.want != "") {
			t.Errorf("%s for %s on %s with %q: got %q, %v; want %q", tc.client, tc.scope, tc.os, tc.env, got, err, tc.want)
		}
	}
	if _, err := client(t, "codex").Path(&setup.Machine{OS: "linux"}, setup.User); err == nil || !strings.Contains(err.Error(), "HOME is not set") {
		t.Errorf("without a home: %v", err)
	}
}

// opencode reads opencode.jsonc as well; the one that is there is edited, and servers that it has in mcp.servers get company.
func TestInstallEditsTheFileOfOpencodeThatIsThere(t *testing.T) {
	t.Parallel()
	d, c := newDesk(t), client(t, "opencode")
	path := d.path(c, setup.User) + "c"
	testkit.Must(t, os.WriteFile(path, []byte("// mine\n{\"mcp\": {\"servers\": {\"a\": {}}}}\n"), 0o600))
	got := d.install(c, notes())
	if want := "// mine\n{\"mcp\": {\"servers\": {\"a\": {}, \"kioku\": {\"type\":\"local\",\"command\":[\"/usr/bin/kioku\",\"mcp\"],\"enabled\":true}}}}\n"; got != want || read(t, path) != got {
		t.Errorf("got %s", got)
	}
}

// FuzzInstall checks that whatever a configuration contains, setup either refuses it or keeps its content, and undo restores it.
func FuzzInstall(f *testing.F) {
	for _, texts := range []map[string]string{jsonTexts, commentedTexts, tomlTexts} {
		for _, text := range texts {
			for i := range setup.Clients() {
				f.Add(i, strings.ReplaceAll(text, "SERVERS", "mcpServers"))
			}
		}
	}
	f.Fuzz(func(t *testing.T, i int, text string) {
		clients := setup.Clients()
		c := clients[(i%len(clients)+len(clients))%len(clients)]
		d := newDesk(t)
		path := d.write(c, text)
		p, err := c.Install(d.Machine, setup.User, notes())
		if err != nil {
			if got := read(t, path); got != text {
				t.Fatalf("refused, and the file is %q", got)
			}
			return
		}
		d.written(p, nil)
		if got := d.undo(c, notes()); got != text {
			t.Fatalf("undo leaves %q, want %q", got, text)
		}
	})
}
