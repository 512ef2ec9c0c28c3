package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku/agent/bootstrap"
	"kioku/agent/compact"
	"kioku/agent/flush"
	"kioku/agent/prompt"
	"kioku/agent/prune"
	"kioku/agent/recall"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/agent/skills"
	"kioku/agent/tools"
	"kioku/agent/turns"
	"kioku/llm"
	"kioku/memory"
	"kioku/server/op"
)

// Requests to the sidecar of an agent, and its answers.
type (
	// AgentTurn is a turn whose prompt is asked for. The message may be both ends of a long one. It has at most 64 blocks, 16 shared agents
	// (none means those of the settings), and 20 messages of context (none means those of the session that other calls have sent).
	AgentTurn struct {
		OfAgent
		sidecar.Turn
	}
	// AgentPrompt is the system prompt of a turn.
	AgentPrompt struct {
		Prompt string `json:"prompt"`
		// TurnBlock is what changes from turn to turn. It is sent behind the newest message of the user, and not stored.
		TurnBlock string `json:"turn_block,omitempty"`
		// CachedBytes is the length of the part at the beginning that stays the same between turns.
		CachedBytes int              `json:"cached_bytes"`
		Tokens      int              `json:"tokens"`
		OverBudget  bool             `json:"over_budget,omitempty"`
		Group       bool             `json:"group,omitempty"`
		Layers      []prompt.Layer   `json:"layers"`
		Files       []bootstrap.File `json:"files,omitempty"`
		Skills      []skills.Entry   `json:"skills,omitempty"`
		SkillsNote  string           `json:"skills_note,omitempty"`
		Cuts        []prompt.Cut     `json:"cuts,omitempty"`
		Recall      RecallReport     `json:"recall"`
		// Directives are what a council tells the agent to heed now; the prompt has them too.
		Directives []string `json:"directives,omitempty"`
	}
	// RecallReport tells what was searched, what is in the prompt, and what was left out of it.
	RecallReport struct {
		recall.Outcome
		LeftOut []prompt.LeftOut `json:"left_out,omitempty"`
	}
	// RecallFor asks what memory has for a message.
	RecallFor struct {
		OfAgent
		Message      string         `json:"message"`
		Channel      string         `json:"channel,omitempty"`
		Group        *bool          `json:"group,omitempty"`
		SharedAgents []string       `json:"shared_agents,omitempty"`
		AskTime      time.Time      `json:"ask_time,omitzero"`
		Session      string         `json:"session,omitempty"`
		Author       *memory.Author `json:"author,omitempty"`
		Context      []memory.Turn  `json:"context,omitempty"`
		// Standing has the block begin with the standing instructions and preferences, as a conversation should.
		Standing bool `json:"standing,omitempty"`
	}
	// Recalled is what memory has for a message, and the block in which a model is shown it.
	Recalled struct {
		Report RecallReport `json:"report"`
		Block  string       `json:"block"`
	}
	// OfSession has messages of a conversation. Of a session, those that were sent before may be named by their ids.
	OfSession struct {
		OfAgent
		Session  string        `json:"session,omitempty"`
		Messages []ChatMessage `json:"messages,omitempty"`
	}
	// PruneMessages asks which old results of tools to shorten.
	PruneMessages struct {
		OfSession
		WindowTokens  int         `json:"window_tokens,omitempty"`
		LastTouchTime time.Time   `json:"last_touch_time,omitzero"`
		Edits         []PruneEdit `json:"edits,omitempty"`
	}
	// PruneEdit is a text in place of the result of a tool.
	PruneEdit struct {
		MessageID  string `json:"message_id"`
		ToolCallID string `json:"tool_call_id,omitempty"`
		Text       string `json:"text"`
		Cleared    bool   `json:"cleared,omitempty"`
		// Added marks the edits that the request did not have.
		Added bool `json:"added,omitempty"`
	}
	// Pruned are the edits in force.
	Pruned struct {
		Edits         []PruneEdit `json:"edits"`
		LastTouchTime time.Time   `json:"last_touch_time,omitzero"`
		CharsBefore   int         `json:"chars_before"`
		CharsAfter    int         `json:"chars_after"`
		Reason        string      `json:"reason"`
	}
	// CheckFlush asks what to do before the next request to the model.
	CheckFlush struct {
		OfSession
		flush.State
	}
	// BeginFlush begins a range of messages that are not covered.
	BeginFlush struct {
		OfSession
		WindowTokens int `json:"window_tokens,omitempty"`
		// TooLong says that the model refused the last range as too long.
		TooLong bool `json:"too_long,omitempty"`
	}
	// FlushRange is what to show to the agent's model, whose calls of the tool are the notes to commit.
	FlushRange struct {
		// Outcome is begun, or nothing if all messages are covered.
		Outcome        string        `json:"outcome"`
		Lease          string        `json:"lease,omitempty"`
		SystemPrompt   string        `json:"system_prompt,omitempty"`
		UserPrompt     string        `json:"user_prompt,omitempty"`
		Messages       []ChatMessage `json:"messages,omitempty"`
		Tool           *llm.Tool     `json:"tool,omitempty"`
		UncoveredCount int           `json:"uncovered_count,omitempty"`
		Warnings       []string      `json:"warnings,omitempty"`
	}
	// CommitFlush has the notes of a range.
	CommitFlush struct {
		OfAgent
		Lease string `json:"lease"`
		flush.Answer
	}
	// FlushMessages has the model of the service flush all that is not covered.
	FlushMessages struct {
		OfSession
		Forced bool `json:"forced,omitempty"`
	}
	// FlushOutcome is what came of a flush, or of the end of a session.
	FlushOutcome struct {
		// Outcome is done, skipped, kept or failed.
		Outcome        string         `json:"outcome"`
		Reason         string         `json:"reason,omitempty"`
		CoveredCount   int            `json:"covered_count"`
		UncoveredCount int            `json:"uncovered_count"`
		Notes          []flush.Stored `json:"notes,omitempty"`
		Reply          string         `json:"reply,omitempty"`
		NextTryTime    time.Time      `json:"next_try_time,omitzero"`
		Warnings       []string       `json:"warnings,omitempty"`
	}
	// CompactMessages asks for a summary of old messages.
	CompactMessages struct {
		OfSession
		WindowTokens     int `json:"window_tokens,omitempty"`
		KeepRecentTokens int `json:"keep_recent_tokens,omitempty"`
	}
	// Compacted is a summary in place of old messages.
	Compacted struct {
		// Outcome is compacted or nothing.
		Outcome      string       `json:"outcome"`
		Reason       string       `json:"reason,omitempty"`
		Summary      string       `json:"summary,omitempty"`
		FirstKeptID  string       `json:"first_kept_id,omitempty"`
		Message      *ChatMessage `json:"message,omitempty"`
		TokensBefore int          `json:"tokens_before"`
		TokensAfter  int          `json:"tokens_after"`
	}
	// CompactStep is a question to the agent's model.
	CompactStep struct {
		SystemPrompt string        `json:"system_prompt"`
		Messages     []ChatMessage `json:"messages"`
		MaxTokens    int           `json:"max_tokens"`
		Number       int           `json:"number"`
	}
	// CommitCompact is the answer of the agent's model to a step.
	CommitCompact struct {
		OfAgent
		Lease      string `json:"lease"`
		StepNumber int    `json:"step_number"`
		Answer     string `json:"answer,omitempty"`
		CutOff     bool   `json:"cut_off,omitempty"`
		TooLong    bool   `json:"too_long,omitempty"`
	}
	// Compacting is the next question, or the end of a compaction by the agent's own model.
	Compacting struct {
		// Outcome is begun, next, compacted or nothing.
		Outcome   string       `json:"outcome"`
		Reason    string       `json:"reason,omitempty"`
		Lease     string       `json:"lease,omitempty"`
		Step      *CompactStep `json:"step,omitempty"`
		Compacted *Compacted   `json:"compacted,omitempty"`
	}
	// ToolsOf asks for the tools of a conversation.
	ToolsOf struct {
		OfAgent
		Channel string `json:"channel,omitempty"`
		Group   *bool  `json:"group,omitempty"`
	}
	// ToolList are definitions of tools.
	ToolList struct {
		Tools []llm.Tool `json:"tools"`
	}
	// CallTool is a call of a tool by the agent's model.
	CallTool struct {
		ToolsOf
		Name    string          `json:"name"`
		Input   json.RawMessage `json:"input,omitempty"`
		Source  string          `json:"source,omitempty"`
		Author  *memory.Author  `json:"author,omitempty"`
		Session string          `json:"session,omitempty"`
	}
	// ToolOutput is what the model is told of a call.
	ToolOutput struct {
		Output string `json:"output"`
		Failed bool   `json:"failed,omitempty"`
	}
	// TurnsOf selects recorded turns.
	TurnsOf struct {
		OfAgent
		Session   string `json:"session,omitempty"`
		Since     string `json:"since,omitempty"`
		Until     string `json:"until,omitempty"`
		PageSize  int    `json:"page_size,omitempty"`
		PageToken string `json:"page_token,omitempty"`
	}
	// TurnList is a page of recorded turns.
	TurnList struct {
		turns.Page
		// Kept says that turns are recorded, and MessagesKept that their messages are.
		Kept         bool `json:"kept"`
		MessagesKept bool `json:"messages_kept"`
	}
)

