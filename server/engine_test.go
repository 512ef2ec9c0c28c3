package server_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

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

// Hazard C01: hostile paths are bad input or missing, whatever lies there, and missing and outside look alike.
func TestMemoryGetRefusesHostilePaths(t *testing.T) {
	t.Parallel()
	client, workspace := engine(t, notes)
	outside := filepath.Join(filepath.Dir(workspace), "outside.md")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range hostilePaths(outside) {
		resp, err := client.MemoryGet(t.Context(), &kiokuv1.MemoryGetRequest{Agent: "main", Path: path})
		if code := status.Code(err); code != codes.InvalidArgument && code != codes.NotFound {
			t.Errorf("%.60q: %v, %v", path, resp, err)
		}
		if err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), workspace)) {
			t.Errorf("%.60q: the error tells too much: %v", path, err)
		}
	}
	_, beyond := client.MemoryGet(t.Context(), &kiokuv1.MemoryGetRequest{Agent: "main", Path: "../outside.md"})
	_, missing := client.MemoryGet(t.Context(), &kiokuv1.MemoryGetRequest{Agent: "main", Path: "../missing.md"})
	_, inside := client.MemoryGet(t.Context(), &kiokuv1.MemoryGetRequest{Agent: "main", Path: "memory/missing.md"})
	if beyond.Error() != missing.Error() || beyond.Error() != inside.Error() {
		t.Errorf("outside, missing and missing inside differ: %v / %v / %v", beyond, missing, inside)
	}
}

func hostilePaths(outside string) []string {
	return []string{
		"", ".", "..", "/", "//", "../outside.md", "memory/../../outside.md", "memory/../../../etc/passwd", outside, "/etc/passwd", "/proc/self/environ",
		"%2e%2e/outside.md", "..%2foutside.md", `..\outside.md`, `memory\..\..\outside.md`, "MEMORY.md\x00.txt", "\x00", "MEMORY.md/", "memory/",
		"memory/\n.md", "~/.ssh/id_rsa", "file:///etc/passwd", "C:\\x.md", "memory/x.txt", ".git/config", ".env",
		strings.Repeat("a", 300) + ".md", strings.Repeat("a/", 3000) + "x.md", strings.Repeat("../", 3000) + "etc/passwd", strings.Repeat("x", 1<<20),
	}
}

func FuzzMemoryGet(f *testing.F) {
	dir := f.TempDir()
	workspace := filepath.Join(dir, "workspace")
	for path, text := range map[string]string{filepath.Join(dir, "outside.md"): "secret", filepath.Join(workspace, "MEMORY.md"): "tea\n"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			f.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			f.Fatal(err)
		}
	}
	m, err := kioku.Open(context.Background(), kioku.Options{Workspace: workspace, StateDir: filepath.Join(dir, "state")})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { m.Close() })
	client, stop := mustServe(f, m)
	f.Cleanup(func() { stop() })
	for _, path := range hostilePaths(filepath.Join(dir, "outside.md")) {
		f.Add(path, int32(0), int32(0))
	}
	f.Add("MEMORY.md", int32(-1), int32(1_000_000_000))
	f.Fuzz(func(t *testing.T, path string, from, lines int32) {
		if !utf8.ValidString(path) {
			return // the client library refuses to send it
		}
		resp, err := client.MemoryGet(t.Context(), &kiokuv1.MemoryGetRequest{Agent: "main", Path: path, FromLine: from, LineCount: lines})
		switch status.Code(err) {
		case codes.OK:
			if text := resp.GetText(); text != "" && text != "tea\n" {
				t.Errorf("%q read %q", path, text)
			}
		case codes.InvalidArgument, codes.NotFound:
		default:
			t.Errorf("%q: %v", path, err)
		}
	})
}

// Hazard D03: a query without content has a defined answer and is never an internal error.
func TestMemorySearchAnswersAQueryWithoutContent(t *testing.T) {
	t.Parallel()
	client, _ := engine(t, notes)
	for query, want := range map[string]codes.Code{
		"": codes.InvalidArgument, " \n\t": codes.InvalidArgument, "?!...": codes.OK, "the of and": codes.OK, "猫": codes.OK, "🍵": codes.OK,
		`"`: codes.OK, "NEAR(": codes.OK, strings.Repeat("x ", 2049): codes.InvalidArgument,
	} {
		resp, err := client.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Agent: "main", Query: query})
		if code := status.Code(err); code != want {
			t.Errorf("%.20q: %v, want %v", query, err, want)
		}
		if err == nil && len(resp.GetResults()) == 0 && len(resp.GetDegraded()) == 0 {
			t.Errorf("%q: an empty answer that does not say why", query)
		}
		if want == codes.InvalidArgument {
			wantViolation(t, err, "query")
		}
	}
}

// Hazard D02: a query made to keep a parser busy is refused at the door, and the largest one allowed is answered in time.
func TestMemorySearchRefusesALargeQuery(t *testing.T) {
	t.Parallel()
	client, _ := engine(t, notes)
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	for _, query := range []string{strings.Repeat("word ", 100_000), strings.Repeat("(", 5000), strings.Repeat("x", 1<<20), strings.Repeat("猫", 1366)} {
		_, err := client.MemorySearch(ctx, &kiokuv1.MemorySearchRequest{Agent: "main", Query: query})
		wantViolation(t, err, "query")
	}
	for _, query := range []string{strings.Repeat("a ", 2048), strings.Repeat("(", 4096), strings.Repeat("x", 4096), strings.Repeat("猫", 1365)} {
		if _, err := client.MemorySearch(ctx, &kiokuv1.MemorySearchRequest{Agent: "main", Query: query}); err != nil {
			t.Errorf("%.10q and so on: %v", query, err)
		}
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

// Hazard D10: an answer from an empty workspace says that there is nothing to search.
func TestMemorySearchReportsAnEmptyIndex(t *testing.T) {
	t.Parallel()
	client, _ := engine(t, map[string]string{"README.txt": "no memory"})
	resp, err := client.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Agent: "main", Query: "tea"})
	if err != nil || len(resp.GetDegraded()) == 0 || resp.GetDegraded()[0].GetCode() != "index_empty" {
		t.Errorf("answer = %v, %v; want the code index_empty", resp, err)
	}
}

// Hazard D13: a long file comes in pieces that join to the whole.
func TestMemoryGetReturnsALongFileInPieces(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for range 900 {
		b.WriteString("お茶の時間は三時です。忘れないでください。\n")
	}
	client, _ := engine(t, map[string]string{"MEMORY.md": b.String()})
	var got strings.Builder
	for from := int32(1); from != 0; {
		resp, err := client.MemoryGet(t.Context(), &kiokuv1.MemoryGetRequest{Agent: "main", Path: "MEMORY.md", FromLine: from, LineCount: 100_000})
		if err != nil {
			t.Fatal(err)
		}
		if resp.GetTruncated() != (resp.GetNextLine() != 0) || resp.GetNextLine() != 0 && resp.GetNextLine() <= from {
			t.Fatalf("from %d: truncated %v, next from %d", from, resp.GetTruncated(), resp.GetNextLine())
		}
		got.WriteString(resp.GetText())
		from = resp.GetNextLine()
	}
	if got.String() != b.String() {
		t.Errorf("%d bytes joined, want %d", got.Len(), b.Len())
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
