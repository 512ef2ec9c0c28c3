package main

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"

	"kioku"
	"kioku/internal/testkit"
	"kioku/memory"
	"kioku/pgstore/pgtest"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/store/storetest"
)

const (
	// faultDeadline is how long a writer or searcher waits for an answer.
	faultDeadline = 5 * time.Second
	// faultPause is between two notes of a writer, and between two questions of a searcher.
	faultPause = 100 * time.Millisecond
	// churnEnv is how long files are edited, as a duration.
	churnEnv = "KIOKU_CHURN"
)

// faults is three nodes of PostgreSQL and three of Kioku, of which one has the folder, with writers and searchers at each.
type faults struct {
	*testing.T
	db       *pgtest.Cluster
	machines []*machine
	owner    *machine
	folder   string
	table    *tabwriter.Writer

	quiet             atomic.Pointer[machine] // nobody searches at it
	mu                sync.Mutex
	told              int            // the number of notes
	acked             []string       // the words that were acknowledged, in their order
	lastAck           time.Time      // guarded by mu
	longest           time.Duration  // between two acknowledgements
	answered, refused int            // searches
	marked            map[string]int // searches that say what they lack, by code
}

// Whatever fails, no note is lost that was acknowledged, none is there twice, no search conceals what it lacks, and afterwards every node has the
// index that the folder gives.
func TestFaults(t *testing.T) {
	f := &faults{T: t, db: pgtest.Isolated(t, "autovacuum_naptime=1s")}
	f.machines = newMachines(t, f.db.Database("faults"), 3)
	f.owner, f.folder = f.machines[0], f.machines[0].workspace
	for i := range 20 {
		f.owner.write(fmt.Sprintf("memory/places/%02d.md", i), fmt.Sprintf("# Place %d\n\n- The lamp of place %d is lit at dusk.\n", i, i))
	}
	for i, m := range f.machines {
		m.runs(map[bool]string{true: f.folder}[i == 0])
	}
	var rows strings.Builder
	f.table = tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0)
	fmt.Fprintln(f.table, "fault\tacknowledged\tlost\tdoubled\tlongest without a write\tsearches answered\trefused\tmarked\t")
	defer func() {
		f.table.Flush()
		fmt.Printf("\nnodes with disks and networks of their own: %v\n%s\n", f.db.Isolated, rows.String())
	}()
	for _, fault := range []struct {
		name string
		do   func(f *faults)
	}{
		{"nothing", func(f *faults) { f.sleep(5 * time.Second) }},
		{"primary is killed", func(f *faults) { f.db.Kill(f.db.Primary(), false) }},
		{"standby is killed", func(f *faults) { f.db.Kill((f.db.Primary()+1)%pgtest.Nodes, false) }},
		{"primary and its Patroni are killed", func(f *faults) {
			primary := f.db.Primary()
			f.db.Kill(primary, true)
			f.untilWritten()
			f.db.Start(primary)
		}},
		{"Patroni of the primary is killed", func(f *faults) {
			primary := f.db.Primary()
			f.db.KillPatroni(primary)
			f.sleep(pgtest.TTL + 15*time.Second) // there is another primary, and this one goes on
			f.db.Start(primary)
		}},
		{"owner is killed", func(f *faults) {
			f.owner.dies()
			f.sleep(3 * time.Second)
			f.owner.runs(f.folder)
		}},
		{"query node is killed", func(f *faults) {
			m := f.queryNode()
			m.dies()
			f.sleep(3 * time.Second)
			m.runs("")
		}},
		{"primary stands still", func(f *faults) {
			primary := f.db.Primary()
			f.db.Pause(primary)
			f.sleep(pgtest.TTL + 10*time.Second)
			f.db.Continue(primary)
		}},
		{"primary stands still, and nobody asks a node", func(f *faults) {
			primary := f.db.Primary()
			f.quiet.Store(f.queryNode())
			f.db.Pause(primary)
			f.sleep(pgtest.TTL + 10*time.Second)
			f.db.Continue(primary)
			f.quiet.Store(nil)
		}},
		{"owner stands still, and another adopts", adopts},
		{"disk of the primary is full", func(f *faults) {
			f.isolated()
			primary := f.db.Primary()
			f.db.Fill(primary)
			for f.db.Try("postgres", "postgres", "SELECT pg_logical_emit_message(true, 'fill', repeat('x', 8000000))") == nil && f.db.Primary() == primary {
			}
			f.sleep(10 * time.Second)
			f.db.Empty(primary)
		}},
		{"primary is cut off from all", func(f *faults) { cut(f, true) }},
		{"primary is cut off from all but its clients", func(f *faults) { cut(f, false) }},
		{"churn", churn},
	} {
		t.Run(strings.ReplaceAll(fault.name, " ", "_"), func(t *testing.T) {
			f.T = t
			f.under(fault.name, fault.do)
		})
		if f.T = t; t.Failed() {
			return // what comes after would say the same
		}
	}
}

