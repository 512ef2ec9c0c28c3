package decision_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/derive/decision"
	"kioku/derive/unit"
	"kioku/internal/files"
	"kioku/memory"
)

var (
	uid   = strings.Repeat("3f9a", 8)
	other = strings.Repeat("77b0", 8)
	key   = strings.Repeat("0123456789abcdef", 4)
)

// openRoot returns a folder and its root.
func openRoot(t *testing.T) (string, *os.Root) {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return dir, root
}

// write writes the file of decisions.
func write(t *testing.T, dir, content string) string {
	t.Helper()
	path := filepath.Join(dir, decision.Path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFormatAndParseAgree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line string
		want unit.Decision
	}{
		{"- 2026-11-20 pin fact " + uid, unit.Decision{Verb: "pin", Kind: "fact", Target: uid}},
		{"- 2026-11-20 pin fact " + uid + " over " + other, unit.Decision{Verb: "pin", Kind: "fact", Target: uid, Other: other}},
		{"- 2026-11-20 pin fact " + uid + " over " + other + "," + key[:32] + " : moved", unit.Decision{Verb: "pin", Kind: "fact", Target: uid,
			Other: other + "," + key[:32], Note: "moved"}},
		{"- 2026-11-20 unpin summary " + uid + " : no longer needed", unit.Decision{Verb: "unpin", Kind: "summary", Target: uid, Note: "no longer needed"}},
		{"- 2026-11-20 forget fact " + key + " : wrong person", unit.Decision{Verb: "forget", Kind: "fact", Target: key, Note: "wrong person"}},
		{"- 2026-11-20 close loop " + uid + " : 済み : ほんとう", unit.Decision{Verb: "close", Kind: "loop", Target: uid, Note: "済み : ほんとう"}},
		{"- 2026-11-20 reopen loop " + uid, unit.Decision{Verb: "reopen", Kind: "loop", Target: uid}},
		{"- 2026-11-20 merge entity " + uid + " into " + other + " : 同一人物", unit.Decision{Verb: "merge", Kind: "entity", Target: uid, Other: other, Note: "同一人物"}},
		{"- 2026-11-20 split entity " + uid, unit.Decision{Verb: "split", Kind: "entity", Target: uid}},
		{"- 2026-11-20 correct fact " + uid + ` {"from":"","text":"a } : {\" 上海"} : tidy`, unit.Decision{Verb: "correct", Kind: "fact", Target: uid,
			Change: `{"from":"","text":"a } : {\" 上海"}`, Note: "tidy"}},
	} {
		c.want.Day = "2026-11-20"
		line, err := decision.Format(c.want)
		if err != nil || line != c.line {
			t.Errorf("Format returns %q, %v; want %q", line, err, c.line)
		}
		c.want.Line = 2
		got := decision.Parse([]byte("# Heading\r\n" + c.line + "\r\nprose\n"))
		if diff := cmp.Diff([]unit.Decision{c.want}, got.Decisions); diff != "" || len(got.Bad) > 0 {
			t.Errorf("%s: %v\n%s", c.line, got.Bad, diff)
		}
	}
}

