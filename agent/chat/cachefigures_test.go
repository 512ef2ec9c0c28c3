package chat_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kioku/agent/chat"
	"kioku/agent/prune"
	"kioku/llm"
	"kioku/memory"
)

// pages are a tool whose results are long.
type pages struct{}

func (pages) List() []llm.Tool {
	return []llm.Tool{{Name: "read_page", Description: "Reads a page of the manual.",
		Schema: json.RawMessage(`{"type":"object","properties":{"page":{"type":"integer"},"chapter":{"type":"string"},"language":{"type":"string"}},"required":["page"]}`)}}
}

func (pages) Call(_ context.Context, _ string, input json.RawMessage) (json.RawMessage, error) {
	return json.Marshal(fmt.Sprintf("Page %s of the manual. ", input) + strings.Repeat("The valve of the greenhouse opens at noon. ", 60))
}

// topics are words that notes and messages have in common, so that something is recalled in most turns.
var topics = []string{"greenhouse", "bicycle", "telescope", "allotment", "passport", "concert", "orchard", "marathon", "library", "aquarium"}

// topicNote is a note of the length of a passage.
func topicNote(i int) string {
	return fmt.Sprintf("Note %d on the %s: ", i, topics[i%len(topics)]) + strings.Repeat(fmt.Sprintf("appointment %d was moved and the address is street %d. ", i*7, i), 8)
}

// day is the conversation that is measured: 100 turns of a day with tools, recall, edits of files and pauses.
type day struct {
	*world
	clock time.Time
	turn  int
	// forget says that a block is sent in its own turn only, as if the cache were cold in each turn.
	forget bool
	// heavy says that the model reads four pages in each turn.
	heavy bool
}

