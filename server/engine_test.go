package server_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"kioku"
	kiokuv1 "kioku/proto/kioku/v1"
)

// engine opens a real memory with some files and returns a client of it. Nothing is synced yet.
func engine(t *testing.T, files map[string]string) (kiokuv1.MemoryServiceClient, string) {
	t.Helper()
	workspace := filepath.Join(t.TempDir(), "workspace")
	for name, text := range files {
		path := filepath.Join(workspace, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m, err := kioku.Open(t.Context(), kioku.Options{
		Agent: "main", Workspace: workspace, StateDir: filepath.Join(t.TempDir(), "state"), Location: time.UTC,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return kiokuv1.NewMemoryServiceClient(onSocket(t, agents(m))), workspace
}

var notes = map[string]string{
	"MEMORY.md":            "# About Hana\n\n- Prefers green tea over coffee.\n- 猫の名前はミケ。\n",
	"memory/2026-03-01.md": "# 2026-03-01\n\nThe boiler was repaired by Ito plumbing for 14,000 yen.\n",
}

func TestServerServesARealMemory(t *testing.T) {
	t.Parallel()
	client, workspace := engine(t, notes)
	done, err := last(client.Sync(t.Context(), &kiokuv1.SyncRequest{Agent: "main"}))
	if err != nil || done.GetReport().GetIndex().GetFileCount() != 2 || done.GetReport().GetIndex().GetGeneration() == 0 {
		t.Fatalf("sync ends with %v, %v", done, err)
	}
	for query, want := range map[string]string{"who repaired the boiler?": "memory/2026-03-01.md", "猫の名前": "MEMORY.md"} {
		resp, err := client.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Agent: "main", Query: query, Explain: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(resp.GetResults()) == 0 || resp.GetResults()[0].GetPath() != want || resp.GetResults()[0].GetTrace() == nil {
			t.Errorf("%s: %v, want %s with its trace", query, resp, want)
		}
		if resp.GetMode() != "keyword" || resp.GetProvider() != "" || resp.GetIndex().GetFileCount() != 2 {
			t.Errorf("%s: mode %s, provider %s, index %v", query, resp.GetMode(), resp.GetProvider(), resp.GetIndex())
		}
	}
	got, err := client.MemoryGet(t.Context(), &kiokuv1.MemoryGetRequest{Agent: "main", Path: "MEMORY.md", FromLine: 3, LineCount: 1})
	if err != nil || got.GetText() != "- Prefers green tea over coffee.\n" {
		t.Errorf("get = %v, %v", got, err)
	}
	added, err := client.MemoryAppend(t.Context(), &kiokuv1.MemoryAppendRequest{Agent: "main", Text: "Allergic to kiwi.", Target: "long_term"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(workspace, added.GetPath()))
	if err != nil || !strings.Contains(string(text), "- Allergic to kiwi.") {
		t.Errorf("%s = %s, %v", added.GetPath(), text, err)
	}
	st, err := client.Status(t.Context(), &kiokuv1.StatusRequest{Agent: "main"})
	if err != nil || st.GetIndex().GetFileCount() < 2 || st.GetWorkspace() == "" || st.GetVersion() != "" {
		t.Errorf("status = %v, %v", st, err)
	}
}

// Hazard D04: limits and scores out of range are bad input that names its field.
func TestMemorySearchRefusesNumbersOutOfRange(t *testing.T) {
	t.Parallel()
	client, _ := engine(t, notes)
	for k, ok := range map[int32]bool{-1: false, 0: true, 1: true, 100: true, 101: false, 4096: false, 4097: false, 1e9: false, math.MinInt32: false} {
		_, err := client.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Agent: "main", Query: "tea", MaxResults: k})
		if ok && err != nil {
			t.Errorf("max_results %d: %v", k, err)
		} else if !ok {
			wantViolation(t, err, "max_results")
		}
	}
	for _, score := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -0.1, 1.1} {
		_, err := client.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Agent: "main", Query: "tea", MinScore: &score})
		wantViolation(t, err, "min_score")
	}
	for _, bad := range []struct {
		field string
		req   *kiokuv1.MemorySearchRequest
	}{
		{"since", &kiokuv1.MemorySearchRequest{Since: "2026-03-02", Until: "2026-03-01"}},
		{"since", &kiokuv1.MemorySearchRequest{Since: "yesterday"}},
		{"since", &kiokuv1.MemorySearchRequest{Since: "2026-02-30"}},
		{"until", &kiokuv1.MemorySearchRequest{Until: "2026-1-2"}},
		{"sources", &kiokuv1.MemorySearchRequest{Sources: []string{"memory", "web"}}},
		{"sources", &kiokuv1.MemorySearchRequest{Sources: slices.Repeat([]string{"memory"}, 1000)}},
		{"path_prefix", &kiokuv1.MemorySearchRequest{PathPrefix: strings.Repeat("x", 1<<20)}},
	} {
		bad.req.Agent, bad.req.Query = "main", "tea"
		_, err := client.MemorySearch(t.Context(), bad.req)
		wantViolation(t, err, bad.field)
	}
	for _, n := range []int32{-1, 0, 1e9, math.MinInt32, math.MaxInt32} {
		if _, err := client.MemoryGet(t.Context(), &kiokuv1.MemoryGetRequest{Agent: "main", Path: "MEMORY.md", FromLine: n, LineCount: n}); err != nil {
			t.Errorf("from and lines %d: %v", n, err)
		}
	}
}

// Hazard D16: a note with bytes that are no text neither kills its answer nor hides the others.
func TestMemorySearchFindsANoteWithBadBytes(t *testing.T) {
	t.Parallel()
	client, _ := engine(t, map[string]string{
		"memory/bad\xff.md": "# tea\n\nThe tea \xff\xfe cupboard.\n", "memory/good.md": "# tea\n\nThe tea garden.\n",
		"memory/worse.md": "tea \xc3\x28 leaves\n",
	})
	resp, err := client.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Agent: "main", Query: "tea"})
	if err != nil || len(resp.GetResults()) < 2 {
		t.Fatalf("answer = %v, %v", resp, err)
	}
	for _, r := range resp.GetResults() {
		if !utf8.ValidString(r.GetPath()) || !utf8.ValidString(r.GetSnippet()) {
			t.Errorf("result %q", r)
		}
	}
}
