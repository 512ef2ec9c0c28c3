package note

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kioku/internal/text"
	"kioku/memory"
)

// Hazard C06: any channel, in any script, has a folder of its own that is safe in any file system.
func TestFolderOfAnyChannel(t *testing.T) {
	t.Parallel()
	for _, channel := range []string{"..", "../../etc", "/", "a/b", "CON", "日本語:一般", "群组 #1", "x\x00y", ".git", strings.Repeat("長", 500), "\u202e", ""} {
		name := channelFolder(channel)
		if name != filepath.Base(filepath.Clean(name)) || strings.HasPrefix(name, ".") || len(name) > 100 || strings.ContainsAny(name, "/\\\x00: ") {
			t.Errorf("%q has the folder %q", channel, name)
		}
	}
	if channelFolder("a:b") == channelFolder("a/b") || channelFolder("A") == channelFolder("a") || channelFolder("a") == channelFolder(channelFolder("a")) {
		t.Error("two channels have the same folder")
	}
}

// Any origin survives its marker, which stays one line, ends once and is removed from what is indexed.
func TestOriginOfAMarkerIsTheOneThatWasWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := &memory.Origin{Channel: rapid.StringN(0, 50, -1).Draw(t, "channel")}
		for range rapid.IntRange(1, 4).Draw(t, "authors") {
			o.Add(memory.Author{ID: rapid.StringN(0, 50, -1).Draw(t, "id"), Name: rapid.StringN(0, 50, -1).Draw(t, "name"), IsOwner: rapid.Bool().Draw(t, "owner")})
		}
		n := memory.Note{Text: "x", Source: memory.NoteFromFlush, Origin: o}
		marker := markerOf(n)
		if diff := cmp.Diff(o, originOf(marker)); diff != "" {
			t.Fatalf("%s\n%s", marker, diff)
		}
		if strings.ContainsAny(marker, "\n\r") || strings.Count(marker, "--") != 2 || !wholeMarker.MatchString(marker) {
			t.Fatalf("marker %q", marker)
		}
		block := section(n, clock("2026-01-05T12:40:00Z")())
		if left := string(text.StripMarks([]byte(block))); strings.Contains(left, "kioku") {
			t.Fatalf("left of %q: %q", block, left)
		}
		if notes := Origins([]byte(block)); len(notes) != 1 || notes[0].From != 1 || notes[0].To != 3 || !cmp.Equal(notes[0].Origin, o) {
			t.Fatalf("origins of %q: %+v", block, notes)
		}
	})
}

func FuzzNoteOrigins(f *testing.F) {
	f.Add([]byte("## 12:00 - x <!-- kioku begins=0123456789abcdef author=a -->\n\ny <!-- kioku text=0123456789abcdef author=a/b%20,owner:c -->\n"))
	f.Add([]byte("- a <!-- kioku from=flush channel=%zz author=?,,/ -->\n<!-- kioku begins=0123456789abcdef author=% -->"))
	f.Fuzz(func(t *testing.T, src []byte) {
		lines := strings.Count(string(src), "\n") + 1
		for _, n := range Origins(src) {
			if n.From < 1 || n.To < n.From || n.To > lines || n.Origin == nil || n.Origin.String() == "" {
				t.Errorf("%+v of %d lines", n, lines)
			}
		}
	})
}
