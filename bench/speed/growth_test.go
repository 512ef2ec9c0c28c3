package speed

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"kioku/client"
	"kioku/memory"
	"kioku/pgstore/pgtest"
)

var (
	growAgents = flag.String("agents", "10,1000,10000", "numbers of agents that a cluster grows to, the first of which is compared with")
	growLarge  = flag.String("large", "1000,10000,50000", "chunks of agents that a node is asked for the first time")
	growHuge   = flag.Int("huge", 100_000, "chunks of one agent")
)

const (
	// growChunks is about how many chunks an agent has, in files of growFile bytes, noteChunks each.
	growChunks, growFile, noteChunks = 1000, 30_000, 20
	// growAsked agents are asked growRounds times each.
	growAsked, growRounds = 10, 30
	// growEdits is how many notes are appended, and growFound how many files are edited until that is found.
	growEdits, growFound = 60, 12
	// growOpen is how many agents a node has open whose memory is measured.
	growOpen = 200
)

// growth is one run: what it has started, and its table.
type growth struct {
	*testing.B
	env   Env
	pg    *pgtest.Server
	table *strings.Builder
}

// BenchmarkGrowth measures how a cluster grows. It needs PostgreSQL; see pgtest.Env.
func BenchmarkGrowth(b *testing.B) {
	g := growth{B: b, table: &strings.Builder{}, env: Env{Program: absolute(b, *program), Dir: b.TempDir()}}
	g.pg = pgtest.New(b, "wal_level=minimal", "max_wal_senders=0", "max_wal_size=4GB", "max_connections=200")
	fmt.Fprint(g.table, "\n| what | ours | beside | ratio | aim | held |\n|---|---:|---:|---:|---:|---|\n")
	for _, part := range []struct {
		name string
		run  func(growth)
	}{{"agents", growth.agents}, {"cold", growth.cold}, {"edits", growth.edits}, {"index", growth.index}, {"huge", growth.huge}} {
		b.Run(part.name, func(b *testing.B) { g.B = b; part.run(g) })
	}
	fmt.Println(g.table.String())
	if *table != "" {
		g.must(os.WriteFile(*table, []byte(g.table.String()), 0o644))
	}
}

// row adds a row of the table; an aim of 0 is none.
func (g growth) row(unit, what string, ours, beside, aim float64) {
	held := "yes"
	switch ratio := ours / beside; {
	case aim == 0:
		held = ""
	case !(ratio <= aim):
		held = "no"
	}
	fmt.Fprintf(g.table, "| %s | %s %s | %s %[3]s | %[5]s | %[6]s | %[7]s |\n", what, figure(ours), unit, figure(beside), figure(ours/beside), figure(aim), held)
	fmt.Printf("%s: %s %s beside %s, ratio %s\n", what, figure(ours), unit, figure(beside), figure(ours/beside))
}

func (g growth) must(err error) {
	g.Helper()
	if err != nil {
		g.Fatal(err)
	}
}

// folder writes the folder of an agent of about so many chunks, with a note that only it has, and returns it.
func (g growth) folder(agent string, chunks int) string {
	g.Helper()
	dir := filepath.Join(g.env.Dir, "ws", agent)
	_, err := writeNotes(g.Context(), dir, max(chunks/noteChunks, 1), growFile)
	g.must(err)
	g.must(writeFile(filepath.Join(dir, "MEMORY.md"), fmt.Sprintf("# Memory\n\n- The password of the harbour is marker-%s.\n", agent)))
	return dir
}

// node starts a node with a state folder, of the cluster in a database; "" for none.
func (g growth) node(state, store string, agents map[string]string) *grown {
	g.Helper()
	args := []string{"--state", filepath.Join(g.env.Dir, state), "--listen", "127.0.0.1:0"}
	if store != "" {
		args = append(args, "--set", "store="+store)
	}
	for _, agent := range slices.Sorted(maps.Keys(agents)) {
		args = append(args, "--agent", agent+"="+agents[agent])
	}
	d, err := g.env.startServe(g.Context(), args...)
	g.must(err)
	c, err := client.Dial(d.conn.Target(), client.Options{Timeout: 2 * time.Minute})
	g.must(err)
	n := &grown{daemon: d, client: c, g: g}
	g.Cleanup(n.end)
	return n
}

// grown is a node that runs.
type grown struct {
	*daemon
	client *client.Client
	g      growth
}

// kill ends a node at once.
func (n *grown) kill() {
	_ = n.cmd.Process.Signal(syscall.SIGKILL) // it may have ended
	n.end()
}

// end ends a node as its user does.
func (n *grown) end() { _ = errors.Join(n.client.Close(), n.stop()) }

