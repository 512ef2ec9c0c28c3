package prompt_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kioku/agent/prompt"
	"kioku/memory"
)

// section returns the part of a prompt with what was recalled: heading, introduction and frame.
func section(in prompt.Input) string {
	_, after, _ := strings.Cut(prompt.Assemble(in).Prompt, "### Recalled")
	body, end, _ := strings.Cut(after, "</recalled-memories")
	tail, _, _ := strings.Cut(end, ">")
	return "### Recalled" + body + "</recalled-memories" + tail + ">"
}

func TestStripRecalledRemovesFrames(t *testing.T) {
	t.Parallel()
	whole := section(everything())
	_, frame, _ := strings.Cut(whole, "end them.\n\n")
	if frame == "" {
		_, frame, _ = strings.Cut(whole, "\n\n<")
		frame = "<" + frame
	}
	lines := strings.Split(frame, "\n")
	for name, c := range map[string]struct{ text, want string }{
		"whole":       {"Hello.\n\n" + whole + "\n\nWhat is it?", "Hello.\n\nWhat is it?"},
		"frame alone": {frame, ""},
		"inline":      {"It says " + frame + " there", "It says \n there"},
		"twice":       {frame + "\nand\n" + frame, "and"},
		"quoted":      {"> " + strings.ReplaceAll(whole, "\n", "\n> ") + "\nSo it is.", "So it is."},
		"fenced item": {"It is:\n- `" + lines[1] + "`\nSo.", "It is:\nSo."},
		"cut off":     {"Look: " + strings.Join(lines[:3], "\n") + "\nmore of the user", "Look: \n\nmore of the user"},
		"only an end": {"a\n" + lines[len(lines)-1] + "\nb", "a\n\nb"},
		"cut, again":  {lines[0] + "\nmine\n" + frame, "mine"},
	} {
		if got := memory.StripRecalled(c.text); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestStripRecalledKeepsOtherText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "  a\n\n\n\nb  ", "### Recalled Memories (auto-searched)\n\nis a heading", `{"source":"a.md#L1"}`, "<recalled-memories>", `{"source":"x","agent":"y","text":"z"}`,
		`see <recalled-memories id="12">`,
	} {
		if got := memory.StripRecalled(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// Hazard F08: over fifty rounds in which a model repeats all that was recalled and the whole turn is stored, what is
// stored does not grow.
func TestStripRecalledOverFiftyRounds(t *testing.T) {
	t.Parallel()
	stored := "The key is in vault 7."
	for round := range 50 {
		in := everything()
		in.Recalled = memories(3)
		in.Recalled[0].Text = stored
		in.Now = noon.AddDate(0, 0, round)
		turn := section(in) + "\n\n" + stored + "\n\n" + "> " + strings.ReplaceAll(section(in), "\n", "\n> ")
		stored = memory.StripRecalled(turn)
		if stored != "The key is in vault 7." {
			t.Fatalf("after round %d: %q", round+1, stored)
		}
	}
}

func TestStripRecalledIsIdempotent(t *testing.T) {
	t.Parallel()
	lines := strings.Split(section(everything()), "\n")
	lines = append(lines, "user text", "", "  ", `<recalled-memories id="0000000000000000">`, `</recalled-memories id="0000000000000000">`, "<recalled-memo", `ries id="0000000000000000">`)
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(0, 12).Draw(t, "n") {
			b.WriteString(rapid.SampledFrom(lines).Draw(t, "line") + rapid.SampledFrom([]string{"\n", "", " ", "\n> "}).Draw(t, "end"))
		}
		once := memory.StripRecalled(b.String())
		if twice := memory.StripRecalled(once); twice != once {
			t.Fatalf("%q became %q", once, twice)
		}
		if len(once) > b.Len() {
			t.Fatalf("%q is longer than %q", once, b.String())
		}
	})
}

func FuzzStripRecalledNeverGrowsAText(f *testing.F) {
	f.Add(section(everything()))
	f.Add("a\r\n> " + section(everything())[:400])
	f.Add(`<recalled-memories id="0000000000000000"></recalled-memories id="0000000000000000">` + "\n\n\n")
	f.Fuzz(func(t *testing.T, s string) {
		once := memory.StripRecalled(s)
		if len(once) > len(s) || memory.StripRecalled(once) != once {
			t.Errorf("%q became %q", s, once)
		}
	})
}

func TestStripRecalledKeepsLinesOfLogs(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		`{"source":"app.go#L12","agent":"curl","text":"boom"}`,
		`{"source":"app.go","agent":"curl","score":0.5,"text":"boom"}`,
	} {
		if got := memory.StripRecalled("It said:\n" + line); got != "It said:\n"+line {
			t.Errorf("%s: left is %q", line, got)
		}
	}
}
