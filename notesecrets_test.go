package kioku

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kioku/memory"
)

// testKey is no key, and is put together so that no scanner takes it for one.
const testKey = "sk-" + "proj-Ab3dE6gH9jK2mN5pQ8sT1vX4z9f2a"

// Secrets are not written to notes unless asked for twice: replaced by a reference, told. (C13)
func TestAppendWritesASecretOnlyIfAskedTwice(t *testing.T) {
	t.Parallel()
	for _, target := range []string{memory.TargetDaily, memory.TargetLongTerm} {
		ws := t.TempDir()
		m := appendTo(t, ws)
		n := memory.Note{Text: "The key is " + testKey + ".", Target: target, KeepSecrets: true, Category: "fact"}
		first := note(t, m, n)
		got := read(t, ws, first.Path)
		if strings.Contains(got, testKey) || !strings.Contains(got, "The key is [secret sk-…9f2a left out].") {
			t.Errorf("%s: %q", target, got)
		}
		if want := (memory.ReplacedSecret{Kind: "OpenAI key", Reference: "[secret sk-…9f2a left out]"}); len(first.Secrets) != 1 || first.Secrets[0] != want {
			t.Errorf("%s: told %+v", target, first.Secrets)
		}
		n.KeepSecrets = false
		if again := note(t, m, n); !again.Deduplicated || len(again.Secrets) != 1 {
			t.Errorf("%s: without the wish to keep it: %+v", target, again)
		}
		n.KeepSecrets = true
		second := note(t, m, n)
		if got := read(t, ws, first.Path); !strings.Contains(got, n.Text) || len(second.Secrets) != 0 {
			t.Errorf("%s: asked twice: %+v, %q", target, second, got)
		}
	}
}

// An update writes no secret but those that the old text has already, and others if it is asked for twice. (C13)
func TestUpdateWritesASecretOnlyIfAskedTwice(t *testing.T) {
	t.Parallel()
	ws := workspace(t, map[string]string{"MEMORY.md": "- Wi-Fi password: h8Kq2!xZ, old\n"})
	m := appendTo(t, ws)
	u := memory.Update{OldText: "password: h8Kq2!xZ, old", NewText: "password: h8Kq2!xZ, key " + testKey, KeepSecrets: true}
	done := update(t, m, u)
	if got := read(t, ws, "MEMORY.md"); got != "- Wi-Fi password: h8Kq2!xZ, key [secret sk-…9f2a left out]\n" || len(done.Secrets) != 1 {
		t.Errorf("%+v, %q", done, got)
	}
	u.OldText = "password: h8Kq2!xZ, key [secret sk-…9f2a left out]"
	done = update(t, m, u)
	if got := read(t, ws, "MEMORY.md"); !strings.Contains(got, testKey) || len(done.Secrets) != 0 {
		t.Errorf("asked twice: %+v, %q", done, got)
	}
}

// "Update or skip": a long-term note that says nearly the same as a line, or contradicts it, is answered with that line.
func TestAppendNamesASimilarLine(t *testing.T) {
	t.Parallel()
	const text = "# M\n\n## Preferences\n\n- Ines prefers green tea in the morning. <!-- kioku from=user -->\n- 猫の名前はモカです。\n- 用户喜欢在早上喝绿茶。\n\n## Facts\n\n- The boiler is in the cellar.\n"
	for name, c := range map[string]struct {
		text, want string
		line       int
	}{
		"contradiction": {"Ines prefers black tea in the morning.", "- Ines prefers green tea in the morning.", 5},
		"Japanese":      {"猫の名前はミルクです。", "- 猫の名前はモカです。", 6},
		"Chinese":       {"用户喜欢在早上喝咖啡。", "- 用户喜欢在早上喝绿茶。", 7},
		"below it":      {"The boiler is in the attic.", "- The boiler is in the cellar.", 12},
		"nothing alike": {"The ferry leaves at six.", "", 0},
	} {
		m := appendTo(t, workspace(t, map[string]string{"MEMORY.md": text}))
		got := note(t, m, memory.Note{Text: c.text, Target: memory.TargetLongTerm, Category: "preference"}).Similar
		switch {
		case got == nil && c.want != "":
			t.Errorf("%s: none", name)
		case got != nil && *got != (memory.SimilarNote{Path: "MEMORY.md", Line: c.line, Text: c.want}):
			t.Errorf("%s: %+v", name, *got)
		}
	}
}

// Asked twice means for the same secret: neither a reference to another one, nor the text of one, nor a request for another password
// counts. (C13)
func TestNotesKeepOnlyTheSecretThatWasLeftOut(t *testing.T) {
	t.Parallel()
	for name, old := range map[string]string{
		"a reference to another secret": "Wi-Fi: [secret password left out], old",
		"the text of a reference":       "see [secret manager] for the key",
	} {
		ws := workspace(t, map[string]string{"MEMORY.md": "- " + old + "\n"})
		m := appendTo(t, ws)
		done := update(t, m, memory.Update{OldText: old, NewText: "OpenAI: " + testKey + ", password: DIFF3rent!99", KeepSecrets: true})
		if got := read(t, ws, "MEMORY.md"); got != "- OpenAI: [secret sk-…9f2a left out], password: [secret password left out]\n" || len(done.Secrets) != 2 {
			t.Errorf("%s: %q, told %+v", name, got, done.Secrets)
		}
	}
	ws := t.TempDir()
	m := appendTo(t, ws)
	note(t, m, memory.Note{Text: "password: h8Kq2!xZ9"})
	other := note(t, m, memory.Note{Text: "password: DIFF3rent!99", KeepSecrets: true})
	if got := read(t, ws, other.Path); strings.Contains(got, "DIFF3rent") || len(other.Secrets) != 1 {
		t.Errorf("another password was written at the first request: %q, told %+v", got, other.Secrets)
	}
	both := note(t, m, memory.Note{Text: "password: h8Kq2!xZ9, token: q8W2e4R6t1Y3u5I7o9P0", KeepSecrets: true})
	if got := read(t, ws, both.Path); !strings.Contains(got, "password: h8Kq2!xZ9, token: [secret key…o9P0 left out]") || len(both.Secrets) != 1 {
		t.Errorf("one of two was left out before: %q, told %+v", got, both.Secrets)
	}
}

