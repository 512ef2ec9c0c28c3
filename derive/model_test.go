package derive_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/derive"
	"kioku/derive/unit"
	"kioku/llm"
	"kioku/memory"
)

// day returns a dated note with sections, one a text.
func day(texts ...string) string {
	var b strings.Builder
	for i, text := range texts {
		fmt.Fprintf(&b, "## %02d:00\n%s\n\n", i+8, text)
	}
	return b.String()
}

// of returns items about a person, as the rules read them: "City: Porto".
func of(name string, items ...string) string {
	return "### People\n#### " + name + "\n- " + strings.Join(items, "\n- ")
}

// extracts returns how often the model was asked to extract.
func (m *fakeModel) extracts() int { return m.purposes("extract") }

// purposes returns how often the model was asked for a purpose.
func (m *fakeModel) purposes(purpose string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, req := range m.requests {
		if strings.HasPrefix(req.System, "Task: "+purpose) {
			n++
		}
	}
	return n
}

func TestAModelReadsWhatHasSettled(t *testing.T) {
	t.Parallel()
	m := &fakeModel{}
	w := newWorld(t).withModel(m)
	w.write("memory/2026-11-23.md", day("Met Ana. It seems that Ana lives in Porto."))
	w.derive()
	if !w.hasFact("lives_in", "Porto") || m.extracts() != 1 {
		t.Errorf("after %d calls: %q", m.extracts(), w.sentences(memory.KindFact))
	}
	u := w.fact("lives_in", "Porto")
	if u.Source != "model" || u.Evidence[0].Maker == "rule" {
		t.Errorf("unit: %+v", u)
	}
}

// A run reads all that waits, however much that is, and what is older than 90 days only if it is asked to.
func TestRunReadsAllThatWaits(t *testing.T) {
	t.Parallel()
	m := &fakeModel{}
	var b strings.Builder
	for i := range 620 {
		fmt.Fprintf(&b, "## Part %d\n\nWell, Ana%c%c lives in Porto.\n\n", i, 'a'+i/26, 'a'+i%26)
	}
	w := newWorld(t, "memory/2026-01-02.md", b.String()).withModel(m, func(o *derive.Options) { o.MaxCallsPerHour, o.MaxTokensPerDay = 10_000, 1<<40 })
	w.derive()
	if m.extracts() != 0 {
		t.Errorf("%d calls for episodes of January", m.extracts())
	}
	if err := w.Run(t.Context(), true, nil); err != nil {
		t.Fatal(err)
	}
	if st := w.status(); st.Unextracted != 0 || m.extracts() < 620/12 {
		t.Errorf("%d calls, %d episodes wait", m.extracts(), st.Unextracted)
	}
}

// A reflection counts for the order of episodes.
func TestAReflectionTellsWhatMatters(t *testing.T) {
	t.Parallel()
	m := &fakeModel{}
	m.answer = func(_ int, req llm.Request) (llm.Response, error) {
		if !strings.HasPrefix(req.System, "Task: extract") {
			return say(reading(req)), nil
		}
		return say(strings.Replace(reading(req), `{"entities"`, `{"reflection": {"reflection_text": "A big step.", "emotion_label": "joy", "emotion_intensity": 0.4,
			"salience_score": 0.97, "confidence": 0.8, "topic_tags": ["move"]}, "entities"`, 1)), nil
	}
	w := newWorld(t, "memory/2026-11-23.md", day("Well, Ana lives in Porto.", "Lunch.")).withModel(m, func(o *derive.Options) { o.Reflect = true })
	w.derive()
	episodes, err := w.memory.Derived().EpisodesBetween(t.Context(), monday.Add(-24*time.Hour), monday.Add(24*time.Hour), 10)
	if err != nil || len(episodes) != 2 || episodes[0].Salience != 0.97 {
		t.Errorf("episodes: %+v, %v", episodes, err)
	}
	got, err := w.Reflections(t.Context(), unit.ReflectionFilter{From: "2026-11-23", To: "2026-11-23"}, memory.Private)
	day := []unit.DayMood{{Date: "2026-11-23", Mood: 0.4, Emotions: map[string]int{"joy": 1}}}
	if diff := cmp.Diff(day, got.Days); diff != "" || err != nil || len(got.Reflections) != 1 || got.Reflections[0].Text != "A big step." {
		t.Errorf("reflections: %+v, %v %s", got.Reflections, err, diff)
	}
	if none, err := w.Reflections(t.Context(), unit.ReflectionFilter{From: "2026-11-24"}, memory.Private); err != nil || len(none.Reflections)+len(none.Days) != 0 {
		t.Errorf("of other days: %+v, %v", none, err)
	}
	topics, err := w.Entities(t.Context(), unit.EntityFilter{Type: "TOPIC", Name: "move"})
	if err != nil || len(topics.Entities) != 1 || topics.Entities[0].Mentions != 1 {
		t.Errorf("tags are no topics: %+v, %v", topics, err)
	}
	list, err := w.List(t.Context(), memory.UnitQuery{}, "Ana lives")
	if err != nil || len(list.Units) == 0 {
		t.Fatalf("no unit: %+v, %v", list, err)
	}
	u, err := w.Unit(t.Context(), list.Units[0].UID, memory.Private)
	if err != nil || len(u.Evidence) == 0 || u.Evidence[0].Reflection == nil || u.Evidence[0].Reflection.Emotion != "joy" {
		t.Errorf("the evidence has no reflection: %+v, %v", u.Evidence, err)
	}
}