// Outcomes of flushes, ends of sessions and compactions, beside those of package session.
const (
	// OutcomeBegun means that a range or a compaction has begun, and OutcomeNext that there is another question.
	OutcomeBegun = "begun"
	OutcomeNext  = "next"
	// OutcomeCompacted means that there is a summary, and OutcomeNothing that there is nothing to do.
	OutcomeCompacted = "compacted"
	OutcomeNothing   = "nothing"
)

// AgentOps are the operations of what runs beside an agent.
type AgentOps struct {
	Prompt        op.Op[AgentTurn, AgentPrompt]
	Recall        op.Op[RecallFor, Recalled]
	Prune         op.Op[PruneMessages, Pruned]
	CheckFlush    op.Op[CheckFlush, sidecar.Check]
	BeginFlush    op.Op[BeginFlush, FlushRange]
	CommitFlush   op.Op[CommitFlush, flush.Committed]
	Flush         op.Op[FlushMessages, FlushOutcome]
	Compact       op.Op[CompactMessages, Compacted]
	BeginCompact  op.Op[CompactMessages, Compacting]
	CommitCompact op.Op[CommitCompact, Compacting]
	EndSession    op.Op[OfSession, FlushOutcome]
	Tools         op.Op[ToolsOf, ToolList]
	CallTool      op.Op[CallTool, ToolOutput]
	Turns         op.Op[TurnsOf, TurnList]
}

