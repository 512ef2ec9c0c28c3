package main

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf16"

	"kioku/agent/prompt"
	"kioku/agent/sidecar"
	"kioku/cmd/kioku/internal/agenthook"
	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	kiokuv1 "kioku/proto/kioku/v1"
)

// hookChannel is the channel of the programs whose hooks are answered.
const hookChannel = "terminal"

// longTermFile is the file of what an agent should always know.
const longTermFile = "MEMORY.md"

const (
	// startNotes is the number of daily notes that a session begins with.
	startNotes = 2
	// startMemory and startNote are the maximum numbers of characters of MEMORY.md and of a daily note in it.
	startMemory, startNote = 4000, 1500
)

// startContext returns the standing instructions and preferences, the beginning of MEMORY.md and the ends of the latest daily notes, in
// the frames that mark them as data, and the passages in them. It is empty if there are none.
func (a *app) startContext(ctx context.Context, c *connect.Client, side *sidecar.Sidecar) (string, []agenthook.Passage, error) {
	known, err := a.startMemories(ctx, c)
	if err != nil {
		return "", nil, err
	}
	section, given := framed(side.FrameInput(ctx, sidecar.Turn{Channel: hookChannel, Standing: true}, known))
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

// startMemories returns the passages that a session begins with.
func (a *app) startMemories(ctx context.Context, c *connect.Client) ([]prompt.Memory, error) {
	var known []prompt.Memory
	long, err := c.MemoryGet(ctx, &kiokuv1.MemoryGetRequest{Agent: c.Agent, Path: longTermFile})
	if err == nil {
		known = append(known, passage(c.Agent, long, true, startMemory)...)
	} else if !render.NotFound(err) {
		return nil, err
	}
	list, err := c.AllFiles(ctx, &kiokuv1.ListFilesRequest{Agent: c.Agent, Glob: "memory/*.md", Sources: []string{"memory"}, PageSize: 10_000})
	if err != nil {
		return nil, err
	}
	days := slices.DeleteFunc(list.GetFiles(), func(f *kiokuv1.File) bool { return f.GetDate() == "" })
	slices.SortFunc(days, func(x, y *kiokuv1.File) int {
		return cmp.Or(-cmp.Compare(x.GetDate(), y.GetDate()), -cmp.Compare(x.GetPath(), y.GetPath()))
	})
	for _, day := range days[:min(len(days), startNotes)] {
		end, err := endOf(ctx, c, day.GetPath())
		if err != nil {
			return nil, err
		}
		known = append(known, passage(c.Agent, end, false, startNote)...)
	}
	return known, nil
}

// endOf returns the last lines of a file.
func endOf(ctx context.Context, c *connect.Client, path string) (*kiokuv1.MemoryGetResponse, error) {
	const lines = 60
	first, err := c.MemoryGet(ctx, &kiokuv1.MemoryGetRequest{Agent: c.Agent, Path: path, LineCount: lines})
	if err != nil || first.GetTotalLineCount() <= lines {
		return first, err
	}
	return c.MemoryGet(ctx, &kiokuv1.MemoryGetRequest{Agent: c.Agent, Path: path, FromLine: first.GetTotalLineCount() - lines + 1, LineCount: lines})
}

// passage returns the first or the last lines of a text that have at most limit characters together, none if it is blank.
func passage(agent string, got *kiokuv1.MemoryGetResponse, head bool, limit int) []prompt.Memory {
	lines := slices.Collect(strings.Lines(got.GetText()))
	from, to := 0, len(lines)
	for chars := len([]rune(got.GetText())); chars > limit && from < to; {
		if head {
			to--
			chars -= len([]rune(lines[to]))
		} else {
			chars -= len([]rune(lines[from]))
			from++
		}
	}
	text := strings.Join(lines[from:to], "")
	if strings.TrimSpace(text) == "" {
		return nil
	}
	start := int(got.GetFromLine()) + from
	return []prompt.Memory{{Agent: agent, Path: got.GetPath(), StartLine: start, EndLine: start + to - from - 1, Score: 1, Text: text}}
}
