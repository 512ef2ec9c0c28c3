package kiokuv1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/reflect/protoreflect"

	kiokuv1 "kioku/proto/kioku/v1"
)

// The JSON names of memory_search and memory_get are a contract with agents and scripts.
func TestJSONNamesOfTheMemoryToolsStay(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		message protoreflect.ProtoMessage
		want    map[string]string
	}{
		{&kiokuv1.MemorySearchRequest{}, map[string]string{"query": "query", "max_results": "maxResults", "min_score": "minScore"}},
		{&kiokuv1.MemorySearchResponse{}, map[string]string{"results": "results", "provider": "provider", "model": "model", "mode": "mode"}},
		{&kiokuv1.SearchResult{}, map[string]string{
			"path": "path", "start_line": "startLine", "end_line": "endLine", "score": "score", "snippet": "snippet", "source": "source",
		}},
		{&kiokuv1.MemoryGetRequest{}, map[string]string{"path": "path", "from_line": "from", "line_count": "lines"}},
		{&kiokuv1.MemoryGetResponse{}, map[string]string{"path": "path", "text": "text", "from_line": "from", "line_count": "lines"}},
	} {
		fields := tc.message.ProtoReflect().Descriptor().Fields()
		t.Run(string(tc.message.ProtoReflect().Descriptor().Name()), func(t *testing.T) {
			t.Parallel()
			got := map[string]string{}
			for name := range tc.want {
				if field := fields.ByName(protoreflect.Name(name)); field != nil {
					got[name] = field.JSONName()
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("JSON names (-want +got):\n%s", diff)
			}
		})
	}
}