// Beside are the operations of what runs beside an agent, for clients.
var Beside = agentOps(nil)

// agentOps returns the operations of the sidecars of a server.
func agentOps(s *Server) AgentOps {
	return AgentOps{
		Prompt:        op.New("prompt", "POST /v1/prompt", rightAgent, "Makes the system prompt of a turn, unless a council has paused the agent.", s.assemblePrompt),
		Recall:        op.New("recall", "POST /v1/recall", rightAgent, "Searches memory for a message of the user, unless a council has paused the agent.", s.recall),
		Prune:         op.New("prune", "POST /v1/prune", rightAgent, "Plans which old results of tools to shorten.", s.prune),
		CheckFlush:    op.New("flush check", "POST /v1/flush:check", rightAgent, "Says what to do before the next request to the model.", s.checkFlush),
		BeginFlush:    op.New("flush begin", "POST /v1/flush:begin", RightWrite, "Begins a range of messages that are not covered, for the agent's own model.", s.beginFlush),
		CommitFlush:   op.New("flush commit", "POST /v1/flush:commit", RightWrite, "Stores the notes of a range.", s.commitFlush),
		Flush:         op.New("flush", "POST /v1/flush", RightWrite, "Has the model of the service flush all messages that are not covered.", s.flush),
		Compact:       op.New("compact", "POST /v1/compact", rightAgent, "Has the model of the service summarize old messages.", s.compact),
		BeginCompact:  op.New("compact begin", "POST /v1/compact:begin", rightAgent, "Begins a compaction by the agent's own model.", s.beginCompact),
		CommitCompact: op.New("compact commit", "POST /v1/compact:commit", rightAgent, "Takes an answer of the agent's own model.", s.commitCompact),
		EndSession:    op.New("session end", "POST /v1/sessions:end", RightWrite, "Stores what is not covered of a conversation that ends.", s.endSession),
		Tools:         op.New("tools", "GET /v1/tools", rightAgent, "Lists the memory tools that a conversation may call.", s.listTools),
		CallTool: op.New("tools call", "POST /v1/tools:call", rightAgent,
			"Runs a memory tool. A failure that the model can do something about is in the answer.", s.callTool),
		Turns: op.New("turns", "GET /v1/turns", rightAgent, "Lists what went into the last prompts.", s.listTurns),
	}
}