// ask asks an agent, whose note must be the only one of its kind, and returns how long that took.
func (n *grown) ask(agent string) float64 {
	n.g.Helper()
	start := time.Now()
	a, err := n.client.For(agent).Search(n.g.Context(), memory.Query{Text: "what is the password of the harbour?"})
	took := ms(start)
	n.g.must(err)
	for _, h := range a.Hits {
		if strings.Contains(h.Snippet, "marker-") && !strings.Contains(h.Snippet, "marker-"+agent+".") {
			n.g.Fatalf("%s is told %s", agent, h.Snippet)
		}
	}
	if !found(a, "marker-"+agent+".") {
		n.g.Fatalf("%s does not find its note: %+v", agent, a)
	}
	return took
}

// wonder asks an agent what its other notes may answer.
func (n *grown) wonder(agent, question string, t *times) {
	n.g.Helper()
	n.g.must(t.measure(func() error {
		_, err := n.client.For(agent).Search(n.g.Context(), memory.Query{Text: question})
		return err
	}))
}

// append appends a note. What other nodes do about it then does not count as a part of the next one.
func (n *grown) append(agent, text string, t *times) {
	n.g.Helper()
	n.g.must(t.measure(func() error {
		_, err := n.client.For(agent).Append(n.g.Context(), memory.Note{Text: text})
		return err
	}))
	time.Sleep(100 * time.Millisecond)
}

// edit edits a file in a folder, and measures how long it takes until a node finds that.
func (n *grown) edit(agent, folder, word string, t *times) {
	n.g.Helper()
	n.g.must(writeFile(filepath.Join(folder, "memory", "edited.md"), "# Edited\n\nThe lighthouse keeper is called "+word+".\n"))
	n.g.must(t.measure(func() error {
		for {
			a, err := n.client.For(agent).Search(n.g.Context(), memory.Query{Text: "lighthouse keeper " + word})
			if err != nil || found(a, word) {
				return err
			}
			time.Sleep(2 * time.Millisecond)
		}
	}))
}

func found(a memory.Answer, text string) bool {
	return slices.ContainsFunc(a.Hits, func(h memory.Hit) bool { return strings.Contains(h.Snippet, text) })
}

func ms(since time.Time) float64 { return float64(time.Since(since)) / float64(time.Millisecond) }

// memory is the private memory of a node in MB, once it has calmed down.
func (n *grown) memory() float64 {
	time.Sleep(3 * time.Second)
	mb, err := ownMemory(n.cmd.Process.Pid)
	n.g.must(err)
	return mb
}

// sql runs statements, and returns the number that the last one selects.
func (g growth) sql(pg *pgtest.Server, database string, statements ...string) (n int) {
	g.Helper()
	conn, err := pgx.Connect(g.Context(), pg.Address("postgres", database))
	g.must(err)
	defer conn.Close(context.WithoutCancel(g.Context()))
	for i, sql := range statements {
		if i < len(statements)-1 {
			_, err = conn.Exec(g.Context(), sql)
		} else {
			err = conn.QueryRow(g.Context(), sql).Scan(&n)
		}
		g.must(err)
	}
	return n
}

// stored waits until a database has all files of folders, and returns how long that took.
func (g growth) stored(pg *pgtest.Server, database string, folders ...string) float64 {
	g.Helper()
	start, files := time.Now(), 0
	for _, dir := range folders {
		g.must(filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(name, ".md") {
				files++
			}
			return err
		}))
	}
	for g.sql(pg, database, "SELECT count(*) FROM kioku.files WHERE data IS NOT NULL") < files {
		time.Sleep(20 * time.Millisecond)
	}
	return ms(start)
}

// crowd makes a database with so many agents, copies of one, and returns its address.
func (g growth) crowd(agents int) string {
	g.Helper()
	name := fmt.Sprintf("agents%d", agents)
	address, dir := g.pg.Database(name), g.folder("a0", growChunks)
	owner := g.node(name+"-owner", address, map[string]string{"a0": dir})
	g.stored(g.pg, name, dir)
	owner.end()
	start := time.Now()
	size := g.sql(g.pg, name, fmt.Sprintf("INSERT INTO kioku.agents (agent, generation) SELECT 'a' || i, generation FROM kioku.agents, generate_series(1, %d) i", agents-1),
		fmt.Sprintf(`INSERT INTO kioku.files SELECT 'a' || i, path, generation, mtime, CASE path WHEN 'MEMORY.md' THEN sha256(d) ELSE sha256 END, d FROM generate_series(1, %d) i, kioku.files f,
			LATERAL (SELECT CASE path WHEN 'MEMORY.md' THEN convert_to(replace(convert_from(data, 'UTF8'), 'marker-a0.', 'marker-a' || i || '.'), 'UTF8') ELSE data END d) c`, agents-1),
		"ANALYZE", "SELECT pg_database_size(current_database())")
	fmt.Printf("%d agents in %s, %d MB\n", agents, time.Since(start).Round(time.Second), size>>20)
	return address
}