// A note that never rests is read after two hours.
func TestAModelReadsWhatNeverSettles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeModel{}
		w := openWorld(&world{t: t, folder: t.TempDir(), state: t.TempDir(), bubbled: true}).withModel(m)
		began, asked := time.Now(), time.Duration(0)
		for n := 0; time.Since(began) < 3*time.Hour && asked == 0; n++ {
			w.write("memory/log.md", "# Log\n\nWell, Ana lives in Porto.\n"+strings.Repeat("- more\n", n))
			w.sync()
			worker(t, w, 270*time.Second) // not whole minutes: its end and a pass would race
			if m.extracts() > 0 {
				asked = time.Since(began)
			}
		}
		if asked < 110*time.Minute || asked > 130*time.Minute {
			t.Errorf("the model was asked after %s", asked)
		}
		w.memory.Close()
	})
}

// Acceptance check 3: an answer that is invalid is asked for once more with the reasons, and a valid one is used.
func TestAcceptance03CorrectsAnInvalidAnswer(t *testing.T) {
	t.Parallel()
	m := &fakeModel{}
	m.answer = func(call int, req llm.Request) (llm.Response, error) {
		if call == 1 {
			return say("Sure! Ana lives in Porto."), nil
		}
		return say(reading(req)), nil
	}
	w := newWorld(t, "memory/2026-11-23.md", day("Ana lives in Porto now, says Bo.")).withModel(m)
	w.derive()
	if m.extracts() != 2 || !w.hasFact("lives_in", "Porto") {
		t.Errorf("%d calls, facts %q", m.extracts(), w.sentences(memory.KindFact))
	}
	if second := bodyOf(m.requests[1]); !strings.Contains(second, "contains no JSON object") || !strings.Contains(second, "Sure! Ana lives") {
		t.Errorf("the second request lacks the reasons: %s", second)
	}
	if st := w.status(); len(st.Parked) != 0 || st.Unextracted != 0 {
		t.Errorf("status: %+v", st)
	}
}

