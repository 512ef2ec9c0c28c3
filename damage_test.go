package kioku

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/embed"
	"kioku/internal/testkit"
	"kioku/memory"
	"kioku/store"
	"kioku/store/checksumvfs"
	"kioku/store/storetest"
)

// damage changes the bytes of an index file without SQLite.
type damage struct {
	name  string
	apply func(r *rand.Rand, file []byte) []byte
}

// pageSize is the size of a page of an index.
const pageSize = checksumvfs.PageSize

// randomPage returns a page of a file.
func randomPage(r *rand.Rand, file []byte) []byte {
	n := r.IntN(len(file) / pageSize)
	return file[n*pageSize : (n+1)*pageSize]
}

// damages are the kinds of damage.
var damages = []damage{
	{"zeroed page", func(r *rand.Rand, file []byte) []byte { clear(randomPage(r, file)); return file }},
	{"random page", func(r *rand.Rand, file []byte) []byte {
		page := randomPage(r, file)
		for i := range page {
			page[i] = byte(r.Uint32())
		}
		return file
	}},
	{"flipped bit", func(r *rand.Rand, file []byte) []byte {
		randomPage(r, file)[r.IntN(pageSize)] ^= 1 << r.IntN(8)
		return file
	}},
	{"swapped pages", func(r *rand.Rand, file []byte) []byte {
		a, b := randomPage(r, file), randomPage(r, file)
		keep := string(a)
		copy(a, b)
		copy(b, keep)
		return file
	}},
	{"cut", func(r *rand.Rand, file []byte) []byte { return file[:r.IntN(len(file))] }},
}

// ferryNotes are files of several chunks each.
func ferryNotes(n int) map[string]string {
	files := map[string]string{}
	for i := range n {
		files[fmt.Sprintf("memory/2026-01-%02d-%d.md", i%28+1, i)] = strings.Repeat(fmt.Sprintf("The ferry number %d was late again.\n", i), 80)
	}
	return files
}

// soundIndex is an index of ferryNotes that tests damage.
type soundIndex struct {
	workspace, dump string
	texts           int               // that its chunks and windows cost
	answers         [20]string        // of askFerry
	files           map[string][]byte // of the folder memory in the state folder
	embedder        *embed.Client
	provider        *fakeOpenAI
}

