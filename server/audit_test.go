package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
	"kioku/server/audit"
)

// auditedAgents serves the agents ann and bob, with sidecars, to the token tok-a for ann, and records calls in a file. lines returns
// the lines of the file once there are n, or not soon.
func auditedAgents(t *testing.T) (address string, lines func(n int) []string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(audit.Options{File: file})
	if err != nil {
		t.Fatal(err)
	}
	sidecars := make(map[string]server.Sidecar)
	for _, id := range []string{"ann", "bob"} {
		sidecars[id] = &fakeSidecar{Sidecar: withFlushes(t, t.TempDir(), nil)}
	}
	address = besideOnTCP(t, server.Options{
		Agents: map[string]server.Memory{"ann": &fakeMemory{history: noHistory{}}, "bob": &fakeMemory{}}, Audit: log,
		Tokens: openTokens(t, tokenLine("laptop", "tok-a", "[ann]", true)),
	}, sidecars)
	t.Cleanup(func() { log.Close() })
	return address, func(n int) (got []string) {
		t.Helper()
		for start := time.Now(); len(got) < n && time.Since(start) < soon; time.Sleep(5 * time.Millisecond) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got = slices.Collect(strings.Lines(string(data)))
		}
		return got
	}
}

// An audit log of who read or wrote which agent: each operation writes one line, over HTTP as over gRPC, whether the call succeeds, fails
// or is refused, without any text of the request; health checks write none.
func TestAuditRecordsEveryOperationOnce(t *testing.T) {
	t.Parallel()
	address, lines := auditedAgents(t)
	conn := dial(t, address)
	if _, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{}); err != nil {
		t.Fatal(err)
	}
	want, counts, writes := map[string]int{}, map[string]int{}, map[string]bool{}
	for _, a := range agentOps() {
		for _, c := range [][2]string{{"tok-a", "ann"}, {"tok-a", "bob"}, {"wrong", "ann"}} {
			ctx, cancel := context.WithTimeout(t.Context(), soon)
			if a.Stream { // some have no end
				cancel()
				ctx, cancel = context.WithTimeout(t.Context(), time.Second)
			}
			askAny(ctx, overHTTP{address, c[0]}, a, filled(c[1]))
			cancel()
		}
		want[a.Name], writes[a.Name] = want[a.Name]+3, a.Right == "agent:write"
	}
	for _, agent := range []string{"ann", "bob"} {
		_, _ = kiokuv1.NewMemoryServiceClient(conn).MemorySearch(with(t, "tok-a"), &kiokuv1.MemorySearchRequest{Agent: agent, Query: "tea"})
		want["search"]++
	}
	total := 0
	for _, n := range want {
		total += n
	}
	got := lines(total)
	for _, line := range got {
		var r audit.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		counts[r.Method]++
		if strings.Contains(line, "tea") || strings.Contains(line, "tok-a") {
			t.Errorf("a line with a text of the request or a token: %s", line)
		}
		switch {
		// A machine that sends many wrong tokens is told to wait.
		case (r.Outcome == "Unauthenticated" || r.Outcome == "ResourceExhausted") && r.Caller == "" && r.Reached == nil:
		case r.Agent == "bob" && r.Outcome == "NotFound" && r.Reached == nil && r.Caller == "laptop":
		case r.Agent == "ann" && slices.Equal(r.Reached, []string{"ann"}) && r.Caller == "laptop" && r.Credential == "token" && r.Request != "":
			if writes[r.Method] != (r.Access == "write") {
				t.Errorf("access: %s", line)
			}
		default:
			t.Errorf("unexpected: %s", line)
		}
	}
	if diff := cmp.Diff(want, counts); diff != "" || len(got) != total {
		t.Errorf("%d lines (-want +got):\n%s", len(got), diff)
	}
}

// broken is an auditor that cannot record.
type broken struct{ refuse bool }

func (broken) RecordCall(server.CallRecord) {}
func (b broken) Err() (error, bool)         { return errors.New("no space left on device"), b.refuse }

// While calls cannot be recorded, a status says so, and calls are refused if the owner requires the log; health checks are not.
func TestAuditThatFailsIsToldOrRefusesCalls(t *testing.T) {
	t.Parallel()
	opt := agents(&fakeMemory{})
	opt.Audit = broken{}
	st, err := local(t, opt).Status(t.Context(), &kiokuv1.StatusRequest{Agent: "main"})
	if err != nil || len(st.GetDegraded()) != 1 || st.GetDegraded()[0].GetCode() != "audit_failing" || !strings.Contains(st.GetDegraded()[0].GetText(), "no space left") {
		t.Errorf("%v, %v", st.GetDegraded(), err)
	}
	opt.Audit = broken{refuse: true}
	conn := onSocket(t, opt)
	_, err = kiokuv1.NewMemoryServiceClient(conn).ListAgents(t.Context(), &kiokuv1.ListAgentsRequest{})
	wantCode(t, err, codes.Unavailable)
	if _, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{}); err != nil {
		t.Error(err)
	}
}
