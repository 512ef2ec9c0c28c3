package repl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kioku/agent/bootstrap"
	"kioku/agent/chat"
	"kioku/agent/session"
	"kioku/cmd/kioku/internal/render"
	"kioku/llm"
	"kioku/memory"
)

// soul shows what SOUL.md says in the prompt.
func (r *repl) soul(ctx context.Context, _ string) error {
	files := r.talk.Prompt(ctx, "").Files
	i := slices.IndexFunc(files, func(f bootstrap.File) bool { return f.Name == bootstrap.Soul })
	switch {
	case i < 0 || files[i].Path == "":
		r.view.note("there is no SOUL.md; the agent has the personality of its model")
		return nil
	case files[i].Text == "":
		r.view.note("%s is not in the prompt: %s", files[i].Path, files[i].Reason)
		return nil
	}
	return r.Out.Show(func(p *render.Page) { p.Linef("%s", files[i].Text) })
}

// skills lists the skills, and those that are left out with the reason.
func (r *repl) skills(ctx context.Context, _ string) error {
	set := r.talk.Prompt(ctx, "").Skills
	if len(set.Report) == 0 {
		r.view.note("there are no skills; a skill is a folder in skills/ with a SKILL.md")
	}
	if set.Note != "" {
		r.view.note("%s", set.Note)
	}
	return r.Out.Show(func(p *render.Page) {
		for _, s := range set.Skills {
			p.Linef("%s  %s", render.Bold(render.CleanLine(s.Name)), render.CleanLine(s.Description))
		}
		for _, e := range set.Report {
			if e.Reason != "" {
				p.Linef("%s", render.Dim(render.CleanLine(fmt.Sprintf("left out: %s (%s): %s", e.Name, e.Path, e.Reason))))
			}
		}
	})
}

// memory shows MEMORY.md and the size of the memory.
func (r *repl) memory(ctx context.Context, _ string) error {
	req := memory.GetRequest{Path: bootstrap.Memory}
	long, err := r.Client.Get(ctx, req)
	switch {
	case render.NotFound(err):
		r.view.note("there is no MEMORY.md yet")
	case err != nil:
		return err
	default:
		if err := r.Out.Excerpt(req, long); err != nil {
			return err
		}
	}
	st, err := r.Client.Status(ctx)
	if err != nil {
		return err
	}
	r.view.note("the memory contains %s", render.Holdings(st.Index))
	return nil
}

// bootstrap shows how much of each bootstrap file is in the prompt.
func (r *repl) bootstrap(ctx context.Context, _ string) error {
	files := r.talk.Prompt(ctx, "").Files
	return r.Out.Show(func(p *render.Page) {
		p.Linef("%-13s %9s %9s  %s", "file", "chars", "in prompt", "")
		for _, f := range files {
			var notes []string
			if f.Override {
				notes = append(notes, "the agent's own")
			}
			if f.Cut {
				notes = append(notes, "cut")
			}
			if f.Reason != "" {
				notes = append(notes, f.Reason)
			}
			p.Linef("%-13s %9s %9s  %s", f.Name, render.Number(f.RawChars), render.Number(f.InjectedChars), render.CleanLine(strings.Join(notes, ", ")))
		}
	})
}

// prompt shows the system prompt of a message or, without an argument, of the last message.
func (r *repl) prompt(ctx context.Context, message string) error {
	if message == "" {
		message = r.last
	}
	r.freshen(ctx)
	made := r.talk.Prompt(ctx, message)
	for _, line := range render.PromptNotes(made) {
		r.view.note("%s", line)
	}
	return r.Out.Show(func(p *render.Page) {
		p.Linef("%s", made.Whole())
		p.Linef("")
		p.Layers(made)
	})
}

// status shows how full the window is and what the conversation has used.
func (r *repl) status(ctx context.Context, _ string) error {
	st, err := r.Client.Status(ctx)
	shown := r.Out.Show(func(p *render.Page) {
		conversation(p, r.talk.Status())
		if err == nil {
			p.Row("memory", "%s, %s", render.Holdings(st.Index), render.LastSync(st.Index, r.options.Now()))
		}
	})
	return errors.Join(shown, err)
}

// conversation adds the state of a conversation, one line for each matter.
func conversation(p *render.Page, s chat.Status) {
	p.Row("session", "%s, %s, compacted %s", s.Session, render.Count(s.Messages, "message"), times(s.Compactions))
	p.Row("model", "%s", s.Model)
	if s.Window > 0 {
		p.Row("window", "%s of %s (%.0f %%) for the next prompt", render.Number(s.Projected), render.Tokens(s.Window), 100*float64(s.Projected)/float64(s.Window))
		p.Row("thresholds", "memories are stored at %s, old messages summarised at %s", render.Tokens(s.FlushAt), render.Tokens(s.CompactAt))
	} else {
		p.Row("window", "%s for the next prompt; the size of the model's window is unknown, llm.window sets it", render.Tokens(s.Projected))
	}
	last := "none since the last summary"
	if s.Flush != nil {
		last = strings.TrimSuffix(s.Flush.Outcome+": "+s.Flush.Reason, ": ")
	}
	p.Row("flush", "%s; %s not stored yet", last, render.Count(s.Uncovered, "message"))
	p.Row("used", "%s", usageText(s.Usage))
	p.Row("cache", "%s", cacheText(s.Cache))
}

// cacheText tells what the provider's cache has done for a session.
func cacheText(c session.Cache) string {
	switch {
	case c.Used.Prompt() == 0:
		return "nothing is known yet"
	case !c.Used.CacheKnown:
		return "the provider does not say what it reads from a cache"
	}
	text := fmt.Sprintf("%s of the session's prompts, %s", share(c.Used.CacheRead, c.Used.Prompt()), render.Tokens(c.Used.CacheRead))
	if c.Last != nil {
		text += fmt.Sprintf("; of the last prompt %s read, %s written", share(c.Last.CacheRead, c.Last.Prompt()), share(c.Last.CacheWrite, c.Last.Prompt()))
	}
	return text
}

// share returns a part of a whole as a percentage.
func share(part, whole int) string {
	return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(max(whole, 1)))
}

func times(n int) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// usageText returns the tokens that were used.
func usageText(u llm.Usage) string {
	text := fmt.Sprintf("%s of prompts, %s of answers", render.Tokens(u.Prompt()), render.Number(u.Output))
	if u.CacheRead > 0 {
		text += fmt.Sprintf(", %s read from the provider's cache", render.Number(u.CacheRead))
	}
	return text
}
