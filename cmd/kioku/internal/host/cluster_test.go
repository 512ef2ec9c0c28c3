package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku"
	"kioku/client"
	"kioku/memory"
	"kioku/note/forgotten"
	"kioku/pgstore"
	"kioku/pgstore/pgtest"
)

// Every node answers for every agent, with the hits, scores and lines of the owner; a note that one of them takes is found by all at once, and
// the owner writes it into the folder once.
func TestClusterAnswersOnEveryNode(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t).Database("answers")
	a, b, c := testNode(t, address, "a"), testNode(t, address, "b"), testNode(t, address, "c")
	o := testOwner(t, a, "main", example)
	for _, query := range []string{"Which database does the v2 ledger use?", "旅行の手配", "who decides about the budget?", "what happened on 2026-01-15?", "Trieste"} {
		want := hits(t, o, query)
		for _, node := range []*cluster{b, c} {
			if diff := cmp.Diff(want, hits(t, at(t, node, "main"), query)); diff != "" || len(want) == 0 {
				t.Errorf("%s at %s:\n%s", query, node.node.Name, diff)
			}
			if st, err := at(t, node, "main").Status(t.Context()); err != nil || st.Embedded != st.Index.Chunks {
				t.Errorf("%s has vectors of %d of %d, %v", node.node.Name, st.Embedded, st.Index.Chunks, err)
			}
		}
	}
	added, err := at(t, b, "main").Append(t.Context(), memory.Note{Text: "The ferry to Naoshima leaves from Uno port.", Category: "fact"})
	if err != nil || added.Path != "memory/2026-03-03.md" {
		t.Fatalf("%+v, %v", added, err)
	}
	if _, err := at(t, c, "main").Append(t.Context(), memory.Note{Text: "The gallery on Naoshima is closed on Mondays."}); err != nil {
		t.Fatal(err)
	}
	const query = "from where does the ferry to Naoshima leave?"
	for _, node := range []*cluster{b, c} {
		if got := hits(t, at(t, node, "main"), query); len(got) == 0 || !strings.Contains(got[0].Snippet, "Uno port") {
			t.Errorf("%s: %+v", node.node.Name, got)
		}
	}
	text := filepath.Join(o.Workspace(), added.Path)
	if have, err := os.ReadFile(text); err == nil {
		t.Fatalf("the owner has it already: %s", have)
	}
	if got, err := at(t, a, "main").Search(t.Context(), memory.Query{Text: query}); err != nil || len(got.Hits) == 0 || !strings.Contains(got.Hits[0].Snippet, "Uno port") {
		t.Errorf("the owner: %+v, %v", got, err)
	}
	for range 3 { // once, however often
		if err := o.push(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(text)
	if err != nil || strings.Count(string(have), "Uno port") != 1 || strings.Count(string(have), "closed on Mondays") != 1 {
		t.Errorf("%s, %v", have, err)
	}
	if st, err := a.store.Agent(t.Context(), "main"); st.Waiting != 0 || err != nil {
		t.Errorf("%+v, %v", st, err)
	}
	for _, node := range []*cluster{b, c} {
		at(t, node, "main")
		sameFiles(t, o.Workspace(), filepath.Join(node.dir, "main"))
	}
}

// A node that is still making its index has the owner answer; if there is none, callers wait.
func TestClusterColdNodeAsksTheOwner(t *testing.T) {
	t.Parallel()
	a, b, o := twoNodes(t, "cold")
	a.node.Address, a.node.Secret = "a.example:7600", "of a"
	if err := a.store.Join(t.Context(), a.node); err != nil {
		t.Fatal(err)
	}
	owner := &http.Transport{}
	b.dial = func(target, token string) (*client.Client, error) {
		if target != "a.example:7600" || token != "of a" {
			t.Errorf("dials %s", target)
		}
		return &client.Client{Conn: owner}, nil
	}
	open, goOn := b.open, make(chan struct{})
	b.open = func(ctx context.Context, agent, workspace string) (*Memory, error) {
		<-goOn
		return open(ctx, agent, workspace)
	}
	if conn, err := b.Elsewhere(t.Context(), "nobody", false); !errors.Is(err, memory.ErrNoAgent) {
		t.Errorf("an agent that nobody has: %v, %v", conn, err)
	}
	if conn, err := b.Elsewhere(t.Context(), "main", false); conn != owner || err != nil {
		t.Errorf("cold: %v, %v", conn, err)
	}
	short, done := context.WithTimeout(t.Context(), time.Millisecond)
	defer done()
	if m, err := b.Memory(short, "main"); !errors.Is(err, memory.ErrUnreachable) {
		t.Errorf("a memory that is not open: %v, %v", m, err)
	}
	if conn, err := a.Elsewhere(t.Context(), "main", true); conn != nil || err != nil {
		t.Errorf("the owner does it elsewhere: %v, %v", conn, err)
	}
	if err := a.store.Release(t.Context(), "main", o.epoch.Load()); err != nil {
		t.Fatal(err)
	}
	if conn, err := b.Elsewhere(t.Context(), "main", false); conn != nil || err != nil {
		t.Errorf("nobody has the folder: %v, %v", conn, err)
	}
	close(goOn)
	if got := hits(t, at(t, b, "main"), "Which database does the v2 ledger use?"); len(got) == 0 {
		t.Error("nothing is found")
	}
	if conn, err := b.Elsewhere(t.Context(), "main", false); conn != nil || err != nil {
		t.Errorf("warm: %v, %v", conn, err)
	}
}

// What is edited, removed and forgotten in the folder is so at every node.
func TestClusterFollowsTheFolder(t *testing.T) {
	t.Parallel()
	_, b, o := twoNodes(t, "follows")
	if _, err := at(t, b, "main").Append(t.Context(), memory.Note{Text: "The weir is old."}); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(o.Workspace(), name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("memory/2026-03-02.md", "# 2026-03-02\n\n## 09:00 - fact\n\nThe heron nests by the weir.\n\nThe gate code is 4711.\n")
	if err := os.Remove(filepath.Join(o.Workspace(), "memory/2026-01-15.md")); err != nil {
		t.Fatal(err)
	}
	if _, err := o.m.Sync(t.Context(), kioku.SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	found, err := o.Forget(t.Context(), memory.Forget{Text: "The gate code is 4711."})
	if err != nil || len(found.Places) == 0 {
		t.Fatalf("%+v, %v", found, err)
	}
	if _, err := o.Forget(t.Context(), memory.Forget{Places: []string{found.Places[0].Place}}); err != nil {
		t.Fatal(err)
	}
	if a, err := o.Append(t.Context(), memory.Note{Text: "4711 opens the gate.", Source: memory.NoteFromAgent}); err != nil || a.Forgotten == "" {
		t.Errorf("the owner stores what was forgotten: %+v, %v", a, err)
	}
	m := at(t, b, "main")
	if got := hits(t, m, "where does the heron nest?"); len(got) == 0 || !strings.Contains(got[0].Snippet, "weir") {
		t.Errorf("%+v", got)
	}
	sameFiles(t, o.Workspace(), filepath.Join(b.dir, "main"))
	if kept, _ := filepath.Glob(filepath.Join(b.dir, "main"+stateOf, "agents", "*", "note", "changes*")); len(kept) > 0 {
		t.Errorf("what was forgotten may be in %q", kept)
	}
	if a, err := m.Append(t.Context(), memory.Note{Text: "Use 4711 for the gate.", Source: memory.NoteFromAgent}); err != nil || a.Forgotten == "" {
		t.Errorf("a node stores what was forgotten: %+v, %v", a, err)
	}
	if conn, err := b.Elsewhere(t.Context(), "main", true); conn != nil || !errors.Is(err, memory.ErrUnreachable) {
		t.Errorf("a node without the folder would update it: %v", err)
	}
}

// A node whose agent was adopted by another one writes nothing any more; the folder is there with all that was acknowledged.
func TestClusterFencesTheFormerOwner(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t).Database("fences")
	a, b, c := testNode(t, address, "a"), testNode(t, address, "b"), testNode(t, address, "c")
	first := testOwner(t, a, "main", example)
	if _, err := at(t, b, "main").Append(t.Context(), memory.Note{Text: "Acknowledged before the owner was lost.", Key: "k1"}); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "adopted")
	if err := adopt(t.Context(), c.store, "main", dir, c.node.Name, c.dir, false); !errors.Is(err, pgstore.ErrFenced) {
		t.Fatalf("adopted from an owner that is there: %v", err)
	}
	if exists(dir) {
		t.Error("a refused adoption leaves a folder")
	}
	if err := adopt(t.Context(), c.store, "main", dir, c.node.Name, c.dir, true); err != nil {
		t.Fatal(err)
	}
	m := testMemory(t, "main", dir, t.TempDir(), true)
	second := c.share(m)
	if err := second.adoptVectors(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Sync(t.Context(), kioku.SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	if st, err := m.Status(t.Context()); err != nil || st.Embedded != st.Index.Chunks || st.Embedded == 0 {
		t.Errorf("vectors of %d of %d passages came along, %v", st.Embedded, st.Index.Chunks, err)
	}
	if err := second.push(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := first.Append(t.Context(), memory.Note{Text: "Too late."}); !errors.Is(err, pgstore.ErrFenced) || !first.fenced.Load() {
		t.Errorf("the former owner writes: %v", err)
	}
	for i := range 2 {
		if _, err := second.Append(t.Context(), memory.Note{Text: fmt.Sprintf("After the adoption, %d.", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.store.Release(t.Context(), "main", second.epoch.Load()); err != nil {
		t.Fatal(err)
	}
	if err := first.push(t.Context(), nil); !errors.Is(err, pgstore.ErrFenced) {
		t.Errorf("the former owner comes back with its old folder: %v", err)
	}
	second.epoch.Store(0)
	if err := second.push(t.Context(), nil); err != nil || second.fenced.Load() {
		t.Error(err)
	}
	at(t, b, "main")
	sameFiles(t, dir, filepath.Join(b.dir, "main"))
	day, err := os.ReadFile(filepath.Join(dir, "memory/2026-03-03.md"))
	if err != nil || strings.Count(string(day), "Acknowledged before") != 1 || !strings.Contains(string(day), "After the adoption, 1.") || strings.Contains(string(day), "Too late") {
		t.Errorf("%s, %v", day, err)
	}
}

// While the database stands still, nodes answer from what they have, and say so; nothing is acknowledged, and nothing is there afterwards that was not.
func TestClusterAnswersWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	pg := pgtest.New(t)
	address := pg.Database("away")
	a, b := testNode(t, address, "a"), testNode(t, address, "b")
	o := testOwner(t, a, "main", example)
	const query = "Which database does the v2 ledger use?"
	want := hits(t, at(t, b, "main"), query)
	if _, err := b.Agents(t.Context()); err != nil {
		t.Fatal(err)
	}
	pg.Stop()
	if agents, err := b.Agents(t.Context()); err != nil || !slices.Equal(agents, []string{"main"}) { // clients ask for these before they search
		t.Errorf("%q, %v", agents, err)
	}
	got, err := at(t, b, "main").Search(t.Context(), memory.Query{Text: query})
	if err != nil || len(got.Hits) != len(want) || !slices.ContainsFunc(got.Degraded, func(d memory.Degradation) bool { return d.Code == memory.StoreAway }) {
		t.Errorf("%+v, %v", got, err)
	}
	short, done := context.WithTimeout(t.Context(), time.Second)
	defer done()
	if a, err := at(t, b, "main").Append(short, memory.Note{Text: "Said into the void."}); err == nil {
		t.Errorf("acknowledged: %+v", a)
	}
	pg.Continue()
	b.replicas["main"].missed = time.Time{}
	if _, err := at(t, b, "main").Append(t.Context(), memory.Note{Text: "Said when it was back."}); err != nil {
		t.Fatal(err)
	}
	if err := o.push(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	day, err := os.ReadFile(filepath.Join(o.Workspace(), "memory/2026-03-03.md"))
	if err != nil || strings.Contains(string(day), "void") || strings.Count(string(day), "when it was back") != 1 {
		t.Errorf("%s, %v", day, err)
	}
	at(t, b, "main")
	sameFiles(t, o.Workspace(), filepath.Join(b.dir, "main"))
}

// A note that was taken and is forgotten before the owner has written it is written nowhere, and stops nothing; one that the folder refuses waits on.
func TestClusterGoesOnAfterANoteThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	a, b, o := twoNodes(t, "refused")
	for _, n := range []memory.Note{{Text: "The gate code is 4711.", Source: memory.NoteFromAgent}, {Text: "The heron nests by the weir.", Key: "k"}, {Text: "The ferry leaves at nine."}} {
		if _, err := at(t, b, "main").Append(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	stone := forgotten.Stone{ID: "20260303T120000Z-00000000"}
	stone.Add("The gate code is 4711.")
	line, err := json.Marshal(stone)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{ // by hand: also another note with the key of one that waits
		forgotten.File:         string(line) + "\n",
		"memory/2026-03-03.md": "# 2026-03-03\n",
	} {
		if err := os.WriteFile(filepath.Join(o.Workspace(), name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := o.m.Append(t.Context(), memory.Note{Text: "Something else with the key.", Key: "k"}); err != nil {
		t.Fatal(err)
	}
	if err := o.push(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	day, err := os.ReadFile(filepath.Join(o.Workspace(), "memory/2026-03-03.md"))
	if err != nil || strings.Contains(string(day), "4711") || strings.Contains(string(day), "heron") || strings.Count(string(day), "at nine") != 1 {
		t.Errorf("%s, %v", day, err)
	}
	if st, err := a.store.Agent(t.Context(), "main"); st.Waiting != 1 || err != nil {
		t.Errorf("%+v, %v", st, err)
	}
	if got := hits(t, at(t, b, "main"), "when does the ferry leave?"); len(got) == 0 || !strings.Contains(got[0].Snippet, "at nine") {
		t.Errorf("%+v", got)
	}
}

// Nodes and writers of many notes at once: all that was acknowledged is in the folder, once.
func TestClusterLosesNoNote(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t).Database("notes")
	a := testNode(t, address, "a")
	o := testOwner(t, a, "main", example)
	var acknowledged []string
	results := make(chan string)
	const writers, notes = 3, 8
	for w := range writers {
		node := testNode(t, address, fmt.Sprint("node", w))
		go func() {
			for i := range notes {
				text := fmt.Sprintf("Note %d of writer %d is about the %d. lock.", i, w, 100*w+i)
				m, err := node.Memory(context.Background(), "main")
				if err == nil {
					_, err = m.Append(context.Background(), memory.Note{Text: text})
				}
				if err != nil {
					text = ""
				}
				results <- text
			}
		}()
	}
	for range writers * notes {
		if text := <-results; text != "" {
			acknowledged = append(acknowledged, text)
		}
		if len(acknowledged)%5 == 0 {
			if err := o.push(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := o.push(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	day, err := os.ReadFile(filepath.Join(o.Workspace(), "memory/2026-03-03.md"))
	if err != nil || len(acknowledged) != writers*notes {
		t.Fatalf("%d acknowledged, %v", len(acknowledged), err)
	}
	slices.Sort(acknowledged)
	for _, text := range acknowledged {
		if n := strings.Count(string(day), text); n != 1 {
			t.Errorf("%q is there %d times", text, n)
		}
	}
}

// A folder that is away for a while, or empty as a disk that is not mounted, takes nothing from the cluster; what was removed in it goes.
func TestClusterKeepsWhatAFolderThatIsAwayHad(t *testing.T) {
	t.Parallel()
	_, b, o := twoNodes(t, "mount")
	want := len(hits(t, at(t, b, "main"), "Which database does the v2 ledger use?"))
	aside := o.Workspace() + ".aside"
	if err := errors.Join(os.Rename(o.Workspace(), aside), os.Mkdir(o.Workspace(), 0o700)); err != nil {
		t.Fatal(err)
	}
	_, _ = o.m.Sync(t.Context(), kioku.SyncOptions{}, nil)
	_ = o.push(t.Context(), nil)
	_ = o.push(t.Context(), []string{"MEMORY.md"})
	if _, err := at(t, b, "main").Append(t.Context(), memory.Note{Text: "Said while the disk was away."}); err != nil {
		t.Fatal(err)
	}
	for range 4 { // the index comes to agree that all is gone
		_ = o.push(t.Context(), nil)
		_, _ = o.m.Sync(t.Context(), kioku.SyncOptions{Prune: true}, nil)
	}
	if left, err := os.ReadDir(o.Workspace()); len(left) > 0 || err != nil {
		t.Errorf("written below the mount: %v, %v", left, err)
	}
	if got := len(hits(t, at(t, b, "main"), "Which database does the v2 ledger use?")); got != want || want == 0 {
		t.Errorf("%d hits, want %d", got, want)
	}
	if err := errors.Join(os.Remove(o.Workspace()), os.Rename(aside, o.Workspace()), os.Remove(filepath.Join(o.Workspace(), "memory/2026-01-15.md"))); err != nil {
		t.Fatal(err)
	}
	if _, err := o.m.Sync(t.Context(), kioku.SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	if err := o.push(t.Context(), []string{"memory/2026-01-15.md"}); err != nil {
		t.Fatal(err)
	}
	at(t, b, "main")
	sameFiles(t, o.Workspace(), filepath.Join(b.dir, "main"))
	if day, err := os.ReadFile(filepath.Join(o.Workspace(), "memory/2026-03-03.md")); err != nil || strings.Count(string(day), "while the disk was away") != 1 {
		t.Errorf("%s, %v", day, err)
	}
}

// What a process that has ended left in a mirror and the store does not have goes from it, what is lost comes back, and a mirror that nobody has asked for in a long time is removed.
func TestClusterMakesAMirrorAnew(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t).Database("anew")
	a, state := testNode(t, address, "a"), t.TempDir()
	o := testOwner(t, a, "main", example)
	b := testNodeIn(t, address, "b", state, nil)
	at(t, b, "main")
	mirror := filepath.Join(b.dir, "main")
	if err := os.WriteFile(filepath.Join(mirror, "memory/2026-03-03.md"), []byte("# 2026-03-03\n\nNever acknowledged.\n"), 0o600); err != nil { // as it is while a note is added
		t.Fatal(err)
	}
	b.close()
	if err := os.WriteFile(filepath.Join(mirror, "MEMORY.md"), nil, 0o600); err != nil { // as after a loss of power
		t.Fatal(err)
	}
	c := testNodeIn(t, address, "b", state, nil)
	if got := hits(t, at(t, c, "main"), "what was never acknowledged?"); len(got) > 0 && strings.Contains(got[0].Snippet, "Never") {
		t.Errorf("%+v", got)
	}
	sameFiles(t, o.Workspace(), mirror)
	if err := os.Chtimes(mirror+".json", noon, noon.Add(-mirrorAge)); err != nil {
		t.Fatal(err)
	}
	c.forgetOld()
	if _, err := os.Stat(mirror); err != nil {
		t.Errorf("the mirror of an open memory is gone: %v", err)
	}
	c.tidied = time.Time{}
	c.mu.Lock()
	r := c.replicas["main"]
	delete(c.replicas, "main")
	c.mu.Unlock()
	r.close()
	c.forgetOld()
	if left, _ := filepath.Glob(mirror + "*"); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// Whenever an adoption ends before its time, the machine is not the owner, or the folder is whole.
func TestClusterAdoptsAllOrNothing(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t).Database("halves")
	a := testNode(t, address, "a")
	o := testOwner(t, a, "main", example)
	if err := a.store.Release(t.Context(), "main", o.epoch.Load()); err != nil {
		t.Fatal(err)
	}
	for n := 0; ; n++ {
		wire := &wire{}
		wire.Break(n)
		b, dir := testNodeIn(t, address, fmt.Sprint("b", n), t.TempDir(), wire.dial), filepath.Join(t.TempDir(), "adopted")
		err := adopt(t.Context(), b.store, "main", dir, b.node.Name, b.dir, true)
		st, unknown := a.store.Agent(t.Context(), "main")
		if unknown != nil {
			t.Fatal(unknown)
		}
		switch mine := strings.HasPrefix(st.Owner, b.node.Name+"/"); {
		case mine:
			sameFiles(t, o.Workspace(), dir)
		case err == nil:
			t.Errorf("step %d: adopted by %q", n, st.Owner)
		}
		if !wire.Broken() {
			return
		}
	}
}