func TestParseReportsWhatIsNoDecision(t *testing.T) {
	t.Parallel()
	for line, reason := range map[string]string{
		"- buy milk":                                                       "must begin with a day",
		"- 2026-02-30 pin fact " + uid:                                     "must begin with a day",
		"* 2026-11-20 pin fact " + uid:                                     `must begin with "- "`,
		"  - 2026-11-20 pin fact " + uid:                                   `must begin with "- "`,
		"- 2026-11-20 erase fact " + uid:                                   `has the verb "erase"`,
		"- 2026-11-20 close fact " + uid:                                   `says close "fact"; it must be loop`,
		"- 2026-11-20 merge fact " + uid + " into " + other:                "it must be entity",
		"- 2026-11-20 pin fact 3f9a":                                       "an id of 32 digits",
		"- 2026-11-20 pin fact " + strings.ToUpper(uid):                    "an id of 32 digits",
		"- 2026-11-20 forget fact " + uid:                                  "an id of 64 digits",
		"- 2026-11-20 forget fact Dario lives in Rome":                     "an id of 64 digits",
		"- 2026-11-20 merge entity " + uid:                                 "into ID",
		"- 2026-11-20 merge entity " + uid + " into " + uid:                "another entity",
		"- 2026-11-20 pin fact " + uid + " over 77b0":                      "over ID, the id of another fact",
		"- 2026-11-20 pin fact " + uid + " over " + uid:                    "over ID, the id of another fact",
		"- 2026-11-20 pin loop " + uid + " over " + other:                  "over ID, the id of another fact",
		"- 2026-11-20 correct fact " + uid:                                 "one JSON object",
		"- 2026-11-20 correct fact " + uid + ` ["Porto"]`:                  "one JSON object",
		"- 2026-11-20 correct fact " + uid + ` null`:                       "one JSON object",
		"- 2026-11-20 correct fact " + uid + ` {}`:                         "changes nothing",
		"- 2026-11-20 correct fact " + uid + ` {"text":"a","text":"b"}`:    "one key twice",
		"- 2026-11-20 correct fact " + uid + ` {"text":"a"} {"to":"2026"}`: "a note begins with",
		"- 2026-11-20 correct fact " + uid + ` {"from":"soon"}`:            "must be YYYY, YYYY-MM or YYYY-MM-DD",
		"- 2026-11-20 correct loop " + uid + ` {"due":"2026-11"}`:          "must be YYYY-MM-DD",
		"- 2026-11-20 correct fact " + uid + ` {"text":" "}`:               "a blank text",
		"- 2026-11-20 correct fact " + uid + ` {"text":7}`:                 "what is no text",
		"- 2026-11-20 correct fact " + uid + ` {"Object":"x"}`:             `sets "Object"`,
		"- 2026-11-20 correct fact " + uid + ` {"sensitivity":"top"}`:      "normal, private or secret",
		"- 2026-11-20 pin fact " + uid + " because":                        "a note begins with",
		"- 2026-11-20 pin fact " + uid + " : " + strings.Repeat("x", 501):  "more than 500 characters",
		"- 2026-11-20 pin fact " + uid + " : \xff":                         "no valid UTF-8",
	} {
		got := decision.Parse([]byte("one\n" + line + "\n- 2026-11-20 pin fact " + uid))
		if len(got.Bad) != 1 || got.Bad[0].Line != 2 || !strings.Contains(got.Bad[0].Reason, reason) {
			t.Errorf("%s: reported as %v, want %q", line, got.Bad, reason)
		}
		if len(got.Decisions) != 1 || got.Decisions[0].Line != 3 {
			t.Errorf("%s: the line behind it is read as %v", line, got.Decisions)
		}
	}
}

func TestUndoTakesTheLastDecisionOfAUnitBack(t *testing.T) {
	t.Parallel()
	pin, close, undo := "- 2026-11-20 pin fact "+uid, "- 2026-11-20 close loop "+other, "- 2026-11-21 undo fact "+uid
	got := decision.Parse([]byte(strings.Join([]string{pin + " : first", pin, close, undo, undo, undo, pin}, "\n")))
	want := []unit.Decision{{Line: 3, Day: "2026-11-20", Verb: "close", Kind: "loop", Target: other}, {Line: 7, Day: "2026-11-20", Verb: "pin", Kind: "fact", Target: uid}}
	if diff := cmp.Diff(want, got.Decisions); diff != "" || len(got.Bad) != 1 || got.Bad[0].Line != 6 {
		t.Errorf("bad lines %v\n%s", got.Bad, diff)
	}
}

