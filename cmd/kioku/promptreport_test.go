package main

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"

	"kioku/agent/bootstrap"
	"kioku/agent/prompt"
	"kioku/agent/recall"
	"kioku/agent/sidecar"
	"kioku/agent/skills"
	"kioku/cmd/kioku/config"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

func TestAPromptAsJSONHoldsEveryFieldWhateverItsValue(t *testing.T) {
	s := newSandbox(t, notes())
	s.write("SOUL.md", "Calm.")
	full := s.object("prompt", "--json", "boiler pressure")
	empty := s.object("prompt", "--json", "--mode", "none")
	keys := []string{"cachedBytes", "layers", "prompt", "recalled", "report", "tokens"}
	for _, v := range []map[string]any{full, empty} {
		if diff := cmp.Diff(keys, slices.Sorted(maps.Keys(v))); diff != "" {
			t.Error(diff)
		}
		for _, list := range []string{"layers", "recalled"} {
			if _, ok := v[list].([]any); !ok {
				t.Errorf("%s is %v", list, v[list])
			}
		}
		report := v["report"].(map[string]any)
		for _, list := range []string{"files", "skills", "cuts"} {
			if _, ok := report[list].([]any); !ok {
				t.Errorf("report.%s is %v", list, report[list])
			}
		}
		recall := report["recall"].(map[string]any)
		for _, list := range []string{"searches", "leftOut"} {
			if _, ok := recall[list].([]any); !ok {
				t.Errorf("report.recall.%s is %v", list, recall[list])
			}
		}
	}
	hit := full["recalled"].([]any)[0].(map[string]any)
	want := map[string]any{
		"agent": "main", "shared": false, "path": "memory/2026-01-10.md", "startLine": 1.0, "endLine": 5.0,
		"citation": "memory/2026-01-10.md#L1-L5", "score": hit["score"], "date": "2026-01-10", "flags": []any{}, "text": hit["text"],
	}
	if diff := cmp.Diff(want, hit); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(hit["text"].(string), "boiler pressure fell") || !strings.Contains(full["prompt"].(string), "boiler pressure fell") {
		t.Errorf("got %v", full)
	}
}

// What a prompt as JSON and the answer of the agent service both hold has one name, and the same kind of value.
func TestAPromptAsJSONHasTheNamesOfTheAgentService(t *testing.T) {
	made := sidecar.Prompt{Group: true, Result: prompt.Result{
		Prompt: "p", Tokens: 1, CachedBytes: 2, Over: true, Layers: []prompt.Layer{{Name: "soul", Chars: 3, Tokens: 4}},
		Cuts: []prompt.Cut{{Part: "skills", From: 6, To: 5}}, LeftOut: []prompt.LeftOut{{Memory: prompt.Memory{Path: "a.md", Flags: []string{"role"}}, Reason: "room"}},
		Recalled: []prompt.Memory{{Agent: "main", Shared: true, Path: "b.md", StartLine: 7, EndLine: 8, Score: 0.5, Date: "2026-01-10", Text: "t", Flags: []string{"role"}}},
	}}
	made.Files = []bootstrap.File{{Name: "SOUL.md", Path: "s", Override: true, RawChars: 9, InjectedChars: 3, Cut: true, Reason: "long"}}
	made.Skills = skills.Set{Note: "n", Report: []skills.Entry{{Name: "brew", Path: "k", Loaded: true, InPrompt: true, Reason: "r"}}}
	made.Recall = recall.Outcome{Query: "q", Skipped: "s", Took: 1500 * time.Microsecond, Searches: []recall.Search{
		{Agent: "main", Hits: 1, Mode: "hybrid", Took: time.Second, Err: errors.New("gone"), Degraded: []memory.Degradation{{Code: "c", Text: "d"}}},
	}}
	data, err := json.Marshal(promptReportOf(made, sidecar.Turn{}, config.Place{}))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	// The report is not a part of the answer but holds parts of it, and recalled is nearer to hand.
	report := got["report"].(map[string]any)
	delete(got, "report")
	maps.Copy(got, report)
	for _, own := range []string{"agent", "workspace", "mode", "channel"} {
		delete(got, own)
	}
	report["recall"].(map[string]any)["recalled"] = got["recalled"]
	for _, m := range got["recalled"].([]any) {
		delete(m.(map[string]any), "citation")
	}
	delete(got, "recalled")
	delete(report["recall"].(map[string]any)["leftOut"].([]any)[0].(map[string]any), "citation")
	if data, err = json.Marshal(got); err != nil {
		t.Fatal(err)
	}
	var answer kiokuv1.AssemblePromptResponse
	if err := protojson.Unmarshal(data, &answer); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	if len(got) != answer.ProtoReflect().Descriptor().Fields().Len() {
		t.Errorf("got %s of %v", data, &answer)
	}
}