const (
	// maxBlocks is the maximum number of blocks of a prompt, and maxBlockBytes that of the bytes of their texts.
	maxBlocks     = 64
	maxBlockBytes = 512 << 10
	// maxReported is the maximum number of skills in an answer.
	maxReported = 500
)

func (s *Server) assemblePrompt(ctx context.Context, in AgentTurn) (AgentPrompt, error) {
	side, err := authorize(ctx, s.sidecars, &in, checkTurn(in.Turn))
	if err != nil {
		return AgentPrompt{}, err
	}
	turn, err := s.completed(ctx, in.Agent, in.Turn, side)
	if err != nil {
		return AgentPrompt{}, err
	}
	out := PromptOf(side.Assemble(ctx, turn))
	out.Directives, out.Recall.Outcome = turn.Directives, s.reported(out.Recall.Outcome)
	return out, nil
}

// PromptOf returns a prompt as an answer has it.
func PromptOf(p sidecar.Prompt) AgentPrompt {
	out := AgentPrompt{
		Prompt: p.Prompt, TurnBlock: p.Turn, CachedBytes: p.CachedBytes, Tokens: p.Tokens, OverBudget: p.Over, Group: p.Group,
		Layers: p.Layers, Files: p.Files, Cuts: p.Cuts, SkillsNote: p.Skills.Note, Recall: RecallReport{p.Recall, p.LeftOut},
	}
	out.Recall.Memories = p.Recalled
	out.Skills = slices.Clone(p.Skills.Report[:min(len(p.Skills.Report), maxReported)])
	if more := len(p.Skills.Report) - maxReported; more > 0 {
		out.Skills = append(out.Skills, skills.Entry{Reason: fmt.Sprintf("and %d more skills", more)})
	}
	return out
}

// checkTurn refuses a turn with a bad member.
func checkTurn(t sidecar.Turn) error {
	err := cmp.Or(checkName("channel", t.Channel), checkAuthor("author", t.Author), checkName("session", t.Session),
		checkName("model", t.Model), checkCount("budget_tokens", t.Budget))
	if err == nil && t.Mode != "" && !t.Mode.Valid() {
		return badField("mode", "must be full, minimal or none, not %q", clip(string(t.Mode), 50))
	}
	return cmp.Or(err, checkBlocks(t.Blocks))
}

// checkBlocks refuses parts of a prompt that are too many or too large, or have no name.
func checkBlocks(blocks []prompt.Block) error {
	if len(blocks) > maxBlocks {
		return badField("blocks", "has %d blocks; at most %d", len(blocks), maxBlocks)
	}
	size := 0
	for i := range blocks {
		b := &blocks[i]
		if err := checkKey(fmt.Sprintf("blocks[%d].name", i), b.Name); err != nil {
			return err
		}
		if size += len(b.Text); size > maxBlockBytes {
			return badField("blocks", "have more than %d bytes of text", maxBlockBytes)
		}
		b.Name = strings.TrimSpace(b.Name)
	}
	return nil
}

