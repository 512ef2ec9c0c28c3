package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"kioku/council"
	"kioku/council/flow"
	"kioku/council/folder"
	"kioku/council/member"
	"kioku/memory"
)

// noteAll writes a line on a decision into the memory of each member, and what members have to remember of it if reflect asks them.
func (e *Engine) noteAll(ctx context.Context, s *flow.Snapshot, pos flow.Position) council.Noted {
	noted := council.Noted{Members: []string{}}
	d := flow.Record(s, pos)
	for _, name := range s.Claim.Roster {
		var service memory.Service
		if e.opt.Memory != nil {
			service = e.opt.Memory(name)
		}
		if service == nil {
			continue
		}
		err := appendNote(ctx, service, noteLine(s, d, name, e.set.Agent), fmt.Sprintf("council:%s:%d:%s", s.ID, d.Cycle, name))
		if err == nil && e.reflects(d, name) {
			err = e.reflect(ctx, s, d, name, service)
		}
		if err != nil {
			e.log(name, "warn", s.ID, "note", "the line on the decision was not written: "+err.Error())
			noted.Failed = append(noted.Failed, name)
			continue
		}
		noted.Members = append(noted.Members, name)
	}
	noted.CreatedAt = e.now()
	return noted
}

// appendNote writes a note of the council into the memory of a member, once for each key.
func appendNote(ctx context.Context, m memory.Service, text, key string) error {
	_, err := m.Append(ctx, memory.Note{Text: text, Category: "council", Source: memory.NoteFromAgent, Key: key})
	return err
}

// noteLine is the line on a decision in the memory of a member.
func noteLine(s *flow.Snapshot, d *council.Decision, name, agent string) string {
	said := "did not vote"
	if vote, round := lastVote(d, name); vote != "" {
		said = fmt.Sprintf("voted %s in round %d", vote, round)
	}
	return fmt.Sprintf("Council, %q: I %s; %s by %s. Recorded by %s in %s.", strings.TrimSpace(oneLine(s.Task.Title)), said, d.Decision, d.DecidedBy, agent, d.MemoryPath)
}

// lastVote returns the last vote of a member and its round; "" if it has not voted.
func lastVote(d *council.Decision, name string) (vote string, round int) {
	for _, r := range slices.Backward(d.Votes) {
		if v, ok := r.Votes[name]; ok {
			return v, r.Round
		}
	}
	return "", 0
}

// reflects reports whether the settings have a member reflect on a decision.
func (e *Engine) reflects(d *council.Decision, name string) bool {
	vote, _ := lastVote(d, name)
	return e.set.Reflect == council.ReflectAlways ||
		e.set.Reflect == council.ReflectDissent && vote != "" && (vote == council.VoteReject) != (d.Decision == council.Rejected)
}

// reflect asks a member what it wants to remember of a decision, and stores it in its memory. A member that does not answer remembers
// nothing; only the end of the engine and a memory that cannot be written are errors.
func (e *Engine) reflect(ctx context.Context, s *flow.Snapshot, d *council.Decision, name string, m memory.Service) error {
	rel := fmt.Sprintf("%s/_turn_reflection_%d_%s.json", folder.OwnDir(s.ID), d.Cycle, name)
	turn := council.Turn{Member: name, Phase: member.PhaseReflection, Attempt: 1, StartedAt: e.now(), LeaseUntil: e.now().Add(e.set.Timeouts.Turn)}
	if err := e.f.Read(rel, &turn); errors.Is(err, fs.ErrNotExist) {
		err = e.lockedWrite(rel, turn)
		if err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	q := e.about(ctx, name, s)
	q.Phase, q.Cycle, q.Rounds, q.Decision = member.PhaseReflection, d.Cycle, sealedBefore(s, 0), d
	q.Counting = func() error { return e.count(rel, &turn) }
	ctx, cancel := context.WithTimeout(ctx, e.set.Timeouts.Turn)
	defer cancel()
	reply, err := e.ask(ctx, q)
	turn.Usage = turn.Usage.Plus(reply.Usage)
	if werr := e.lockedWrite(rel, turn); werr != nil {
		return werr
	}
	switch {
	case err != nil && member.KindOf(err) == "":
		return err
	case err != nil:
		e.log(name, "warn", s.ID, member.PhaseReflection, err.Error())
		return nil
	case strings.TrimSpace(reply.Note) == "":
		return nil
	}
	note := fmt.Sprintf("On the council's decision on %q (%s): %s", strings.TrimSpace(oneLine(s.Task.Title)), d.Decision, oneLine(reply.Note))
	return appendNote(ctx, m, note, fmt.Sprintf("council-reflection:%s:%d:%s", s.ID, d.Cycle, name))
}