// isolated skips a fault that needs nodes with disks and networks of their own.
func (f *faults) isolated() {
	if !f.db.Isolated {
		f.Skip("not tested: it needs root, mounts and network namespaces")
	}
}

// cut cuts the primary off until another one has long taken over.
func cut(f *faults, clients bool) {
	f.isolated()
	primary := f.db.Primary()
	f.db.Cut(primary, clients)
	f.sleep(pgtest.TTL + 15*time.Second)
	f.db.Mend(primary)
}

// adopts has another machine adopt the folder of an owner that stands still, and then goes on.
func adopts(f *faults) {
	old, stale := f.owner, f.folder
	old.p.signal(syscall.SIGSTOP)
	f.mu.Lock()
	before := f.told
	f.mu.Unlock()
	f.owner = f.queryNode()
	f.folder = filepath.Join(f.owner.home, fmt.Sprintf("adopted%d", f.told))
	for f.owner.raw("cluster", "adopt", "main", f.folder, "--state", f.owner.state).code != exitOK {
		f.sleep(time.Second)
		if f.Context().Err() != nil {
			f.Fatal("the lease does not end")
		}
		testkit.Must(f, os.RemoveAll(f.folder))
	}
	f.owner.p.terminates()
	f.owner.runs(f.folder)
	f.untilWritten()
	old.p.signal(syscall.SIGCONT)
	f.sleep(5 * time.Second)
	for _, word := range told.FindAllString(markdown(f, stale), -1) { // it may have been about to write what it had read
		if n := number(word); n > before {
			f.Errorf("the former owner has written note %d into its folder, and stood still at %d", n, before)
		}
	}
}

// number returns that of a note, by its word.
func number(word string) (n int) {
	_, _ = fmt.Sscanf(word, "boat%dz", &n) // the tests make the words
	return n
}

// churn edits many files again and again.
func churn(f *faults) {
	long := 5 * time.Second
	if text := os.Getenv(churnEnv); text != "" {
		var err error
		long, err = time.ParseDuration(text)
		testkit.Must(f, err)
	}
	n := 0
	for end := time.Now().Add(long); time.Now().Before(end); n++ {
		name := filepath.Join(f.folder, fmt.Sprintf("memory/places/%02d.md", n%20))
		testkit.Must(f, os.WriteFile(name, fmt.Appendf(nil, "# Place %d\n\n- The lamp of place %d was lit %d times.\n", n%20, n%20, n), 0o644))
		f.sleep(20 * time.Millisecond)
	}
	fmt.Printf("churn: %d edits in %s\n", n, long)
}

// queryNode returns the last node without the folder.
func (f *faults) queryNode() *machine {
	if last := f.machines[2]; last != f.owner {
		return last
	}
	return f.machines[1]
}