// completed returns a turn with the directives of a council, the agents that it searches and the messages before it, and marks its session
// if it is in a group.
func (s *Server) completed(ctx context.Context, agent string, t sidecar.Turn, side Sidecar) (sidecar.Turn, error) {
	t.Now = s.inZone(t.Now)
	t, err := side.Obey(ctx, t)
	if err != nil {
		return t, err
	}
	if t.Shared, err = s.sharedAgents(ctx, agent, t.Shared, side.Shared()); err != nil {
		return t, err
	}
	if err := (memory.Query{Context: t.Recent}).CheckRecall(); err != nil {
		return t, err
	}
	if len(t.Recent) == 0 {
		t.Recent = s.known.latest(known(ctx, agent, t.Session), t.Message)
	}
	s.markTurn(ctx, agent, t)
	return t, nil
}

func (s *Server) recall(ctx context.Context, in RecallFor) (Recalled, error) {
	turn := sidecar.Turn{Message: in.Message, Channel: in.Channel, Group: in.Group, Now: in.AskTime, Session: in.Session,
		Author: in.Author, Standing: in.Standing, Shared: in.SharedAgents, Recent: in.Context}
	side, err := authorize(ctx, s.sidecars, &in, checkTurn(turn))
	if err != nil {
		return Recalled{}, err
	}
	if turn, err = s.completed(ctx, in.Agent, turn, side); err != nil {
		return Recalled{}, err
	}
	found, block := side.Recall(ctx, turn)
	return Recalled{RecallReport{Outcome: s.reported(found)}, block}, nil
}

// reported returns what was recalled with the errors that callers are told. An unforeseen cause may name addresses and goes only to the log.
func (s *Server) reported(o recall.Outcome) recall.Outcome {
	o.Searches = slices.Clone(o.Searches)
	for i := range o.Searches {
		one := &o.Searches[i]
		known := memory.ErrorOf(memory.Reason(one.Err))
		switch {
		case one.Err == nil:
		case known != nil:
			one.Err = known
		case errors.Is(one.Err, recall.ErrBusy):
			one.Err = recall.ErrBusy
		case errors.Is(one.Err, context.DeadlineExceeded):
			one.Err = errors.New("no answer in time")
		case errors.Is(one.Err, context.Canceled):
			one.Err = errors.New("the call was canceled")
		default:
			s.opt.Log.Warn("cannot recall", "agent", one.Agent, "err", clip(one.Err.Error(), 1000))
			one.Err = errors.New("the search has failed; the log has the cause")
		}
	}
	return o
}

func (s *Server) prune(ctx context.Context, in PruneMessages) (Pruned, error) {
	side, err := authorize(ctx, s.sidecars, &in, checkCount("window_tokens", in.WindowTokens))
	if err != nil {
		return Pruned{}, err
	}
	c, err := s.conversation(ctx, in.OfSession, false)
	if err != nil {
		return Pruned{}, err
	}
	plan := side.Prune(c.messages, prune.State{LastTouch: in.LastTouchTime, Window: in.WindowTokens, Edits: c.edits(in.Edits)}, time.Time{})
	return Pruned{c.pruneEdits(plan.Edits, plan.New), plan.LastTouch, plan.Before, plan.After, plan.Reason}, nil
}

func (s *Server) checkFlush(ctx context.Context, in CheckFlush) (sidecar.Check, error) {
	side, err := authorize(ctx, s.sidecars, &in, checkKey("session", in.Session), checkCount("window_tokens", in.Window),
		checkCount("projected_tokens", in.Projected), checkCount("transcript_bytes", in.Bytes))
	if err != nil {
		return sidecar.Check{}, err
	}
	c, err := s.conversation(ctx, in.OfSession, true)
	if err != nil {
		return sidecar.Check{}, err
	}
	if callerOf(ctx).write {
		// If this fails, the messages are not covered, and the beginning of a flush reports why.
		_ = side.Resume(ctx, in.Session)
	}
	check, err := side.Check(in.Session, c.sessionView(side.Count), in.State)
	check.Reason = clip(check.Reason, 1000)
	check.Uncovered += check.Interrupted
	return check, err
}