// mirrored waits until a node has an index of its own of an agent of another one, and returns how long that took.
func (g growth) mirrored(state, agent string) float64 {
	start := time.Now()
	for err := os.ErrNotExist; err != nil; time.Sleep(20 * time.Millisecond) {
		_, err = os.Stat(filepath.Join(g.env.Dir, state, "cluster", agent+".json"))
	}
	return ms(start)
}

// agents asks the same agents in clusters of more and more agents, in turn, and measures what the others cost.
func (g growth) agents() {
	var sizes []int
	for text := range strings.SplitSeq(*growAgents, ",") {
		n, err := strconv.Atoi(text)
		g.must(err)
		sizes = append(sizes, n)
	}
	type figures struct {
		*grown
		address       string
		idle, open    float64
		asked, status times
	}
	all := make([]figures, len(sizes))
	for i, n := range sizes {
		all[i].address = g.crowd(n)
		all[i].grown = g.node(fmt.Sprintf("agents%d-node", n), all[i].address, nil)
		all[i].idle = all[i].memory()
	}
	list := questions(growAsked * growRounds)
	for round := range growRounds {
		for i := range all {
			for a := range growAsked {
				if agent := "a" + strconv.Itoa(a); round == 0 {
					all[i].ask(agent)
				} else {
					all[i].wonder(agent, list[round*growAsked+a], &all[i].asked)
				}
			}
		}
	}
	for i := range all {
		all[i].open = all[i].memory()
		for range 3 {
			g.must(all[i].status.measure(func() error {
				cmd, err := g.env.command(g.Context(), "cluster", "status", "--set", "store="+all[i].address)
				if err == nil {
					_, err = cmd.Output()
				}
				return err
			}))
		}
	}
	few := &all[0]
	for i := range all[1:] {
		many, of := &all[i+1], fmt.Sprintf("of %d agents / of %d", sizes[i+1], sizes[0])
		g.row("ms", "search p50, "+of, many.asked.median(), few.asked.median(), 1.3)
		g.row("ms", "search p95, "+of, many.asked.p95(), few.asked.p95(), 1.3)
		g.row("MB", "memory of a node that was asked nothing, "+of, many.idle, few.idle, 1.3)
		g.row("MB", fmt.Sprintf("memory of a node with %d open, ", growAsked)+of, many.open, few.open, 1.3)
		g.row("ms", "kioku cluster status, "+of, many.status.median(), few.status.median(), 0)
	}
	last := &all[len(all)-1]
	if sizes[len(sizes)-1] < growOpen {
		return
	}
	for a := range growOpen {
		last.ask("a" + strconv.Itoa(a))
	}
	g.row("MB", fmt.Sprintf("memory of a node with %d open / with none", growOpen), last.memory(), last.idle, 0)
	time.Sleep(45 * time.Second) // until at most 50 are open, since they are many
	g.row("MB", fmt.Sprintf("memory of a node that had %d open and has at most 50 / with none", growOpen), last.memory(), last.idle, 0)
}

// cold asks agents of some sizes for the first time on a node.
func (g growth) cold() {
	const rounds = 2
	address, folders := g.pg.Database("cold"), map[string]string{"warm": g.folder("warm", 100)}
	sizes := strings.Split(*growLarge, ",")
	for _, text := range sizes {
		n, err := strconv.Atoi(text)
		g.must(err)
		folders["c"+text] = g.folder("c"+text, n)
	}
	owner := g.node("cold-owner", address, folders)
	g.stored(g.pg, "cold", slices.Collect(maps.Values(folders))...)
	for _, with := range []string{"the owner there", "the owner gone"} {
		if with == "the owner gone" {
			owner.kill()
		}
		never, closed := map[string]times{}, map[string]times{}
		for round := range rounds {
			for _, seen := range []map[string]times{never, closed} {
				state := fmt.Sprintf("cold-%s-%d", with[10:], round)
				n := g.node(state, address, nil)
				n.ask("warm") // what a node does once
				for _, size := range sizes {
					seen[size] = append(seen[size], time.Duration(n.ask("c"+size)*float64(time.Millisecond)))
				}
				for agent := range folders {
					g.mirrored(state, agent)
				}
				n.end() // a node opens again what it had open before as what it has closed
			}
		}
		for _, size := range sizes {
			chunks, _ := strconv.ParseFloat(size, 64)
			limit := max(150, 150*chunks/10_000)
			g.row("ms", fmt.Sprintf("first question to %s chunks, never seen here, %s / limit", size, with), never[size].median(), limit, 1)
			g.row("ms", fmt.Sprintf("first question to %s chunks, closed here, %s / limit", size, with), closed[size].median(), limit, 1)
		}
	}
}

