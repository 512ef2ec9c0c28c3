package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	"kioku/derive/unit"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

// deriving serves the agent ann, for which d derives, and bob, for whom nothing does, to tok-r, which reads, and tok-w, which writes.
func deriving(t *testing.T, d server.Deriver) kiokuv1.DeriveServiceClient {
	t.Helper()
	return kiokuv1.NewDeriveServiceClient(dial(t, onTCP(t, server.Options{
		Agents:   map[string]server.Memory{"ann": &fakeMemory{}, "bob": &fakeMemory{}},
		Derivers: map[string]server.Deriver{"ann": d}, Location: time.UTC,
		Tokens: openTokens(t, tokenLine("r", "tok-r", "[ann, bob]", false), tokenLine("w", "tok-w", "[ann, bob]", true)),
	})))
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

// movedMessage is moved as a message.
func movedMessage() *kiokuv1.Unit {
	day := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	return &kiokuv1.Unit{
		Id: "9f3c", Kind: "fact", State: "conflict", Text: "Dario lives in Porto (2026-10 to 2026-11)", OccurredTime: timestamppb.New(day),
		RecordedTime: timestamppb.New(day.Add(time.Hour)), ChangedTime: timestamppb.New(day.Add(2 * time.Hour)), Source: "model", Trust: "user",
		Confidence: .8, Salience: .4, Sensitivity: "private", Pinned: true, Version: 3,
		Fact: &kiokuv1.Fact{
			Subject: &kiokuv1.EntityRef{Type: "PERSON", Name: "Dario"}, Predicate: "lives_in", Object: "Porto",
			ObjectEntity: &kiokuv1.EntityRef{Type: "PLACE", Name: "Porto"}, ValidFrom: "2026-10", ValidTo: "2026-12", SupersededBy: "aa", Conflicts: []string{"bb"},
		},
		Evidence: []*kiokuv1.Evidence{{
			Path: "memory/2026-11-20.md", StartLine: 3, EndLine: 4, Quote: "Dario lives in Porto now", Speaker: "user", Maker: "facts/1 m",
			Confidence: .7, SaidTime: timestamppb.New(day), Citation: "memory/2026-11-20.md#L3-L4",
		}},
	}
}

func TestListUnitsAsksForWhatTheRequestSays(t *testing.T) {
	t.Parallel()
	var asked memory.UnitQuery
	var words string
	client := deriving(t, &fakeDeriver{list: func(q memory.UnitQuery, w string) (memory.UnitList, error) {
		asked, words = q, w
		return memory.UnitList{Units: []memory.Unit{moved()}, Total: 7, Withheld: 2, Next: "9f3c"}, nil
	}})
	at := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	got, err := client.ListUnits(with(t, "tok-w"), &kiokuv1.ListUnitsRequest{
		Agent: "ann", Kinds: []string{"fact"}, Entity: "e5", Predicate: "lives_in", States: []string{"validated"}, AsOfTime: timestamppb.New(at),
		BelievedTime: timestamppb.New(at.Add(time.Hour)), IncludeSuperseded: true, MaxSensitivity: "secret", After: "aa", Limit: 5, Query: "Porto",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := memory.UnitQuery{
		Kinds: []string{"fact"}, Entity: "e5", Predicate: "lives_in", States: []string{"validated"}, AsOf: at, BelievedAt: at.Add(time.Hour),
		IncludeSuperseded: true, MaxSensitivity: memory.Secret, After: "aa", Limit: 5,
	}
	if diff := cmp.Diff(want, asked); diff != "" || words != "Porto" {
		t.Errorf("words %q, query (-want +got):\n%s", words, diff)
	}
	answer := &kiokuv1.ListUnitsResponse{Units: []*kiokuv1.Unit{movedMessage()}, TotalCount: 7, WithheldCount: 2, Next: "9f3c"}
	if diff := cmp.Diff(answer, got, protocmp.Transform()); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

// A list that does not fit into a message ends early, and says where it goes on.
func TestListUnitsFitsIntoAMessage(t *testing.T) {
	t.Parallel()
	var all []memory.Unit
	for i := range 900 {
		u := moved()
		u.UID, u.Fact.Object = fmt.Sprintf("%08d", i), strings.Repeat("x", 5000)
		all = append(all, u)
	}
	client := deriving(t, &fakeDeriver{list: func(q memory.UnitQuery, _ string) (memory.UnitList, error) {
		return memory.UnitList{Units: all, Total: 900}, nil
	}})
	got, err := client.ListUnits(with(t, "tok-r"), &kiokuv1.ListUnitsRequest{Agent: "ann", Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	n := len(got.GetUnits())
	if n == 0 || n == 900 || got.GetNext() != fmt.Sprintf("%08d", n-1) || proto.Size(got) > 4<<20 {
		t.Errorf("%d units of %d bytes, next %q", n, proto.Size(got), got.GetNext())
	}
}

// Hazard I04: Secrets are for who may write; whoever names no ceiling gets what is private, and nothing above it.
func TestSecretUnitsNeedTheRightToWrite(t *testing.T) {
	t.Parallel()
	var ceilings []memory.Sensitivity
	client := deriving(t, &fakeDeriver{unit: func(_ string, c memory.Sensitivity) (memory.Unit, error) {
		ceilings = append(ceilings, c)
		return moved(), nil
	}})
	for _, tc := range []struct {
		token, ceiling string
		want           codes.Code
	}{
		{"tok-r", "", codes.OK}, {"tok-r", "normal", codes.OK}, {"tok-r", "private", codes.OK}, {"tok-r", "secret", codes.PermissionDenied},
		{"tok-w", "secret", codes.OK}, {"tok-w", "SECRET", codes.InvalidArgument},
	} {
		_, err := client.GetUnit(with(t, tc.token), &kiokuv1.GetUnitRequest{Agent: "ann", Id: "9f3c", MaxSensitivity: tc.ceiling})
		if status.Code(err) != tc.want {
			t.Errorf("%s, %q: %v, want %v", tc.token, tc.ceiling, err, tc.want)
		}
	}
	if diff := cmp.Diff([]memory.Sensitivity{memory.Private, memory.Normal, memory.Private, memory.Secret}, ceilings); diff != "" {
		t.Error(diff)
	}
}

func TestUnitHistoryReadsThePayloads(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	payload := `{"UID":"9f3c","Kind":"loop","State":"validated","Version":1,"Loop":{"Key":"k","Status":"open","Text":"send the report","Due":"2026-12-01"}}`
	client := deriving(t, &fakeDeriver{history: func(id string, _ memory.Sensitivity) ([]unit.Version, error) {
		if id == "bad" {
			payload = "{"
		}
		return []unit.Version{{UID: id, Version: 1, Reason: "claims", Payload: payload, Model: "m", Contract: "loops/1", RecordedAt: day}}, nil
	}})
	got, err := client.UnitHistory(with(t, "tok-r"), &kiokuv1.UnitHistoryRequest{Agent: "ann", Id: "9f3c"})
	if err != nil {
		t.Fatal(err)
	}
	want := &kiokuv1.UnitHistoryResponse{Versions: []*kiokuv1.UnitVersion{{
		Version: 1, Reason: "claims", Model: "m", Contract: "loops/1", RecordedTime: timestamppb.New(day),
		Unit: &kiokuv1.Unit{Id: "9f3c", Kind: "loop", State: "validated", Version: 1, Text: "Open: send the report (due 2026-12-01)", Sensitivity: "normal",
			Loop: &kiokuv1.Loop{Status: "open", Text: "send the report", Due: "2026-12-01"}},
	}}}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	_, err = client.UnitHistory(with(t, "tok-r"), &kiokuv1.UnitHistoryRequest{Agent: "ann", Id: "bad"})
	wantCode(t, err, codes.Internal)
}

// The events of a summary are cited where its evidence is.
func TestSummariesCiteTheirEvents(t *testing.T) {
	t.Parallel()
	client := deriving(t, &fakeDeriver{unit: func(string, memory.Sensitivity) (memory.Unit, error) {
		return memory.Unit{UID: "5a", Kind: memory.KindSummary, Summary: &memory.Summary{
			Scope: memory.ScopeWeekly, Key: "2026-W47", From: "2026-11-16", To: "2026-11-22", Text: "A move.", Stale: true,
			Events: []memory.KeyEvent{{EpisodeUID: "e1", Why: "the move"}, {EpisodeUID: "gone", Why: "unknown"}},
		}, Evidence: moved().Evidence}, nil
	}})
	got, err := client.GetUnit(with(t, "tok-r"), &kiokuv1.GetUnitRequest{Agent: "ann", Id: "5a"})
	if err != nil {
		t.Fatal(err)
	}
	want := &kiokuv1.Summary{Scope: "weekly", Key: "2026-W47", FromDay: "2026-11-16", ToDay: "2026-11-22", Text: "A move.", Stale: true,
		Events: []*kiokuv1.KeyEvent{{Citation: "memory/2026-11-20.md#L3-L4", Why: "the move"}, {Why: "unknown"}}}
	if diff := cmp.Diff(want, got.GetUnit().GetSummary(), protocmp.Transform()); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

// Each decision asks for its verb, and for nothing else than the request says.
func TestDecisionsAskForTheirVerb(t *testing.T) {
	t.Parallel()
	var asked unit.DecisionRequest
	client := deriving(t, &fakeDeriver{decide: func(r unit.DecisionRequest) (unit.Decided, error) {
		asked = r
		u := moved()
		return unit.Decided{Unit: &u, Entity: &unit.Entity{UID: "e5", Name: "Dario"}, Line: "- 2026-11-20 pin fact 9f3c", Remaining: []string{"a.md#L1-L1"}}, nil
	}})
	ctx, from, none, secret := with(t, "tok-w"), "2026-10", "", memory.Secret
	want := &kiokuv1.Decided{Unit: movedMessage(), Entity: &kiokuv1.Entity{Id: "e5", Name: "Dario"}, Decision: "- 2026-11-20 pin fact 9f3c", Remaining: []string{"a.md#L1-L1"}}
	for name, tc := range map[string]struct {
		ask  func() (interface{ GetDecided() *kiokuv1.Decided }, error)
		want unit.DecisionRequest
	}{
		"pin": {func() (interface{ GetDecided() *kiokuv1.Decided }, error) {
			return client.Pin(ctx, &kiokuv1.PinRequest{Agent: "ann", Id: "9f", Note: "why"})
		}, unit.DecisionRequest{Verb: unit.DecidePin, ID: "9f", Note: "why"}},
		"unpin": {func() (interface{ GetDecided() *kiokuv1.Decided }, error) {
			return client.Pin(ctx, &kiokuv1.PinRequest{Agent: "ann", Id: "9f", Unpin: true})
		}, unit.DecisionRequest{Verb: unit.DecideUnpin, ID: "9f"}},
		"forget": {func() (interface{ GetDecided() *kiokuv1.Decided }, error) {
			return client.Forget(ctx, &kiokuv1.ForgetRequest{Agent: "ann", Id: "9f", Note: "wrong"})
		}, unit.DecisionRequest{Verb: unit.DecideForget, ID: "9f", Note: "wrong"}},
		"correct": {func() (interface{ GetDecided() *kiokuv1.Decided }, error) {
			return client.Correct(ctx, &kiokuv1.CorrectRequest{Agent: "ann", Id: "9f", Text: "Lisboa", ValidFrom: &from, ValidTo: &none, Sensitivity: "secret"})
		}, unit.DecisionRequest{Verb: unit.DecideCorrect, ID: "9f", Set: unit.Correction{Text: "Lisboa", From: &from, To: &none, Sensitivity: &secret}}},
		"due": {func() (interface{ GetDecided() *kiokuv1.Decided }, error) {
			return client.Correct(ctx, &kiokuv1.CorrectRequest{Agent: "ann", Id: "9f", Due: &none})
		}, unit.DecisionRequest{Verb: unit.DecideCorrect, ID: "9f", Set: unit.Correction{Due: &none}}},
		"close": {func() (interface{ GetDecided() *kiokuv1.Decided }, error) {
			return client.CloseLoop(ctx, &kiokuv1.CloseLoopRequest{Agent: "ann", Id: "9f"})
		}, unit.DecisionRequest{Verb: unit.DecideClose, ID: "9f"}},
		"reopen": {func() (interface{ GetDecided() *kiokuv1.Decided }, error) {
			return client.CloseLoop(ctx, &kiokuv1.CloseLoopRequest{Agent: "ann", Id: "9f", Reopen: true})
		}, unit.DecisionRequest{Verb: unit.DecideReopen, ID: "9f"}},
		"merge": {func() (interface{ GetDecided() *kiokuv1.Decided }, error) {
			return client.MergeEntities(ctx, &kiokuv1.MergeEntitiesRequest{Agent: "ann", Id: "9f", Into: "e5"})
		}, unit.DecisionRequest{Verb: unit.DecideMerge, ID: "9f", Into: "e5"}},
		"split": {func() (interface{ GetDecided() *kiokuv1.Decided }, error) {
			return client.SplitEntity(ctx, &kiokuv1.SplitEntityRequest{Agent: "ann", Id: "9f"})
		}, unit.DecisionRequest{Verb: unit.DecideSplit, ID: "9f"}},
		"undo": {func() (interface{ GetDecided() *kiokuv1.Decided }, error) {
			return client.Undo(ctx, &kiokuv1.UndoRequest{Agent: "ann", Id: "9f"})
		}, unit.DecisionRequest{Verb: unit.DecideUndo, ID: "9f"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tc.ask()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, asked); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, got.GetDecided(), protocmp.Transform()); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

// What is wrong with a request is said before anything is asked.
func TestDeriveServiceNamesTheBadField(t *testing.T) {
	t.Parallel()
	client, ctx := deriving(t, &fakeDeriver{}), with(t, "tok-w")
	long := strings.Repeat("x", 501)
	for field, err := range map[string]error{
		"kinds":           errOf(client.ListUnits(ctx, &kiokuv1.ListUnitsRequest{Agent: "ann", Kinds: []string{"chunk"}})),
		"states":          errOf(client.ListUnits(ctx, &kiokuv1.ListUnitsRequest{Agent: "ann", States: []string{"orphaned"}})),
		"limit":           errOf(client.ListUnits(ctx, &kiokuv1.ListUnitsRequest{Agent: "ann", Limit: 1001})),
		"as_of_time":      errOf(client.ListUnits(ctx, &kiokuv1.ListUnitsRequest{Agent: "ann", AsOfTime: &timestamppb.Timestamp{Nanos: -1}})),
		"query":           errOf(client.ListUnits(ctx, &kiokuv1.ListUnitsRequest{Agent: "ann", Query: strings.Repeat("x", 5000)})),
		"max_sensitivity": errOf(client.UnitHistory(ctx, &kiokuv1.UnitHistoryRequest{Agent: "ann", Id: "9f", MaxSensitivity: "all"})),
		"name":            errOf(client.ListEntities(ctx, &kiokuv1.ListEntitiesRequest{Agent: "ann", Name: "a\nb"})),
		"id":              errOf(client.Pin(ctx, &kiokuv1.PinRequest{Agent: "ann"})),
		"note":            errOf(client.Forget(ctx, &kiokuv1.ForgetRequest{Agent: "ann", Id: "9f", Note: long})),
		"text":            errOf(client.Correct(ctx, &kiokuv1.CorrectRequest{Agent: "ann", Id: "9f"})),
		"sensitivity":     errOf(client.Correct(ctx, &kiokuv1.CorrectRequest{Agent: "ann", Id: "9f", Sensitivity: "public"})),
		"into":            errOf(client.MergeEntities(ctx, &kiokuv1.MergeEntitiesRequest{Agent: "ann", Id: "9f"})),
	} {
		t.Run(field, func(t *testing.T) { wantViolation(t, err, field) })
	}
}

func errOf[T any](_ T, err error) error { return err }

// Hazard I01: Deciding, running and retrying need the right to write; reading does not. Without derivation all but the status say how to turn it on.
func TestDeriveServiceChecksRights(t *testing.T) {
	t.Parallel()
	client := deriving(t, &fakeDeriver{unit: func(string, memory.Sensitivity) (memory.Unit, error) { return moved(), nil },
		history: func(string, memory.Sensitivity) ([]unit.Version, error) { return nil, nil }})
	writes := map[string]func(context.Context, string) error{
		"Pin": func(ctx context.Context, a string) error {
			return errOf(client.Pin(ctx, &kiokuv1.PinRequest{Agent: a, Id: "9f"}))
		},
		"Forget": func(ctx context.Context, a string) error {
			return errOf(client.Forget(ctx, &kiokuv1.ForgetRequest{Agent: a, Id: "9f"}))
		},
		"RetryJob": func(ctx context.Context, a string) error {
			return errOf(client.RetryJob(ctx, &kiokuv1.RetryJobRequest{Agent: a}))
		},
		"RunDerive": func(ctx context.Context, a string) error {
			return errOf(last(client.RunDerive(ctx, &kiokuv1.RunDeriveRequest{Agent: a})))
		},
	}
	reads := map[string]func(context.Context, string) error{
		"ListUnits": func(ctx context.Context, a string) error {
			return errOf(client.ListUnits(ctx, &kiokuv1.ListUnitsRequest{Agent: a}))
		},
		"UnitHistory": func(ctx context.Context, a string) error {
			return errOf(client.UnitHistory(ctx, &kiokuv1.UnitHistoryRequest{Agent: a, Id: "9f"}))
		},
		"EstimateDerive": func(ctx context.Context, a string) error {
			return errOf(client.EstimateDerive(ctx, &kiokuv1.EstimateDeriveRequest{Agent: a}))
		},
	}
	for name, call := range writes {
		wantCode(t, call(with(t, "tok-r"), "ann"), codes.PermissionDenied)
		wantCode(t, call(with(t, "tok-w"), "ann"), codes.OK)
		reads[name+" while off"] = call
	}
	for name, call := range reads {
		if !strings.HasSuffix(name, "off") {
			wantCode(t, call(with(t, "tok-r"), "ann"), codes.OK)
		}
		err := call(with(t, "tok-w"), "bob")
		if status.Code(err) != codes.FailedPrecondition || !strings.Contains(err.Error(), "derive.enabled") {
			t.Errorf("%s of an agent without derivation: %v", name, err)
		}
	}
	off, err := client.DeriveStatus(with(t, "tok-r"), &kiokuv1.DeriveStatusRequest{Agent: "bob"})
	if err != nil || off.GetEnabled() || !strings.Contains(off.GetProblem(), "derive.enabled") {
		t.Errorf("status while off = %v, %v", off, err)
	}
}

func TestDeriveStatusTellsEverything(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	client := deriving(t, &fakeDeriver{status: func() (unit.DeriveStatus, error) {
		return unit.DeriveStatus{
			Model: "m", Problem: "p", Episodes: 1, Pending: 2, Unextracted: 3, Private: 4, Secret: 5, Units: map[string]int{"fact/validated": 6},
			Entities: map[string]int{"PERSON": 7}, Jobs: map[string]int{"parked": 8}, Conflicts: 9, OldestJob: day, Rejected: map[string]int{"quote": 10},
			Parked:      []unit.ParkedJob{{ID: 11, Kind: "extract", ErrorClass: "contract", Message: "bad", Answer: "{", Episodes: []string{"a.md#L1-L2"}, ChangedAt: day}},
			TokensToday: 12, MaxTokensPerDay: 13, CallsToday: 14, CallsThisHour: 15, MaxCallsPerHour: 16, BudgetExhausted: true, CachedAnswers: 17,
			ViewDir: "derived", EditedViews: []string{"derived/facts.md"}, BadDecisions: []string{"line 3: no verb"},
		}, nil
	}})
	got, err := client.DeriveStatus(with(t, "tok-r"), &kiokuv1.DeriveStatusRequest{Agent: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	want := &kiokuv1.DeriveStatusResponse{
		Enabled: true, Model: "m", Problem: "p", EpisodeCount: 1, PendingCount: 2, UnextractedCount: 3, PrivateCount: 4, SecretCount: 5,
		Units: map[string]int32{"fact/validated": 6}, Entities: map[string]int32{"PERSON": 7}, Jobs: map[string]int32{"parked": 8}, ConflictCount: 9,
		OldestJobTime: timestamppb.New(day), Rejected: map[string]int32{"quote": 10},
		Parked: []*kiokuv1.ParkedJob{{Id: 11, Kind: "extract", ErrorClass: "contract", Message: "bad", Answer: "{", Episodes: []string{"a.md#L1-L2"},
			ChangedTime: timestamppb.New(day)}},
		TodayTokens: 12, MaxDayTokens: 13, TodayCalls: 14, HourCalls: 15, MaxHourCalls: 16, BudgetExhausted: true, CachedAnswerCount: 17,
		ViewDir: "derived", EditedViews: []string{"derived/facts.md"}, BadDecisions: []string{"line 3: no verb"},
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

// A run sends its progress, and then the status; a run that fails sends its error.
func TestRunDeriveSendsProgress(t *testing.T) {
	t.Parallel()
	var failure error
	client := deriving(t, &fakeDeriver{
		run: func(_ context.Context, all bool, step func(unit.DeriveProgress)) error {
			step(unit.DeriveProgress{Step: unit.StepRules, Done: 3, Total: 8, Text: fmt.Sprint("all ", all)})
			return failure
		},
		status: func() (unit.DeriveStatus, error) { return unit.DeriveStatus{Episodes: 8}, nil },
	})
	run := func() (got []*kiokuv1.RunDeriveResponse, err error) {
		stream, err := client.RunDerive(with(t, "tok-w"), &kiokuv1.RunDeriveRequest{Agent: "ann", All: true})
		for err == nil {
			var r *kiokuv1.RunDeriveResponse
			if r, err = stream.Recv(); err == nil {
				got = append(got, r)
			}
		}
		return got, err
	}
	got, err := run()
	want := []*kiokuv1.RunDeriveResponse{
		{Step: "rules", DoneCount: 3, TotalCount: 8, Text: "all true"},
		{Step: "done", Status: &kiokuv1.DeriveStatusResponse{Enabled: true, EpisodeCount: 8}},
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" || !errors.Is(err, io.EOF) {
		t.Errorf("%v; run (-want +got):\n%s", err, diff)
	}
	failure = memory.ErrReadOnly
	_, err = run()
	wantCode(t, err, codes.FailedPrecondition)
}

func TestListEntitiesNamesTwins(t *testing.T) {
	t.Parallel()
	var asked unit.EntityFilter
	seen := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	dario := unit.Entity{UID: "e5", Type: "PERSON", Name: "Dario", Qualifier: "q", Aliases: []string{"だりお"}, MergedInto: "e6", Mentions: 3, LastSeen: seen}
	client := deriving(t, &fakeDeriver{entities: func(f unit.EntityFilter) (unit.EntityList, error) {
		asked = f
		return unit.EntityList{Entities: []unit.Entity{dario}, Twins: []unit.Twins{{First: dario, Second: unit.Entity{UID: "e7"}, Reason: "one name"}}}, nil
	}})
	got, err := client.ListEntities(with(t, "tok-r"), &kiokuv1.ListEntitiesRequest{Agent: "ann", Type: "PERSON", Name: "da", Limit: 9})
	if err != nil {
		t.Fatal(err)
	}
	message := &kiokuv1.Entity{Id: "e5", Type: "PERSON", Name: "Dario", Qualifier: "q", Aliases: []string{"だりお"}, MergedInto: "e6", MentionCount: 3, LastSeenTime: timestamppb.New(seen)}
	want := &kiokuv1.ListEntitiesResponse{Entities: []*kiokuv1.Entity{message}, Twins: []*kiokuv1.Twins{{First: message, Second: &kiokuv1.Entity{Id: "e7"}, Reason: "one name"}}}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("entities (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(unit.EntityFilter{Type: "PERSON", Name: "da", Limit: 9, MaxSensitivity: memory.Private}, asked); diff != "" {
		t.Error(diff)
	}
	secret := &kiokuv1.ListEntitiesRequest{Agent: "ann", MaxSensitivity: "secret"}
	_, err = client.ListEntities(with(t, "tok-r"), secret)
	wantCode(t, err, codes.PermissionDenied)
	if _, err := client.ListEntities(with(t, "tok-w"), secret); err != nil || asked.MaxSensitivity != memory.Secret {
		t.Errorf("secrets for a writer: %v, %v", asked.MaxSensitivity, err)
	}
}

// A unit that is not there, and one whose id is the beginning of several, are told apart.
func TestUnknownAndAmbiguousUnits(t *testing.T) {
	t.Parallel()
	client := deriving(t, &fakeDeriver{unit: func(id string, _ memory.Sensitivity) (memory.Unit, error) {
		if id == "9f" {
			return memory.Unit{}, &memory.InputError{Field: "id", Problem: "9f is the beginning of 9f3c and 9f3d"}
		}
		return memory.Unit{}, memory.ErrNoUnit
	}})
	_, err := client.GetUnit(with(t, "tok-r"), &kiokuv1.GetUnitRequest{Agent: "ann", Id: "9f"})
	wantViolation(t, err, "id")
	_, err = client.GetUnit(with(t, "tok-r"), &kiokuv1.GetUnitRequest{Agent: "ann", Id: "77"})
	wantCode(t, err, codes.NotFound)
}
