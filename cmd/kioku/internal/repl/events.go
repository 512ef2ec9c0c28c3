package repl

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"kioku/agent/chat"
	"kioku/agent/flush"
	"kioku/agent/prompt"
	"kioku/agent/prune"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/cmd/kioku/internal/render"
	"kioku/internal/text"
	"kioku/memory"
)

// event shows something that happens in a turn.
func (v *view) event(e chat.Event) {
	switch {
	case e.Text != "":
		v.say(e.Text)
	case e.Call != nil:
		v.done()
	case e.Result != nil:
		v.note("%s", toolLine(*e.Result))
	case e.Prompt != nil:
		v.prompt(e.Prompt)
	case e.Pruned != nil:
		v.note("%s", prunedLine(e.Pruned))
	case e.Flushed != nil:
		// A notice reports every other outcome.
		if e.Flushed.Outcome != session.FlushDone {
			return
		}
		v.note("%s", flushedLine(e.Flushed))
	case e.Compacted != nil:
		v.note("%s", compactedLine(e.Compacted))
	case e.Notice != "":
		v.note("%s", e.Notice)
	}
}

// prompt shows what was recalled for a prompt, what was left out of it, and which searches failed.
func (v *view) prompt(p *sidecar.Prompt) {
	if len(p.Recalled) > 0 {
		v.note("recalled %s: %s", memoryCount(len(p.Recalled)), recalledPlaces(p.Recalled))
	}
	for _, m := range p.LeftOut {
		v.note("recalled but left out: %s, %s", m.Source(), m.Reason)
	}
	for _, s := range p.Recall.Searches {
		if s.Err != nil {
			v.note("nothing could be recalled from the memory of %s: %v", s.Agent, s.Err)
		}
	}
	if p.Over {
		v.note("the system prompt has %s, which is more than its budget", render.Tokens(p.Tokens))
	}
}

func memoryCount(n int) string {
	if n == 1 {
		return "1 memory"
	}
	return fmt.Sprintf("%d memories", n)
}

// recalledPlaces lists the citations of memories, with the agent's name before those of other agents.
func recalledPlaces(list []prompt.Memory) string {
	var places []string
	for _, m := range list {
		place := m.Source()
		if m.Shared {
			place = m.Agent + ":" + place
		}
		places = append(places, place)
	}
	return strings.Join(places, ", ")
}

// toolLine returns a call and its outcome.
func toolLine(r chat.Result) string {
	outcome := summary(r.Output)
	if r.Err != nil {
		outcome = "failed: " + text.Shorten(render.CleanLine(render.Message(r.Err)), 200)
	}
	return strings.Join([]string{r.Call.Name, arguments(r.Call.Input), "→", outcome, "(" + render.ThreeDigits(r.Took) + ")"}, " ")
}

// arguments returns the input of a call, shortened: name="text" for each argument, sorted by name.
func arguments(input json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return text.Shorten(render.CleanLine(string(input)), 80)
	}
	var names, parts []string
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		parts = append(parts, name+"="+text.Shorten(render.CleanLine(string(fields[name])), 60))
	}
	return text.Shorten(strings.Join(parts, " "), 160)
}

// summary returns the output of a tool, shortened.
func summary(output json.RawMessage) string {
	var out struct {
		Results      *[]struct{ Citation string }
		Path         string
		StartLine    int  `json:"start_line"`
		Deduplicated bool `json:"deduplicated"`
		From, Lines  int
	}
	if json.Unmarshal(output, &out) != nil {
		var said string
		if json.Unmarshal(output, &said) != nil {
			said = string(output)
		}
		return text.Shorten(render.CleanLine(said), 80)
	}
	switch {
	case out.Results != nil:
		var places []string
		for _, r := range *out.Results {
			places = append(places, r.Citation)
		}
		return strings.TrimSuffix(render.Count(len(places), "result")+": "+text.Shorten(strings.Join(places, ", "), 120), ": ")
	case out.Path != "" && out.Lines > 0:
		return fmt.Sprintf("%s from line %d of %s", render.Count(out.Lines, "line"), out.From, out.Path)
	case out.Path != "" && out.Deduplicated:
		return fmt.Sprintf("%s:%d, where it was already", out.Path, out.StartLine)
	case out.Path != "" && out.StartLine > 0:
		return fmt.Sprintf("%s:%d", out.Path, out.StartLine)
	}
	return text.Shorten(render.CleanLine(string(output)), 80)
}

func prunedLine(p *prune.Plan) string {
	return fmt.Sprintf("pruned %s: %s characters are sent instead of %s", render.Count(len(p.New), "old tool result"), render.Number(p.After), render.Number(p.Before))
}

func flushedLine(o *flush.Outcome) string {
	if o.Outcome != session.FlushDone {
		return strings.TrimSuffix("flush "+o.Outcome+": "+o.Reason, ": ")
	}
	var places []string
	for _, n := range o.Notes {
		if !n.Deduplicated {
			places = append(places, fmt.Sprintf("%s:%d", n.Path, n.StartLine))
		}
	}
	switch known := len(o.Notes) - len(places); {
	case len(o.Notes) == 0:
		return "flush done: nothing to store"
	case len(places) == 0:
		return "flush done: nothing new, " + render.Count(known, "note") + " known already"
	}
	return fmt.Sprintf("flush done: stored %s in %s", render.Count(len(places), "note"), strings.Join(places, ", ")) + leftOut(o.Notes)
}

// leftOut tells of the secrets in notes in whose places references were written; empty if there are none.
func leftOut(notes []memory.Appended) string {
	secrets := 0
	for _, n := range notes {
		secrets += len(n.Secrets)
	}
	if secrets == 0 {
		return ""
	}
	return ", without " + render.Count(secrets, "secret")
}

func compactedLine(c *session.Compaction) string {
	return fmt.Sprintf("compacted: a summary replaces the old messages, %s instead of %s", render.Tokens(c.TokensAfter), render.Number(c.TokensBefore))
}
