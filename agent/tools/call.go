package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"kioku/memory"
)

// searchInput, getInput, appendInput and updateInput are what models send.
type searchInput struct {
	Query      string   `json:"query"`
	MaxResults Whole    `json:"max_results"`
	MinScore   *float64 `json:"min_score"`
	PathPrefix string   `json:"path_prefix"`
	Since      string   `json:"since"`
	Until      string   `json:"until"`
	Kinds      []string `json:"kinds"`
}

type getInput struct {
	Path  string `json:"path"`
	From  Whole  `json:"from"`
	Lines Whole  `json:"lines"`
}

type appendInput struct {
	Text     string `json:"text"`
	Target   string `json:"target"`
	Category string `json:"category"`
	Confirm  bool   `json:"confirm_secret"`
}

type updateInput struct {
	Path    string  `json:"path"`
	OldText string  `json:"old_text"`
	NewText *string `json:"new_text"`
	Reason  string  `json:"reason"`
	Confirm bool    `json:"confirm_secret"`
	// Places forget or correct what is said in all notes; an empty list finds them.
	Places *[]string `json:"places"`
}

// SearchOutput is what memory_search returns.
type SearchOutput struct {
	// Results are the passages, best first.
	Results []ResultOutput `json:"results"`
	// Units are the facts, loops and summaries that the call asked for by its kinds, best first.
	Units []UnitOutput `json:"units,omitempty"`
	// Mode is the channels that ran: "hybrid", "vector" or "keyword".
	Mode string `json:"mode"`
	// Degraded is what the answer lacks, and why.
	Degraded []DegradationOutput `json:"degraded,omitempty"`
	// PendingFiles is the number of changed files that are not indexed yet.
	PendingFiles int `json:"pending_files,omitempty"`
}

// ResultOutput is a passage of a [SearchOutput].
type ResultOutput struct {
	// Path of the file.
	Path string `json:"path"`
	// StartLine is the first line of the passage.
	StartLine int `json:"start_line"`
	// EndLine is the last line of the passage.
	EndLine int `json:"end_line"`
	// Score is the confidence, 0 to 1.
	Score float64 `json:"score"`
	// Weak says that the score is below the configured minimum.
	Weak bool `json:"weak,omitempty"`
	// Snippet is the text.
	Snippet string `json:"snippet"`
	// Heading is the headings above the passage.
	Heading string `json:"heading,omitempty"`
	// Date is the day of the file, YYYY-MM-DD.
	Date string `json:"date,omitempty"`
	// SaidBy says whose words these are, such as "Ana (not the owner) in discord:general"; empty if the owner's.
	SaidBy string `json:"said_by,omitempty"`
	// Citation is the path and the lines in one text.
	Citation string `json:"citation"`
}

// UnitOutput is a fact, a loop or a summary of a [SearchOutput].
type UnitOutput struct {
	// Kind is "fact", "loop" or "summary".
	Kind string `json:"kind"`
	// Text is a sentence.
	Text string `json:"text"`
	// Score is the confidence that it is what was asked for, 0 to 1.
	Score float64 `json:"score"`
	// State is why it may not hold: "superseded", "conflict" or "archived"; empty if it holds.
	State string `json:"state,omitempty"`
	// Date is the day of the newest note that says it, YYYY-MM-DD.
	Date string `json:"date,omitempty"`
	// Citations are the paths and lines of the notes that say it, at most three.
	Citations []string `json:"citations,omitempty"`
}

// DegradationOutput is one thing that a [SearchOutput] lacks.
type DegradationOutput struct {
	// Code is the stable name of the reason.
	Code string `json:"code"`
	// Text is a sentence for people.
	Text string `json:"text"`
}

// GetOutput is what memory_get returns.
type GetOutput struct {
	// Path of the file.
	Path string `json:"path"`
	// Text is the lines.
	Text string `json:"text"`
	// From is the first line of the text.
	From int `json:"from"`
	// Lines is the number of lines in the text.
	Lines int `json:"lines"`
	// TotalLines is the number of lines in the file.
	TotalLines int `json:"total_lines"`
	// NextFrom is the line to continue from; 0 at the end of the file.
	NextFrom int `json:"next_from"`
}

// AppendOutput is what memory_append returns.
type AppendOutput struct {
	// Path of the file with the note.
	Path string `json:"path"`
	// StartLine is the first line of the note. In a group it is omitted.
	StartLine int `json:"start_line,omitempty"`
	// Deduplicated says that the note was there before, and nothing was written. In a group it is false.
	Deduplicated bool `json:"deduplicated"`
	// Secrets are the secrets that were not stored.
	Secrets []SecretOutput `json:"secrets,omitempty"`
	// Similar is a line that says nearly the same.
	Similar *SimilarOutput `json:"similar,omitempty"`
	// Hint says what the model may do about secrets or the similar line.
	Hint string `json:"hint,omitempty"`
}

