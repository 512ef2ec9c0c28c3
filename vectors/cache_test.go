package vectors_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "github.com/mattn/go-sqlite3"

	"kioku/embed"
	"kioku/internal/testkit"
	"kioku/memory"
	"kioku/vectors"
)

var (
	space = embed.Space{Provider: "test", Model: "m", Dims: 3}
	other = embed.Space{Provider: "test", Model: "other", Dims: 3}
)

// key returns the key of a text.
func key(kind vectors.Kind, text string) vectors.Key {
	return vectors.Key{Kind: kind, Hash: sha256.Sum256([]byte(text))}
}

// document returns the vector of a text.
func document(text string) []float32 { return []float32{1, float32(len(text)), 2} }

// put stores the documents of texts, each with one window.
func put(t testing.TB, c *vectors.Cache, s embed.Space, texts ...string) {
	t.Helper()
	given := map[vectors.Key][]float32{}
	for _, text := range texts {
		given[key(vectors.Document, text)], given[key(vectors.Window, text)] = document(text), document(text)
	}
	if err := c.Put(t.Context(), s, given); err != nil {
		t.Fatal(err)
	}
}

// documents returns how many of the texts the cache has.
func documents(t testing.TB, c *vectors.Cache, s embed.Space, texts ...string) int {
	t.Helper()
	hashes := make([]vectors.Hash, len(texts))
	for i, text := range texts {
		hashes[i] = key(vectors.Document, text).Hash
	}
	found, err := c.Documents(t.Context(), s, hashes)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		if v, ok := found[hashes[i]]; ok && !cmp.Equal(v, document(text)) {
			t.Errorf("%q has the vector %v", text, v)
		}
	}
	return len(found)
}

// live returns a vectors.Live of texts.
func live(texts ...string) vectors.Live {
	return func(context.Context) (map[vectors.Hash]struct{}, error) {
		all := map[vectors.Hash]struct{}{}
		for _, text := range texts {
			all[key(vectors.Document, text).Hash] = struct{}{}
		}
		return all, nil
	}
}

// sqlExec changes a file behind the back of the cache.
func sqlExec(t testing.TB, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

func TestCacheKeepsSpacesAndKindsApart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := openCache(t, dir, 100)
	put(t, c, space, "one", "two")
	if n := documents(t, c, space, "one", "two", "three"); n != 2 {
		t.Errorf("%d documents", n)
	}
	if n := documents(t, c, other, "one"); n != 0 {
		t.Error("another space has the vector")
	}
	hash := key(vectors.Window, "one").Hash
	windows, err := c.Windows(t.Context(), space, []vectors.Hash{hash})
	if want := embed.QuantizeWindow(0, 0, document("one")); err != nil || !cmp.Equal(windows[hash], want) {
		t.Errorf("%+v, %v", windows, err)
	}
	if s, err := c.Resolve(t.Context(), embed.Space{Provider: "test", Model: "m"}); err != nil || s != space {
		t.Errorf("resolved to %+v, %v", s, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "embeddings.sqlite")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := c.Put(t.Context(), space, map[vectors.Key][]float32{key(vectors.Document, "x"): {0, 0, 0}}); err == nil {
		t.Error("a vector without a direction is stored")
	}
}

// Hazard A20: a vector with a flipped bit is removed by who reads it and by a check, and counts as missing; the others stay.
func TestDamagedVectorCountsAsMissing(t *testing.T) {
	t.Parallel()
	for _, checked := range []bool{false, true} {
		dir := t.TempDir()
		c := openCache(t, dir, 100)
		put(t, c, space, "one", "two")
		sqlExec(t, filepath.Join(dir, "embeddings.sqlite"), "UPDATE embedding_cache SET vector = zeroblob(12) WHERE kind = 'document' AND id < 4")
		if checked {
			if n, found, err := c.Check(t.Context(), nil); err != nil || n != 4 || len(found) == 0 {
				t.Errorf("%d vectors, found %q, %v", n, found, err)
			}
		}
		if n := documents(t, c, space, "one", "two"); n == 2 {
			t.Error("the damage is not noticed")
		}
		put(t, c, space, "one", "two")
		if n, found, err := c.Check(t.Context(), nil); err != nil || n != 4 || len(found) != 0 {
			t.Errorf("mended: %d vectors, found %q, %v", n, found, err)
		}
	}
}

// Hazard A04: a file with a page that was overwritten is replaced by a new one with what can be read, while it is open and when it is
// opened. The cache then has another id.
func TestDamagedFileIsReplaced(t *testing.T) {
	t.Parallel()
	texts := many(3000)
	for _, open := range []bool{false, true} {
		dir := t.TempDir()
		path := filepath.Join(dir, "embeddings.sqlite")
		c := openCache(t, dir, 100)
		put(t, c, space, texts...)
		before := c.ID()
		c.Close()
		if open {
			c = openCache(t, dir, 100)
		}
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, 1))
		for range 3 { // pages in the middle of the file
			page := 20 + r.IntN(len(file)/4096-25)
			copy(file[page*4096:], strings.Repeat("damage", 600))
		}
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		if !open {
			c = openCache(t, dir, 100)
		}
		for range 3 {
			_ = documents(t, c, space, texts...)
			if _, _, err := c.Check(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		}
		if n := documents(t, c, space, texts...); n < 2500 {
			t.Errorf("open %v: %d of 3000 are left", open, n)
		}
		put(t, c, space, texts...)
		if n := documents(t, c, space, texts...); n != 3000 || c.ID() == before && n < 3000 {
			t.Errorf("open %v: %d of 3000 are there again", open, n)
		}
	}
}

