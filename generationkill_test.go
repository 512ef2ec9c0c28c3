package kioku

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"kioku/embed"
	"kioku/internal/testkit"
)

// embedKillEnv makes the test binary a process that syncs a workspace until it is killed. Its value is the workspace, the state
// folder and the URL of the provider.
const embedKillEnv = "KIOKU_TEST_EMBED_KILL"

// perEmbedRequest is the number of texts in a request of these tests.
const perEmbedRequest = 8

// killedProvider answers slowly, counts the texts that it has answered, and kills a process after some requests.
type killedProvider struct {
	mu       sync.Mutex
	answered int
	left     int         // requests that are answered before the kill
	victim   *os.Process // nil for none
}

func (p *killedProvider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	time.Sleep(20 * time.Millisecond)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.victim != nil {
		if p.left--; p.left < 0 {
			p.victim.Kill()
			return
		}
	}
	p.answered += len(req.Input)
	var items []map[string]any
	for i, text := range req.Input {
		items = append(items, map[string]any{"index": i, "embedding": wordVector(text)})
	}
	json.NewEncoder(w).Encode(map[string]any{"data": items})
}

// clientAt returns a client of the model b of a provider.
func clientAt(t *testing.T, url string, concurrency int) *embed.Client {
	t.Helper()
	c, err := embed.New(embed.Config{Provider: "openai", Model: "b", BaseURL: url + "/v1", BatchItems: perEmbedRequest, Concurrency: concurrency})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// runUntilKilled starts a process that runs a test with a variable of the environment, and kills it after a number of requests.
func (p *killedProvider) runUntilKilled(t *testing.T, test string, requests int, env string) (killed bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+test+"$")
	cmd.Env = append(os.Environ(), env)
	p.mu.Lock()
	err := cmd.Start()
	p.left, p.victim = requests, cmd.Process
	p.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	p.mu.Lock()
	p.victim = nil
	p.mu.Unlock()
	if err != nil && cmd.ProcessState.ExitCode() != -1 {
		t.Fatal(err)
	}
	return err != nil
}

// embedUntilKilled is the process of embedKillEnv.
func embedUntilKilled(t *testing.T, value string) {
	var ws, state, url string
	var concurrency int
	if _, err := fmt.Sscan(value, &ws, &state, &url, &concurrency); err != nil {
		t.Fatal(err)
	}
	m := openMemory(t, Options{Workspace: ws, StateDir: state, Embedder: clientAt(t, url, concurrency)})
	m.Sync(t.Context(), SyncOptions{}, nil)
}

// Hazards E13, A05: a process that builds the vectors of another model is killed again and again in the middle of it. The next one
// goes on with what is stored, and the index ends with the vectors of the new model, for no more texts than there are, and those
// of one batch a kill for each request that may be under way. After each kill, the index has the vectors of the old model still.
func TestGenerationConvergesAfterKills(t *testing.T) {
	if value := os.Getenv(embedKillEnv); value != "" {
		embedUntilKilled(t, value)
		return
	}
	for _, concurrency := range []int{1, 4} {
		t.Run(fmt.Sprint(concurrency), func(t *testing.T) { killGeneration(t, concurrency) })
	}
}

// killGeneration is TestGenerationConvergesAfterKills with a number of requests under way.
func killGeneration(t *testing.T, concurrency int) {
	files := map[string]string{"MEMORY.md": "The lighthouse opens at nine.\n"}
	for i := range testkit.Rounds(200, 40) {
		files[fmt.Sprintf("memory/topic-%d.md", i)] = strings.Repeat(fmt.Sprintf("Sentence of file %d about the harbor and its cranes, once more.\n", i), 12)
	}
	ws, state := workspace(t, files), t.TempDir()
	makeIndex(t, Options{Workspace: ws, StateDir: state, Embedder: newSwitched().client(t)})

	var p killedProvider
	srv := httptest.NewServer(&p)
	defer srv.Close()
	reader := openMemory(t, Options{Workspace: ws, StateDir: state, Embedder: clientAt(t, srv.URL, 1), Mode: ReadOnly})
	need, err := reader.Estimate(t.Context())
	if err != nil || need.Texts < 80 {
		t.Fatalf("%+v, %v", need, err)
	}
	kills, random := 0, rand.New(rand.NewPCG(testkit.Seed(), 0))
	for range testkit.Rounds(20, 3) {
		if p.runUntilKilled(t, "TestGenerationConvergesAfterKills", 1+random.IntN(3), embedKillEnv+"="+fmt.Sprint(ws, " ", state, " ", srv.URL, " ", concurrency)) {
			kills++
		}
		if st, err := reader.store.Stats(t.Context()); err != nil || st.Space.Model != "fake" || st.Embedded != st.Chunks {
			t.Errorf("after %d kills: %+v, %v", kills, st, err)
		}
	}
	m := openMemory(t, Options{Workspace: ws, StateDir: state, Embedder: clientAt(t, srv.URL, concurrency)})
	r, err := m.Sync(t.Context(), SyncOptions{}, nil)
	if err != nil || r.Unembedded != 0 || r.EmbedErr != nil {
		t.Errorf("%+v, %v", r, err)
	}
	if st := checkIndex(t, m); st.Space.Model != "b" || st.Embedded != st.Chunks {
		t.Errorf("%+v", st)
	}
	left, err := m.Estimate(t.Context())
	if most := need.Texts + kills*concurrency*perEmbedRequest; err != nil || left.Texts != 0 || kills < 3 || p.answered > most {
		t.Errorf("%d texts were embedded for %d and %d kills, more than %d; %+v, %v", p.answered, need.Texts, kills, most, left, err)
	}
	t.Logf("%d texts for %d, %d kills", p.answered, need.Texts, kills)
}
