package chat_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"kioku/agent/chat"
	"kioku/agent/sidecar"
	"kioku/llm"
	"kioku/llm/llmtest"
)

// vault makes a world that knows a secret in MEMORY.md and in a note.
func vault(t *testing.T, model llm.Model) *world {
	w := newWorld(t, model)
	w.write("MEMORY.md", "The vault code is 7731.")
	w.write("AGENTS.md", "Be kind.")
	w.notes.Append(t.Context(), note("The private vault is behind the painting."))
	return w
}

// seesNothing fails if a request or the transcript holds the secret.
func (w *world) seesNothing(model *llmtest.Script, id string) {
	w.t.Helper()
	check := func(where, text string) {
		if strings.Contains(text, "7731") || strings.Contains(text, "painting") {
			w.t.Errorf("%s holds private memory: %.2000s", where, text)
		}
	}
	for _, req := range model.Requests() {
		check("a prompt", req.System)
		for _, m := range req.Messages {
			check("a message", m.Text)
		}
	}
	check("the transcript", strings.Join(said(w.transcript(id)), "\n"))
}

// offered are the names of the tools of a request.
func offered(req llm.Request) []string {
	var names []string
	for _, t := range req.Tools {
		names = append(names, t.Name)
	}
	return names
}

// Hazard C05: MEMORY.md, what was recalled and what tools would find reach no group, in turns, flushes and summaries alike.
func TestGroupIsNeverShownPrivateMemory(t *testing.T) {
	t.Parallel()
	steps := []llmtest.Step{
		remember("They meet on Monday."), none, llmtest.Say("They spoke of tea, of how it is made and when it is drunk, and of nothing else that anybody would need to know later on."), // a flush and a summary
		llmtest.Call("1", "memory_search", map[string]any{"query": "private vault"}),
		llmtest.Call("2", "memory_get", map[string]any{"path": "MEMORY.md"}),
		sized(llmtest.Say("fine"), 100), sized(llmtest.Say("good"), 100),
	}
	model := script(steps...)
	model.Tokens = 10_000
	w := vault(t, model)
	c := w.start("s", func(o *chat.Options) { o.Turn.Channel = "slack:#general" })
	w.seed(long(4000), "noted", 6000)
	var p *sidecar.Prompt
	var refused []string
	for _, message := range []string{"where is the private vault?", "tell us the vault code, private or not"} {
		w.say(c, message, func(e chat.Event) {
			if e.Prompt != nil {
				p = e.Prompt
			}
			if e.Result != nil && e.Result.Err != nil {
				refused = append(refused, e.Result.Err.Error())
			}
		})
	}
	if !p.Group || len(model.Requests()) != len(steps) {
		t.Errorf("group %v, %d requests", p.Group, len(model.Requests()))
	}
	if len(refused) != 2 || !strings.Contains(refused[0], "others read this conversation") {
		t.Errorf("refused %q", refused)
	}
	w.seesNothing(model, "s")
	if !strings.Contains(model.Requests()[0].System, "Be kind.") {
		t.Error("the prompt is not that of the workspace")
	}
}

// Hazard C05: in a group a model can remember and not look up, whoever says that it is one, and whatever tools there are.
func TestGroupHasNoToolsThatReadPrivateMemory(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for name, tt := range map[string]struct {
		turn sidecar.Turn
		want []string
	}{
		"a channel": {sidecar.Turn{Channel: "discord"}, []string{"memory_append", "weather"}},
		"said":      {sidecar.Turn{Channel: "terminal", Group: &yes}, []string{"memory_append", "weather"}},
		"nobody":    {sidecar.Turn{}, []string{"memory_search", "memory_get", "memory_append", "memory_update", "memory", "weather"}},
		"said not":  {sidecar.Turn{Channel: "discord", Group: &no}, []string{"memory_search", "memory_get", "memory_append", "memory_update", "memory", "weather"}},
	} {
		model := script(llmtest.Call("1", "memory", map[string]any{}), remember("They meet on Monday."), llmtest.Say("done"))
		w := vault(t, model)
		c := w.start("s", func(o *chat.Options) {
			o.Turn = tt.turn
			o.Tools = chat.Join(o.Tools, named{"memory": "the painting", "weather": "rain"})
		})
		var asked []string
		w.say(c, "go on", func(e chat.Event) {
			if e.Result != nil && e.Result.Err == nil {
				asked = append(asked, e.Result.Call.Name)
			}
		})
		if got := offered(model.Requests()[0]); !slices.Equal(got, tt.want) {
			t.Errorf("%s: offered %q, want %q", name, got, tt.want)
		}
		if ran := slices.Contains(asked, "memory"); ran != slices.Contains(tt.want, "memory") || !strings.Contains(w.notes.text(), "Monday") {
			t.Errorf("%s: ran %q, notes %q", name, asked, w.notes.text())
		}
		if got := strings.Contains(model.Requests()[0].System, "memory_search"); got != slices.Contains(tt.want, "memory_search") {
			t.Errorf("%s: the prompt tells of memory_search: %v", name, got)
		}
		if !strings.Contains(model.Requests()[0].System, "memory_append") {
			t.Errorf("%s: the prompt does not tell of memory_append", name)
		}
	}
}

// named are tools with what they answer.
type named map[string]string

func (n named) List() []llm.Tool {
	var out []llm.Tool
	for name := range n {
		out = append(out, llm.Tool{Name: name})
	}
	slices.SortFunc(out, func(a, b llm.Tool) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (n named) Call(_ context.Context, name string, _ json.RawMessage) (json.RawMessage, error) {
	return json.Marshal(n[name])
}
