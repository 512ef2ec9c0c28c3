package setup_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/cmd/kioku/internal/setup"
	"kioku/internal/testkit"
)

// hooksOf returns the client with the file of hooks.
func hooksOf(t *testing.T, id string) setup.Client {
	t.Helper()
	c, ok := client(t, id).Hooks("kioku")
	if !ok {
		t.Fatalf("%s has no hooks", id)
	}
	return c
}

// hookTexts are files of hooks as people have them.
var hookTexts = map[string]string{
	"none":           "-",
	"empty":          "",
	"empty object":   "{}",
	"others":         "{\n  \"model\": \"m\",\n  \"hooks\": {\n    \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"true\"}]}]\n  }\n}\n",
	"of this event":  "{\n    \"hooks\": {\n        \"SessionStart\": [\n            {\n                \"matcher\": \"startup\",\n                \"hooks\": [{\"type\": \"command\", \"command\": \"/x/notkioku hook codex\"}]\n            }\n        ]\n    },\n    \"z\": 1\n}\n",
	"empty lists":    "{\"hooks\": {\"SessionStart\": [], \"PreCompact\": []}, \"z\": 12345678901234567890}",
	"one line":       "{\"hooks\":{\"SessionStart\":[{\"hooks\":[]}],\"SessionEnd\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"kiosk 'hook codex'\"}]}]}}",
	"Windows":        "{\r\n  \"hooks\": {\r\n    \"PreCompact\": [\r\n      {\"hooks\": []}\r\n    ]\r\n  }\r\n}\r\n",
	"no hooks":       "{\n\t\"permissions\": {\"allow\": [\"Bash\"]}\n}\n",
	"foreign blocks": "{\"mcpServers\": {\"kioku\": {\"command\": \"x\"}}, \"SessionStart\": 1}",
}

// setup adds a command for each event to the file of hooks, beside what is there, which stays byte for byte, and undo takes exactly
// these out again; a second memory has commands of its own.
func TestHooksAreAddedBesideOthersAndTakenOut(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"claude-code", "codex"} {
		for name, text := range hookTexts {
			t.Run(id+"/"+name, func(t *testing.T) {
				d, c := newDesk(t), hooksOf(t, id)
				if d.path(c, setup.User); text != "-" {
					d.write(c, text)
				}
				after := d.install(c, notes("--workspace", "/my notes"))
				for _, event := range []string{"session-start", "user-prompt-submit", "pre-compact", "session-end"} {
					if n := strings.Count(after, "/usr/bin/kioku hook "+id+" "+event+" --workspace '/my notes'"); n != 1 {
						t.Errorf("%d times %s in\n%s", n, event, after)
					}
				}
				if !json.Valid([]byte(after)) {
					t.Errorf("no JSON: %s", after)
				}
				checkKept(t, strings.Trim(strings.NewReplacer("[]", "", `["Bash"]`, "").Replace(text), "-"), after)
				if again := d.install(c, notes("--workspace", "/my notes")); again != after {
					t.Errorf("a second setup changes the file:\n%s", again)
				}
				for _, tool := range []string{"search", "get", "append", "update", "links"} {
					if has := strings.Count(after, `"mcp__kioku__memory_`+tool+`"`); has != 1 && id == "claude-code" || has > 0 && id != "claude-code" {
						t.Errorf("%s is allowed %d times in\n%s", tool, has, after)
					}
				}
				second, _ := client(t, id).Hooks("kioku-2")
				two := d.install(second, notes("--workspace", "/it's"))
				entries, err := c.Entries(d.Machine, setup.User)
				want := []setup.Entry{
					{Name: "kioku", Command: []string{"/usr/bin/kioku", "mcp", "--workspace", "/my notes"}},
					{Name: "kioku-2", Command: []string{"/usr/bin/kioku", "mcp", "--workspace", "/it's"}},
				}
				if diff := cmp.Diff(want, entries); diff != "" || err != nil {
					t.Errorf("%v %s in\n%s", err, diff, two)
				}
				if back := d.undo(second, notes("--workspace", "/it's")); back != after {
					t.Errorf("undo of the second leaves\n%s\nwant\n%s", back, after)
				}
				if back := d.undo(c, notes("--workspace", "/my notes")); back != text {
					t.Errorf("undo leaves %q, want %q", back, text)
				}
			})
		}
	}
}

