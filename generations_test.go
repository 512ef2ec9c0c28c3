package kioku

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"kioku/embed"
	"kioku/indexer"
	"kioku/memory"
	"kioku/store"
	"kioku/vectors"
)

// models is a server of several models without a network.
type models struct {
	mu sync.Mutex
	// fails has the models that do not answer: with an HTTP status, or as if no server listened if that is 0.
	fails map[string]int
	// paid counts the texts that each model was asked for, by model and text.
	paid map[string]map[string]int
	// refuses has a word for each model: requests that contain it are refused.
	refuses map[string]string
	// asked is called for each request, before it is answered; nil for nothing.
	asked func(model string)
	// pause before each answer.
	pause time.Duration
	now   time.Time
}

func newModels() *models {
	return &models{fails: map[string]int{}, paid: map[string]map[string]int{}, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

// client returns a client of a model.
func (s *models) client(t *testing.T, model string) *embed.Client {
	t.Helper()
	c, err := embed.New(embed.Config{Provider: "openai", Model: model, BaseURL: "http://models.invalid/v1", MaxTries: 1, Transport: s, Now: s.time})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// time is the clock of the clients.
func (s *models) time() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// pass lets time pass.
func (s *models) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

// fail makes a model fail with a status, 0 for no server, or answer again if status is -1.
func (s *models) fail(model string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.fails, model); status >= 0 {
		s.fails[model] = status
	}
}

// texts returns how many texts a model was asked for, and the largest number of times that it was asked for one.
func (s *models) texts(model string) (n, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, times := range s.paid[model] {
		n, most = n+times, max(most, times)
	}
	return n, most
}

// RoundTrip implements http.RoundTripper.
func (s *models) RoundTrip(r *http.Request) (*http.Response, error) {
	var req struct {
		Model string
		Input []string
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	time.Sleep(s.pause)
	if s.asked != nil {
		s.asked(req.Model)
	}
	status, failed := s.fails[req.Model]
	if word := s.refuses[req.Model]; word != "" && strings.Contains(strings.Join(req.Input, " "), word) {
		status, failed = http.StatusBadRequest, true
	}
	if failed && status == 0 {
		return nil, syscall.ECONNREFUSED
	}
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: r, Body: io.NopCloser(bytes.NewReader(nil))}
	if failed {
		resp.StatusCode = status
		return resp, nil
	}
	if s.paid[req.Model] == nil {
		s.paid[req.Model] = map[string]int{}
	}
	var items []map[string]any
	for i, text := range req.Input {
		s.paid[req.Model][text]++
		v := wordVector(text)
		if req.Model == "second" {
			slices.Reverse(v) // the spaces have nothing in common
		}
		items = append(items, map[string]any{"index": i, "embedding": v})
	}
	body, err := json.Marshal(map[string]any{"data": items})
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, err
}

// harbors are notes of which each query about a harbor finds one.
func harbors(n int) map[string]string {
	files := map[string]string{}
	for i := range n {
		files[fmt.Sprintf("memory/2025-%02d-%02d.md", 1+i/28, 1+i%28)] = fmt.Sprintf("The harbor%d opens at nine.\n", i)
	}
	return files
}

// askHarbor searches, and returns an error unless the answer is hybrid, is not degraded but for the codes, and has the hit.
func askHarbor(t *testing.T, m *Memory, n int, codes ...string) (memory.Answer, error) {
	a, err := m.Search(t.Context(), memory.Query{Text: fmt.Sprintf("When does harbor%d open?", n)})
	if err != nil {
		return a, err
	}
	for _, d := range a.Degraded {
		if !slices.Contains(codes, d.Code) {
			return a, fmt.Errorf("degraded: %+v", a.Degraded)
		}
	}
	if len(a.Hits) == 0 || a.Mode != memory.ModeHybrid {
		return a, fmt.Errorf("%s, %d hits", a.Mode, len(a.Hits))
	}
	return a, nil
}

// answeredBy fails the test unless vectors of a model answer.
func answeredBy(t *testing.T, m *Memory, model string) {
	t.Helper()
	a, err := askHarbor(t, m, 1, memory.IndexStale)
	if err != nil || a.Model != model {
		t.Errorf("answered by %s: %+v, %v; want %s", a.Model, a.Degraded, err, model)
	}
}

// indexedBy makes an index with a model's vectors, and returns the options of it.
func indexedBy(t *testing.T, s *models, model string, notes int) Options {
	t.Helper()
	opt := Options{Workspace: workspace(t, harbors(notes)), StateDir: t.TempDir(), Embedder: s.client(t, model), Now: s.time}
	makeIndex(t, opt)
	return opt
}

// Hazards D11, E07: while 50 searches a second run, the vectors of another model are built and take over. No search fails, none is empty, none
// falls back to words, and each is answered by one of the two models; by the new one once it is there.
func TestSwitchOfModelsWhileSearching(t *testing.T) {
	t.Parallel()
	s := newModels()
	opt := indexedBy(t, s, "first", 80)
	opt.Embedder = s.client(t, "second")
	m := openMemory(t, opt)
	s.pause = 2 * time.Millisecond
	events := m.Subscribe(t.Context())
	begun, done := make(chan struct{}), make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	var g errgroup.Group
	answers := map[string]int{}
	g.Go(func() error {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		defer begin()
		for n, after := 0, 0; after < 10; n++ {
			select {
			case <-done:
				after++
			default:
			}
			a, err := askHarbor(t, m, n%80, memory.IndexStale)
			if err != nil {
				return fmt.Errorf("search %d: %w", n, err)
			}
			if answers[a.Model]++; n == 3 {
				begin()
			}
			<-tick.C
		}
		return nil
	})
	g.Go(func() error {
		defer close(done)
		<-begun // a few searches before the switch
		r, err := m.Sync(t.Context(), SyncOptions{}, nil)
		if err == nil && (r.EmbedErr != nil || r.Unembedded > 0) {
			err = fmt.Errorf("%+v", r)
		}
		return err
	})
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	if len(answers) != 2 || answers["first"] == 0 || answers["second"] < 10 {
		t.Errorf("answered by %v", answers)
	}
	answeredBy(t, m, "second")
	for ev := range events {
		if ev.Kind == indexer.SpaceChanged {
			break
		}
	}
}

// After a restart with another provider that does not answer, queries are embedded as the vectors of the index were made, until
// the new ones are whole. The old provider costs one text a query.
func TestOldModelAnswersAfterARestart(t *testing.T) {
	t.Parallel()
	s := newModels()
	opt := indexedBy(t, s, "first", 20)
	opt.Embedder = s.client(t, "second")
	s.fail("second", 0)
	m := openMemory(t, opt)
	if r, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil || r.EmbedErr == nil {
		t.Errorf("%+v, %v", r, err)
	}
	before, _ := s.texts("first")
	answeredBy(t, m, "first")
	if now, _ := s.texts("first"); now != before+1 {
		t.Errorf("a query costs %d texts", now-before)
	}
	st, err := m.Status(t.Context())
	if err != nil || st.Active.Model != "first" || st.Space.Model != "second" || st.Built != 0 || !hasCode(st.Degraded, memory.SpaceChanged) {
		t.Errorf("%+v, %v", st, err)
	}
	s.fail("second", -1)
	s.pass(time.Hour)
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Error(err)
	}
	answeredBy(t, m, "second")
}

// A provider whose vectors are whole, but which does not answer, does not take the place of one that does, and the sync says so.
func TestProviderThatIsDownDoesNotTakeOver(t *testing.T) {
	t.Parallel()
	s := newModels()
	opt := indexedBy(t, s, "first", 20)
	opt.Embedder = s.client(t, "second")
	makeIndex(t, opt)
	opt.Embedder = s.client(t, "first")
	s.fail("first", 0)
	m := openMemory(t, opt)
	r, err := m.Sync(t.Context(), SyncOptions{}, nil)
	if err != nil || !errors.Is(r.EmbedErr, vectors.ErrNotAdopted) || !strings.Contains(fmt.Sprint(r.EmbedErr), "does not answer") {
		t.Errorf("%v, %v", r.EmbedErr, err)
	}
	answeredBy(t, m, "second")
	s.fail("first", -1)
	s.pass(time.Hour)
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Error(err)
	}
	answeredBy(t, m, "first")
	if n, most := s.texts("first"); most > 2 { // the question is asked twice
		t.Errorf("%d texts, one of them %d times", n, most)
	}
}