func TestFormatRefusesWhatNoLineCanSay(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]unit.Decision{
		"no day":               {Verb: "pin", Kind: "fact", Target: uid},
		"text to be forgotten": {Day: "2026-11-20", Verb: "forget", Kind: "fact", Target: "lives in Rome"},
		"a change of a pin":    {Day: "2026-11-20", Verb: "pin", Kind: "fact", Target: uid, Change: " : x"},
		"a line in a change":   {Day: "2026-11-20", Verb: "correct", Kind: "fact", Target: uid, Change: "{\"text\":\n\"x\"}"},
		"an other of a close":  {Day: "2026-11-20", Verb: "close", Kind: "loop", Target: uid, Other: other},
	} {
		line, err := decision.Format(d)
		if _, ok := errors.AsType[*memory.InputError](err); !ok {
			t.Errorf("%s: %q, %v", name, line, err)
		}
	}
	line, err := decision.Format(unit.Decision{Day: "2026-11-20", Verb: "pin", Kind: "fact", Target: uid, Note: "two\nlines\x1b[31m"})
	if err != nil || strings.ContainsAny(line, "\n\x1b") {
		t.Errorf("a note of two lines: %q, %v", line, err)
	}
}

func TestChangeIsCanonical(t *testing.T) {
	t.Parallel()
	from, to, level := "2026-10", "", memory.Private
	got, err := decision.Change(unit.Correction{Text: "Tom & <Ana>", From: &from, To: &to, Sensitivity: &level})
	if want := `{"from":"2026-10","sensitivity":"private","text":"Tom & <Ana>","to":""}`; err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if _, err := decision.Change(unit.Correction{}); err == nil {
		t.Error("a correction that changes nothing is accepted")
	}
}

func TestAppendKeepsEveryLine(t *testing.T) {
	t.Parallel()
	pin := unit.Decision{Day: "2026-11-20", Verb: "pin", Kind: "fact", Target: uid}
	line := "- 2026-11-20 pin fact " + uid
	for name, c := range map[string]struct{ have, want string }{
		"no final newline": {"# mine\n- buy milk", "# mine\n- buy milk\n" + line + "\n"},
		"CRLF":             {"# mine\r\n", "# mine\r\n" + line + "\r\n"},
		"BOM":              {"\ufeff" + line + "\n", "\ufeff" + line + "\n" + line + "\n"},
		"half a line":      {line + "\n- 2026-11-20 pin fa", line + "\n- 2026-11-20 pin fa\n" + line + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, root := openRoot(t)
			path := write(t, dir, c.have)
			got, err := decision.Append(t.Context(), root, pin)
			if err != nil || got != line {
				t.Fatalf("%q, %v", got, err)
			}
			data, err := os.ReadFile(path)
			if diff := cmp.Diff(c.want, string(data)); diff != "" || err != nil {
				t.Error(err, diff)
			}
		})
	}
}

func TestAppendCreatesTheFile(t *testing.T) {
	t.Parallel()
	dir, root := openRoot(t)
	if got, err := decision.Read(root); err != nil || len(got.Decisions)+len(got.Bad) > 0 || got.SHA256 != [32]byte{} {
		t.Errorf("without a file: %v, %v", got, err)
	}
	want := unit.Decision{Day: "2026-11-20", Verb: "pin", Kind: "fact", Target: uid}
	if _, err := decision.Append(t.Context(), root, want); err != nil {
		t.Fatal(err)
	}
	got, err := decision.Read(root)
	want.Line = 9
	if diff := cmp.Diff([]unit.Decision{want}, got.Decisions); err != nil || diff != "" || len(got.Bad) > 0 {
		t.Errorf("%v %v\n%s", err, got.Bad, diff)
	}
	data, err := os.ReadFile(filepath.Join(dir, decision.Path))
	if err != nil || !strings.HasPrefix(string(data), "---\nkioku: derived\n---\n# ") {
		t.Errorf("%v, the file is %q", err, data)
	}
}

