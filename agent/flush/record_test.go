package flush

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func FuzzSpool(f *testing.F) {
	for _, s := range []string{"", "{}\n", "{}\n[1, \"二\"]\n", "{}", "\n", "null\n\xff\n", "{}\n{\"a\":"} {
		f.Add([]byte(s), bytes.Count([]byte(s), []byte("\n")))
	}
	f.Fuzz(func(t *testing.T, lines []byte, messages int) {
		spool, err := parseSpool(lines, messages)
		if err != nil {
			return
		}
		if len(spool) != messages {
			t.Errorf("%d messages of %d", len(spool), messages)
		}
		compact, err := spoolLines(spool)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := parseSpool(compact, messages)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if second, err := spoolLines(again); err != nil || !bytes.Equal(second, compact) {
			t.Errorf("%q became %q, %v", compact, second, err)
		}
	})
}

// FuzzJournal reads foreign journals: each is refused under its name, or has a step for each whole line, and reads the same
// after it is written.
func FuzzJournal(f *testing.F) {
	for _, s := range []string{
		"", "{}\n", `{"answer":{"role":"assistant","toolCalls":[{"id":"1","name":"memory_append","input":{"text":"x"}}]},"noteKey":"k"}` + "\n" +
			`{"result":{"role":"tool","text":"ok"},"note":{"path":"memory/a.md","startLine":3}}` + "\n", `{"answer":null}` + "\n{", "\xff\n", `{"answer":{},"result":{}}` + "\n",
	} {
		f.Add([]byte(s))
	}
	id := flushID("s", 0)
	folder := f.TempDir()
	l := NewLedger(folder, Settings{}, nil)
	read := func(t *testing.T, data []byte) ([]step, error) {
		if err := os.WriteFile(filepath.Join(folder, id+journalSuffix), data, 0o600); err != nil {
			t.Fatal(err)
		}
		return l.steps(id)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		steps, err := read(t, data)
		if err != nil {
			if steps != nil || !strings.Contains(err.Error(), id+journalSuffix) {
				t.Errorf("%d steps and %v", len(steps), err)
			}
			return
		}
		if whole := bytes.Count(data, []byte("\n")); len(steps) != whole {
			t.Errorf("%d steps of %d lines", len(steps), whole)
		}
		written := journalOf(t, steps)
		again, err := read(t, written)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if second := journalOf(t, again); !bytes.Equal(second, written) {
			t.Errorf("%q became %q", written, second)
		}
	})
}

// journalOf returns steps as the lines of a journal.
func journalOf(t *testing.T, steps []step) (lines []byte) {
	t.Helper()
	for _, s := range steps {
		line, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(append(lines, line...), '\n')
	}
	return lines
}
