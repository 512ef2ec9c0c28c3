package kioku

import (
	"strings"
	"testing"

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
