package server_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

func TestListFilesPassesItsQueryOn(t *testing.T) {
	t.Parallel()
	changed := time.Date(2026, 1, 20, 9, 0, 0, 0, time.UTC)
	var got memory.FileQuery
	client := local(t, agents(&fakeMemory{
		files: func(_ context.Context, q memory.FileQuery) (memory.FileList, error) {
			got = q
			return memory.FileList{Total: 7, Next: "b.md", Files: []memory.File{{Path: "b.md", Source: "memory", Title: "B", Date: "2026-01-20",
				Tags: []string{"x/y"}, Aliases: []string{"Bee"}, Chunks: 2, Size: 10, ModTime: changed, Skipped: "no"}}}, nil
		},
		state: func(context.Context) (memory.IndexStats, error) { return memory.IndexStats{Files: 9}, nil },
	}))
	resp, err := client.ListFiles(t.Context(), &kiokuv1.ListFilesRequest{Agent: "main", Glob: "*.md", Sources: []string{"memory"}, Since: "2026-01-01",
		Until: "2026-02-01", IncludeSkipped: true, PageSize: 5, PageToken: "a.md",
		Filter: []*kiokuv1.Condition{{Field: "tags", Op: "in", Values: []string{"x", "y"}}}})
	if err != nil {
		t.Fatal(err)
	}
	want := memory.FileQuery{Glob: "*.md", After: "a.md", Limit: 5, Skipped: true, Filter: memory.Filter{Sources: []string{"memory"}, Since: "2026-01-01",
		Until: "2026-02-01", Where: []memory.Condition{{Field: "tags", Op: "in", Values: []string{"x", "y"}}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("query (-want +got):\n%s", diff)
	}
	answer := &kiokuv1.ListFilesResponse{NextPageToken: "b.md", TotalCount: 7, Index: &kiokuv1.IndexState{FileCount: 9}, Files: []*kiokuv1.File{{
		Path: "b.md", Source: "memory", Title: "B", Date: "2026-01-20", Tags: []string{"x/y"}, Aliases: []string{"Bee"}, ChunkCount: 2, SizeBytes: 10,
		ModificationTime: timestamppb.New(changed), Skipped: "no"}}}
	if diff := cmp.Diff(answer, resp, protocmp.Transform()); diff != "" {
		t.Errorf("response (-want +got):\n%s", diff)
	}
	_, err = client.ListFiles(t.Context(), &kiokuv1.ListFilesRequest{Agent: "main", PageSize: -1})
	wantViolation(t, err, "page_size")
}

// A page is at most as large as a message, and the next page continues where it ends.
func TestListFilesFitsIntoAMessage(t *testing.T) {
	t.Parallel()
	var list memory.FileList
	for i := range 10_000 {
		list.Files = append(list.Files, memory.File{Path: fmt.Sprintf("%05d.md", i), Title: strings.Repeat("x", 500)})
	}
	client := local(t, agents(&fakeMemory{files: func(context.Context, memory.FileQuery) (memory.FileList, error) { return list, nil }}))
	resp, err := client.ListFiles(t.Context(), &kiokuv1.ListFilesRequest{Agent: "main", PageSize: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(resp.Files); n < 1000 || n == 10_000 || resp.NextPageToken != resp.Files[n-1].Path {
		t.Errorf("%d files, next %q", n, resp.NextPageToken)
	}
}

func TestListLinksReturnsLinksOfBothDirections(t *testing.T) {
	t.Parallel()
	many := make([]memory.Link, 30_000)
	for i := range many {
		many[i] = memory.Link{From: "b.md", Line: i, Text: strings.Repeat("x", 100), Target: "a", To: "a.md", Kind: "wiki"}
	}
	client := local(t, agents(&fakeMemory{links: func(_ context.Context, file string) (memory.Links, error) {
		switch file {
		case "a":
			return memory.Links{Path: "a.md", Out: []memory.Link{{From: "a.md", Line: 3, Text: "the b", Target: "b", Kind: "embed"}}, In: many[1:2]}, nil
		case "many":
			return memory.Links{Path: "a.md", In: many}, nil
		}
		return memory.Links{}, memory.ErrNotFound
	}}))
	resp, err := client.ListLinks(t.Context(), &kiokuv1.ListLinksRequest{Agent: "main", Path: "a"})
	want := &kiokuv1.ListLinksResponse{Links: &kiokuv1.Links{
		Path:     "a.md",
		Outgoing: []*kiokuv1.Link{{FromPath: "a.md", Line: 3, Text: "the b", Target: "b", Kind: "embed"}},
		Incoming: []*kiokuv1.Link{{FromPath: "b.md", Line: 1, Text: strings.Repeat("x", 100), Target: "a", ToPath: "a.md", Kind: "wiki"}},
	}}
	if diff := cmp.Diff(want, resp, protocmp.Transform()); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	resp, err = client.ListLinks(t.Context(), &kiokuv1.ListLinksRequest{Agent: "main", Path: "many"})
	if n := len(resp.GetLinks().GetIncoming()); err != nil || !resp.Links.Truncated || n < 1000 {
		t.Errorf("%d of 30,000 links, truncated %v, %v", n, resp.GetLinks().GetTruncated(), err)
	}
	_, err = client.ListLinks(t.Context(), &kiokuv1.ListLinksRequest{Agent: "main", Path: "nothing"})
	wantCode(t, err, codes.NotFound)
}

func TestListChunksReturnsWhatFits(t *testing.T) {
	t.Parallel()
	many := make([]memory.Chunk, 60_000)
	for i := range many {
		many[i] = memory.Chunk{StartLine: i + 1, EndLine: i + 2, Heading: strings.Repeat("x", 100)}
	}
	client := local(t, agents(&fakeMemory{chunks: func(_ context.Context, file string) (memory.Chunks, error) {
		switch file {
		case "a.md":
			return memory.Chunks{Path: "a.md", Chunks: []memory.Chunk{{StartLine: 1, EndLine: 9, Heading: "# A", Date: "2026-03-01", Language: "de", Tokens: 12, Embedded: true}}}, nil
		case "many.md":
			return memory.Chunks{Path: "many.md", Chunks: many}, nil
		}
		return memory.Chunks{}, memory.ErrNotFound
	}}))
	resp, err := client.ListChunks(t.Context(), &kiokuv1.ListChunksRequest{Agent: "main", Path: "a.md"})
	want := &kiokuv1.ListChunksResponse{Path: "a.md", Chunks: []*kiokuv1.Chunk{
		{StartLine: 1, EndLine: 9, Heading: "# A", Date: "2026-03-01", Language: "de", TokenCount: 12, Embedded: true}}}
	if diff := cmp.Diff(want, resp, protocmp.Transform()); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	resp, err = client.ListChunks(t.Context(), &kiokuv1.ListChunksRequest{Agent: "main", Path: "many.md"})
	if n := len(resp.GetChunks()); err != nil || !resp.Truncated || n < 1000 {
		t.Errorf("%d of 60,000 chunks, truncated %v, %v", n, resp.GetTruncated(), err)
	}
	_, err = client.ListChunks(t.Context(), &kiokuv1.ListChunksRequest{Agent: "main", Path: "nothing.md"})
	wantCode(t, err, codes.NotFound)
}

// ListFiles, ListLinks, filters and the links of an explanation work through gRPC over a real memory.
func TestListFilesAndLinksOfARealMemory(t *testing.T) {
	t.Parallel()
	client, _ := engine(t, map[string]string{
		"memory/tea.md": "---\ntags: drink\nstatus: done\n---\nGreen tea. See [[cup]].\n", "memory/cup.md": "A cup.\n", "memory/2026-01-20.md": "Tea again.\n",
	})
	filter := []*kiokuv1.Condition{{Field: "status", Values: []string{"Done"}}}
	files, err := client.ListFiles(t.Context(), &kiokuv1.ListFilesRequest{Filter: filter})
	if err != nil || len(files.Files) != 1 || files.Files[0].Path != "memory/tea.md" || files.TotalCount != 1 || files.Index.FileCount != 3 {
		t.Errorf("%v, %v", files, err)
	}
	found, err := client.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Query: "tea", Filter: filter})
	if err != nil || len(found.Results) != 1 || found.Results[0].Path != "memory/tea.md" {
		t.Errorf("%v, %v", found, err)
	}
	links, err := client.ListLinks(t.Context(), &kiokuv1.ListLinksRequest{Path: "cup"})
	if err != nil || len(links.Links.Incoming) != 1 || links.Links.Incoming[0].FromPath != "memory/tea.md" || links.Links.Incoming[0].Line != 5 {
		t.Errorf("%v, %v", links, err)
	}
	ex, err := client.Explain(t.Context(), &kiokuv1.ExplainRequest{Search: &kiokuv1.MemorySearchRequest{Query: "tea"}, Path: "memory/tea.md", Line: 5})
	if err != nil || len(ex.Links.GetOutgoing()) != 1 || ex.Links.Outgoing[0].ToPath != "memory/cup.md" {
		t.Errorf("%v, %v", ex.GetLinks(), err)
	}
	_, err = client.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Query: "tea", Filter: []*kiokuv1.Condition{{Field: "x", Op: "~", Values: []string{"y"}}}})
	wantViolation(t, err, "filter")
}

