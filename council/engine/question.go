package engine

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"kioku/agent/bootstrap"
	"kioku/agent/prompt"
	"kioku/agent/recall"
	"kioku/council"
	"kioku/council/flow"
	"kioku/council/folder"
	"kioku/council/member"
)

// question puts together what a member is asked in a step. Only sealed ballots are shown, never those of the round in progress.
func (e *Engine) question(ctx context.Context, s *flow.Snapshot, pos flow.Position, a flow.Action) member.Question {
	q := e.about(ctx, a.Member, s)
	q.Phase, q.Cycle, q.Round, q.Attempt = phaseOf(a), a.Cycle, a.Round, a.Attempt
	q.MaxRounds = flow.StatusOf(s, pos).MaxRounds
	q.Rounds = sealedBefore(s, a.Round)
	q.Decision = flow.Record(s, pos)
	if a.Kind == flow.Review || a.Kind == flow.Execute {
		k := a.Attempt
		if a.Kind == flow.Execute {
			k-- // the attempt that is repaired
		}
		key := flow.StepKey{Cycle: a.Cycle, Attempt: k}
		if r, ok := s.Results[key]; ok {
			q.Result = &r
		}
		if a.Kind == flow.Execute {
			q.Problems = s.Reviews[key].Problems
			if q.Result != nil && len(q.Problems) == 0 {
				q.Problems = []string{cmp.Or(s.Reviews[key].Notes, "It has failed.")}
			}
		}
	}
	return q
}

// about returns a question on a task with what every phase needs: persona, parameters, mission, attachments, comments, recall.
func (e *Engine) about(ctx context.Context, name string, s *flow.Snapshot) member.Question {
	q := member.Question{
		Member: name, Task: s.Task, Roster: e.set.Roster(), Persona: e.persona(name), Mission: e.mission(),
		Attachments: e.attachments(s), Anonymise: *e.set.Anonymise, Phases: e.set.Phases, Comments: s.Comments, Now: e.now(),
	}
	if s.Claim != nil {
		q.Roster = s.Claim.Roster
	}
	q.Params, _ = e.params(name) // the last good ones if the file is bad, which Members tells
	q.Recalled, q.RecallDegraded = e.recalled(ctx, name, s.Task)
	e.offerLookups(&q)
	return q
}

// sealedBefore returns the sealed rounds before a round, the last attempt of each; all for round 0.
func sealedBefore(s *flow.Snapshot, round int) []member.Round {
	var all []member.Round
	for i, a := range s.Rounds {
		last := i+1 == len(s.Rounds) || s.Rounds[i+1].Round != a.Round
		if a.Seal == nil || !last || round > 0 && a.Round >= round {
			continue
		}
		ballots, _ := s.Sealed(a)
		all = append(all, member.Round{Round: a.Round, Attempt: a.Attempt, Ballots: ballots, Abstentions: a.Seal.Abstentions})
	}
	return all
}

// soulInstead is the file of the article that says who a member is, for a workspace without SOUL.md.
var soulInstead = map[string]string{bootstrap.Soul: "CLAUDE.md"}

// persona returns the system prompt of a member, made of the files of its workspace.
func (e *Engine) persona(name string) string {
	m, err := e.set.Member(name)
	if err != nil || m.Workspace == "" {
		return ""
	}
	files := bootstrap.New(bootstrap.Options{Workspace: m.Workspace, Instead: soulInstead}).Load(bootstrap.Full, false)
	return prompt.Assemble(prompt.Input{Files: files, Agent: name, Channel: "council"}).Whole()
}

// attachments returns the files of a task, with the text of those that are short enough.
func (e *Engine) attachments(s *flow.Snapshot) []member.Attachment {
	var all []member.Attachment
	for _, a := range attachedTo(s) {
		shown := member.Attachment{Name: a.Name, Size: a.Size}
		data, err := e.f.ReadBytes(folder.TaskDir(s.ID)+"/attachments/"+a.File, council.MaxPastedText)
		if err == nil && utf8.Valid(data) && !slices.Contains(data, 0) {
			shown.Text = string(data)
		}
		all = append(all, shown)
	}
	return all
}

// attachedTo returns the files of a task and of its comments.
func attachedTo(s *flow.Snapshot) []council.Attachment {
	all := slices.Clone(s.Task.Attachments)
	for _, c := range s.Comments {
		all = append(all, c.Attachments...)
	}
	return all
}

// maxRecalled is how many passages of each memory a member is shown.
const maxRecalled = 3

// recalled searches the memory of a member and that of the council agent for a task, the best three of each. Of the council agent's,
// decisions come first.
func (e *Engine) recalled(ctx context.Context, name string, t council.Task) (found []prompt.Memory, degraded bool) {
	if e.recall == nil {
		return nil, false
	}
	text := t.Title + "\n" + t.Description
	for _, source := range []recall.Request{{Message: text, Agent: name}, {Message: text, Agent: name, Group: true, Shared: []string{e.set.Agent}, Spare: maxRecalled}} {
		out := e.recall.Recall(ctx, source)
		slices.SortStableFunc(out.Memories, func(a, b prompt.Memory) int { return cmp.Compare(ofDecision(b), ofDecision(a)) })
		found = append(found, out.Memories[:min(len(out.Memories), maxRecalled)]...)
		for _, search := range out.Searches {
			if missing := search.Missing(); missing != "" {
				degraded = true
				e.log(name, "warn", t.ID, "recall", "the memory of "+search.Agent+": "+missing)
			}
		}
	}
	return found, degraded
}

// ofDecision returns 1 for a passage of a decision of the council, 0 for others.
func ofDecision(m prompt.Memory) int {
	if m.Shared && strings.HasPrefix(m.Path, council.DecisionNotes+"/") {
		return 1
	}
	return 0
}
