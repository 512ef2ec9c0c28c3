package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/council"
	"kioku/council/counciltest"
	"kioku/council/engine"
	"kioku/council/member"
	"kioku/llm"
	"kioku/memory"
)

// notebook is a memory that finds its hits for every query, and keeps what is appended.
type notebook struct {
	mu    sync.Mutex
	hits  []memory.Hit
	notes []memory.Note
	fails error
}

func (n *notebook) Search(context.Context, memory.Query) (memory.Answer, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return memory.Answer{Hits: append([]memory.Hit(nil), n.hits...), Mode: "hybrid"}, n.fails
}

func (n *notebook) Get(_ context.Context, req memory.GetRequest) (memory.Excerpt, error) {
	return memory.Excerpt{Path: req.Path, Text: "lines of " + req.Path, From: 1, Lines: 1, TotalLines: 1}, n.fails
}

func (n *notebook) Append(_ context.Context, note memory.Note) (memory.Appended, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, old := range n.notes {
		if old.Key == note.Key {
			return memory.Appended{}, nil
		}
	}
	n.notes = append(n.notes, note)
	return memory.Appended{}, nil
}

func (n *notebook) Update(context.Context, memory.Update) (memory.Updated, error) {
	return memory.Updated{}, errors.New("updated")
}

// found is a hit of a path.
func found(path string, score float64) memory.Hit {
	return memory.Hit{Path: path, StartLine: 3, EndLine: 4, Score: score, Snippet: "what " + path + " says", SnippetStart: 3, SnippetEnd: 4}
}

// remembering returns a council whose agents have notebooks, by name.
func remembering(t *testing.T, change func(*engine.Options)) (*world, map[string]*notebook) {
	t.Helper()
	books := map[string]*notebook{"council": {}, "ant": {}, "bee": {}, "cat": {}}
	return newWorld(t, func(o *engine.Options) {
		o.Memory = func(agent string) memory.Service { return books[agent] }
		if change != nil {
			change(o)
		}
	}), books
}