func TestAppendByManyLosesNoLine(t *testing.T) {
	t.Parallel()
	_, root := openRoot(t)
	var writers sync.WaitGroup
	for i := range 20 {
		writers.Go(func() {
			d := unit.Decision{Day: "2026-11-20", Verb: "pin", Kind: "fact", Target: fmt.Sprintf("%032x", i)}
			if _, err := decision.Append(t.Context(), root, d); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	got, err := decision.Read(root)
	targets := map[string]bool{}
	for _, d := range got.Decisions {
		targets[d.Target] = true
	}
	if err != nil || len(targets) != 20 || len(got.Decisions) != 20 || len(got.Bad) > 0 {
		t.Errorf("%d of 20 decisions, %v, %v", len(targets), got.Bad, err)
	}
}

func TestAppendWaitsForTheLockUntilItsContextEnds(t *testing.T) {
	t.Parallel()
	dir, root := openRoot(t)
	f, err := os.Open(write(t, dir, "# mine\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := files.TryLock(f); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = decision.Append(ctx, root, unit.Decision{Day: "2026-11-20", Verb: "pin", Kind: "fact", Target: uid})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestForeignFilesAreRefused(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "outside.md")
	for name, put := range map[string]func(path string) error{
		"symbolic link": func(path string) error { return os.Symlink(outside, path) },
		"hard link":     func(path string) error { return os.Link(outside, path) },
		"folder":        func(path string) error { return os.Mkdir(path, 0o755) },
		"larger than 4 MiB": func(path string) error {
			return os.WriteFile(path, slices.Repeat([]byte("# text\n"), 700_000), 0o644)
		},
	} {
		dir, root := openRoot(t)
		if err := errors.Join(os.WriteFile(outside, []byte("outside\n"), 0o644), os.Mkdir(filepath.Join(dir, "derived"), 0o755), put(filepath.Join(dir, decision.Path))); err != nil {
			t.Fatal(err)
		}
		_, readErr := decision.Read(root)
		_, appendErr := decision.Append(t.Context(), root, unit.Decision{Day: "2026-11-20", Verb: "pin", Kind: "fact", Target: uid})
		for what, err := range map[string]error{"read": readErr, "append": appendErr} {
			if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), decision.Path) {
				t.Errorf("%s of a %s: %v", what, name, err)
			}
		}
		if data, err := os.ReadFile(outside); err != nil || string(data) != "outside\n" {
			t.Errorf("%s: the file outside is %q, %v", name, data, err)
		}
	}
}

func TestAppendDoesNotLeaveTheWorkspace(t *testing.T) {
	t.Parallel()
	dir, root := openRoot(t)
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "derived")); err != nil {
		t.Fatal(err)
	}
	_, err := decision.Append(t.Context(), root, unit.Decision{Day: "2026-11-20", Verb: "pin", Kind: "fact", Target: uid})
	entries, readErr := os.ReadDir(outside)
	if err == nil || readErr != nil || len(entries) > 0 {
		t.Errorf("%v, %v, %v", err, entries, readErr)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("- 2026-11-20 pin fact " + uid + "\n- x\n# y")
	f.Add("- 2026-11-20 correct fact " + uid + ` {"text":"a","x":[{"b":1}]} : note`)
	f.Add("- 2026-11-20 merge entity " + uid + " into " + other + " : n\r\n")
	f.Fuzz(func(t *testing.T, data string) {
		lines := strings.Count(data, "\n") + 1
		file := decision.Parse([]byte(data))
		for _, b := range file.Bad {
			if b.Line < 1 || b.Line > lines || b.Reason == "" {
				t.Errorf("%v of %d lines", b, lines)
			}
		}
		for _, d := range file.Decisions {
			if d.Line < 1 || d.Line > lines {
				t.Errorf("line %d of %d", d.Line, lines)
			}
			line, err := decision.Format(d)
			if err != nil {
				continue // a note with control characters is written without them
			}
			again := decision.Parse([]byte(line))
			if len(again.Decisions) != 1 || len(again.Bad) > 0 {
				t.Fatalf("%q is read as %v", line, again)
			}
			d.Line, d.Note, again.Decisions[0].Note = 1, "", ""
			if diff := cmp.Diff(d, again.Decisions[0]); diff != "" {
				t.Error(diff)
			}
		}
	})
}