// A request that fails was not answered with the secret that it would leave out, and does not count as the first one. What was left
// out holds for other processes too, which cannot tell the secret from what is recorded of it. (C13)
func TestSecretsThatWereLeftOutAreRemembered(t *testing.T) {
	t.Parallel()
	ws, state := workspace(t, map[string]string{"MEMORY.md": "- old\n"}), t.TempDir()
	m := openMemory(t, Options{Workspace: ws, StateDir: state})
	u := memory.Update{OldText: "missing", NewText: "password: h8Kq2!xZ9", KeepSecrets: true}
	if _, err := m.Update(t.Context(), u); err == nil {
		t.Fatal("no error")
	}
	u.OldText = "old"
	if done := update(t, m, u); len(done.Secrets) != 1 {
		t.Errorf("told %+v", done.Secrets)
	}
	m.Close()
	m = openMemory(t, Options{Workspace: ws, StateDir: state})
	u.OldText = "password: [secret password left out]"
	if done := update(t, m, u); len(done.Secrets) != 0 || read(t, ws, "MEMORY.md") != "- password: h8Kq2!xZ9\n" {
		t.Errorf("%q, told %+v", read(t, ws, "MEMORY.md"), done.Secrets)
	}
	dir := filepath.Join(state, "agents/main/refused")
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Fatalf("%v, %v", entries, err)
	}
	for _, e := range entries {
		if data, err := os.ReadFile(filepath.Join(dir, e.Name())); err != nil || strings.Contains(e.Name()+string(data), "h8Kq2") {
			t.Errorf("%s, %v", e.Name(), err)
		}
	}
}

// The list of the secrets that were left out is bounded; the oldest go.
func TestSecretsThatWereLeftOutAreBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := refusals{path: dir}
	add := func(i int) {
		if err := r.add(fmt.Sprint("secret ", i)); err != nil {
			t.Fatal(err)
		}
	}
	add(0)
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.Chtimes(filepath.Join(dir, e.Name()), time.Time{}, time.Unix(1, 0)))
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxRefusals {
		add(i + 1)
	}
	entries, err = os.ReadDir(dir)
	if err != nil || len(entries) != maxRefusals+1 {
		t.Errorf("%d, %v", len(entries), err)
	}
	if !r.has(fmt.Sprint("secret ", maxRefusals)) || r.has("secret 0") {
		t.Error("the latest is forgotten, or the oldest is not")
	}
}

// No secret of the reason of an update is kept with the file as it was. (C13)
func TestUpdateKeepsNoSecretInItsReason(t *testing.T) {
	t.Parallel()
	ws := workspace(t, map[string]string{"MEMORY.md": "- a\n"})
	m := appendTo(t, ws)
	u := memory.Update{OldText: "a", NewText: "b", Reason: "password: h8Kq2!xZ9 because", KeepSecrets: true}
	for range 2 { // also if it is asked for twice
		if done := update(t, m, u); len(done.Secrets) != 1 {
			t.Errorf("told %+v", done.Secrets)
		}
		u.OldText, u.NewText = u.NewText, u.OldText
	}
	all, err := m.Revisions(t.Context())
	if err != nil || len(all) != 2 || all[0].Reason != "password: [secret password left out] because" || all[1].Reason != all[0].Reason {
		t.Errorf("%+v, %v", all, err)
	}
}

// A password behind its name is one, also if an update puts only the password there. (C13)
func TestUpdateKnowsASecretByWhatStandsBeforeIt(t *testing.T) {
	t.Parallel()
	const have = "- Wi-Fi password: [secret password left out]\n"
	ws := workspace(t, map[string]string{"MEMORY.md": have})
	m := appendTo(t, ws)
	u := memory.Update{OldText: "[secret password left out]", NewText: "h8Kq2!xZ9", KeepSecrets: true}
	if done := update(t, m, u); read(t, ws, "MEMORY.md") != have || len(done.Secrets) != 1 {
		t.Errorf("%q, told %+v", read(t, ws, "MEMORY.md"), done.Secrets)
	}
	if done := update(t, m, u); read(t, ws, "MEMORY.md") != "- Wi-Fi password: h8Kq2!xZ9\n" || len(done.Secrets) != 0 {
		t.Errorf("asked twice: %q, told %+v", read(t, ws, "MEMORY.md"), done.Secrets)
	}
	u = memory.Update{OldText: "Wi-Fi password: h8Kq2!xZ9", NewText: "Wi-Fi password: h8Kq2!xZ9, in the hall"}
	if done := update(t, m, u); read(t, ws, "MEMORY.md") != "- "+u.NewText+"\n" || len(done.Secrets) != 0 {
		t.Errorf("what stands there already: %q, told %+v", read(t, ws, "MEMORY.md"), done.Secrets)
	}
}
