package server

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku/council"
	"kioku/council/engine"
	"kioku/council/member"
)

// scriptedCouncil returns the operations of a council whose members a scripted model plays, and its engine.
func scriptedCouncil(t *testing.T) (CouncilOps, *engine.Engine) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "council")
	set := council.Settings{Agent: "council", Workers: []string{"buddy"}, Owners: map[string][]string{"discord": {"4711"}, "github": {"Lena"}}}
	for name, roles := range map[string][]string{"panda": {"runner"}, "gorilla": {"approver"}, "triceratops": {"arbiter"}} {
		set.Members = append(set.Members, council.Member{Name: name, Model: council.ModelEcho, Roles: roles})
	}
	members, err := member.New(member.Options{Settings: set})
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.Open(engine.Options{Folder: dir, Settings: set, Workspace: filepath.Join(dir, "agent"), Ask: members})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	s, err := New(Options{Council: &CouncilOptions{Council: e, Folder: dir}})
	if err != nil {
		t.Fatal(err)
	}
	return councilOps(s), e
}

// with returns the context of a call by a caller with rights.
func with(t *testing.T, rights ...string) context.Context {
	t.Helper()
	r, err := parseCouncilRights(rights)
	if err != nil {
		t.Fatal(err)
	}
	return withCall(t.Context(), &call{caller: caller{name: "token", council: r}})
}

// A token file has the rights of the council, also for a token without agents, and refuses words that are none.
func TestOpenTokensReadsCouncilRights(t *testing.T) {
	t.Parallel()
	file := func(rights string) string {
		return "tokens: [{name: a, sha256: " + hashOfFoo + ", council: [" + rights + "]}]"
	}
	tokens, err := ParseTokens(file(`submit, "worker:buddy", "bridge:discord"`))
	if err != nil {
		t.Fatal(err)
	}
	got, ok := tokens.find(tokenCredential("foo"))
	if want := []string{"bridge:discord", "submit", "worker:buddy"}; !ok || !slices.Equal(got.council.list(), want) || got.reaches("main") {
		t.Errorf("the caller has %v and reaches agents: %v", got.council.list(), got.reaches("main"))
	}
	for _, bad := range []string{"admin", `"worker:"`, `"worker:../x"`, `"bridge:irc"`, "member"} {
		if _, err := ParseTokens(file(bad)); err == nil || !strings.Contains(err.Error(), "is no right") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// An id of an owner counts only from a bridge that vouches for its platform; a name, a look-alike or another platform is a stranger (J02).
func TestCouncilOwnersAreVouchedFor(t *testing.T) {
	t.Parallel()
	s, e := scriptedCouncil(t)
	made, err := e.Submit(t.Context(), council.Task{Type: council.TypeTask, Title: "Paint the shed"})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	outcome := func(ctx context.Context, platform, id string) codes.Code {
		_, err := s.Outcome.Do(ctx, TaskOrder{TaskID: TaskID{made.ID}, Outcome: "worked", Sender: &Sender{platform, id}})
		return status.Code(err)
	}
	bridge := with(t, "bridge:discord", "bridge:github")
	for _, tc := range []struct {
		name         string
		ctx          context.Context
		platform, id string
		want         codes.Code
	}{
		{"the id by its bridge", bridge, "discord", "4711", codes.OK},
		{"a login in another case", bridge, "github", "lena", codes.OK},
		{"the id without a bridge", with(t, "submit"), "discord", "4711", codes.PermissionDenied},
		{"the id by another bridge", with(t, "bridge:slack"), "discord", "4711", codes.PermissionDenied},
		{"an owner's token without a bridge", with(t, "owner"), "discord", "4711", codes.PermissionDenied},
		{"another id", bridge, "discord", "4712", codes.PermissionDenied},
		{"full-width digits", bridge, "discord", "４７１１", codes.PermissionDenied},
		{"the id on another platform", bridge, "github", "4711", codes.PermissionDenied},
	} {
		if got := outcome(tc.ctx, tc.platform, tc.id); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

// A task by somebody else than an owner has low trust, whoever it says to be (J02).
func TestCouncilTasksOfStrangersHaveLowTrust(t *testing.T) {
	t.Parallel()
	s, _ := scriptedCouncil(t)
	for _, tc := range []struct {
		ctx    context.Context
		sender *Sender
		trust  string
	}{
		{with(t, "owner"), nil, "owner"},
		{with(t, "submit"), nil, "low"},
		{with(t, "bridge:discord"), &Sender{"discord", "4711"}, "owner"},
		{with(t, "submit"), &Sender{"discord", "4711"}, "low"},
	} {
		task, err := s.Submit.Do(tc.ctx, NewTask{Title: "Paint the shed", Sender: tc.sender})
		if err != nil || task.Trust != tc.trust {
			t.Errorf("%v: trust %q, %v; want %q", tc.sender, task.Trust, err, tc.trust)
		}
	}
}

// Ids are checked before they become paths (J03).
func TestCouncilRefusesPaths(t *testing.T) {
	t.Parallel()
	s, _ := scriptedCouncil(t)
	ctx := with(t, "owner", "worker:buddy", "member:panda")
	for _, id := range []string{"", "../x", "task_1/../../x", "TASK_1", "task_" + strings.Repeat("x", 61), "task_\x00"} {
		_, shown := s.Show.Do(ctx, TaskID{id})
		_, cancelled := s.Cancel.Do(ctx, TaskOrder{TaskID: TaskID{id}})
		_, read := s.Attachment.Do(ctx, TaskFile{TaskID{id}, "a"})
		for _, err := range []error{shown, cancelled, read} {
			if err == nil || !strings.Contains(err.Error(), "id: must be the id of a task") {
				t.Errorf("%q: %v", id, err)
			}
		}
	}
}
