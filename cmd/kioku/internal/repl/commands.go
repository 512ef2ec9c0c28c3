package repl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kioku/agent/chat"
	"kioku/agent/compact"
	"kioku/agent/session"
	"kioku/cmd/kioku/internal/render"
	"kioku/internal/text"
	"kioku/memory"
)

// chatCommand is a command of the chat, a line that begins with a slash. It is never sent to the model.
type chatCommand struct {
	name, argument, help string
	run                  func(r *repl, ctx context.Context, argument string) error
}

// chatCommands returns all commands in the order of /help.
func chatCommands() []chatCommand {
	return []chatCommand{
		{"soul", "", "what SOUL.md says", (*repl).soul},
		{"skills", "", "the skills, and which are left out", (*repl).skills},
		{"memory", "", "MEMORY.md, and the size of the memory", (*repl).memory},
		{"search", "QUERY", "search the memory", (*repl).search},
		{"prompt", "[MESSAGE]", "the system prompt of a message, or of the last one", (*repl).prompt},
		{"bootstrap", "", "the files of the prompt, and how much of each is in it", (*repl).bootstrap},
		{"status", "", "how full the window is, and what was used", (*repl).status},
		{"flush", "", "store what is worth keeping now", (*repl).flush},
		{"compact", "", "replace old messages by a summary", (*repl).compact},
		{"session", "[ID]", "the sessions, or continue another one", (*repl).switchTo},
		{"new", "", "begin a new session", (*repl).renew},
		{"help", "", "this list", (*repl).help},
		{"exit", "", "end the chat; /quit and Ctrl-D do too", (*repl).exit},
	}
}

// command runs a line without its slash as a command.
func (r *repl) command(ctx context.Context, line string) error {
	name, argument := line, ""
	if i := strings.IndexAny(line, " \t\n"); i >= 0 {
		name, argument = line[:i], strings.TrimSpace(line[i:])
	}
	if name = strings.ToLower(name); name == "quit" {
		name = "exit"
	}
	all := chatCommands()
	i := slices.IndexFunc(all, func(c chatCommand) bool { return c.name == name })
	switch {
	case i < 0:
		return unknownCommand(name)
	case argument != "" && all[i].argument == "":
		return fmt.Errorf("/%s takes no argument; %s", name, sayingSlash)
	case argument == "" && all[i].argument == "QUERY":
		return fmt.Errorf("write what to look for after /%s", name)
	}
	return all[i].run(r, ctx, argument)
}

const sayingSlash = "a message that begins with a slash is written with two"

// unknownCommand returns an error that suggests the nearest command.
func unknownCommand(name string) error {
	var known []string
	for _, c := range chatCommands() {
		known = append(known, c.name)
	}
	if near := text.Nearest(name, known); near != "" {
		return fmt.Errorf("there is no /%s; did you mean /%s? %s", name, near, strings.ToUpper(sayingSlash[:1])+sayingSlash[1:])
	}
	return fmt.Errorf("there is no /%s; /help shows all commands, and %s", name, sayingSlash)
}

func (r *repl) help(context.Context, string) error {
	return r.Out.Show(func(p *render.Page) {
		for _, c := range chatCommands() {
			p.Linef("%-20s %s", "/"+strings.TrimSpace(c.name+" "+c.argument), c.help)
		}
		p.Linef("")
		p.Linef("Everything else is sent to the model. %s: //etc/hosts", strings.ToUpper(sayingSlash[:1])+sayingSlash[1:])
		p.Linef("A line that ends with \\ continues in the next. Ctrl-C cancels an answer.")
	})
}

func (r *repl) exit(context.Context, string) error { return errEnd }

func (r *repl) search(ctx context.Context, query string) error {
	r.freshen(ctx)
	return r.Out.Search(ctx, r.Client.Search, memory.Query{Text: query}, false)
}

func (r *repl) flush(ctx context.Context, _ string) error {
	told := false
	outcome := r.talk.Flush(ctx, func(e chat.Event) {
		told = told || e.Flushed != nil
		r.view.event(e)
	})
	if !told {
		r.view.note("%s", flushedLine(&outcome))
	}
	if outcome.Outcome == session.FlushFailed {
		return fmt.Errorf("the flush failed: %s", outcome.Reason)
	}
	return ctx.Err()
}

func (r *repl) compact(ctx context.Context, _ string) error {
	_, err := r.talk.Compact(ctx, r.view.event)
	if errors.Is(err, compact.ErrNothing) {
		r.view.note("nothing to compact: all messages are recent ones")
		return nil
	}
	return err
}

// switchTo lists the sessions, latest first, or continues one.
func (r *repl) switchTo(ctx context.Context, id string) error {
	if id != "" {
		return r.change(ctx, id)
	}
	sessions, err := session.List(r.folder)
	if err != nil {
		return err
	}
	return r.Out.Show(func(p *render.Page) {
		for _, s := range sessions {
			mark := " "
			if s.ID == r.session.ID() {
				mark = "*"
			}
			p.Linef("%s %s  %s, %s", mark, s.ID, s.Modified.In(r.Conf.Location).Format(time.DateTime), render.Size(s.Bytes))
		}
	})
}

func (r *repl) renew(ctx context.Context, _ string) error {
	return r.change(ctx, session.NewID(r.options.Now()))
}