// Acceptance check 3: an answer that stays invalid is asked for twice; then the job is parked with it, and others go on.
func TestAcceptance03ParksWhatStaysInvalid(t *testing.T) {
	t.Parallel()
	m := &fakeModel{}
	m.answer = func(_ int, req llm.Request) (llm.Response, error) {
		if strings.Contains(bodyOf(req), "Zed") {
			return say("no JSON about Zed, key ghp_Zt8Qw3Lm9Xc2Vb7Nk4Jh6Gf1Ds5Ap0RyUeIo"), nil
		}
		return say(reading(req)), nil
	}
	w := newWorld(t, "memory/2026-11-20.md", day("Zed lives in Rome."), "memory/2026-11-21.md", day("Ana lives in Porto.")).withModel(m)
	w.derive()
	if !w.hasFact("lives_in", "Porto") || w.hasFact("lives_in", "Rome") && w.fact("lives_in", "Rome").Source == "model" {
		t.Errorf("facts: %q", w.sentences(memory.KindFact))
	}
	st := w.status()
	var parked []unit.ParkedJob
	for _, p := range st.Parked {
		if p.Kind == "extract" {
			parked = append(parked, p)
		}
	}
	if len(parked) != 1 || parked[0].ErrorClass != "contract" || !strings.Contains(parked[0].Answer, "no JSON about Zed") || len(parked[0].Episodes) != 1 {
		t.Fatalf("parked: %+v", st.Parked)
	}
	if strings.Contains(parked[0].Answer, "ghp_Zt8Qw3") {
		t.Errorf("the kept answer has a secret: %s", parked[0].Answer)
	}
	before := m.extracts()
	w.derive()
	if m.extracts() != before {
		t.Errorf("a parked job was asked about again: %d calls more", m.extracts()-before)
	}
	m.answer = nil
	if n, err := w.Retry(t.Context(), parked[0].ID); n != 1 || err != nil {
		t.Errorf("retry: %d, %v", n, err)
	}
	w.derive()
	if !w.hasFact("lives_in", "Rome") {
		t.Errorf("after retry: %q", w.sentences(memory.KindFact))
	}
	if _, err := w.Retry(t.Context(), 987654); !errors.As(err, new(*memory.InputError)) {
		t.Errorf("retry of no job: %v", err)
	}
}

// Acceptance check 3: of a batch of eight episodes with one that makes every answer invalid, seven are stored and one is parked.
func TestAcceptance03StoresSevenOfEight(t *testing.T) {
	t.Parallel()
	m := &fakeModel{}
	m.answer = func(_ int, req llm.Request) (llm.Response, error) {
		if strings.Contains(req.Messages[0].Text, "Poison") {
			return say(`{"episodes": "none"}`), nil
		}
		return say(reading(req)), nil
	}
	names := []string{"Ana", "Bea", "Cid", "Dan", "Eva", "Fay", "Gus"}
	var texts []string
	for i, name := range names {
		texts = append(texts, name+" lives in City"+strings.Repeat("x", i)+" as it seems.")
	}
	w := newWorld(t, "memory/2026-11-23.md", day(append(texts, "Poison is here.")...)).withModel(m)
	w.derive()
	stored := 0
	for _, u := range w.units(memory.KindFact) {
		if u.Fact.Predicate == "lives_in" && u.Source == "model" {
			stored++
		}
	}
	st := w.status()
	extracts := 0
	for _, p := range st.Parked {
		if p.Kind == "extract" {
			extracts += len(p.Episodes)
		}
	}
	if stored != 7 || extracts != 1 {
		t.Errorf("%d facts stored, %d episodes parked: %+v", stored, extracts, st.Parked)
	}
}

// Acceptance check 3: an answer all of whose items are rejected is not done.
func TestAcceptance03RejectedItemsAreNotDone(t *testing.T) {
	t.Parallel()
	m := &fakeModel{}
	m.answer = func(_ int, req llm.Request) (llm.Response, error) {
		return say(strings.ReplaceAll(reading(req), `"quote":"Ana lives in Porto"`, `"quote":"Ana never lived anywhere"`)), nil
	}
	w := newWorld(t, "memory/2026-11-23.md", day("I think that Ana lives in Porto.")).withModel(m)
	w.derive()
	st := w.status()
	if m.extracts() != 2 || len(st.Rejected) == 0 || len(st.Parked) == 0 {
		t.Errorf("%d calls, status %+v", m.extracts(), st)
	}
}

// Acceptance check 4: what fails on the way uses up no try of the contract, and is tried again after the pause that was asked for.
func TestAcceptance04WaitsAsTheServerAsks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeModel{}
		m.answer = func(call int, req llm.Request) (llm.Response, error) {
			if call == 1 {
				return llm.Response{}, &llm.Error{Kind: llm.KindRateLimit, Message: "slow down", RetryAfter: 7 * time.Minute}
			}
			return say(reading(req)), nil
		}
		w := openWorld(&world{t: t, folder: t.TempDir(), state: t.TempDir(), bubbled: true}, "memory/2026-11-23.md", day("Now Ana lives in Porto."))
		w.withModel(m, func(o *derive.Options) { o.Settle = -1 })
		worker(t, w, 5*time.Minute)
		if st := w.status(); m.calls() != 1 || st.Problem == "" || st.Unextracted != 1 {
			t.Errorf("%d calls, %+v", m.calls(), st)
		}
		worker(t, w, 5*time.Minute)
		if !w.hasFact("lives_in", "Porto") {
			t.Errorf("facts after the pause: %q", w.sentences(memory.KindFact))
		}
		w.memory.Close()
	})
}