func (s *Server) beginFlush(ctx context.Context, in BeginFlush) (FlushRange, error) {
	side, err := authorizeWrite(ctx, s.sidecars, &in, checkKey("session", in.Session), checkCount("window_tokens", in.WindowTokens))
	if err != nil {
		return FlushRange{}, err
	}
	messages, err := s.toFlush(ctx, in.OfSession)
	if err != nil {
		return FlushRange{}, err
	}
	begun, err := side.Begin(ctx, flush.Request{Session: in.Session, Messages: messages, Window: in.WindowTokens, TooLong: in.TooLong})
	if err != nil {
		return FlushRange{}, err
	}
	s.logWarnings(in.Agent, begun.Warnings)
	if begun.Lease == "" {
		return FlushRange{Outcome: OutcomeNothing, Warnings: begun.Warnings}, nil
	}
	return FlushRange{OutcomeBegun, begun.Lease, begun.System, begun.User, chatMessages(begun.Messages), &begun.Tool, begun.Uncovered, begun.Warnings}, nil
}

// logWarnings logs what was lost or mended in the state of a session.
func (s *Server) logWarnings(agent string, warnings []string) {
	for _, w := range warnings {
		s.opt.Log.Warn("flush", "agent", agent, "warning", w)
	}
}

func (s *Server) commitFlush(ctx context.Context, in CommitFlush) (flush.Committed, error) {
	side, err := authorizeWrite(ctx, s.sidecars, &in, checkKey("lease", in.Lease))
	if err != nil {
		return flush.Committed{}, err
	}
	return side.Commit(ctx, in.Lease, in.Answer)
}

func (s *Server) flush(ctx context.Context, in FlushMessages) (FlushOutcome, error) {
	side, err := authorizeWrite(ctx, s.sidecars, &in, checkKey("session", in.Session))
	if err != nil {
		return FlushOutcome{}, err
	}
	messages, err := s.toFlush(ctx, in.OfSession)
	if err != nil {
		return FlushOutcome{}, err
	}
	out := side.Flush(ctx, flush.Job{Request: flush.Request{Session: in.Session, Messages: messages}, Forced: in.Forced})
	return s.flushOutcome(ctx, "flush", in.Agent, out), nil
}

// flushOutcome returns the outcome of a flush as callers are told it. What a provider answered goes only to the log.
func (s *Server) flushOutcome(ctx context.Context, name, agent string, o flush.Outcome) FlushOutcome {
	if o.Err != nil {
		o.Reason = status.Convert(s.status(ctx, name, o.Err)).Message()
	}
	s.logWarnings(agent, o.Warnings)
	out := FlushOutcome{Outcome: o.Outcome, Reason: clip(o.Reason, 1000), CoveredCount: o.Covered, UncoveredCount: o.Uncovered, Reply: o.Reply,
		NextTryTime: o.NextTry, Warnings: o.Warnings}
	for _, n := range o.Notes {
		out.Notes = append(out.Notes, flush.Stored{Appended: n})
	}
	for _, why := range o.Refused {
		out.Notes = append(out.Notes, flush.Stored{Refused: clip(why, 500)})
	}
	return out
}

func (s *Server) compact(ctx context.Context, in CompactMessages) (Compacted, error) {
	side, view, space, err := s.toCompact(ctx, &in)
	if err != nil {
		return Compacted{}, err
	}
	done, _, err := side.Compact(ctx, in.Session, view, space)
	if why := nothingToCompact(err); why != "" {
		return Compacted{Outcome: OutcomeNothing, Reason: why, TokensBefore: view.Tokens, TokensAfter: view.Tokens}, nil
	}
	if err != nil {
		return Compacted{}, err
	}
	return s.compacted(ctx, in.Agent, in.Session, done, side.FlushOff()), nil
}

// toCompact returns what a request to compact is about.
func (s *Server) toCompact(ctx context.Context, in *CompactMessages) (Sidecar, session.View, sidecar.Space, error) {
	space := sidecar.Space{Keep: in.KeepRecentTokens, Window: in.WindowTokens}
	side, err := authorize(ctx, s.sidecars, in, checkName("session", in.Session), checkCount("window_tokens", in.WindowTokens),
		checkCount("keep_recent_tokens", in.KeepRecentTokens))
	if err != nil {
		return nil, session.View{}, space, err
	}
	c, err := s.conversation(ctx, in.OfSession, false)
	if err != nil {
		return nil, session.View{}, space, err
	}
	return side, c.sessionView(side.Count), space, nil
}