// sleep lets writers and searchers go on for a time.
func (f *faults) sleep(d time.Duration) {
	select {
	case <-time.After(d):
	case <-f.Context().Done():
	}
}

// untilWritten waits until a note is acknowledged that was not told yet.
func (f *faults) untilWritten() {
	f.Helper()
	f.mu.Lock()
	before := f.told
	f.mu.Unlock()
	for f.Context().Err() == nil {
		f.mu.Lock()
		last := 0
		if len(f.acked) > 0 {
			last = number(f.acked[len(f.acked)-1])
		}
		f.mu.Unlock()
		if last > before {
			return
		}
		f.sleep(20 * time.Millisecond)
	}
	f.Fatal("no note is taken any more")
}

// under does something while writers write and searchers search, has it heal, and looks whether all is there.
func (f *faults) under(name string, do func(f *faults)) {
	start := time.Now()
	before := len(f.acked)
	f.longest, f.answered, f.refused, f.marked, f.lastAck = 0, 0, 0, map[string]int{}, time.Now()
	ctx, stop := context.WithCancel(f.Context())
	defer stop()
	var all sync.WaitGroup
	for _, m := range f.machines {
		conn, err := grpc.NewClient(m.address, grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1, MaxDelay: 50 * time.Millisecond}, MinConnectTimeout: time.Second}))
		testkit.Must(f, err)
		defer conn.Close()
		client := kiokuv1.NewMemoryServiceClient(conn)
		all.Go(func() { f.writes(ctx, client) })
		all.Go(func() { f.searches(ctx, m, client) })
	}
	defer all.Wait()
	defer stop()
	f.sleep(2 * time.Second)
	do(f)
	f.untilWritten()
	f.sleep(3 * time.Second)
	stop()
	all.Wait()
	f.db.WaitHealthy()
	lost, doubled := f.inFolder()
	fmt.Fprintf(f.table, "%s\t%d\t%d\t%d\t%.1f s\t%d\t%d\t%s\t\n", name, len(f.acked)-before, lost, doubled, f.longest.Seconds(), f.answered, f.refused, strings.TrimPrefix(fmt.Sprint(f.marked), "map"))
	f.compares()
	fmt.Printf("%-44s %3.0f s\n", name, time.Since(start).Seconds())
}

// writes tells one note after the other.
func (f *faults) writes(ctx context.Context, client kiokuv1.MemoryServiceClient) {
	for ctx.Err() == nil {
		f.mu.Lock()
		f.told++
		word := fmt.Sprintf("boat%dz", f.told)
		f.mu.Unlock()
		call, done := context.WithTimeout(context.WithoutCancel(ctx), faultDeadline) // what was begun ends
		_, err := client.MemoryAppend(call, &kiokuv1.MemoryAppendRequest{Agent: "main", Text: "The pilot of " + word + " is ashore.", Category: "fact"})
		done()
		if err == nil {
			f.mu.Lock()
			f.acked = append(f.acked, word)
			f.longest, f.lastAck = max(f.longest, time.Since(f.lastAck)), time.Now()
			f.mu.Unlock()
		}
		f.sleep(faultPause)
	}
}

