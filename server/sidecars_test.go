package server_test

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

func TestAddSidecarsRefusesWhatCannotBeServed(t *testing.T) {
	t.Parallel()
	s := newServer(t, agents(&fakeMemory{}))
	for name, sidecars := range map[string]map[string]server.Sidecar{
		"none": {}, "no id": {"../etc": &fakeSidecar{}}, "no memory": {"main": &fakeSidecar{}, "other": &fakeSidecar{}},
	} {
		if err := s.AddSidecars(sidecars); err == nil {
			t.Errorf("%s: Beside returned no error", name)
		}
	}
	if err := s.AddSidecars(map[string]server.Sidecar{"main": &fakeSidecar{}}); err != nil {
		t.Fatal(err)
	}
	if err := s.AddSidecars(map[string]server.Sidecar{"main": &fakeSidecar{}}); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("a second time: %v", err)
	}
}

// A process without memories serves only the agents' side, with the sidecars and the shared agents of another one.
func TestAddSidecarsNeedsNoMemory(t *testing.T) {
	t.Parallel()
	s := newServer(t, server.Options{})
	if err := s.AddSidecars(map[string]server.Sidecar{"ann": &fakeSidecar{}}); err != nil {
		t.Fatal(err)
	}
	l, err := server.ListenTCP("127.0.0.1:0", server.TCPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, s, l)
	conn := dial(t, l.Addr().String())
	client := kiokuv1.NewAgentServiceClient(conn)
	if _, err := client.Recall(t.Context(), &kiokuv1.RecallRequest{Agent: "ann", SharedAgents: []string{"bob"}}); err != nil {
		t.Errorf("recall: %v", err)
	}
	if _, err := client.Recall(t.Context(), &kiokuv1.RecallRequest{}); err != nil {
		t.Errorf("recall of the only agent: %v", err)
	}
	_, err = kiokuv1.NewMemoryServiceClient(conn).ListAgents(t.Context(), &kiokuv1.ListAgentsRequest{})
	wantCode(t, err, codes.Unimplemented)
	wantServices(t, conn, "kioku.v1.AgentService")
}

func TestAgentServiceIsThereOnlyWithSidecars(t *testing.T) {
	t.Parallel()
	wantServices(t, dial(t, onTCP(t, agents(&fakeMemory{}))), "kioku.v1.MemoryService")
	both := besideOnTCP(t, server.Options{}, map[string]server.Sidecar{"main": &fakeSidecar{}})
	wantServices(t, dial(t, both), "kioku.v1.AgentService", "kioku.v1.MemoryService")
}

// wantServices checks which of Kioku's services reflection and health tell of.
func wantServices(t *testing.T, conn *grpc.ClientConn, want ...string) {
	t.Helper()
	listed, err := list(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"kioku.v1.AgentService", "kioku.v1.MemoryService"} {
		is := slices.Contains(want, name)
		if slices.Contains(listed, name) != is {
			t.Errorf("reflection lists %v, want %v", listed, want)
		}
		code := codes.NotFound
		if is {
			code = codes.OK
		}
		_, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{Service: name})
		wantCode(t, err, code)
	}
}

// The sidecars of kioku serve use the server's own memories: the client within the process is there before they are, and
// goes on after.
func TestLocalReachesMemoriesBeforeAddSidecars(t *testing.T) {
	t.Parallel()
	s := newServer(t, agents(&fakeMemory{}))
	memories, stop := mustLocal(t, s)
	defer stop()
	if err := s.AddSidecars(map[string]server.Sidecar{"main": &fakeSidecar{}}); err != nil {
		t.Fatal(err)
	}
	if _, err := memories.Status(t.Context(), &kiokuv1.StatusRequest{Agent: "main"}); err != nil {
		t.Errorf("status: %v", err)
	}
	if _, err := localAgents(t, s).Prune(t.Context(), &kiokuv1.PruneRequest{Agent: "main"}); err != nil {
		t.Errorf("prune: %v", err)
	}
}