// compacted returns a compaction, whose summary is remembered. off says why flushes are impossible, empty if they are possible.
func (s *Server) compacted(ctx context.Context, agent, name string, done session.Compaction, off string) Compacted {
	m := chatMessage(session.SummaryMessage(done.Summary))
	m.ID = flush.SummaryID(m.Text)
	s.known.add(known(ctx, agent, name), &m)
	out := Compacted{Outcome: OutcomeCompacted, Summary: done.Summary, FirstKeptID: done.FirstKept, Message: &m,
		TokensBefore: done.TokensBefore, TokensAfter: done.TokensAfter}
	if name != "" && off != "" {
		out.Reason = "messages were dropped without a flush: " + off
	}
	return out
}

// nothingToCompact returns why a compaction drops nothing, empty for other errors.
func nothingToCompact(err error) string {
	_, uncovered := errors.AsType[*sidecar.UncoveredError](err)
	if uncovered || errors.Is(err, compact.ErrNothing) {
		return err.Error()
	}
	return ""
}

func (s *Server) beginCompact(ctx context.Context, in CompactMessages) (Compacting, error) {
	side, view, space, err := s.toCompact(ctx, &in)
	if err != nil {
		return Compacting{}, err
	}
	step, err := side.BeginCompact(in.Session, view, space)
	if why := nothingToCompact(err); why != "" {
		return Compacting{Outcome: OutcomeNothing, Reason: why}, nil
	}
	return Compacting{Outcome: OutcomeBegun, Lease: step.Lease, Step: compactStep(step)}, err
}

func (s *Server) commitCompact(ctx context.Context, in CommitCompact) (Compacting, error) {
	side, err := authorize(ctx, s.sidecars, &in, checkKey("lease", in.Lease), checkCount("step_number", in.StepNumber))
	if err != nil {
		return Compacting{}, err
	}
	answer := compact.Answer{Text: in.Answer, Cut: in.CutOff}
	if in.TooLong {
		answer.Err = &llm.Error{Kind: llm.KindOverflow, Message: "the agent's model refuses even a short question as too long"}
	}
	step, err := side.CommitCompact(in.Lease, in.StepNumber, answer)
	if why := nothingToCompact(err); why != "" {
		return Compacting{Outcome: OutcomeNothing, Compacted: &Compacted{Outcome: OutcomeNothing, Reason: why}}, nil
	}
	switch {
	case err != nil:
		return Compacting{}, err
	case !step.Done:
		return Compacting{Outcome: OutcomeNext, Step: compactStep(step)}, nil
	}
	done := s.compacted(ctx, in.Agent, step.Session, step.Made, side.FlushOff())
	return Compacting{Outcome: OutcomeCompacted, Compacted: &done}, nil
}

// compactStep returns a question to the agent's model.
func compactStep(step sidecar.Step) *CompactStep {
	return &CompactStep{step.Request.System, chatMessages(step.Request.Messages), step.Request.MaxTokens, step.Number}
}

func (s *Server) endSession(ctx context.Context, in OfSession) (FlushOutcome, error) {
	side, err := authorizeWrite(ctx, s.sidecars, &in, checkKey("session", in.Session))
	if err != nil {
		return FlushOutcome{}, err
	}
	name := known(ctx, in.Agent, in.Session)
	sent, group, err := s.whole(name, in.Messages)
	if err != nil {
		return FlushOutcome{}, err
	}
	all := withEarlier(s.known.last(name), sent)
	messages, err := flushMessages(all, group)
	if err == nil {
		err = s.markGroup(ctx, name, groupOf(sent))
	}
	if err != nil {
		return FlushOutcome{}, err
	}
	s.spool(s.known.remember(name, all, group, true, time.Now()))
	out := side.End(ctx, flush.Job{Request: flush.Request{Session: in.Session, Messages: messages}})
	if out.Outcome != session.FlushFailed {
		s.known.end(name, all)
	}
	return s.flushOutcome(ctx, "session end", in.Agent, out), nil
}