// Of the passages of the council agent, decisions come first, at most three; those of the member come before them.
func TestRecallFavoursDecisions(t *testing.T) {
	t.Parallel()
	w, books := remembering(t, nil)
	books["council"].hits = []memory.Hit{
		found("memory/2026-11-01.md", 0.9), found("memory/2026-11-02.md", 0.85), found("memory/2026-11-03.md", 0.8), found("memory/decisions/2026-11-04-task_9.md", 0.7),
	}
	books["ant"].hits = []memory.Hit{found("memory/own.md", 0.5)}
	w.submit(ruled)
	var got []string
	for _, q := range w.script.Asked() {
		if q.Member == "ant" && q.Phase == member.PhaseOpinion {
			for _, m := range q.Recalled {
				got = append(got, m.Agent+":"+m.Path)
			}
			if q.RecallDegraded {
				t.Error("a recall without a fault is degraded")
			}
		}
	}
	want := []string{"ant:memory/own.md", "council:memory/decisions/2026-11-04-task_9.md", "council:memory/2026-11-01.md", "council:memory/2026-11-02.md"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A memory that fails is noted in the ballot.
func TestDegradedRecallIsInTheBallot(t *testing.T) {
	t.Parallel()
	w, books := remembering(t, func(o *engine.Options) {
		for i := range o.Settings.Members {
			o.Settings.Members[i].Model = council.ModelEcho
		}
		asks, err := member.New(member.Options{Settings: o.Settings})
		if err != nil {
			t.Fatal(err)
		}
		o.Ask = asks
	})
	books["bee"].fails = errors.New("the disk is gone")
	d := w.get(w.submit(ruled))
	got := map[string]string{}
	for _, b := range d.Rounds[0].Ballots {
		got[b.Node] = b.Recall
	}
	if diff := cmp.Diff(map[string]string{"ant": "", "bee": "degraded", "cat": ""}, got); diff != "" {
		t.Error(diff)
	}
	if log, err := os.ReadFile(w.dir + "/council/logs/bee/2026-11-23.jsonl"); err != nil || !strings.Contains(string(log), "the memory of bee: recall from bee: the disk is gone") {
		t.Errorf("its log does not say which memory failed, and why: %v, %s", err, log)
	}
}

// In a turn a member searches and reads its own memory and the council's, no other, and writes nothing.
func TestMembersLookThingsUp(t *testing.T) {
	t.Parallel()
	w, books := remembering(t, nil)
	books["council"].hits, books["ant"].hits, books["bee"].hits = []memory.Hit{found("memory/decisions/a.md", 0.6)}, []memory.Hit{found("memory/own.md", 0.5)}, []memory.Hit{found("memory/secret.md", 0.9)}
	got := map[string]string{}
	w.script.Answer = func(ctx context.Context, q member.Question) (member.Reply, error, bool) {
		if q.Member != "ant" || q.Phase != member.PhaseOpinion {
			return member.Reply{}, nil, false
		}
		for name, input := range map[string]string{
			"search": `{"query":"kettle"}`, "get own": `{"path":"memory/own.md"}`, "get council": `{"path":"council:memory/decisions/a.md"}`,
		} {
			text, failed := q.Call(ctx, llm.ToolCall{Name: "memory_" + strings.Fields(name)[0], Input: json.RawMessage(input)})
			if failed {
				t.Errorf("%s: %s", name, text)
			}
			var out struct {
				Text    string `json:"text"`
				Results []struct {
					Citation string `json:"citation"`
				} `json:"results"`
			}
			if err := json.Unmarshal([]byte(text), &out); err != nil {
				t.Errorf("%s: %v: %s", name, err, text)
			}
			got[name] = out.Text
			for _, r := range out.Results {
				got[name] += r.Citation + " "
			}
		}
		if text, failed := q.Call(ctx, llm.ToolCall{Name: "memory_append", Input: json.RawMessage(`{"text":"x"}`)}); !failed {
			t.Errorf("a member has written: %s", text)
		}
		return member.Reply{}, nil, false
	}
	w.submit(ruled)
	want := map[string]string{"search": "council:memory/decisions/a.md#L3-L4 memory/own.md#L3-L4 ",
		"get own": "lines of memory/own.md", "get council": "lines of memory/decisions/a.md"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := len(books["ant"].notes); n != 1 {
		t.Errorf("%d notes", n)
	}
}

// Those whom reflect names write what they remember, once, and nobody else is asked.
func TestReflectAsksWhoIsToReflect(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]map[string]int{
		"": {"ant": 1, "bee": 1, "cat": 1}, council.ReflectDissent: {"ant": 1, "bee": 2, "cat": 1}, council.ReflectAlways: {"ant": 2, "bee": 2, "cat": 1},
	} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			w, books := remembering(t, func(o *engine.Options) { o.Settings.Reflect = setting })
			w.vote(map[string]string{"bee": council.VoteReject})
			w.script.Answer = func(_ context.Context, q member.Question) (member.Reply, error, bool) {
				note := "kettles matter to " + q.Member
				if q.Member == "cat" {
					note = "" // NO_REPLY
				}
				return member.Reply{Note: note, Usage: council.Usage{Calls: 1, TokensIn: 7}}, nil, q.Phase == member.PhaseReflection
			}
			id := w.submit(ruled)
			w.settle()
			got := map[string]int{}
			for name, book := range books {
				if name != "council" {
					got[name] = len(book.notes)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if setting != "" && (!strings.Contains(books["bee"].notes[1].Text, "kettles matter to bee") || w.get(id).Decision.Usage["reflection/bee"].TokensIn != 7) {
				t.Errorf("%+v, usage %v", books["bee"].notes, w.get(id).Decision.Usage)
			}
		})
	}
}

// A member that does not answer remembers nothing, and the task ends.
func TestReflectOfASilentMember(t *testing.T) {
	t.Parallel()
	w, books := remembering(t, func(o *engine.Options) { o.Settings.Reflect = council.ReflectAlways })
	w.script.Votes[counciltest.Key{Phase: member.PhaseReflection}] = counciltest.Silent
	id := w.submit(ruled)
	if d := w.get(id); d.Decision == nil || len(books["ant"].notes) != 1 || w.script.Count(member.PhaseReflection) != 3 {
		t.Errorf("%+v, %d notes", d.Decision, len(books["ant"].notes))
	}
}