// PlaceOutput is a sentence that says what is to be forgotten.
type PlaceOutput struct {
	// Place names it in the second call.
	Place string `json:"place"`
	// Text of the sentence.
	Text string `json:"text"`
	// Weak says that it is perhaps not meant.
	Weak bool `json:"weak,omitempty"`
}

// UpdateOutput is what memory_update returns.
type UpdateOutput struct {
	// Path of the file.
	Path string `json:"path"`
	// StartLine is the first line of the new text.
	StartLine int `json:"start_line"`
	// Revision is the id with which the update can be taken back.
	Revision string `json:"revision"`
	// Places are those that say what is to be forgotten, or was.
	Places []PlaceOutput `json:"places,omitempty"`
	// Secrets are the secrets that were not stored.
	Secrets []SecretOutput `json:"secrets,omitempty"`
	// Hint says what the model may do about secrets.
	Hint string `json:"hint,omitempty"`
}

// SecretOutput is a secret that was not stored.
type SecretOutput struct {
	// Kind says what it is.
	Kind string `json:"kind"`
	// Reference is the text in its place.
	Reference string `json:"reference"`
}

// SimilarOutput is a line that says nearly what a new note says.
type SimilarOutput struct {
	// Path of the file.
	Path string `json:"path"`
	// Line of the file.
	Line int `json:"line"`
	// Text of the line.
	Text string `json:"text"`
}

// What a model may do about the outcome of a call.
const (
	hintSecret     = "A secret was left out. Tell the user. Only if the user insists, call again with confirm_secret true."
	hintUpdateKept = "A secret was left out. Tell the user. Only if the user insists, update the reference in its place with confirm_secret true."
	hintPlaces     = "Nothing was changed. Call again with the places that the user means; ask the user if that is not clear."
	hintNotSaid    = "No note says that. Nothing was changed."
	hintForgotten  = "Forgotten in all notes, and not shown any more. The user takes it back with: kioku forget --undo REVISION"
	hintIsGone     = "The user has had forgotten what this says, so it was not stored. Do not store it in other words."
	hintSimilar    = "A line says nearly the same. If it is outdated or a repetition, remove or correct it with memory_update."
)

// callTimeout bounds one call of a tool.
const callTimeout = 10 * time.Second

// Call runs a tool of a memory with the input that a model gave and returns its output as a JSON object. source is recorded
// with the notes that the call stores, one of the constants memory.NoteFrom...; empty records nothing. Call knows common
// other names of parameters (limit and top_k for max_results). It returns a *memory.InputError, worded for the model, for
// an unknown tool or parameter and for an input of the wrong form; otherwise the errors of the memory.
func Call(ctx context.Context, m memory.Service, source, name string, input json.RawMessage) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	switch name {
	case Search:
		return runTool(name, input, searchAliases, func(in searchInput) (SearchOutput, error) { return searchTool(ctx, m, in) })
	case Get:
		return runTool(name, input, getAliases, func(in getInput) (GetOutput, error) { return getTool(ctx, m, in) })
	case Append:
		return runTool(name, input, appendAliases, func(in appendInput) (AppendOutput, error) { return appendTool(ctx, m, source, in) })
	case Update:
		return runTool(name, input, updateAliases, func(in updateInput) (UpdateOutput, error) { return updateTool(ctx, m, source, in) })
	}
	return nil, &memory.InputError{Field: "name", Problem: unknown("tool", name, []string{Search, Get, Append, Update})}
}