func (s *Server) listTools(ctx context.Context, in ToolsOf) (ToolList, error) {
	side, err := authorize(ctx, s.sidecars, &in, checkName("channel", in.Channel))
	if err != nil {
		return ToolList{}, err
	}
	all := side.Tools(sidecar.Turn{Channel: in.Channel, Group: in.Group}.InGroup())
	return ToolList{slices.DeleteFunc(all, func(t llm.Tool) bool { return !callerOf(ctx).write && tools.Writes(t.Name) })}, nil
}

func (s *Server) callTool(ctx context.Context, in CallTool) (ToolOutput, error) {
	reach := authorize[Sidecar]
	if tools.Known(in.Name) && tools.Writes(in.Name) {
		reach = authorizeWrite[Sidecar]
	}
	turn := sidecar.Turn{Channel: in.Channel, Group: in.Group, Author: in.Author}
	side, err := reach(ctx, s.sidecars, &in, checkName("channel", in.Channel), checkName("session", in.Session), checkAuthor("author", in.Author))
	if err != nil {
		return ToolOutput{}, err
	}
	output, err := side.CallTool(ctx, sidecar.ToolCall{
		Name: in.Name, Input: in.Input, Source: in.Source, Session: in.Session, Said: turn.Said(), Group: !turn.IsPrivate(),
	})
	if err == nil {
		return ToolOutput{Output: string(output)}, nil
	}
	st := status.Convert(s.status(ctx, "tools call", err))
	if errors.Is(err, memory.ErrNoAgent) {
		return ToolOutput{}, st.Err()
	}
	switch st.Code() {
	case codes.InvalidArgument, codes.NotFound, codes.FailedPrecondition, codes.AlreadyExists:
		return ToolOutput{Output: in.Name + ": " + st.Message(), Failed: true}, nil
	}
	return ToolOutput{}, st.Err()
}

const (
	// maxTurns is the maximum number of turns of a page, and maxDays that of days of an activity.
	maxTurns = 200
	maxDays  = 20_000
)

func (s *Server) listTurns(ctx context.Context, in TurnsOf) (TurnList, error) {
	side, err := authorize(ctx, s.sidecars, &in, checkSize("session", in.Session, 4*maxName), checkCount("page_size", in.PageSize),
		checkDay("since", in.Since), checkDay("until", in.Until), checkOrder("since", in.Since, "until", in.Until), checkName("page_token", in.PageToken))
	if err != nil {
		return TurnList{}, err
	}
	if in.PageSize > maxTurns {
		return TurnList{}, badField("page_size", "is %d; at most %d", in.PageSize, maxTurns)
	}
	page, err := side.Turns().List(ctx, turns.Query{Session: in.Session, Since: in.Since, Until: in.Until, After: in.PageToken, Limit: in.PageSize,
		Location: s.opt.Location})
	list := TurnList{Page: page}
	list.Kept, list.MessagesKept = side.Turns().Kept()
	reaches := callerOf(ctx).reaches
	for i := range page.Entries {
		if r := page.Entries[i].Recall; r != nil { // without passages that the caller may not know of
			r.In = slices.DeleteFunc(r.In, func(p turns.Passage) bool { return !reaches(p.Agent) })
			r.Out = slices.DeleteFunc(r.Out, func(p turns.Passage) bool { return !reaches(p.Agent) })
			r.Searches = slices.DeleteFunc(r.Searches, func(one turns.Search) bool { return !reaches(one.Agent) })
		}
	}
	return list, err
}

// checkOrder refuses a last day before the first one. Days that are none are refused by checkDay.
func checkOrder(first, from, last, to string) error {
	if from != "" && to != "" && to < from {
		return badField(last, "%s is before %s (%s); a range goes from its first day to its last one", clip(to, 20), clip(from, 20), first)
	}
	return nil
}

// checkDay refuses what is neither empty nor a day.
func checkDay(field, day string) error {
	if _, err := time.Parse(time.DateOnly, day); day != "" && err != nil {
		return badField(field, "is %q, not a day such as 2026-03-01", clip(day, 20))
	}
	return nil
}