// searches asks for notes that were acknowledged before: the last one, or any.
func (f *faults) searches(ctx context.Context, at *machine, client kiokuv1.MemoryServiceClient) {
	for ctx.Err() == nil {
		f.sleep(faultPause)
		for f.quiet.Load() == at && ctx.Err() == nil {
			f.sleep(time.Millisecond)
		}
		f.mu.Lock()
		if len(f.acked) == 0 {
			f.mu.Unlock()
			continue
		}
		word := f.acked[len(f.acked)-1]
		if rand.IntN(2) == 0 {
			word = f.acked[rand.IntN(len(f.acked))]
		}
		f.mu.Unlock()
		start := time.Now()
		call, done := context.WithTimeout(context.WithoutCancel(ctx), faultDeadline)
		answer, err := client.MemorySearch(call, &kiokuv1.MemorySearchRequest{Agent: "main", Query: word})
		done()
		took := time.Since(start)
		found, lacks := false, ""
		for _, d := range answer.GetDegraded() {
			if !(memory.Degradation{Code: d.Code}).IsHint() {
				lacks = d.Code
			}
		}
		for _, r := range answer.GetResults() {
			found = found || strings.Contains(r.Snippet, word)
		}
		f.mu.Lock()
		switch {
		case took > faultDeadline+time.Second:
			f.Errorf("%s was asked for %s, and answered after %s", at.name, word, took)
		case err != nil:
			f.refused++
		case found && lacks == "":
			f.answered++
		case lacks != "":
			f.marked[lacks]++
		default:
			f.Errorf("%s was asked for %s, which was acknowledged, and does not say that it lacks anything; it found %d others", at.name, word, len(answer.Results))
		}
		f.mu.Unlock()
	}
}

var told = regexp.MustCompile(`boat\d+z`)

// inFolder waits until the owner has written all that was acknowledged, and returns how many notes its folder lacks and has twice.
func (f *faults) inFolder() (lost, doubled int) {
	f.Helper()
	for end := time.Now().Add(patience); ; f.sleep(100 * time.Millisecond) {
		times := map[string]int{}
		for _, word := range told.FindAllString(markdown(f, f.folder), -1) {
			times[word]++
		}
		lost, doubled = 0, 0
		for _, word := range f.acked {
			if times[word] == 0 {
				lost++
			}
		}
		for word, n := range times {
			if n > 1 {
				doubled++
				f.Errorf("%s is %d times in the folder", word, n)
			}
		}
		if lost == 0 || time.Now().After(end) || f.Context().Err() != nil {
			break
		}
	}
	if lost > 0 {
		f.Errorf("%d notes that were acknowledged are not in the folder", lost)
	}
	return lost, doubled
}

// compares waits until the index of each node is, row by row, that of a folder which is indexed anew.
func (f *faults) compares() {
	f.Helper()
	differ := map[*machine]string{}
	for end := time.Now().Add(patience); ; f.sleep(500 * time.Millisecond) {
		fresh := newSandbox(f, nil)
		testkit.Must(f, copyMarkdown(fresh.workspace, f.folder))
		fresh.must("index", "--no-daemon")
		want := f.dump(fresh.own())
		clear(differ)
		for _, m := range f.machines {
			m.ask("search", "lamp") // it follows
			state := filepath.Join(m.state, "cluster", "main.state")
			if m == f.owner {
				state = kioku.StateOf(f.Context(), m.state, "main", f.folder)
			}
			if got := f.dump(state); got != want {
				differ[m] = firstDifference(want, got)
			}
		}
		if len(differ) == 0 {
			return
		}
		if time.Now().After(end) || f.Context().Err() != nil {
			break
		}
	}
	for m, what := range differ {
		f.Errorf("the index of %s is not that of the folder: %s", m.name, what)
	}
}

// dump returns all that is in the index in a state folder.
func (f *faults) dump(state string) string {
	f.Helper()
	index, at := filepath.Join(state, "memory", "main.sqlite"), filepath.Join(f.TempDir(), "index.sqlite")
	if _, err := os.Stat(index); err != nil {
		return "no index yet"
	}
	storetest.Copy(f, index, at)
	return storetest.Dump(f, at)
}

// copyMarkdown copies the notes of a folder.
func copyMarkdown(to, from string) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".md" {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		at := filepath.Join(to, strings.TrimPrefix(name, from))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		return os.WriteFile(at, text, 0o644)
	})
}

// firstDifference returns the first lines in which two texts differ.
func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("line %d: want %.300s, has %.300s", i+1, w[i], g[i])
		}
	}
	return fmt.Sprintf("%d lines, and %d", len(w), len(g))
}
