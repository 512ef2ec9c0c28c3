package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku/derive/unit"
	"kioku/memory"
)

// deriving returns a server of the agent ann, for which d derives, and of bob, for whom nothing does.
func deriving(t *testing.T, d Deriver) *Server {
	t.Helper()
	s, err := New(Options{
		Agents: map[string]Memory{"ann": Memory(nil), "bob": Memory(nil)}, Derivers: map[string]Deriver{"ann": d}, Location: time.UTC,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// asReader and asWriter are contexts of calls by tokens for ann and bob.
func asReader(t *testing.T) context.Context { return asToken(t, false) }
func asWriter(t *testing.T) context.Context { return asToken(t, true) }

func asToken(t *testing.T, write bool) context.Context {
	t.Helper()
	return withCall(t.Context(), &call{caller: caller{name: "token", agents: []string{"ann", "bob"}, write: write}})
}

// codeOf returns the code of an error as a caller sees it.
func codeOf(t *testing.T, s *Server, err error) codes.Code {
	t.Helper()
	if err == nil {
		return codes.OK
	}
	return status.Code(s.status(t.Context(), "test", err))
}

// jsonOf returns the JSON of an answer.
func jsonOf(t *testing.T, s *Server, method, path, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://kioku"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := s.LocalOperations().RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(answer))
}

// moved is a fact with everything that a fact has.
func moved() memory.Unit {
	day := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	return memory.Unit{
		UID: "9f3c", Kind: memory.KindFact, State: memory.StateConflict, OccurredAt: day, RecordedAt: day.Add(time.Hour), ChangedAt: day.Add(2 * time.Hour),
		Source: "model", Trust: memory.SpeakerUser, Confidence: .8, Salience: .4, Sensitivity: memory.Private, Pinned: true, Version: 3,
		Fact: &memory.Fact{
			Subject: memory.EntityRef{Type: "PERSON", Name: "Dario"}, Predicate: "lives_in", Slot: "lives_in", Key: "k", Object: "Porto",
			ObjectEntity: &memory.EntityRef{Type: "PLACE", Name: "Porto"}, From: "2026-10", To: "2026-12", SupersededBy: "aa", Opposes: []string{"bb"},
		},
		Evidence: []memory.Evidence{{
			EpisodeUID: "e1", Path: "memory/2026-11-20.md", StartLine: 3, EndLine: 4, Quote: "Dario lives in Porto now", Speaker: memory.SpeakerUser,
			Maker: "facts/1 m", Confidence: .7, At: day,
		}},
	}
}

// movedJSON is moved as a caller reads it.
const movedJSON = `{"id":"9f3c","kind":"fact","state":"conflict","text":"Dario lives in Porto (2026-10 to 2026-11)","occurred_at":"2026-11-20T09:00:00Z",` +
	`"recorded_at":"2026-11-20T10:00:00Z","changed_at":"2026-11-20T11:00:00Z","source":"model","trust":"user","confidence":0.8,"salience":0.4,` +
	`"sensitivity":"private","pinned":true,"version":3,"fact":{"subject":{"type":"PERSON","name":"Dario"},"predicate":"lives_in","slot":"lives_in",` +
	`"key":"k","object":"Porto","object_entity":{"type":"PLACE","name":"Porto"},"from":"2026-10","to":"2026-12","superseded_by":"aa","conflicts":["bb"]},` +
	`"evidence":[{"episode":"e1","path":"memory/2026-11-20.md","start_line":3,"end_line":4,"quote":"Dario lives in Porto now","speaker":"user",` +
	`"maker":"facts/1 m","confidence":0.7,"at":"2026-11-20T09:00:00Z"}]}`

func TestDeriveListAsksForWhatTheRequestSays(t *testing.T) {
	t.Parallel()
	var asked memory.UnitQuery
	var words string
	s := deriving(t, &fakeDeriver{list: func(q memory.UnitQuery, w string) (memory.UnitList, error) {
		asked, words = q, w
		return memory.UnitList{Units: []memory.Unit{moved()}, Total: 7, Withheld: 2, Next: "9f3c"}, nil
	}})
	got := jsonOf(t, s, "GET", "/v1/units?agent=ann&kinds=fact&entity=e5&predicate=lives_in&states=validated&as_of=2026-10-01T00:00:00Z"+
		"&believed=2026-10-01T01:00:00Z&includeSuperseded=true&max_sensitivity=secret&after=aa&limit=5&query=Porto", "")
	at := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	want := memory.UnitQuery{
		Kinds: []string{"fact"}, Entity: "e5", Predicate: "lives_in", States: []string{"validated"}, AsOf: at, BelievedAt: at.Add(time.Hour),
		IncludeSuperseded: true, MaxSensitivity: memory.Secret, After: "aa", Limit: 5,
	}
	if diff := cmp.Diff(want, asked); diff != "" || words != "Porto" {
		t.Errorf("words %q, query (-want +got):\n%s", words, diff)
	}
	if diff := cmp.Diff(`{"units":[`+movedJSON+`],"total":7,"withheld":2,"next":"9f3c"}`, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

// Hazard I04: Secrets are for who may write; whoever names no ceiling gets what is private, and nothing above it.
func TestDeriveSecretsNeedTheRightToWrite(t *testing.T) {
	t.Parallel()
	var ceilings []memory.Sensitivity
	s := deriving(t, &fakeDeriver{unit: func(_ string, c memory.Sensitivity) (memory.Unit, error) {
		ceilings = append(ceilings, c)
		return moved(), nil
	}})
	for _, tc := range []struct {
		ctx     context.Context
		ceiling string
		want    codes.Code
	}{
		{asReader(t), "", codes.OK}, {asReader(t), "normal", codes.OK}, {asReader(t), "private", codes.OK}, {asReader(t), "secret", codes.PermissionDenied},
		{asWriter(t), "secret", codes.OK}, {asWriter(t), "SECRET", codes.InvalidArgument},
	} {
		_, err := deriveOps(s).Show.Do(tc.ctx, UnitID{OfAgent{"ann"}, "9f3c", tc.ceiling})
		if got := codeOf(t, s, err); got != tc.want {
			t.Errorf("%q: %v, want %v", tc.ceiling, got, tc.want)
		}
	}
	if diff := cmp.Diff([]memory.Sensitivity{memory.Private, memory.Normal, memory.Private, memory.Secret}, ceilings); diff != "" {
		t.Error(diff)
	}
}

func TestDeriveHistoryTellsTheVersions(t *testing.T) {
	t.Parallel()
	s := deriving(t, &fakeDeriver{history: func(id string, _ memory.Sensitivity) ([]unit.Version, error) {
		return []unit.Version{{UID: id, Version: 1, Reason: "claims", Payload: "{}", Unit: moved(), Model: "m", Contract: "loops/1", RecordedAt: moved().OccurredAt}}, nil
	}})
	want := `[{"id":"9f3c","version":1,"reason":"claims","unit":` + movedJSON + `,"model":"m","contract":"loops/1","recorded_at":"2026-11-20T09:00:00Z"}]`
	if diff := cmp.Diff(want, jsonOf(t, s, "GET", "/v1/units/9f3c/history?agent=ann", "")); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

// A decision asks for its verb, and for nothing else than the request says.
func TestDeriveDecideAsksForItsVerb(t *testing.T) {
	t.Parallel()
	var asked unit.DecisionRequest
	s := deriving(t, &fakeDeriver{decide: func(r unit.DecisionRequest) (unit.Decided, error) {
		asked = r
		u := moved()
		return unit.Decided{Unit: &u, Entity: &unit.Entity{UID: "e5", Name: "Dario"}, Line: "- 2026-11-20 pin fact 9f3c", Remaining: []string{"a.md#L1-L1"}}, nil
	}})
	from, none, secret := "2026-10", "", memory.Secret
	for body, want := range map[string]unit.DecisionRequest{
		`{"agent":"ann","verb":"pin","id":"9f","note":"why"}`: {Verb: unit.DecidePin, ID: "9f", Note: "why"},
		`{"agent":"ann","verb":"correct","id":"9f","set":{"text":"Lisboa","from":"2026-10","to":"","sensitivity":"secret"}}`: {
			Verb: unit.DecideCorrect, ID: "9f", Set: unit.Correction{Text: "Lisboa", From: &from, To: &none, Sensitivity: &secret}},
		`{"agent":"ann","verb":"correct","id":"9f","set":{"due":""}}`: {Verb: unit.DecideCorrect, ID: "9f", Set: unit.Correction{Due: &none}},
		`{"agent":"ann","verb":"merge","id":"9f","into":"e5"}`:        {Verb: unit.DecideMerge, ID: "9f", Into: "e5"},
	} {
		got := jsonOf(t, s, "POST", "/v1/derive/decisions", body)
		if diff := cmp.Diff(want, asked); diff != "" {
			t.Errorf("%s: decision (-want +got):\n%s", body, diff)
		}
		answer := `{"unit":` + movedJSON + `,"entity":{"id":"e5","type":"","name":"Dario","mentions":0},"decision":"- 2026-11-20 pin fact 9f3c","remaining":["a.md#L1-L1"]}`
		if diff := cmp.Diff(answer, got); diff != "" {
			t.Errorf("%s: answer (-want +got):\n%s", body, diff)
		}
	}
}

// What is wrong with a request is said before anything is asked.
func TestDeriveNamesTheBadField(t *testing.T) {
	t.Parallel()
	s, ctx := deriving(t, &fakeDeriver{}), asWriter(t)
	ops, ann := deriveOps(s), OfAgent{"ann"}
	decide := func(r unit.DecisionRequest) error { return errOf(ops.Decide.Do(ctx, Decision{ann, r})) }
	for field, err := range map[string]error{
		"kinds":           errOf(ops.List.Do(ctx, unit.ListRequest{Agent: "ann", Kinds: []string{"chunk"}})),
		"states":          errOf(ops.List.Do(ctx, unit.ListRequest{Agent: "ann", States: []string{"orphaned"}})),
		"limit":           errOf(ops.List.Do(ctx, unit.ListRequest{Agent: "ann", Limit: 1001})),
		"query":           errOf(ops.List.Do(ctx, unit.ListRequest{Agent: "ann", Query: strings.Repeat("x", 5000)})),
		"max_sensitivity": errOf(ops.History.Do(ctx, UnitID{ann, "9f", "all"})),
		"name":            errOf(ops.Entities.Do(ctx, EntityRequest{OfAgent: ann, Name: "a\nb"})),
		"verb":            decide(unit.DecisionRequest{Verb: "praise", ID: "9f"}),
		"id":              decide(unit.DecisionRequest{Verb: unit.DecidePin}),
		"note":            decide(unit.DecisionRequest{Verb: unit.DecideForget, ID: "9f", Note: strings.Repeat("x", 501)}),
		"text":            decide(unit.DecisionRequest{Verb: unit.DecideCorrect, ID: "9f"}),
		"into":            decide(unit.DecisionRequest{Verb: unit.DecideMerge, ID: "9f"}),
	} {
		if input, ok := errors.AsType[*memory.InputError](err); !ok || input.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func errOf[T any](_ T, err error) error { return err }

// Hazard I01: for an agent for which nothing is derived, the status says so, and other operations refuse.
func TestDeriveOfAnAgentWithout(t *testing.T) {
	t.Parallel()
	s := deriving(t, &fakeDeriver{})
	off, err := deriveOps(s).Status.Do(asReader(t), OfAgent{"bob"})
	if err != nil || off.Enabled || !strings.Contains(off.Problem, "derive.enabled") {
		t.Errorf("%v, %v", off, err)
	}
	if _, err := deriveOps(s).Estimate.Do(asReader(t), AllEpisodes{OfAgent: OfAgent{"bob"}}); codeOf(t, s, err) != codes.FailedPrecondition {
		t.Error(err)
	}
}

// A run sends its progress, and then the status; a run that fails sends its error.
func TestDeriveRunSendsProgress(t *testing.T) {
	t.Parallel()
	var failure error
	s := deriving(t, &fakeDeriver{
		run: func(_ context.Context, all bool, step func(unit.DeriveProgress)) error {
			step(unit.DeriveProgress{Step: unit.StepRules, Done: 3, Total: 8, Text: fmt.Sprint("all ", all)})
			return failure
		},
		status: func() (unit.DeriveStatus, error) { return unit.DeriveStatus{Episodes: 8}, nil },
	})
	run := func() (got []DeriveStep, last error) {
		for step, err := range Derive.Run.Call(t.Context(), s.LocalOperations(), AllEpisodes{OfAgent{"ann"}, true}) {
			if last = err; err == nil {
				got = append(got, step)
			}
		}
		return got, last
	}
	got, err := run()
	want := []DeriveStep{
		{DeriveProgress: unit.DeriveProgress{Step: "rules", Done: 3, Total: 8, Text: "all true"}},
		{DeriveProgress: unit.DeriveProgress{Step: "done"}, Status: &DeriveNow{true, unit.DeriveStatus{Episodes: 8}}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v; run (-want +got):\n%s", err, diff)
	}
	failure = memory.ErrReadOnly
	if _, err = run(); err == nil || !strings.Contains(err.Error(), memory.ErrReadOnly.Error()) {
		t.Errorf("a run that fails: %v", err)
	}
}

func TestDeriveEntitiesNamesTwins(t *testing.T) {
	t.Parallel()
	var asked unit.EntityFilter
	seen := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	dario := unit.Entity{UID: "e5", Type: "PERSON", Name: "Dario", Qualifier: "q", Aliases: []string{"だりお"}, MergedInto: "e6", Mentions: 3, LastSeen: seen}
	s := deriving(t, &fakeDeriver{entities: func(f unit.EntityFilter) (unit.EntityList, error) {
		asked = f
		return unit.EntityList{Entities: []unit.Entity{dario}, Twins: []unit.Twins{{First: dario, Second: unit.Entity{UID: "e7"}, Reason: "one name"}}}, nil
	}})
	one := `{"id":"e5","type":"PERSON","name":"Dario","qualifier":"q","aliases":["だりお"],"merged_into":"e6","mentions":3,"last_seen":"2026-11-20T09:00:00Z"}`
	want := `{"entities":[` + one + `],"twins":[{"first":` + one + `,"second":{"id":"e7","type":"","name":"","mentions":0},"reason":"one name"}]}`
	if diff := cmp.Diff(want, jsonOf(t, s, "GET", "/v1/entities?agent=ann&type=PERSON&name=da&limit=9", "")); diff != "" {
		t.Errorf("entities (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(unit.EntityFilter{Type: "PERSON", Name: "da", Limit: 9, MaxSensitivity: memory.Private}, asked); diff != "" {
		t.Error(diff)
	}
}

// A unit that is not there, and one whose id is the beginning of several, are told apart.
func TestDeriveUnknownAndAmbiguousUnits(t *testing.T) {
	t.Parallel()
	s := deriving(t, &fakeDeriver{unit: func(id string, _ memory.Sensitivity) (memory.Unit, error) {
		if id == "9f" {
			return memory.Unit{}, &memory.InputError{Field: "id", Problem: "9f is the beginning of 9f3c and 9f3d"}
		}
		return memory.Unit{}, memory.ErrNoUnit
	}})
	_, err := Derive.Show.Call(t.Context(), s.LocalOperations(), UnitID{OfAgent{"ann"}, "9f", ""})
	if input, ok := errors.AsType[*memory.InputError](err); !ok || input.Field != "id" {
		t.Errorf("the beginning of several: %v", err)
	}
	if _, err := Derive.Show.Call(t.Context(), s.LocalOperations(), UnitID{OfAgent{"ann"}, "77", ""}); !errors.Is(err, memory.ErrNoUnit) {
		t.Errorf("an unknown unit: %v", err)
	}
}

// A range of days that ends before it begins is an error, and not an empty answer.
func TestReflectionsRefuseReversedDays(t *testing.T) {
	t.Parallel()
	s := deriving(t, &fakeDeriver{})
	if got := jsonOf(t, s, "GET", "/v1/derive/reflections?agent=ann&from=2026-11-22&to=2026-11-16", ""); !strings.Contains(got, `"INVALID_ARGUMENT"`) ||
		!strings.Contains(got, "to: 2026-11-16 is before 2026-11-22 (from)") {
		t.Error(got)
	}
	for _, days := range []string{"", "&from=2026-11-22", "&to=2026-11-22", "&from=2026-11-22&to=2026-11-22"} {
		if got := jsonOf(t, s, "GET", "/v1/derive/reflections?agent=ann"+days, ""); strings.Contains(got, "error") {
			t.Errorf("%s: %s", days, got)
		}
	}
}