// newDay makes a workspace of the size that agents have and a memory with notes.
func newDay(t testing.TB) *day {
	d := &day{clock: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)}
	d.world = newWorld(t, nil)
	d.now = func() time.Time { return d.clock }
	for name, lines := range map[string]int{"IDENTITY.md": 5, "SOUL.md": 60, "TOOLS.md": 60, "AGENTS.md": 120, "USER.md": 30, "MEMORY.md": 150} {
		d.write(name, strings.Repeat("- This line of "+name+" tells the agent something that it has to know about its work.\n", lines))
	}
	for i := range 60 {
		if _, err := d.notes.Append(t.Context(), memory.Note{Text: topicNote(i)}); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// answer is what the model says to a request.
func (d *day) answer(body string) llm.Message {
	call := func(name, input string) llm.Message {
		return llm.Message{ToolCalls: []llm.ToolCall{{Name: name, Input: json.RawMessage(input)}}}
	}
	if strings.Contains(body, "## Saving memories") {
		return llm.Message{Text: "NO_REPLY"}
	}
	if !strings.Contains(body, `"tools"`) {
		return llm.Message{Text: "Summary: the user asked about the topics of the day, one after the other, and all was answered."}
	}
	asked := strings.Contains(body[strings.LastIndex(body, "Question "):], "call_") || strings.Contains(body[strings.LastIndex(body, "Question "):], "Page {")
	asked = asked || strings.Contains(body[strings.LastIndex(body, "Question "):], `"tool_name"`)
	if d.heavy {
		if asked = strings.Count(body[strings.LastIndex(body, "Question "):], "Page {") >= 4; !asked {
			return call("read_page", fmt.Sprintf(`{"page":%d}`, d.turn))
		}
	}
	switch topic := topics[d.turn%len(topics)]; {
	case asked || d.turn%3 == 1:
	case d.turn%9 == 5:
		return call("read_page", fmt.Sprintf(`{"page":%d}`, d.turn))
	case d.turn%10 == 3:
		return call("memory_append", fmt.Sprintf(`{"text":"In turn %d the user asked about the %s."}`, d.turn, topic))
	default:
		return call("memory_search", fmt.Sprintf(`{"query":"%s","max_results":3}`, topic))
	}
	return llm.Message{Text: fmt.Sprintf("Answer %d: ", d.turn) + strings.Repeat("this is what I know about it. ", 12)}
}

// figures are what was measured in a day.
type figures struct {
	// kept are the requests that follow no edit, pause, prune, compaction or begin of a session; all are also those that follow an edit
	// of a file or a pause which outlives the cache.
	kept, all shares
	// usage is that of all requests, and answers that of those which are no flush and no summary.
	usage, answers                     llm.Usage
	compactions, prunes, edits, pauses int
}

// shares are how much of requests is a prefix of the request before.
type shares struct {
	requests, total, shared int
	// least is the smallest part, and below the number of requests with less than 90 %.
	least float64
	below int
}

// add counts a request.
func (s *shares) add(sent, shared int) {
	part := float64(shared) / float64(sent)
	if s.requests == 0 {
		s.least = 1
	}
	s.requests, s.total, s.shared, s.least = s.requests+1, s.total+sent, s.shared+shared, min(s.least, part)
	if part < 0.9 {
		s.below++
	}
}

// part is how much of all input is a prefix of the request before.
func (s shares) part() float64 { return float64(s.shared) / float64(s.total) }

// String returns the shares on one line.
func (s shares) String() string {
	return fmt.Sprintf("%d requests of %d bytes, %.1f %% shared, least %.1f %%, %d below 90 %%", s.requests, s.total/s.requests,
		100*s.part(), 100*s.least, s.below)
}

// String returns the figures on one line.
func (f figures) String() string {
	return fmt.Sprintf("%v; with edits and pauses: %v; %d compactions, %d prunes; %+v", f.kept, f.all, f.compactions, f.prunes, f.usage)
}

// run has the day with a provider.
func (d *day) run(p *provider, model llm.Model, change ...func(*chat.Options)) figures {
	d.sidecar.Model = model
	d.sidecar.Settings.Prune = prune.Defaults()
	d.sidecar.Settings.Prune.SoftTrimRatio = 0.4
	if d.forget {
		d.sidecar.Settings.Prune.TTL, d.sidecar.Settings.Prune.SoftTrimRatio = time.Nanosecond, 1
	}
	c := d.start("s", append([]func(*chat.Options){func(o *chat.Options) { o.Tools = chat.Join(o.Tools, pages{}) }}, change...)...)
	var f figures
	// The indexes of the first requests after a prune or a compaction, and after an edit or a pause.
	broken, changed := map[int]bool{}, map[int]bool{}
	for d.turn = range 100 {
		d.clock = d.clock.Add(time.Minute)
		switch {
		case d.turn == 30 || d.turn == 70:
			d.write("USER.md", fmt.Sprintf("- Edited in turn %d.\n", d.turn)+strings.Repeat("- The user likes short answers.\n", 30))
			changed[len(p.requests)] = true
			f.edits++
		case d.turn%25 == 20:
			d.clock = d.clock.Add(20 * time.Minute)
			changed[len(p.requests)] = true // the cache is cold, and old blocks are left out
			f.pauses++
		}
		from := len(p.requests)
		d.say(c, fmt.Sprintf("Question %d: what do we know about the %s, and what is due next?", d.turn, topics[d.turn%len(topics)]), func(e chat.Event) {
			if e.Pruned != nil {
				f.prunes++
			}
			if e.Compacted != nil {
				f.compactions++
			}
			broken[len(p.requests)] = broken[len(p.requests)] || e.Pruned != nil || e.Compacted != nil
		})
		for i, s := range p.requests[from:] {
			i += from
			f.usage = f.usage.Plus(s.usage)
			if s.aside {
				broken[i+1], changed[i+1] = broken[i+1] || broken[i], changed[i+1] || changed[i]
				continue
			}
			f.answers = f.answers.Plus(s.usage)
			if broken[i] || i == 0 {
				continue
			}
			f.all.add(len(s.input), s.shared)
			if !changed[i] {
				f.kept.add(len(s.input), s.shared)
			}
		}
	}
	return f
}

// sendTurns is a model that is sent the blocks of the turns in another way.
type sendTurns struct {
	llm.Model
	change func([]llm.Message) []llm.Message
}

func (s sendTurns) Generate(ctx context.Context, req llm.Request, stream func(llm.Event)) (llm.Response, error) {
	if s.change != nil {
		req.Messages = s.change(slices.Clone(req.Messages))
	}
	return s.Model.Generate(ctx, req, stream)
}

// ways change how the blocks of turns are sent: "last" sends the newest one behind everything else, and the others change nothing.
var ways = map[string]func([]llm.Message) []llm.Message{
	"last": func(messages []llm.Message) []llm.Message {
		block := ""
		for i := range messages {
			if messages[i].Turn != "" {
				block, messages[i].Turn = messages[i].Turn, ""
			}
		}
		if last := &messages[len(messages)-1]; last.Role == llm.RoleUser {
			last.Turn = block
			return messages
		}
		return append(messages, llm.Message{Role: llm.RoleUser, Turn: block})
	},
}

// At least 90 % of each request's input is a prefix of the one before, outside compactions and prunes, over 100 turns with tools,
// recall, edits of files and a compaction, on the bytes of real requests to each provider; and the usage of the answers is
// recorded in the transcript.
func TestCacheHasMostOfEachRequest(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"anthropic", "openai", "ollama"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			d := newDay(t)
			d.sidecar.OldOrder = false
			p, model := newProvider(t, kind, 60_000, func() time.Time { return d.clock }, d.answer)
			f := d.run(p, model)
			if f.kept.least < 0.9 || f.kept.requests < 150 || f.all.below > f.edits+f.pauses || f.compactions == 0 || f.edits != 2 || f.pauses != 3 {
				t.Errorf("%v", f)
			}
			recorded := d.session.View().Cache.Used
			if recorded.CacheRead != f.answers.CacheRead || recorded.Input != f.answers.Input || recorded.CacheKnown != (kind != "ollama") {
				t.Errorf("the transcript has %+v, the provider counted %+v", recorded, f.answers)
			}
			if read := float64(f.answers.CacheRead) / float64(f.answers.Prompt()); kind != "ollama" && read < 0.85 {
				t.Errorf("%.2f of all prompts were read from the cache", read)
			}
			t.Log(f)
		})
	}
}

// BenchmarkPromptCache measures the figures of docs/performance.md: what a day costs in each order, and with each way of sending
// the blocks of turns, for three models, with one and with four rounds of tools in a turn. A newest or a last block must not point
// to texts that are gone, so that these ways repeat the texts.
func BenchmarkPromptCache(b *testing.B) {
	for _, kind := range []string{"anthropic", "openai", "deepseek"} {
		for _, heavy := range []bool{false, true} {
			for _, way := range []string{"old order", "kept", "newest", "last"} {
				b.Run(fmt.Sprintf("%s/four rounds %v/%s", kind, heavy, way), func(b *testing.B) {
					for b.Loop() {
						d := newDay(b)
						d.heavy = heavy
						d.sidecar.Settings.OldOrder = way == "old order"
						p, model := newProvider(b, kind, 60_000, func() time.Time { return d.clock }, d.answer)
						p.before = way == "last"
						d.forget = way == "newest" || way == "last"
						f := d.run(p, sendTurns{model, ways[way]})
						b.Log(f)
						b.ReportMetric(100*f.kept.part(), "%shared")
						b.ReportMetric(100*f.kept.least, "%least")
						b.ReportMetric(cachePrices[kind].Cost(f.usage), "dollars")
					}
				})
			}
		}
	}
}