// A provider that refuses most texts does not take the place of the one before, and the sync says so.
func TestProviderThatRefusesMostTextsDoesNotTakeOver(t *testing.T) {
	t.Parallel()
	s := newModels()
	opt := indexedBy(t, s, "first", 20)
	opt.Embedder = s.client(t, "second")
	s.refuses = map[string]string{"second": "harbor1"} // 11 of 20
	m := openMemory(t, opt)
	r, err := m.Sync(t.Context(), SyncOptions{}, nil)
	if err != nil || !errors.Is(r.EmbedErr, vectors.ErrNotAdopted) || !strings.Contains(fmt.Sprint(r.EmbedErr), "only 9 of 20") {
		t.Errorf("%v, %v", r.EmbedErr, err)
	}
	answeredBy(t, m, "first")
}

// The recipe of the vectors is stored with them, and has no key.
func TestIndexKnowsHowItsVectorsAreMade(t *testing.T) {
	t.Parallel()
	s := newModels()
	opt := indexedBy(t, s, "first", 2)
	x, err := store.Open(t.Context(), store.Path(opt.StateDir, "main"), store.Options{Workspace: opt.Workspace, ReadOnly: true,
		Vectors: opt.withDefaults().Vectors, Now: time.Now, Log: opt.withDefaults().Log})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	stats, err := x.Stats(t.Context())
	if err != nil || stats.Recipe != opt.Embedder.Recipe() || stats.Recipe == "" {
		t.Errorf("the recipe is %q, %v", stats.Recipe, err)
	}
}