// edits measures what an edit costs with the store, which writes to the disk, beside SQLite alone.
func (g growth) edits() {
	pg := pgtest.New(g, "fsync=on", "synchronous_commit=on")
	address, dir, alone := pg.Database("edits"), g.folder("e", growChunks), filepath.Join(g.env.Dir, "alone")
	g.must(os.CopyFS(alone, os.DirFS(dir)))
	owner, other := g.node("edits-owner", address, map[string]string{"e": dir}), g.node("edits-other", address, nil)
	single := g.node("edits-alone", "", map[string]string{"e": alone})
	g.stored(pg, "edits", dir)
	other.ask("e")
	var atOwner, atOther, here, foundAtOwner, foundAtOther, foundHere times
	for i := range growEdits {
		text := fmt.Sprintf("The ferry number %d leaves at %d past ten.", i, i%60)
		owner.append("e", text+" (o)", &atOwner)
		other.append("e", text+" (n)", &atOther)
		single.append("e", text, &here)
	}
	for i := range growFound {
		owner.edit("e", dir, fmt.Sprintf("Owena%dx", i), &foundAtOwner)
		other.edit("e", dir, fmt.Sprintf("Otira%dx", i), &foundAtOther)
		single.edit("e", alone, fmt.Sprintf("Solveig%dx", i), &foundHere)
	}
	for _, f := range []struct {
		what string
		ours times
		aim  float64
	}{{"append at the owner", atOwner, 0}, {"append at another node", atOther, 0}} {
		g.row("ms", f.what+" p50 / 10 ms", f.ours.median(), 10, 1)
		g.row("ms", f.what+" p50 / SQLite alone", f.ours.median(), here.median(), 0)
		g.row("ms", f.what+" p95 / SQLite alone", f.ours.p95(), here.p95(), 0)
	}
	g.row("ms", "edit in the folder until found at the owner p50 / SQLite alone", foundAtOwner.median(), foundHere.median(), 0)
	g.row("ms", "edit in the folder until found at another node p50 / SQLite alone", foundAtOther.median(), foundHere.median(), 0)
	g.row("ms", "edit in the folder until found at another node p95 / 2.5 s", foundAtOther.p95(), 2500, 1)
}

// index indexes a folder with the store and without.
func (g growth) index() {
	dir := g.folder("i", 20_000)
	var with, without times
	for i := range 2 {
		agents, store := map[string]string{"i": dir}, fmt.Sprintf("index%d", i)
		address := g.pg.Database(store)
		g.must(without.measure(func() error { g.node(fmt.Sprintf("index-alone-%d", i), "", agents).end(); return nil }))
		var n *grown
		g.must(with.measure(func() error {
			n = g.node(fmt.Sprintf("index-%d", i), address, agents)
			g.stored(g.pg, store, dir)
			return nil
		}))
		n.end()
	}
	g.row("ms", "index 20,000 chunks with the store / SQLite alone", slices.Min(with).Seconds()*1000, slices.Min(without).Seconds()*1000, 2)
}

// huge has one agent of very many chunks.
func (g growth) huge() {
	address, dir := g.pg.Database("huge"), g.folder("h", *growHuge)
	var ready, pushed, asked, askedOwner, appended, appendedOther times
	var owner *grown
	g.must(ready.measure(func() error { owner = g.node("huge-owner", address, map[string]string{"h": dir}); return nil }))
	g.must(pushed.measure(func() error { g.stored(g.pg, "huge", dir); return nil }))
	other := g.node("huge-other", address, nil)
	what := fmt.Sprintf("%d chunks: ", *growHuge)
	g.row("ms", what+"first push / index", pushed.median(), ready.median(), 1)
	g.row("ms", what+"first question at another node / limit", other.ask("h"), 1500, 1)
	g.row("ms", what+"index at another node / at the owner", g.mirrored("huge-other", "h"), ready.median(), 1.3)
	for i, q := range questions(60) {
		other.wonder("h", q, &asked)
		owner.wonder("h", q, &askedOwner)
		if i < 30 {
			owner.append("h", fmt.Sprintf("The barge %d is blue.", i), &appended)
			other.append("h", fmt.Sprintf("The barge %d is green.", i), &appendedOther)
		}
	}
	g.row("ms", what+"search p50 at another node / at the owner", asked.median(), askedOwner.median(), 1.3)
	g.row("ms", what+"append at the owner p50 / 10 ms", appended.median(), 10, 1)
	g.row("ms", what+"append at another node p50 / 10 ms", appendedOther.median(), 10, 1)
	g.row("MB", what+"memory of another node / of the owner", other.memory(), owner.memory(), 1.3)
}