// A process that was killed while it replaced a file leaves one of the two in its place, and nothing of the old one goes into the new one.
func TestOpenFinishesAReplacement(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "embeddings.sqlite")
	c := openCache(t, dir, 100)
	put(t, c, space, "one")
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	put(t, c, space, "two", "three")
	c.Close()
	if err := os.Rename(path, path+".whole"); err != nil {
		t.Fatal(err)
	}
	testkit.WriteFile(t, dir, "embeddings.sqlite", string(old))
	testkit.WriteFile(t, dir, "embeddings.sqlite-wal", string(log))
	if c = openCache(t, dir, 100); documents(t, c, space, "one", "two", "three") != 3 {
		t.Error("the new file is not put in its place, or the old log is written into it")
	}
	c.Close()
	testkit.WriteFile(t, dir, "embeddings.sqlite.draft", "half of it")
	if c = openCache(t, dir, 100); documents(t, c, space, "one") != 1 {
		t.Error("half of a new file is used")
	}
	if _, err := os.Stat(path + ".draft"); !errors.Is(err, os.ErrNotExist) {
		t.Error("half of a new file is left")
	}
}

// A file that somebody removes while it is open is made again, with its mode, and takes what is bought then.
func TestRemovedFileIsMadeAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "embeddings.sqlite")
	c := openCache(t, dir, 100)
	put(t, c, space, "one")
	before := c.ID()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil {
			t.Fatal(err)
		}
	}
	put(t, c, space, "two")
	if n := documents(t, c, space, "one", "two"); n != 1 || c.ID() == before {
		t.Errorf("%d of one vector is there; the id is %d, before %d", n, c.ID(), before)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

// Hazard A22: a database of another program, or of a newer version, is left alone.
func TestOpenRefusesWhatItMustNotChange(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string]error{"PRAGMA application_id = 7": memory.ErrForeignFile, "PRAGMA user_version = 99": memory.ErrNewerSchema} {
		dir := t.TempDir()
		c := openCache(t, dir, 100)
		c.Close()
		sqlExec(t, filepath.Join(dir, "embeddings.sqlite"), statement)
		if _, err := vectors.Open(t.Context(), filepath.Join(dir, "embeddings.sqlite"), vectors.Options{}); !errors.Is(err, want) {
			t.Errorf("%s: %v", statement, err)
		}
	}
}

// A cache that is only read has what the owner has stored, and is empty without a file.
func TestReadOnlyCacheFollowsTheOwner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "embeddings.sqlite")
	none, err := vectors.Open(t.Context(), path, vectors.Options{ReadOnly: true})
	if err != nil || documents(t, none, space, "one") != 0 || none.ID() != 0 {
		t.Errorf("without a file: %v", err)
	}
	owner := openCache(t, dir, 100)
	reader, err := vectors.Open(t.Context(), path, vectors.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	put(t, owner, space, "one")
	if documents(t, reader, space, "one") != 1 {
		t.Error("the reader does not find what the owner has stored")
	}
	if documents(t, none, space, "one") != 1 {
		t.Error("a reader from before the file was made does not find it")
	}
	if err := reader.Put(t.Context(), space, map[vectors.Key][]float32{key(vectors.Document, "x"): document("x")}); !errors.Is(err, memory.ErrReadOnly) {
		t.Errorf("the reader writes: %v", err)
	}
}