// newSoundIndex makes an index, with vectors or without.
func newSoundIndex(t *testing.T, vectors bool) soundIndex {
	t.Helper()
	ix := soundIndex{workspace: workspace(t, ferryNotes(20)), files: map[string][]byte{}}
	if vectors {
		ix.provider, ix.embedder = openAI(t)
	}
	state := t.TempDir()
	m, err := Open(t.Context(), Options{Workspace: ix.workspace, StateDir: state, Embedder: ix.embedder})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	if vectors {
		ix.texts = len(ix.provider.all())
	}
	for n := range ix.answers {
		if ix.answers[n], _ = askFerry(t, m, n); ix.answers[n] == "" {
			t.Fatalf("nothing is found of ferry %d", n)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	ix.dump = storetest.Dump(t, store.Path(state, "main"))
	entries, err := os.ReadDir(filepath.Join(state, "memory"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(state, "memory", e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		ix.files[e.Name()] = b
	}
	return ix
}

// askFerry searches for a ferry of ferryNotes. It returns what is found, and what the answer says that it lacks.
func askFerry(t *testing.T, m *Memory, n int) (found string, degraded []memory.Degradation) {
	t.Helper()
	a, err := m.Search(t.Context(), memory.Query{Text: fmt.Sprintf("ferry number %d", n)})
	if err != nil {
		t.Fatalf("search for ferry %d: %v", n, err)
	}
	for _, h := range a.Hits {
		found += fmt.Sprintf("%s:%d-%d %s\n", h.Path, h.StartLine, h.EndLine, h.Snippet)
	}
	return found, a.Degraded
}

// copyTo returns a state folder with a copy of the index.
func (ix soundIndex) copyTo(t *testing.T) string {
	t.Helper()
	state := t.TempDir()
	for name, b := range ix.files {
		testkit.WriteFile(t, state, filepath.Join("memory", name), string(b))
	}
	return state
}

// overwrite changes a file in place, as another program does.
func overwrite(t *testing.T, path string, change func(file []byte) []byte) {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(file), 0o600); err != nil {
		t.Fatal(err)
	}
}

// settle waits until a repair has ended.
func settle(t *testing.T, m *Memory) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for m.store.Repair() != nil {
		select {
		case <-m.catchUp(ctx):
		case <-ctx.Done():
			t.Fatal("the repair does not end")
		}
	}
}

// Hazards A04, A05, A06: pages that are damaged anywhere, while the process runs or not, are noticed by a search that reads
// them or by a check. The index mends itself: after the check it equals a new one, and no text is paid for more than once.
// Meanwhile no answer is an error, and one that differs from the answer of the sound index says so.
func TestDamageIsNoticedAndMended(t *testing.T) {
	for _, vectors := range []bool{false, true} {
		ix := newSoundIndex(t, vectors)
		for round := range testkit.Rounds(10, 1) {
			for i, d := range damages {
				for _, running := range []bool{false, true} {
					if !testkit.Soak() && running == ((i%2 == 0) == vectors) {
						continue // half of the combinations, each kind of damage at rest and running
					}
					t.Run(fmt.Sprintf("%s vectors=%v running=%v seed=%d", d.name, vectors, running, round), func(t *testing.T) {
						testDamage(t, ix, d, running, rand.New(rand.NewPCG(uint64(round), 11)))
					})
				}
			}
		}
	}
}

// ferrySearches is the number of searches after damage.
const ferrySearches = 5

// testDamage damages a copy of an index.
func testDamage(t *testing.T, ix soundIndex, d damage, running bool, r *rand.Rand) {
	if ix.provider != nil {
		paid := len(ix.provider.all())
		defer func() {
			times, own := map[string]int{}, 0
			for _, text := range ix.provider.all()[paid:] {
				if times[text]++; times[text] == 2 {
					t.Errorf("this text is paid for again: %q", text)
				}
				if strings.Contains(text, "ferry number") { // the others measure the scale of the model
					own++
				}
			}
			if own > ix.texts+ferrySearches {
				t.Errorf("%d texts are embedded, %d of chunks and windows and %d queries are there", own, ix.texts, ferrySearches)
			}
		}()
	}
	state := ix.copyTo(t)
	path := store.Path(state, "main")
	same := false
	hurt := func() {
		overwrite(t, path, func(file []byte) []byte {
			before := string(file)
			after := d.apply(r, file)
			same = before == string(after)
			return after
		})
	}
	if !running {
		hurt()
	}
	m, err := Open(t.Context(), Options{Workspace: ix.workspace, StateDir: state, Embedder: ix.embedder})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if running {
		hurt()
	}
	for range ferrySearches {
		n := r.IntN(len(ix.answers))
		found, degraded := askFerry(t, m, n)
		if diff := cmp.Diff(ix.answers[n], found); diff != "" && len(degraded) == 0 {
			t.Errorf("another answer about ferry %d does not say so:\n%s", n, diff)
		}
	}
	if _, err := m.Sync(t.Context(), SyncOptions{Verify: true}, nil); err != nil {
		t.Fatal(err)
	}
	settle(t, m)
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	if id, _ := checksumvfs.PageID(ix.files["main.sqlite"][:pageSize], 1); !same && m.store.IndexID() == id {
		t.Error("the damage was not noticed")
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ix.dump, storetest.Dump(t, path)); diff != "" {
		t.Errorf("the index is another one:\n%s", diff)
	}
}

// Hazard A20: a search never returns a text that was changed in the index.
func TestSearchNoticesAChangedText(t *testing.T) {
	state := t.TempDir()
	m := synced(t, Options{Workspace: workspace(t, notes), StateDir: state})
	storetest.Exec(t, store.Path(state, "main"), "UPDATE chunks SET text = replace(text, 'nine', 'ten!')")
	a, err := m.Search(t.Context(), memory.Query{Text: "When does the lighthouse open?"})
	if err != nil || len(a.Hits) == 0 || !strings.Contains(a.Hits[0].Snippet, "nine") || strings.Contains(fmt.Sprint(a.Hits), "ten!") {
		t.Errorf("%+v, %v", a, err)
	}
}

// Hazard A04: the regular check of a daemon finds damage that no search reads, and mends it.
func TestCheckOnceMendsDamage(t *testing.T) {
	ix := newSoundIndex(t, false)
	state := ix.copyTo(t)
	m, err := Open(t.Context(), Options{Workspace: ix.workspace, StateDir: state})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	path := store.Path(state, "main")
	overwrite(t, path, func(file []byte) []byte { file[len(file)-pageSize/2]++; return file })
	if wait := m.checkOnce(t.Context()); wait != checkInterval {
		t.Errorf("the next check is in %v", wait)
	}
	settle(t, m)
	st, err := m.Status(t.Context())
	if err != nil || st.Check == nil || len(st.Check.Found) == 0 || st.Check.Pages == 0 {
		t.Errorf("%+v, %v", st.Check, err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ix.dump, storetest.Dump(t, path)); diff != "" {
		t.Error(diff)
	}
	if wait := m.checkOnce(t.Context()); wait != checkRetry {
		t.Errorf("after a check that failed, the next one is in %v", wait)
	}
}

// A rebuild works whatever is damaged.
func TestRebuildOfADamagedIndex(t *testing.T) {
	ix := newSoundIndex(t, true)
	r := rand.New(rand.NewPCG(5, 5))
	for range testkit.Rounds(20, 1) {
		state := ix.copyTo(t)
		m, err := Open(t.Context(), Options{Workspace: ix.workspace, StateDir: state, Embedder: ix.embedder})
		if err != nil {
			t.Fatal(err)
		}
		path := store.Path(state, "main")
		overwrite(t, path, func(file []byte) []byte {
			for range 10 {
				clear(randomPage(r, file))
			}
			return file
		})
		if _, err := m.Rebuild(t.Context(), nil); err != nil {
			t.Error(err)
		}
		settle(t, m)
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(ix.dump, storetest.Dump(t, path)); diff != "" {
			t.Error(diff)
		}
	}
}