// `--agent` may be left out in gRPC when the caller may reach only one.
func TestTheAgentMayBeLeftOutIfTheCallerReachesOnlyOne(t *testing.T) {
	t.Parallel()
	asked := map[string]int{}
	counts := func(id string) *fakeMemory {
		return &fakeMemory{search: func(context.Context, memory.Query) (memory.Answer, error) {
			asked[id]++
			return memory.Answer{}, nil
		}}
	}
	opt := server.Options{Agents: map[string]server.Memory{"ann": counts("ann"), "bob": counts("bob"), "zoe": counts("zoe")}, Tokens: openTokens(t,
		tokenLine("one", "one", "[bob]", true), tokenLine("reader", "reader", "[bob]", false), tokenLine("two", "two", "[ann, bob]", true),
		tokenLine("none", "none", "[other]", true))}
	client := kiokuv1.NewMemoryServiceClient(dial(t, onTCP(t, opt)))
	search := func(token string) error {
		_, err := client.MemorySearch(with(t, token), &kiokuv1.MemorySearchRequest{Query: "tea"})
		return err
	}
	if err := search("one"); err != nil || asked["bob"] != 1 || len(asked) != 1 {
		t.Errorf("%v, asked %v", err, asked)
	}
	if _, err := client.MemoryAppend(with(t, "one"), &kiokuv1.MemoryAppendRequest{Text: "x"}); err != nil {
		t.Error(err)
	}
	_, err := client.MemoryAppend(with(t, "reader"), &kiokuv1.MemoryAppendRequest{Text: "x"})
	wantCode(t, err, codes.PermissionDenied)
	if st, err := client.Status(with(t, "one"), &kiokuv1.StatusRequest{}); err != nil || st.Agent != "bob" {
		t.Errorf("the status is of %q, %v", st.GetAgent(), err)
	}
	if _, err := client.Explain(with(t, "one"), &kiokuv1.ExplainRequest{Search: &kiokuv1.MemorySearchRequest{Query: "tea"}}); err != nil {
		t.Error(err)
	}
	err = search("two")
	wantViolation(t, err, "agent")
	if err == nil || !strings.Contains(err.Error(), "ann, bob") || strings.Contains(err.Error(), "zoe") {
		t.Errorf("of several: %v, want those that the caller may reach", err)
	}
	err = search("none")
	wantViolation(t, err, "agent")
	if err == nil || strings.Contains(err.Error(), "may reach") {
		t.Errorf("of none: %v", err)
	}
}

// The same holds for AgentService.
func TestTheAgentOfASidecarMayBeLeftOut(t *testing.T) {
	t.Parallel()
	one := agentClient(t, &fakeSidecar{})
	if _, err := one.Recall(t.Context(), &kiokuv1.RecallRequest{Message: "tea"}); err != nil {
		t.Error(err)
	}
	two := localAgents(t, beside(t, server.Options{}, map[string]server.Sidecar{"ann": &fakeSidecar{}, "bob": &fakeSidecar{}}))
	_, err := two.Recall(t.Context(), &kiokuv1.RecallRequest{Message: "tea"})
	wantViolation(t, err, "agent")
}
