package note

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kioku/internal/testkit"
	"kioku/memory"
)

// Hazard F06: a key that comes again with another text is refused and never taken for the first note.
func TestAppendOfAKeyWithAnotherTextIsAConflict(t *testing.T) {
	for _, target := range []string{memory.TargetDaily, memory.TargetLongTerm} {
		ws := t.TempDir()
		m := appendTo(t, ws)
		first := addNote(t, m, memory.Note{Text: "The ferry was late.", Key: "k", Target: target})
		before := read(t, ws, first.Path)
		for _, text := range []string{"The windmill was painted green.", "late.", "The ferry was late.\n\nVery."} {
			_, err := m.Append(t.Context(), memory.Note{Text: text, Key: "k", Target: target})
			if !errors.Is(err, memory.ErrConflict) || !strings.Contains(err.Error(), first.Path) {
				t.Errorf("%s: %q: %v", target, text, err)
			}
		}
		if after := read(t, ws, first.Path); after != before {
			t.Errorf("%s: %q has become %q", target, before, after)
		}
		if a := addNote(t, m, memory.Note{Text: "The ferry was late.", Key: "k", Target: target}); !a.Deduplicated {
			t.Errorf("%s: the same text is written again", target)
		}
	}
}

func TestAppendOfAKeyOfYesterdayWithAnotherTextIsAConflict(t *testing.T) {
	ws := t.TempDir()
	addNote(t, appendTo(t, ws), memory.Note{Text: "one", Key: "k"})
	later := openFolder(t, Options{Path: ws, Now: clock("2026-01-06T09:00:00Z"), Location: time.UTC})
	if _, err := later.Append(t.Context(), memory.Note{Text: "two", Key: "k"}); !errors.Is(err, memory.ErrConflict) {
		t.Errorf("got %v", err)
	}
}

// The marker knows the text that came with the key, so a person may correct the note.
func TestAppendKnowsANoteThatAPersonEdited(t *testing.T) {
	for _, target := range []string{memory.TargetDaily, memory.TargetLongTerm} {
		ws := t.TempDir()
		m := appendTo(t, ws)
		first := addNote(t, m, memory.Note{Text: "The ferry was late.", Key: "k", Target: target})
		edited := strings.Replace(read(t, ws, first.Path), "late", "early", 1)
		if err := os.WriteFile(filepath.Join(ws, first.Path), []byte(edited), 0o644); err != nil {
			t.Fatal(err)
		}
		if a := addNote(t, m, memory.Note{Text: "The ferry was late.", Key: "k", Target: target}); !a.Deduplicated {
			t.Errorf("%s: the note is written again", target)
		}
	}
}

// Only a whole marker at the end of a line is one: an older Kioku let texts pass that begin like one.
func TestAppendIgnoresWhatOnlyBeginsLikeAMarker(t *testing.T) {
	key := "<!-- kioku" + markerKey("k")
	for _, text := range []string{key + " ", key, key + " -->x", key + " --> and more", key + " from= -->", key + "0 -->", key + " text=12 -->"} {
		ws := t.TempDir()
		testkit.WriteFile(t, ws, "memory/2026-01-05.md", "# 2026-01-05\n\n## 09:00 - note\n\nold "+text+"\n")
		m := appendTo(t, ws)
		if a := addNote(t, m, memory.Note{Text: "the real note", Key: "k"}); a.Deduplicated {
			t.Errorf("%q holds off the note with the key", text)
		}
	}
}
