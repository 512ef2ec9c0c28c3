package kioku

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"kioku/indexer"
	"kioku/internal/testkit"
	"kioku/memory"
)

// writeMany writes n small notes in folders of a hundred.
func writeMany(t *testing.T, ws string, n int) {
	t.Helper()
	for i := range n {
		testkit.WriteFile(t, ws, manyName(i), fmt.Sprintf("# Note %d\n\nThe ferry number %d was late by %d minutes.\n", i, i, i%60))
	}
}

// manyName returns the name of file i of writeMany.
func manyName(i int) string { return fmt.Sprintf("memory/%03d/%d.md", i/100, i) }

// syncChildEnv makes a copy of the test binary sync a workspace, see TestSyncChild.
const syncChildEnv = "KIOKU_TEST_SYNC_CHILD"

// TestSyncChild is no test: it syncs for TestSyncOfManyFilesGoesOnAfterAKill and writes its progress to standard output.
func TestSyncChild(t *testing.T) {
	ws, state, ok := strings.Cut(os.Getenv(syncChildEnv), "\n")
	if !ok {
		t.Skip("runs as a child only")
	}
	m := openMemory(t, Options{Workspace: ws, StateDir: state})
	if _, err := m.Sync(t.Context(), SyncOptions{}, func(p indexer.Progress) {
		if p.Phase == indexer.PhaseCommit {
			fmt.Println("done", p.FilesDone)
		}
	}); err != nil {
		t.Fatal(err)
	}
}

// killedSync starts a sync in another process and kills it after it has written some files.
func killedSync(t *testing.T, ws, state string, after int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSyncChild$")
	cmd.Env = append(os.Environ(), syncChildEnv+"="+ws+"\n"+state)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	done := 0
	for lines := bufio.NewScanner(out); done < after && lines.Scan(); {
		if _, err := fmt.Sscanf(lines.Text(), "done %d", &done); err != nil {
			continue
		}
	}
	if done < after {
		t.Errorf("%d files of %d were written", done, after)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
}

// Hazard B11: a sync of very many files goes on where a kill has ended it, shows its progress and needs little memory.
func TestSyncOfManyFilesGoesOnAfterAKill(t *testing.T) {
	files := testkit.Rounds(100_000, 1_500)
	ws, state := t.TempDir(), t.TempDir()
	writeMany(t, ws, files)
	killedSync(t, ws, state, files/3)
	m := openMemory(t, Options{Workspace: ws, StateDir: state})
	before := checkIndex(t, m).Files
	if before < files/3 || before == files {
		t.Errorf("%d of %d files are in the index after the kill", before, files)
	}
	var most uint64
	last := indexer.Progress{}
	r, err := m.Sync(t.Context(), SyncOptions{}, func(p indexer.Progress) {
		if p.FilesDone < last.FilesDone || p.FilesDone > p.FilesTotal {
			t.Errorf("progress goes from %+v to %+v", last, p)
		}
		if last = p; p.Phase == indexer.PhaseCommit {
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc)
		}
	})
	// Files of the last seconds before the kill are read again, because their times cannot be trusted yet.
	if err != nil || r.Files != files-before || last.FilesDone != last.FilesTotal || checkIndex(t, m).Files != files {
		t.Errorf("%+v, progress %+v, %v", r, last, err)
	}
	if limit := uint64(64<<20 + 4<<10*files); most > limit {
		t.Errorf("%d MiB of memory, more than %d", most>>20, limit>>20)
	}
	if hits := find(t, m, fmt.Sprintf("ferry number %d", files-1)); len(hits) == 0 || hits[0] != manyName(files-1) {
		t.Errorf("found %v", hits)
	}
	t.Logf("%d files, %d before the kill, at most %d MiB", files, before, most>>20)
}

