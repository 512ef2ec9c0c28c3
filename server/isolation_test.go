package server_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/agent/recall"
	"kioku/agent/sidecar"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
	"kioku/server/op"
)

// Hazard C05: with a token for one agent, every operation answers for another as if it were not there, whichever operations there are and
// whatever else the request says.
func TestNoOperationReachesAnotherAgent(t *testing.T) {
	t.Parallel()
	conn := annAndBob(t)
	for _, a := range agentOps() {
		for _, values := range []func(string) map[string]any{filled, func(agent string) map[string]any { return map[string]any{"agent": agent} }} {
			bob, told := askAny(t.Context(), conn, a, values("bob"))
			nobody, same := askAny(t.Context(), conn, a, values("nobody"))
			if bob != "NOT_FOUND" || bob != nobody || told != same {
				t.Errorf("%s: for bob %s %s\nfor nobody %s %s", a.Name, bob, told, nobody, same)
			}
		}
	}
	listed, err := server.Notes.Agents.Call(t.Context(), conn, server.None{})
	if err != nil || strings.Contains(fmt.Sprint(listed), "bob") || len(listed) != 2 {
		t.Errorf("agents: %v, %v; want ann and team", listed, err)
	}
}

// Hazard C05: every operation on an agent refuses a token that lacks the right which its description names, and no other token; secrets
// and the removal of files need the right to write.
func TestOperationsNeedTheRightsThatTheyTell(t *testing.T) {
	t.Parallel()
	conn := overHTTP{besideOnTCP(t, server.Options{
		Agents: map[string]server.Memory{"ann": &fakeMemory{history: noHistory{}}},
		Tokens: openTokens(t, tokenLine("r", "tok-r", "[ann]", false)),
	}, map[string]server.Sidecar{"ann": &fakeSidecar{Sidecar: withFlushes(t, t.TempDir(), nil)}}), "tok-r"}
	check := func(a op.About, refused bool, more map[string]any) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), soon)
		if a.Stream && !refused { // some have no end
			cancel()
			ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
		}
		defer cancel()
		values := filled("ann")
		maps.Copy(values, more)
		if code, told := askAny(ctx, conn, a, values); (code == "PERMISSION_DENIED") != refused {
			t.Errorf("%s with %v: %s %s", a.Name, more, code, told)
		}
	}
	for _, a := range agentOps() {
		check(a, a.Right == server.RightWrite, nil)
		if takes(a, "max_sensitivity") {
			check(a, true, map[string]any{"max_sensitivity": "secret"})
		}
		if takes(a, "prune") {
			check(a, true, map[string]any{"prune": true})
		}
	}
}

// Hazard C05: an agent that may not be reached is not reached as a shared one either, and is not told from one that is
// not there; also not behind one that may be reached.
func TestNoOperationSharesAnotherAgent(t *testing.T) {
	t.Parallel()
	conn := annAndBob(t)
	tried := 0
	for _, a := range agentOps() {
		if !takes(a, "shared_agents") {
			continue
		}
		tried++
		share := func(ids ...string) (string, string) {
			values := filled("ann")
			values["shared_agents"] = ids
			return askAny(t.Context(), conn, a, values)
		}
		for _, before := range [][]string{nil, {"team"}} {
			bob, told := share(append(before, "bob")...)
			nobody, same := share(append(before, "nobody")...)
			if bob != "NOT_FOUND" || bob != nobody || told != same {
				t.Errorf("%s: for bob %s %s\nfor nobody %s %s", a.Name, bob, told, nobody, same)
			}
		}
		if code, told := share("team"); code != "" {
			t.Errorf("%s with team: %s %s", a.Name, code, told)
		}
	}
	if tried != 2 {
		t.Errorf("%d operations share agents, want 2", tried)
	}
}

// Hazard C05: the agents that the settings share reach a caller only as far as the token does, or a memory is with the
// server at all.
func TestSharedAgentsOfTheSettingsAreThoseThatTheCallerReaches(t *testing.T) {
	t.Parallel()
	var got []string
	car := &fakeSidecar{shared: []string{"bob", "team", "elsewhere"}, assemble: func(turn sidecar.Turn) sidecar.Prompt {
		got = turn.Shared
		return sidecar.Prompt{}
	}, recall: func(turn sidecar.Turn) (recall.Outcome, string) {
		got = turn.Shared
		return recall.Outcome{}, ""
	}}
	opt := server.Options{
		Agents: map[string]server.Memory{"ann": &fakeMemory{}, "bob": &fakeMemory{}, "team": &fakeMemory{}},
		Tokens: openTokens(t, tokenLine("one", "tok-1", "[ann]", false), tokenLine("two", "tok-2", "[ann, team, elsewhere]", false), tokenLine("all", "tok-3", `"*"`, false)),
	}
	client := kiokuv1.NewAgentServiceClient(dial(t, besideOnTCP(t, opt, map[string]server.Sidecar{"ann": car})))
	for token, want := range map[string][]string{"tok-1": {}, "tok-2": {"team"}, "tok-3": {"bob", "team"}} {
		if _, err := client.AssemblePrompt(with(t, token), &kiokuv1.AssemblePromptRequest{Agent: "ann"}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: shared in a prompt (-want +got):\n%s", token, diff)
		}
		got = nil
		if _, err := client.Recall(with(t, token), &kiokuv1.RecallRequest{Agent: "ann"}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: shared in a recall (-want +got):\n%s", token, diff)
		}
	}
}

// annAndBob serves three agents, with sidecars, to the token tok-a for ann and team.
func annAndBob(t *testing.T) http.RoundTripper {
	t.Helper()
	secret := &fakeMemory{workspace: "/secret", search: func(context.Context, memory.Query) (memory.Answer, error) {
		return memory.Answer{Hits: []memory.Hit{{Snippet: "secret"}}}, nil
	}}
	sidecars := make(map[string]server.Sidecar)
	for _, id := range []string{"ann", "bob", "team"} {
		sidecars[id] = &fakeSidecar{Sidecar: withFlushes(t, t.TempDir(), nil)}
	}
	return overHTTP{besideOnTCP(t, server.Options{
		Agents: map[string]server.Memory{"ann": &fakeMemory{}, "bob": secret, "team": &fakeMemory{}},
		Tokens: openTokens(t, tokenLine("a", "tok-a", "[ann, team]", true)),
	}, sidecars), "tok-a"}
}
