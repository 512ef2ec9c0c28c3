package note

import (
	"strings"
	"testing"

	"kioku/memory"
)

// testKey is no key, and is put together so that no scanner takes it for one.
const testKey = "sk-" + "proj-Ab3dE6gH9jK2mN5pQ8sT1vX4z9f2a"

// Secrets are not written to notes unless the caller says so: replaced by a reference, told. (C13)
func TestAppendWritesASecretOnlyIfTold(t *testing.T) {
	t.Parallel()
	for _, target := range []string{memory.TargetDaily, memory.TargetLongTerm} {
		ws := t.TempDir()
		m := appendTo(t, ws)
		n := memory.Note{Text: "The key is " + testKey + ".", Target: target, Category: "fact"}
		first := addNote(t, m, n)
		got := read(t, ws, first.Path)
		if strings.Contains(got, testKey) || !strings.Contains(got, "The key is [secret sk-…9f2a left out].") {
			t.Errorf("%s: %q", target, got)
		}
		if want := (memory.ReplacedSecret{Kind: "OpenAI key", Reference: "[secret sk-…9f2a left out]"}); len(first.Secrets) != 1 || first.Secrets[0] != want {
			t.Errorf("%s: told %+v", target, first.Secrets)
		}
		if again := addNote(t, m, n); !again.Deduplicated || len(again.Secrets) != 1 {
			t.Errorf("%s: once more: %+v", target, again)
		}
		n.KeepSecrets = true
		second := addNote(t, m, n)
		if got := read(t, ws, first.Path); !strings.Contains(got, n.Text) || len(second.Secrets) != 0 {
			t.Errorf("%s: told to keep it: %+v, %q", target, second, got)
		}
	}
}

// An update writes no secret but those that the old text has already, and others if the caller says so. (C13)
func TestUpdateWritesASecretOnlyIfTold(t *testing.T) {
	t.Parallel()
	ws := workspace(t, map[string]string{"MEMORY.md": "- Wi-Fi password: h8Kq2!xZ, old\n"})
	m := appendTo(t, ws)
	u := memory.Update{OldText: "password: h8Kq2!xZ, old", NewText: "password: h8Kq2!xZ, key " + testKey}
	done := update(t, m, u)
	if got := read(t, ws, "MEMORY.md"); got != "- Wi-Fi password: h8Kq2!xZ, key [secret sk-…9f2a left out]\n" || len(done.Secrets) != 1 {
		t.Errorf("%+v, %q", done, got)
	}
	u.OldText, u.KeepSecrets = "password: h8Kq2!xZ, key [secret sk-…9f2a left out]", true
	done = update(t, m, u)
	if got := read(t, ws, "MEMORY.md"); !strings.Contains(got, testKey) || len(done.Secrets) != 0 {
		t.Errorf("told to keep it: %+v, %q", done, got)
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
		got := addNote(t, m, memory.Note{Text: c.text, Target: memory.TargetLongTerm, Category: "preference"}).Similar
		switch {
		case got == nil && c.want != "":
			t.Errorf("%s: none", name)
		case got != nil && *got != (memory.SimilarNote{Path: "MEMORY.md", Line: c.line, Text: c.want}):
			t.Errorf("%s: %+v", name, *got)
		}
	}
}

// No secret of the reason of an update is kept with the file as it was. (C13)
func TestUpdateKeepsNoSecretInItsReason(t *testing.T) {
	t.Parallel()
	ws := workspace(t, map[string]string{"MEMORY.md": "- a\n"})
	m := appendTo(t, ws)
	u := memory.Update{OldText: "a", NewText: "b", Reason: "password: h8Kq2!xZ9 because", KeepSecrets: true}
	for range 2 {
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
	u := memory.Update{OldText: "[secret password left out]", NewText: "h8Kq2!xZ9"}
	if done := update(t, m, u); read(t, ws, "MEMORY.md") != have || len(done.Secrets) != 1 {
		t.Errorf("%q, told %+v", read(t, ws, "MEMORY.md"), done.Secrets)
	}
	u.KeepSecrets = true
	if done := update(t, m, u); read(t, ws, "MEMORY.md") != "- Wi-Fi password: h8Kq2!xZ9\n" || len(done.Secrets) != 0 {
		t.Errorf("told to keep it: %q, told %+v", read(t, ws, "MEMORY.md"), done.Secrets)
	}
	u = memory.Update{OldText: "Wi-Fi password: h8Kq2!xZ9", NewText: "Wi-Fi password: h8Kq2!xZ9, in the hall"}
	if done := update(t, m, u); read(t, ws, "MEMORY.md") != "- "+u.NewText+"\n" || len(done.Secrets) != 0 {
		t.Errorf("what stands there already: %q, told %+v", read(t, ws, "MEMORY.md"), done.Secrets)
	}
}