// What a person has allowed stays allowed after the undo, and a list of permissions that is none is refused.
func TestHooksKeepThePermissionsOfOthers(t *testing.T) {
	t.Parallel()
	d, c := newDesk(t), hooksOf(t, "claude-code")
	const own = `{"permissions": {"allow": ["mcp__kioku__memory_search"], "deny": ["Bash"]}}`
	d.write(c, own)
	after := d.install(c, notes())
	d.write(c, strings.Replace(after, `["mcp`, `["Read", "mcp`, 1))
	var got struct{ Permissions map[string][]string }
	testkit.Must(t, json.Unmarshal([]byte(d.undo(c, notes())), &got))
	if diff := cmp.Diff(map[string][]string{"allow": {"Read", "mcp__kioku__memory_search"}, "deny": {"Bash"}}, got.Permissions); diff != "" {
		t.Error(diff)
	}
	d.write(c, `{"permissions": {"allow": {}}}`)
	if _, err := c.Install(d.Machine, setup.User, notes()); err == nil || !strings.Contains(err.Error(), "permissions.allow is not a list") {
		t.Error(err)
	}
}

// If the file of hooks has changed since, undo takes out the commands only, also from groups that others have joined.
func TestHooksUndoAfterAChange(t *testing.T) {
	t.Parallel()
	for name, text := range hookTexts {
		t.Run(name, func(t *testing.T) {
			d, c := newDesk(t), hooksOf(t, "claude-code")
			if d.path(c, setup.User); text != "-" {
				d.write(c, text)
			}
			after := d.install(c, notes())
			changed := strings.Replace(after, "{", "{\"changed\": true, ", 1)
			d.write(c, changed)
			before := map[string]any{}
			if trimmed := strings.Trim(text, "-\n "); trimmed != "" {
				testkit.Must(t, json.Unmarshal([]byte(trimmed), &before))
			}
			before["changed"] = true
			var got map[string]any
			back := d.undo(c, notes())
			if err := json.Unmarshal([]byte(back), &got); err != nil {
				t.Fatalf("%v in %s", err, back)
			}
			if diff := cmp.Diff(before, got); diff != "" {
				t.Errorf("undo leaves something else: %s in\n%s", diff, back)
			}
		})
	}
	d, c := newDesk(t), hooksOf(t, "codex")
	d.path(c, setup.User)
	const joined = `{"hooks":{"PreCompact":[{"hooks":[{"type":"command","command":"a"},{"type":"command","command":"/old/kioku hook codex pre-compact --workspace /n"},{"type":"command","command":"b"}]}]}}`
	d.write(c, joined)
	if got := d.install(c, notes("--workspace", "/n")); !strings.Contains(got, `"command":"a"},{"type":"command","command":"/usr/bin/kioku hook codex pre-compact --workspace /n"},{`) || strings.Count(got, "pre-compact") != 1 {
		t.Errorf("an older command is not brought up to date: %s", got)
	}
	if got := d.undo(c, setup.Server{Name: "kioku"}); strings.Contains(got, "/usr/bin") || !strings.Contains(got, "/old/kioku") {
		t.Errorf("undo leaves %s", got)
	}
}

// A file of hooks that the client could not read is refused.
func TestHooksRefuseABrokenFile(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{`{"hooks": []}`: "hooks is not an object", `{"hooks": {"PreCompact": {}}}`: "hooks.PreCompact is not a list", "{\n  a\n}": "line 2, column 3"} {
		d, c := newDesk(t), hooksOf(t, "codex")
		path := d.write(c, text)
		if _, err := c.Install(d.Machine, setup.User, notes()); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