func runTool[In, Out any](name string, input json.RawMessage, aliases map[string]string, tool func(In) (Out, error)) (json.RawMessage, error) {
	var in In
	if err := decode(input, aliases, &in); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	out, err := tool(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return json.Marshal(out)
}

func searchTool(ctx context.Context, m memory.Service, in searchInput) (SearchOutput, error) {
	answer, err := m.Search(ctx, memory.Query{
		Text: in.Query, MaxResults: int(in.MaxResults), MinScore: in.MinScore,
		Filter: memory.Filter{PathPrefix: in.PathPrefix, Since: in.Since, Until: in.Until}, Kinds: in.Kinds,
	})
	if err != nil {
		return SearchOutput{}, err
	}
	out := SearchOutput{Results: []ResultOutput{}, Mode: answer.Mode, PendingFiles: answer.Index.PendingFiles}
	for _, h := range answer.Hits {
		out.Results = append(out.Results, ResultOutput{
			Path: h.Path, StartLine: h.StartLine, EndLine: h.EndLine, Score: h.Score, Weak: h.Weak,
			Snippet: h.Snippet, Heading: h.Headings, Date: h.Date, SaidBy: h.Origin.String(), Citation: h.Cite(),
		})
	}
	for _, u := range answer.Units {
		out.Units = append(out.Units, unitOutput(u))
	}
	for _, d := range answer.Degraded {
		out.Degraded = append(out.Degraded, DegradationOutput(d))
	}
	return out, nil
}

// maxCitations is the maximum number of notes that are cited for a unit.
const maxCitations = 3

func unitOutput(u memory.FoundUnit) UnitOutput {
	out := UnitOutput{Kind: u.Kind, Text: u.Text, Score: u.Score}
	if u.State != memory.StateValidated {
		out.State = u.State
	}
	if !u.OccurredAt.IsZero() {
		out.Date = u.OccurredAt.Format(time.DateOnly)
	}
	for _, e := range u.Evidence[:min(len(u.Evidence), maxCitations)] {
		out.Citations = append(out.Citations, e.Citation())
	}
	return out
}

func getTool(ctx context.Context, m memory.Service, in getInput) (GetOutput, error) {
	e, err := m.Get(ctx, memory.GetRequest{Path: in.Path, From: int(in.From), Lines: int(in.Lines)})
	if err != nil {
		return GetOutput{}, err
	}
	return GetOutput{
		Path: e.Path, Text: e.Text, From: e.From, Lines: e.Lines, TotalLines: e.TotalLines, NextFrom: e.NextFrom,
	}, nil
}

func appendTool(ctx context.Context, m memory.Service, source string, in appendInput) (AppendOutput, error) {
	a, err := m.Append(ctx, memory.Note{Text: in.Text, Target: in.Target, Category: in.Category, Source: source, KeepSecrets: in.Confirm})
	if err != nil {
		return AppendOutput{}, err
	}
	out := AppendOutput{Path: a.Path, StartLine: a.StartLine, Deduplicated: a.Deduplicated, Secrets: secretsOf(a.Secrets)}
	switch {
	case a.Forgotten != "":
		out.Hint = hintIsGone
	case len(a.Secrets) > 0:
		out.Hint = hintSecret
	case a.Similar != nil:
		out.Hint = hintSimilar
	}
	if a.Similar != nil {
		similar := SimilarOutput(*a.Similar)
		out.Similar = &similar
	}
	return out, nil
}

func updateTool(ctx context.Context, m memory.Service, source string, in updateInput) (UpdateOutput, error) {
	if in.NewText == nil { // so that a model that forgets it removes nothing
		return UpdateOutput{}, &memory.InputError{Field: "new_text", Problem: "is required; empty removes the old text"}
	}
	if in.Places != nil {
		return forgetTool(ctx, m, source, in)
	}
	u, err := m.Update(ctx, memory.Update{
		Path: in.Path, OldText: in.OldText, NewText: *in.NewText, Reason: in.Reason, Source: source, KeepSecrets: in.Confirm,
	})
	out := UpdateOutput{Path: u.Path, StartLine: u.StartLine, Revision: u.Revision, Secrets: secretsOf(u.Secrets)}
	if len(u.Secrets) > 0 {
		out.Hint = hintUpdateKept
	}
	return out, err
}

// forgetTool forgets or corrects what is said in all notes: without places it only finds them.
func forgetTool(ctx context.Context, m memory.Service, source string, in updateInput) (UpdateOutput, error) {
	r := memory.Forget{Text: in.OldText, Places: *in.Places, NewText: *in.NewText, Reason: in.Reason, Source: source}
	done, err := memory.ForgetIn(ctx, m, r)
	out := UpdateOutput{Revision: done.ID, Hint: hintForgotten}
	switch {
	case len(done.Places) == 0:
		out.Hint = hintNotSaid
	case done.ID == "":
		out.Hint = hintPlaces
	}
	for _, p := range done.Places {
		out.Places = append(out.Places, PlaceOutput{Place: p.Place, Text: p.Text, Weak: p.Weak})
	}
	return out, err
}

// secretsOf returns secrets as a model is told of them.
func secretsOf(replaced []memory.ReplacedSecret) []SecretOutput {
	var out []SecretOutput
	for _, s := range replaced {
		out = append(out, SecretOutput(s))
	}
	return out
}
