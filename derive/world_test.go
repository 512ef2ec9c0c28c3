package derive_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"kioku"
	"kioku/derive"
	"kioku/derive/rule"
	"kioku/derive/unit"
	"kioku/llm"
	"kioku/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// monday is when the worlds of tests begin.
var monday = time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)

// world is a folder of notes, its memory, and the service that derives from it.
type world struct {
	t      *testing.T
	folder string
	state  string
	memory *kioku.Memory
	*derive.Service
	// model of the service; nil for rules only.
	model *fakeModel
	opt   derive.Options

	// bubbled worlds have the clock of a bubble of synctest.
	bubbled bool
	mu      sync.Mutex
	now     time.Time // guarded by mu
}

// newWorld opens a world with notes: paths and texts by turns.
func newWorld(t *testing.T, notes ...string) *world {
	t.Helper()
	return openWorld(&world{t: t, folder: t.TempDir(), state: t.TempDir(), now: monday}, notes...)
}

// openWorld opens a world with notes.
func openWorld(w *world, notes ...string) *world {
	w.t.Helper()
	w.write("MEMORY.md", "# Memory\n")
	for i := 0; i < len(notes); i += 2 {
		w.write(notes[i], notes[i+1])
	}
	w.open()
	return w
}

// withModel gives a world a model, which its service has from now on.
func (w *world) withModel(m *fakeModel, change ...func(*derive.Options)) *world {
	w.t.Helper()
	w.model = m
	for _, c := range change {
		c(&w.opt)
	}
	w.serve()
	return w
}

