package flush_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"kioku/agent/flush"
)

// Hazard G07: whatever is in the state and the spool of a session, its messages are flushed: each that is not covered is shown.
func FuzzStateAndSpool(f *testing.F) {
	talk := said("My cat is Miso.", "Noted.", "私の犬はケンです。")
	for _, seed := range stateSeeds(f, talk) {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, state, spool []byte) {
		w := newWorld(t)
		w.begin(talk[0])
		w.write(".json", state)
		w.write(".spool.jsonl", spool)
		w.reopen()
		before, err := w.Coverage("talk", talk)
		if err != nil {
			t.Fatal(err)
		}
		if before.NotBefore.Sub(w.now).Hours() > 1 {
			t.Errorf("the next try is at %v", before.NotBefore)
		}
		all := ""
		for ranges := 0; ; ranges++ {
			r := w.begin(talk...)
			if r.Lease == "" {
				break
			}
			for _, m := range r.Messages {
				all += strings.ReplaceAll(m.Text, "…", "")
			}
			w.commit(r.Lease)
			if ranges > len(spool)+100 {
				t.Fatalf("%d ranges without an end", ranges)
			}
		}
		if !utf8.ValidString(all) {
			t.Errorf("shown %q", all)
		}
		if got := w.covered(talk...); got != "+++" {
			t.Errorf("covered %s", got)
		}
		var r struct{ Shown, Writing any }
		if _ = json.Unmarshal(state, &r); r.Shown != nil || r.Writing != nil {
			return // It says that messages were shown in part, or covers more.
		}
		for i, m := range talk {
			if !before.Covered[i] && !strings.Contains(all, m.Text) {
				t.Errorf("%q was not shown: %q", m.Text, all)
			}
		}
	})
}

// write replaces the file of the session with a suffix.
func (w *world) write(suffix string, data []byte) {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.folder, "*.spool.jsonl"))
	if err != nil || len(files) != 1 {
		w.t.Fatalf("%q, %v", files, err)
	}
	if err := os.WriteFile(strings.TrimSuffix(files[0], ".spool.jsonl")+suffix, data, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// stateSeeds returns states with their spools: of a begun range, an unfinished one, a commit that was interrupted, and damaged
// ones.
func stateSeeds(f *testing.F, talk []flush.Message) [][2][]byte {
	f.Helper()
	w := &world{t: &testing.T{}, folder: f.TempDir() + "/flush", notes: &notebook{}, now: noon}
	w.reopen()
	var out [][2][]byte
	keep := func() {
		var seed [2][]byte
		for i, suffix := range []string{"[0-9a-f].json", ".spool.jsonl"} {
			files, _ := filepath.Glob(filepath.Join(w.folder, "*"+suffix))
			if len(files) > 0 {
				seed[i], _ = os.ReadFile(files[0])
			}
		}
		out = append(out, seed)
	}
	begin := func() string {
		r, err := w.Begin(f.Context(), flush.Request{Session: "talk", Messages: talk})
		if err != nil {
			f.Fatal(err)
		}
		return r.Lease
	}
	commit := func(unfinished bool) {
		_, _ = w.Commit(f.Context(), begin(), flush.Answer{Notes: notesOf("one", "two"), Unfinished: unfinished})
		keep()
	}
	begin()
	keep()
	commit(true)
	w.notes.err = errDisk
	commit(false)
	return append(out,
		[2][]byte{[]byte(`{"session":"talk","shown":{"key":"` + keyOf(out[0][0]) + `","bytes":-1}}`), nil},
		[2][]byte{[]byte(`{"session":"talk","shown":{"key":"` + keyOf(out[0][0]) + `","bytes":3}}`), nil},
		[2][]byte{[]byte(`{"session":"talk","room":1,"rest":{"keys":["` + keyOf(out[0][0]) + `"],"tokens":-9},"notBefore":"9999-01-01T00:00:00Z"}`), nil},
		[2][]byte{[]byte(`{"session":"another"}`), []byte("{}\n{\"id\":\"x\"}\n{\"id\":\"x\",\"Role\":\"system\",\"Text\":\"\xff\"}\n{")},
		[2][]byte{nil, nil},
	)
}

// keyOf returns the last key of a begun range in a state.
func keyOf(state []byte) string {
	var r struct{ Begun struct{ Keys []string } }
	if json.Unmarshal(state, &r) != nil || len(r.Begun.Keys) == 0 {
		return ""
	}
	return r.Begun.Keys[len(r.Begun.Keys)-1]
}
