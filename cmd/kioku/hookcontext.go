package main

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf16"

	"kioku/agent/bootstrap"
	"kioku/agent/prompt"
	"kioku/agent/sidecar"
	"kioku/agent/standing"
	"kioku/cmd/kioku/internal/agenthook"
	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
)

// hookChannel is the channel of the programs whose hooks are answered.
const hookChannel = "terminal"

const (
	// startNotes is the number of daily notes that a session begins with.
	startNotes = 2
	// startMemory and startNote are the maximum numbers of characters of MEMORY.md of another machine and of a daily note in it.
	startMemory, startNote = 4000, 1500
)

// startContext returns what the user keeps in MEMORY.md and USER.md, standing instructions and preferences, and the open loops that are due
// and the ends of the latest daily notes in the frame that marks them as data, and the passages in all of them. It is empty if there are none.
func (a *app) startContext(ctx context.Context, c *connect.Client, side *sidecar.Sidecar) (string, []agenthook.Passage, error) {
	known, err := latestNotes(ctx, c)
	if err != nil {
		return "", nil, err
	}
	in := side.FrameInput(ctx, sidecar.Turn{Channel: hookChannel, Standing: true}, slices.Concat(side.DueLoops(ctx), known))
	in.Start = true
	if !slices.ContainsFunc(in.Files, func(f bootstrap.File) bool { return f.Name == bootstrap.Memory && f.Path != "" }) {
		// The memory is on another machine, which does not tell which notes a tool had a say in.
		long, err := c.Get(ctx, memory.GetRequest{Path: bootstrap.Memory})
		if err == nil {
			in.Recalled = slices.Concat(passage(c.Agent, long, true, startMemory), in.Recalled)
		} else if !render.NotFound(err) {
			return "", nil, err
		}
	}
	section, given := framed(in)
	return section, given, nil
}

// recallNew returns what is recalled for a message and was not given to its session before, in the frame that marks it as data, and
// the passages in it. It is empty if nothing is.
func recallNew(ctx context.Context, side *sidecar.Sidecar, turn sidecar.Turn, record agenthook.Given) (string, []agenthook.Passage) {
	turn.Channel = hookChannel
	out, _ := side.Recall(ctx, turn)
	fresh := slices.DeleteFunc(out.Memories, func(m prompt.Memory) bool { return record.Has(agenthook.Passage{Path: m.Path, Text: m.Text}) })
	return framed(side.FrameInput(ctx, turn, fresh))
}

// framed returns the sections of an input with as many of its memories as a hook may give, and their passages.
func framed(in prompt.Input) (string, []agenthook.Passage) {
	for ; ; in.Recalled = in.Recalled[:len(in.Recalled)-1] {
		section, shown := prompt.Frame(in)
		if len(utf16.Encode([]rune(section))) > agenthook.MaxContext-len(compactedHint)-2 && len(in.Recalled) > 0 {
			continue
		}
		var given []agenthook.Passage
		for _, m := range shown {
			given = append(given, agenthook.Passage{Path: m.Path, Text: m.Text})
		}
		return section, given
	}
}

// latestNotes returns the ends of the latest daily notes.
func latestNotes(ctx context.Context, c *connect.Client) ([]prompt.Memory, error) {
	var known []prompt.Memory
	list, err := c.AllFiles(ctx, memory.FileQuery{Glob: "memory/*.md", Filter: memory.Filter{Sources: []string{memory.SourceMemory}}, Limit: 10_000})
	if err != nil {
		return nil, err
	}
	days := slices.DeleteFunc(list.Files, func(f memory.File) bool { return f.Date == "" })
	slices.SortFunc(days, func(x, y memory.File) int {
		return cmp.Or(-cmp.Compare(x.Date, y.Date), -cmp.Compare(x.Path, y.Path))
	})
	for _, day := range days[:min(len(days), startNotes)] {
		end, err := endOf(ctx, c, day.Path)
		if err != nil {
			return nil, err
		}
		known = append(known, passage(c.Agent, end, false, startNote)...)
	}
	return known, nil
}

// endOf returns the last lines of a file.
func endOf(ctx context.Context, c *connect.Client, path string) (memory.Excerpt, error) {
	const lines = 60
	first, err := c.Get(ctx, memory.GetRequest{Path: path, Lines: lines})
	if err != nil || first.TotalLines <= lines {
		return first, err
	}
	return c.Get(ctx, memory.GetRequest{Path: path, From: first.TotalLines - lines + 1, Lines: lines})
}

// passage returns the first or the last lines of a text that have at most limit characters together, none if they say nothing.
func passage(agent string, got memory.Excerpt, head bool, limit int) []prompt.Memory {
	lines := slices.Collect(strings.Lines(got.Text))
	from, to := 0, len(lines)
	for chars := len([]rune(got.Text)); chars > limit && from < to; {
		if head {
			to--
			chars -= len([]rune(lines[to]))
		} else {
			chars -= len([]rune(lines[from]))
			from++
		}
	}
	text := strings.Join(lines[from:to], "")
	if !standing.Says(text) {
		return nil
	}
	start := got.From + from
	return []prompt.Memory{{Agent: agent, Path: got.Path, StartLine: start, EndLine: start + to - from - 1, Score: 1, Text: text}}
}