// open opens the memory and its service.
func (w *world) open() {
	w.t.Helper()
	rules := w.rules()
	m, err := kioku.Open(w.t.Context(), kioku.Options{
		Workspace: w.folder, StateDir: w.state, Now: w.clock, Location: time.UTC, Episodes: rules.Episodes,
		Log: w.opt.Log,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.memory = m
	w.t.Cleanup(func() { m.Close() })
	w.sync()
	w.serve()
}

// rules returns the rules of the world.
func (w *world) rules() *rule.Rules {
	w.t.Helper()
	user, err := os.ReadFile(filepath.Join(w.folder, "USER.md"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.t.Fatal(err)
	}
	rules, err := rule.New(rule.Options{Private: []string{"memory/family/**"}, UserNames: rule.OwnerNames(user)})
	if err != nil {
		w.t.Fatal(err)
	}
	return rules
}

// serve makes the service anew, as a new process does.
func (w *world) serve() {
	w.t.Helper()
	opt := w.opt
	opt.Store, opt.Notes, opt.Rules, opt.Now = w.memory.Derived(), w.memory, w.rules(), w.clock
	if w.model != nil {
		opt.Model = w.model
	}
	s, err := derive.New(opt)
	if err != nil {
		w.t.Fatal(err)
	}
	w.Service = s
}

// clock is the clock of the world.
func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bubbled {
		return time.Now()
	}
	return w.now
}

// pass lets time pass.
func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// write writes a note.
func (w *world) write(path, text string) {
	w.t.Helper()
	path = filepath.Join(w.folder, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Chtimes(path, w.clock(), w.clock()); err != nil {
		w.t.Fatal(err)
	}
}

// remove removes a note.
func (w *world) remove(path string) {
	w.t.Helper()
	if err := os.Remove(filepath.Join(w.folder, filepath.FromSlash(path))); err != nil {
		w.t.Fatal(err)
	}
}

// sync brings the index up to date.
func (w *world) sync() {
	w.t.Helper()
	if _, err := w.memory.Sync(w.t.Context(), kioku.SyncOptions{}, nil); err != nil {
		w.t.Fatal(err)
	}
}

// derive syncs and derives all that can be derived now.
func (w *world) derive() {
	w.t.Helper()
	w.sync()
	if err := w.Run(w.t.Context(), false, nil); err != nil {
		w.t.Fatal(err)
	}
}

// reopen closes the memory and opens it again; with fresh without its index.
func (w *world) reopen(fresh bool) {
	w.t.Helper()
	if err := w.memory.Close(); err != nil {
		w.t.Fatal(err)
	}
	if fresh {
		if err := os.RemoveAll(filepath.Join(w.state, "memory")); err != nil {
			w.t.Fatal(err)
		}
	}
	w.open()
}

// units returns the units of a kind, empty for all, that hold now, or those in states.
func (w *world) units(kind string, states ...string) []memory.Unit {
	w.t.Helper()
	var kinds []string
	if kind != "" {
		kinds = []string{kind}
	}
	list, err := w.List(w.t.Context(), memory.UnitQuery{Kinds: kinds, States: states, IncludeSuperseded: len(states) > 0, MaxSensitivity: memory.Secret, Limit: 1000}, "")
	if err != nil {
		w.t.Fatal(err)
	}
	return list.Units
}

// fact returns the only fact that holds now with a predicate and, if it is not empty, an object.
func (w *world) fact(predicate, object string) memory.Unit {
	w.t.Helper()
	var found []memory.Unit
	for _, u := range w.units(memory.KindFact) {
		if u.Fact.Predicate == predicate && (object == "" || u.Fact.Object == object) {
			found = append(found, u)
		}
	}
	if len(found) != 1 {
		w.t.Fatalf("%d facts %s %s hold; want one: %v", len(found), predicate, object, found)
	}
	return found[0]
}

// hasFact reports whether a fact with a predicate and an object holds now.
func (w *world) hasFact(predicate, object string) bool {
	w.t.Helper()
	for _, u := range w.units(memory.KindFact) {
		if u.Fact.Predicate == predicate && u.Fact.Object == object {
			return true
		}
	}
	return false
}

// status returns the status.
func (w *world) status() unit.DeriveStatus {
	w.t.Helper()
	st, err := w.Status(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return st
}

// decide makes a decision.
func (w *world) decide(r unit.DecisionRequest) unit.Decided {
	w.t.Helper()
	d, err := w.Decide(w.t.Context(), r)
	if err != nil {
		w.t.Fatalf("%s %s: %v", r.Verb, r.ID, err)
	}
	return d
}

// files returns the paths of a folder of the workspace.
func (w *world) files(dir string) []string {
	w.t.Helper()
	var all []string
	err := filepath.WalkDir(filepath.Join(w.folder, dir), func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(w.folder, path)
			all = append(all, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.t.Fatal(err)
	}
	return all
}

// fakeModel is a language model of tests.
type fakeModel struct {
	// answer answers a request; nil means that the model reads as people do.
	answer func(call int, req llm.Request) (llm.Response, error)

	mu       sync.Mutex
	requests []llm.Request // guarded by mu
}

// Name implements llm.Model.
func (m *fakeModel) Name() string { return "fake" }

// Window implements llm.Model.
func (m *fakeModel) Window() int { return 100_000 }

// Generate implements llm.Model.
func (m *fakeModel) Generate(ctx context.Context, req llm.Request, _ func(llm.Event)) (llm.Response, error) {
	m.mu.Lock()
	m.requests = append(m.requests, req)
	call := len(m.requests)
	m.mu.Unlock()
	if ctx.Err() != nil {
		return llm.Response{}, ctx.Err()
	}
	if m.answer != nil {
		return m.answer(call, req)
	}
	return say(reading(req)), nil
}

// calls returns how often the model was asked.
func (m *fakeModel) calls() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.requests)
}

// asked returns all that the model was told.
func (m *fakeModel) asked() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var b strings.Builder
	for _, req := range m.requests {
		b.WriteString(bodyOf(req))
	}
	return b.String()
}

// bodyOf returns the texts of a request.
func bodyOf(req llm.Request) string {
	body := req.System
	for _, m := range req.Messages {
		body += "\n" + m.Text
	}
	return body
}

// say returns the response with a text.
func say(text string) llm.Response {
	return llm.Response{
		Message: llm.Message{Role: llm.RoleAssistant, Text: text}, Stop: llm.StopEnd, Usage: llm.Usage{Input: 100, Output: 50},
	}
}

var (
	shownEpisode = regexp.MustCompile(`^episode unit_id (\d+)$`)
	shownLine    = regexp.MustCompile(`^(\d+) ([^:]+): (.*)$`)
	living       = regexp.MustCompile(`(?:^|\s)([A-Z]\w+) lives in ([A-Z]\w+)`)
)

// reading returns the answer of a model that understands "Ana lives in Porto", and sums up by the first line of each episode.
func reading(req llm.Request) string {
	if strings.HasPrefix(req.System, "Task: summary") {
		return summing(req)
	}
	type object = map[string]any
	var episodes []object
	for line := range strings.Lines(req.Messages[0].Text) {
		line = strings.TrimRight(line, "\n")
		if m := shownEpisode.FindStringSubmatch(line); m != nil {
			episodes = append(episodes, object{"unit_id": json.Number(m[1]), "entities": []object{}, "relations": []object{}, "facts": []object{}, "loops": []object{}})
		}
		m := shownLine.FindStringSubmatch(line)
		if m == nil || len(episodes) == 0 {
			continue
		}
		last := episodes[len(episodes)-1]
		for _, said := range living.FindAllStringSubmatch(m[3], -1) {
			last["facts"] = append(last["facts"].([]object), object{
				"subject": object{"etype": "PERSON", "name": said[1]}, "predicate": "lives_in", "object_text": said[2], "object": nil, "confidence": 0.9,
				"validity": object{"from": nil, "to": nil}, "evidence": []object{{"line": json.Number(m[1]), "quote": strings.TrimSpace(said[0])}},
			})
		}
	}
	answer, err := json.Marshal(object{"episodes": episodes})
	if err != nil {
		return err.Error()
	}
	return string(answer)
}

// summing returns the answer of a model that sums up episodes by the first line of the first one.
func summing(req llm.Request) string {
	for line := range strings.Lines(req.Messages[0].Text) {
		if m := shownLine.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			return fmt.Sprintf(`{"summary_text": %q, "key_events": [{"unit_id": 1, "why": %q}], "relationship_state": "", "notes": null}`, m[3], m[3])
		}
	}
	return `{}`
}
