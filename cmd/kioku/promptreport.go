package main

import (
	"kioku/agent/bootstrap"
	"kioku/agent/prompt"
	"kioku/agent/recall"
	"kioku/agent/sidecar"
	"kioku/agent/skills"
	"kioku/cmd/kioku/config"
	"kioku/memory"
)

// promptJSON is what kioku prompt --json writes; scripts read it. Lists are never null. What AssemblePromptResponse of the
// agent service holds too has the name that it has in the JSON of protocol buffers. How long a search took is told on
// standard error alone, so that the same prompt is the same JSON.
type promptJSON struct {
	Prompt string `json:"prompt"`
	Tokens int    `json:"tokens"`
	// CachedBytes at the beginning of the prompt stay the same from turn to turn.
	CachedBytes int          `json:"cachedBytes"`
	Layers      []layerJSON  `json:"layers"`
	Report      reportJSON   `json:"report"`
	Recalled    []memoryJSON `json:"recalled"`
}

type layerJSON struct {
	Name   string `json:"name"`
	Chars  int    `json:"chars"`
	Tokens int    `json:"tokens"`
}

// reportJSON tells what the prompt was made of and what was left out.
type reportJSON struct {
	Agent     string `json:"agent"`
	Workspace string `json:"workspace"`
	Mode      string `json:"mode"`
	Channel   string `json:"channel"`
	Group     bool   `json:"group"`

	Files      []fileJSON  `json:"files"`
	Skills     []skillJSON `json:"skills"`
	SkillsNote string      `json:"skillsNote"`
	Cuts       []cutJSON   `json:"cuts"`
	OverBudget bool        `json:"overBudget"`
	Recall     recallJSON  `json:"recall"`
}

// recallJSON tells how memory was searched. Query is empty where it was not, and Skipped says why. Of LeftOut nothing is in
// the prompt.
type recallJSON struct {
	Query    string        `json:"query"`
	Skipped  string        `json:"skipped"`
	Searches []searchJSON  `json:"searches"`
	LeftOut  []leftOutJSON `json:"leftOut"`
}

type fileJSON struct {
	Name          string `json:"name"`
	Path          string `json:"path"`
	Override      bool   `json:"override"`
	RawChars      int    `json:"rawChars"`
	InjectedChars int    `json:"injectedChars"`
	Cut           bool   `json:"cut"`
	Reason        string `json:"reason"`
}

type skillJSON struct {
	Name     string `json:"name"`
	Path     string `json:"path"`
	Loaded   bool   `json:"loaded"`
	InPrompt bool   `json:"inPrompt"`
	Reason   string `json:"reason"`
}

type cutJSON struct {
	Part       string `json:"part"`
	FromTokens int    `json:"fromTokens"`
	ToTokens   int    `json:"toTokens"`
}

type memoryJSON struct {
	Agent     string   `json:"agent"`
	Shared    bool     `json:"shared"`
	Path      string   `json:"path"`
	StartLine int      `json:"startLine"`
	EndLine   int      `json:"endLine"`
	Citation  string   `json:"citation"`
	Score     float64  `json:"score"`
	Date      string   `json:"date"`
	Text      string   `json:"text"`
	Flags     []string `json:"flags"`
}

type leftOutJSON struct {
	memoryJSON
	Reason string `json:"reason"`
}

type searchJSON struct {
	Agent    string            `json:"agent"`
	Hits     int               `json:"hits"`
	Mode     string            `json:"mode"`
	Degraded []degradationJSON `json:"degraded"`
	// Error is why there is no answer, empty where there is one.
	Error string `json:"error"`
}

type degradationJSON struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// promptReportOf is a prompt as scripts read it.
func promptReportOf(made sidecar.Prompt, turn sidecar.Turn, place config.Place) promptJSON {
	return promptJSON{
		Prompt: made.Prompt, Tokens: made.Tokens, CachedBytes: made.CachedBytes,
		Layers: each(made.Layers, func(l prompt.Layer) layerJSON { return layerJSON(l) }),
		Report: reportOf(made, turn, place), Recalled: each(made.Recalled, memoryOf),
	}
}

func reportOf(made sidecar.Prompt, turn sidecar.Turn, place config.Place) reportJSON {
	return reportJSON{
		Agent: place.Agent, Workspace: place.Workspace, Mode: string(turn.Mode), Channel: turn.Channel, Group: made.Group,
		Files:  each(made.Files, fileOf),
		Skills: each(made.Skills.Report, func(e skills.Entry) skillJSON { return skillJSON(e) }), SkillsNote: made.Skills.Note,
		Cuts: each(made.Cuts, func(c prompt.Cut) cutJSON { return cutJSON{c.Part, c.From, c.To} }), OverBudget: made.Over,
		Recall: recallJSON{
			Query: made.Recall.Query, Skipped: made.Recall.Skipped, Searches: each(made.Recall.Searches, searchOf),
			LeftOut: each(made.LeftOut, func(m prompt.LeftOut) leftOutJSON { return leftOutJSON{memoryOf(m.Memory), m.Reason} }),
		},
	}
}

func fileOf(f bootstrap.File) fileJSON {
	return fileJSON{
		Name: f.Name, Path: f.Path, Override: f.Override, RawChars: f.RawChars, InjectedChars: f.InjectedChars, Cut: f.Cut, Reason: f.Reason,
	}
}

func memoryOf(m prompt.Memory) memoryJSON {
	return memoryJSON{
		Agent: m.Agent, Shared: m.Shared, Path: m.Path, StartLine: m.StartLine, EndLine: m.EndLine, Citation: m.Source(),
		Score: m.Score, Date: m.Date, Text: m.Text, Flags: each(m.Flags, func(f string) string { return f }),
	}
}

func searchOf(s recall.Search) searchJSON {
	out := searchJSON{
		Agent: s.Agent, Hits: s.Hits, Mode: s.Mode,
		Degraded: each(s.Degraded, func(d memory.Degradation) degradationJSON { return degradationJSON(d) }),
	}
	if s.Err != nil {
		out.Error = s.Err.Error()
	}
	return out
}

// each returns what f makes of the items of a list; never nil.
func each[A, B any](list []A, f func(A) B) []B {
	out := make([]B, 0, len(list))
	for _, item := range list {
		out = append(out, f(item))
	}
	return out
}
