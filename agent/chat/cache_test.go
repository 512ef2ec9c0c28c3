package chat_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"kioku/agent/chat"
	"kioku/agent/prune"
	"kioku/llm"
	"kioku/llm/llmtest"
	"kioku/memory"
)

// pages are a tool whose results are long.
type pages struct{}

func (pages) List() []llm.Tool { return []llm.Tool{{Name: "read_page"}} }

func (pages) Call(_ context.Context, _ string, input json.RawMessage) (json.RawMessage, error) {
	return json.Marshal(fmt.Sprintf("Page %s of the manual. ", input) + strings.Repeat("The valve of the greenhouse opens at noon. ", 60))
}

// topics are words that notes and messages have in common, so that something is recalled in most turns.
var topics = []string{"greenhouse", "bicycle", "telescope", "allotment", "passport", "concert", "orchard", "marathon", "library", "aquarium"}

// day is a conversation of 100 turns with tools, recall, edits of files and pauses, and its model, which measures how much of each request
// is the beginning of the one before. Flushes and summaries are requests of their own.
type day struct {
	*world
	clock  time.Time
	turn   int
	before string
	// fresh says that the next request follows a prune, a compaction, an edit or a pause.
	fresh bool
	// shares are those of the other requests.
	shares []float64
}

func (*day) Name() string { return "day" }
func (*day) Window() int  { return 60_000 }

func (d *day) Generate(_ context.Context, req llm.Request, _ func(llm.Event)) (llm.Response, error) {
	kind, _ := kindOf(req)
	switch kind {
	case askFlush:
		return none.Response, nil
	case askSummary:
		return llmtest.Say("Summary: the user asked about the topics of the day, one after the other, and all was answered.").Response, nil
	}
	var sent strings.Builder
	fmt.Fprint(&sent, req.Tools, req.System)
	for _, m := range req.Messages {
		fmt.Fprintf(&sent, "%s %s %s\n%s\n", m.Role, m.ToolCalls, m.Text, m.Turn)
	}
	shared := 0
	for shared < min(len(d.before), sent.Len()) && d.before[shared] == sent.String()[shared] {
		shared++
	}
	if d.before != "" && !d.fresh {
		d.shares = append(d.shares, float64(shared)/float64(sent.Len()))
	}
	d.before, d.fresh = sent.String(), false
	id, topic := fmt.Sprint(len(d.shares)), topics[d.turn%len(topics)]
	switch {
	case req.Messages[len(req.Messages)-1].Role == llm.RoleTool || d.turn%3 == 1:
		return llmtest.Say(fmt.Sprintf("Answer %d: ", d.turn) + strings.Repeat("this is what I know about it. ", 12)).Response, nil
	case d.turn%9 == 5:
		return llmtest.Call(id, "read_page", map[string]any{"page": d.turn}).Response, nil
	case d.turn%10 == 3:
		return llmtest.Call(id, "memory_append", map[string]any{"text": fmt.Sprintf("In turn %d the user asked about the %s.", d.turn, topic)}).Response, nil
	}
	return llmtest.Call(id, "memory_search", map[string]any{"query": topic, "max_results": 3}).Response, nil
}

// At least 90 % of each request is the beginning of the one before, over 100 turns with tools and recall, so that a provider reads it from
// its cache; not after a prune, a compaction, an edit of a file and a pause that outlives the cache.
func TestRequestsShareTheirBeginning(t *testing.T) {
	t.Parallel()
	d := &day{clock: noon}
	d.world = newWorld(t, d)
	d.now = func() time.Time { return d.clock }
	d.sidecar.OldOrder = false
	d.sidecar.Settings.Prune = prune.Defaults()
	for name, lines := range map[string]int{"IDENTITY.md": 5, "SOUL.md": 60, "TOOLS.md": 60, "AGENTS.md": 120, "USER.md": 30, "MEMORY.md": 150} {
		d.write(name, strings.Repeat("- This line of "+name+" tells the agent something that it has to know about its work.\n", lines))
	}
	for i := range 60 {
		text := fmt.Sprintf("Note %d on the %s: ", i, topics[i%len(topics)]) + strings.Repeat(fmt.Sprintf("appointment %d was moved to street %d. ", i*7, i), 8)
		if _, err := d.notes.Append(t.Context(), memory.Note{Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	c := d.start("s", func(o *chat.Options) { o.Tools = chat.Join(o.Tools, pages{}) })
	compactions := 0
	for d.turn = range 100 {
		d.clock = d.clock.Add(time.Minute)
		switch {
		case d.turn == 30 || d.turn == 70:
			d.write("USER.md", fmt.Sprintf("- Edited in turn %d.\n", d.turn))
			d.fresh = true
		case d.turn%25 == 20:
			d.clock = d.clock.Add(20 * time.Minute)
			d.fresh = true
		}
		d.say(c, fmt.Sprintf("Question %d: what do we know about the %s, and what is due next?", d.turn, topics[d.turn%len(topics)]), func(e chat.Event) {
			d.fresh = d.fresh || e.Pruned != nil || e.Compacted != nil
			if e.Compacted != nil {
				compactions++
			}
		})
	}
	for i, share := range d.shares {
		if share < 0.9 {
			t.Errorf("request %d shares %.2f with the one before", i, share)
		}
	}
	if len(d.shares) < 140 || compactions == 0 {
		t.Errorf("%d requests, %d compactions: the test does not test", len(d.shares), compactions)
	}
}