// Hazard E11: however many texts come and go, and however many goroutines write, the cache keeps within its bound, what is indexed is not
// evicted, and of the rest what was written longest ago goes first.
func TestEvictKeepsWhatIsIndexed(t *testing.T) {
	t.Parallel()
	now := time.Now()
	c, err := vectors.Open(t.Context(), filepath.Join(t.TempDir(), "embeddings.sqlite"), vectors.Options{Entries: 100, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var indexed []string
	for i := range 150 {
		indexed = append(indexed, fmt.Sprint("live ", i))
	}
	put(t, c, space, indexed...)
	put(t, c, other, indexed...)
	now = now.Add(24 * time.Hour)
	for round := range 10 {
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() { put(t, c, space, fmt.Sprint("gone ", round, i), fmt.Sprint("gone too ", round, i)) })
		}
		wg.Wait()
		now = now.Add(2 * time.Hour)
		if err := c.Evict(t.Context(), live(indexed...), space); err != nil {
			t.Fatal(err)
		}
		if n := documents(t, c, space, indexed...); n != 150 {
			t.Fatalf("%d of 150 indexed documents are left", n)
		}
		if n, err := c.Len(t.Context()); err != nil || n > 300+100+10 {
			t.Fatalf("%d vectors, %v", n, err)
		}
	}
	if documents(t, c, space, "gone 9 0") != 1 || documents(t, c, other, indexed...) == 150 {
		t.Error("what was written last goes first")
	}
	put(t, c, space, many(500)...)
	if err := c.Evict(t.Context(), live(indexed...), space); err != nil || documents(t, c, space, many(500)...) != 500 {
		t.Errorf("what was just bought is evicted: %v", err)
	}
}

// A copy is whole, has mode 0600 and replaces no file, and can be opened.
func TestCopyIsWhole(t *testing.T) {
	t.Parallel()
	c := openCache(t, t.TempDir(), 100)
	put(t, c, space, "one", "two")
	path := filepath.Join(t.TempDir(), "copy.sqlite")
	if err := c.Copy(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := c.Copy(t.Context(), path); !errors.Is(err, os.ErrExist) {
		t.Errorf("a file was replaced: %v", err)
	}
	dir := t.TempDir()
	if err := os.Rename(path, filepath.Join(dir, "embeddings.sqlite")); err != nil {
		t.Fatal(err)
	}
	if n, err := openCache(t, dir, 100).Len(t.Context()); err != nil || n != 4 {
		t.Errorf("%d vectors, %v", n, err)
	}
}

// killEnv makes the test binary buy the vectors of an index until it is killed.
const killEnv = "KIOKU_TEST_BUY"

func TestMain(m *testing.M) {
	if dir := os.Getenv(killEnv); dir != "" {
		buyUntilKilled(dir)
	}
	os.Exit(m.Run())
}

// buyUntilKilled fills a cache, and appends what it buys to a file before the provider answers.
func buyUntilKilled(dir string) {
	c, err := vectors.Open(context.Background(), filepath.Join(dir, "embeddings.sqlite"), vectors.Options{Entries: 10_000})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	bill, err := os.OpenFile(filepath.Join(dir, "bill"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		os.Exit(1)
	}
	prov := newProvider()
	prov.refuses = func(text string) bool {
		fmt.Fprintf(bill, "%q\n", text)
		return false
	}
	index := newMemIndex(c, killFiles()...)
	if _, err := vectors.NewFill(c, index, prov, nil, nil).Run(context.Background(), nil); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("done")
	os.Exit(0)
}

func killFiles() (files []memFile) {
	for i := range 20 {
		files = append(files, memFile{fmt.Sprint(i), int64(i), []string{lines(fmt.Sprint("a", i), 5), lines(fmt.Sprint("b", i), 5)}})
	}
	return files
}

// Hazard A21: however often a backfill is killed, no text is bought twice, but for those of the request that was under way.
func TestNoTextIsBoughtTwiceOverKills(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	kills := 0
	r := rand.New(rand.NewPCG(2, 2))
	for tries := 0; ; tries++ {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(20+r.IntN(20*(1+tries/10)))*time.Millisecond)
		cmd := exec.CommandContext(ctx, os.Args[0])
		cmd.Env = append(os.Environ(), killEnv+"="+dir)
		out, err := cmd.Output()
		cancel()
		if strings.Contains(string(out), "done") {
			break
		}
		if err != nil && cmd.ProcessState.ExitCode() != -1 {
			t.Fatalf("%v: %s", err, out)
		}
		if kills++; kills > 2000 {
			t.Fatal("it never ends")
		}
	}
	bill, err := os.ReadFile(filepath.Join(dir, "bill"))
	if err != nil {
		t.Fatal(err)
	}
	bought := map[string]int{}
	lines := strings.Split(strings.TrimSpace(string(bill)), "\n")
	for _, line := range lines {
		bought[line]++
	}
	const texts, request = 20 * 12, 64
	if len(bought) != texts || len(lines) > texts+kills*request {
		t.Errorf("%d texts were bought %d times over %d kills", len(bought), len(lines), kills)
	}
	c := openCache(t, dir, 100)
	if rep, err := vectors.NewFill(c, newMemIndex(c, killFiles()...), newProvider(), nil, nil).Run(t.Context(), nil); err != nil || rep.Embedded != 0 || rep.Known != 40 {
		t.Errorf("the last run leaves %+v, %v", rep, err)
	}
}