// Hazard B11: folders that are nested too deep are listed as skipped, and everything above is indexed.
func TestSyncOfVeryDeepFolders(t *testing.T) {
	ws := t.TempDir()
	testkit.WriteFile(t, ws, "memory/top.md", "The lighthouse opens at nine.")
	root, err := os.OpenRoot(filepath.Join(ws, "memory"))
	if err != nil {
		t.Fatal(err)
	}
	for range testkit.Rounds(3000, 300) {
		err := root.Mkdir("d", 0o755)
		if err == nil {
			err = root.WriteFile("d/note.md", []byte("Deep down.\n"), 0o644)
		}
		var below *os.Root
		if err == nil {
			below, err = root.OpenRoot("d")
		}
		root.Close()
		if root = below; err != nil {
			t.Fatal(err)
		}
	}
	root.Close()
	m := synced(t, Options{Workspace: ws})
	st, err := m.Status(t.Context())
	if err != nil || st.Index.Files < 90 || st.Index.Files > 110 || len(st.Skipped) == 0 || !strings.Contains(st.Skipped[0].Reason, "folders deep") {
		t.Errorf("%d files, skipped %+v, %v", st.Index.Files, st.Skipped, err)
	}
	if hits := find(t, m, "lighthouse"); len(hits) != 1 {
		t.Errorf("found %v", hits)
	}
}

// checkout makes a workspace contain a tree as git does: it writes what differs under another name and renames it, and removes
// what the tree does not have.
func checkout(t *testing.T, ws string, from, to map[string]string) {
	t.Helper()
	for name := range from {
		if _, kept := to[name]; !kept {
			if err := os.Remove(filepath.Join(ws, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, text := range to {
		if from[name] == text {
			continue
		}
		testkit.WriteFile(t, ws, name+".lock", text)
		if err := os.Rename(filepath.Join(ws, name+".lock"), filepath.Join(ws, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// Hazard B21: switching between two branches converges each time, and the way back costs no embedding.
func TestSyncOfSwitchedBranchesPaysForNoVectorTwice(t *testing.T) {
	files := testkit.Rounds(5000, 90)
	var branches [2]map[string]string
	for b := range branches {
		branches[b] = map[string]string{"MEMORY.md": "The lighthouse opens at nine."}
		for i := range files {
			switch {
			case i%3 == 0: // the same in both
				branches[b][fmt.Sprintf("memory/same%d.md", i)] = fmt.Sprintf("The pier number %d is long.", i)
			case i%3 == 1:
				branches[b][fmt.Sprintf("memory/edited%d.md", i)] = fmt.Sprintf("The ferry number %d is on branch %d.", i, b)
			default:
				branches[b][fmt.Sprintf("memory/only%d-%d.md", b, i)] = fmt.Sprintf("The crane number %d is only on branch %d.", i, b)
			}
		}
	}
	fake, client := openAI(t)
	ws := workspace(t, branches[0])
	m := synced(t, Options{Workspace: ws, Embedder: client})
	paid := int64(0)
	for round := range 10 {
		to := (round + 1) % 2
		checkout(t, ws, branches[1-to], branches[to])
		r, err := m.Sync(t.Context(), SyncOptions{}, nil)
		if err != nil || r.EmbedErr != nil || r.Unembedded != 0 {
			t.Fatalf("%+v, %v", r, err)
		}
		if stats := checkIndex(t, m); stats.Files != len(branches[to]) || stats.Embedded != stats.Chunks {
			t.Errorf("round %d: %+v, want %d files", round, stats, len(branches[to]))
		}
		if round > 0 && fake.texts.Load() != paid {
			t.Errorf("round %d: %d texts are paid for again", round, fake.texts.Load()-paid)
		}
		a, err := m.Search(t.Context(), memory.Query{Text: "crane number 2"})
		if err != nil || len(a.Hits) == 0 || a.Hits[0].Path != fmt.Sprintf("memory/only%d-2.md", to) {
			t.Errorf("round %d: %+v, %v", round, a.Hits, err)
		}
		paid = fake.texts.Load() // of the notes and of the query
	}
}