// Acceptance check 4: a key that is wrong stops all calls until a person has acted.
func TestAcceptance04StopsAtAWrongKey(t *testing.T) {
	t.Parallel()
	m := &fakeModel{answer: func(int, llm.Request) (llm.Response, error) {
		return llm.Response{}, &llm.Error{Kind: llm.KindAuth, Message: "the key is wrong"}
	}}
	w := newWorld(t, "memory/2026-11-20.md", day("Ana lives in Porto."), "memory/2026-11-21.md", day("Bea lives in Rome.")).withModel(m)
	w.derive()
	st := w.status()
	if m.calls() != 1 || !strings.Contains(st.Problem, "the key is wrong") || st.Jobs["parked"] != 0 || st.TokensToday != 0 {
		t.Errorf("%d calls, %+v", m.calls(), st)
	}
}

// contents returns all units with their evidence, in whatever state, without the times and numbers that an index gives them.
func (w *world) contents() []string {
	w.t.Helper()
	list, err := w.List(w.t.Context(), memory.UnitQuery{IncludeSuperseded: true, MaxSensitivity: memory.Secret, Limit: 1000}, "")
	if err != nil {
		w.t.Fatal(err)
	}
	var all []string
	for _, u := range list.Units {
		u.ID, u.Version, u.RecordedAt, u.ChangedAt = 0, 0, time.Time{}, time.Time{}
		slices.SortFunc(u.Evidence, func(a, b memory.Evidence) int {
			return strings.Compare(fmt.Sprint(a.Path, a.StartLine, a.Maker), fmt.Sprint(b.Path, b.StartLine, b.Maker))
		})
		data, err := json.Marshal(u)
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, string(data))
	}
	slices.Sort(all)
	return all
}

// Acceptance check 6: what was derived is not paid for again: not by a second run, and not after the index is gone.
func TestAcceptance06IdempotentAndRebuiltWithoutCalls(t *testing.T) {
	t.Parallel()
	m := &fakeModel{}
	w := newWorld(t, "MEMORY.md", ana, "memory/2026-11-20.md", day("Bea lives in Rome.", "Cid lives in Oslo."), "memory/2026-11-21.md", day("- [ ] call Bea")).withModel(m)
	w.derive()
	w.decide(unit.DecisionRequest{Verb: unit.DecidePin, ID: w.fact("lives_in", "Rome").UID})
	w.derive()
	calls, before := m.calls(), w.contents()
	if len(before) < 5 {
		t.Fatalf("only %d units: %q", len(before), w.sentences(""))
	}
	w.derive()
	if m.calls() != calls {
		t.Errorf("a second run made %d calls", m.calls()-calls)
	}
	if diff := cmp.Diff(before, w.contents()); diff != "" {
		t.Errorf("after a second run (-want +got):\n%s", diff)
	}
	if _, err := w.memory.Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	w.serve()
	w.derive()
	if m.calls() != calls {
		t.Errorf("after a rebuild %d calls were made:\n%s", m.calls()-calls, bodyOf(m.requests[len(m.requests)-1]))
	}
	if diff := cmp.Diff(before, w.contents()); diff != "" {
		t.Errorf("after a rebuild (-want +got):\n%s", diff)
	}
	if u := w.fact("lives_in", "Rome"); !u.Pinned {
		t.Error("the pin is gone after a rebuild")
	}
}

// Acceptance check 6: pins and what is forgotten hold again when only decisions.md is left.
func TestAcceptance06DecisionsSurviveTheDatabase(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "MEMORY.md", ana)
	w.derive()
	w.decide(unit.DecisionRequest{Verb: unit.DecidePin, ID: w.fact("lives_in", "Porto").UID})
	w.decide(unit.DecisionRequest{Verb: unit.DecideForget, ID: w.fact("works_at", "Acme").UID})
	w.reopen(true)
	w.derive()
	if !w.fact("lives_in", "Porto").Pinned || w.hasFact("works_at", "Acme") {
		t.Errorf("facts of a new index: %q", w.sentences(memory.KindFact))
	}
}
