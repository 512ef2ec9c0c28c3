package render

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"
	"time"

	"kioku/internal/testkit"
	"kioku/memory"
)

// JSON numbers are numbers in --json: also those of 64 bits, wherever they are, and texts that look like numbers stay texts.
func TestWriteJSONWritesNumbersAsNumbers(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	o := Output{Stdout: &out, JSON: true}
	resp := memory.Answer{
		Index: memory.IndexStats{Generation: math.MaxInt64, Files: 3}, Took: time.Second,
		Hits: []memory.Hit{{Path: "12", Snippet: "<a> \"5\" & 大阪", Score: 0.5}, {Headings: "# 7"}}, Mode: "keyword",
	}
	testkit.Must(t, o.WriteJSON(resp, ""))
	var got struct {
		Index   struct{ Generation, FileCount any }
		Results []struct{ Path, Snippet any }
	}
	dec := json.NewDecoder(bytes.NewReader(out.Bytes()))
	dec.UseNumber()
	if err := dec.Decode(&got); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	if got.Index.Generation != json.Number("9223372036854775807") || got.Index.FileCount != json.Number("3") {
		t.Errorf("got %v", got.Index)
	}
	if len(got.Results) != 2 || got.Results[0].Path != "12" || got.Results[0].Snippet != "<a> \"5\" & 大阪" {
		t.Errorf("got %v", got.Results)
	}
	if !bytes.Contains(out.Bytes(), []byte("<a>")) {
		t.Errorf("characters are escaped: %s", out.String())
	}
}
