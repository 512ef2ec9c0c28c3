package member

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"kioku/council"
	"kioku/llm/ask"
	"kioku/memory"
)

// Bounds of replies in characters and items.
const (
	maxText     = 8000 // an opinion, an approach, a reasoning
	maxAnswer   = 20000
	maxSummary  = 4000
	maxItems    = 10
	maxItem     = 500
	maxEvidence = 10
	maxPlace    = 300
	maxNote     = 1000
)

// words of contracts.
const (
	wordApprove = "approve"
	wordDecline = "decline"
	wordPass    = "pass"
	wordFail    = "fail"
)

// contract is what a phase asks for.
type contract struct {
	// task tells the member what to do.
	task string
	// fields of the reply behind "node".
	fields []ask.Field
	// read takes a reply into r: decode decodes it into a struct. Its error says what the reply must have instead.
	read func(r *Reply, decode func(into any) error) error
}

// contracts by phase.
var contracts = map[string]func(q Question) contract{
	PhaseOpinion:      opinion,
	PhaseSolo:         opinion,
	PhaseArbitration:  arbitration,
	PhaseAnnouncement: announcement,
	PhaseAnswer:       answer,
	PhaseReview:       review,
	PhaseEvaluation:   evaluation,
	PhaseSuggestion: func(q Question) contract {
		return verdict(q, "A worker suggests the task above. Approve it only if it is clear, harmless and worth the council's time. Your approval does not decide the task; it only lets it go on.")
	},
	PhaseAction: func(q Question) contract {
		return verdict(q, "A member requests the protected action above, for a task that the council has approved. Approve it only if the decision really calls for this action and the reason is sound. If in doubt, decline.")
	},
	PhaseReflection: reflection,
}

// check returns an *InputError for a question that nobody can be asked.
func (q Question) check() error {
	if _, known := contracts[q.Phase]; !known {
		return &memory.InputError{Field: "phase", Problem: fmt.Sprintf("%.40q is none of %s", q.Phase, strings.Join(slices.Sorted(maps.Keys(contracts)), ", "))}
	}
	needsDecision := []string{PhaseAnnouncement, PhaseAnswer, PhaseReview, PhaseReflection, PhaseAction}
	switch {
	case q.Member == "":
		return &memory.InputError{Field: "member", Problem: "is empty"}
	case q.Decision == nil && slices.Contains(needsDecision, q.Phase):
		return &memory.InputError{Field: "decision", Problem: "is missing for the phase " + q.Phase}
	case q.Phase == PhaseReview && q.Result == nil:
		return &memory.InputError{Field: "result", Problem: "is missing for a review"}
	case q.Phase == PhaseEvaluation && (q.Target == "" || q.Target == q.Member):
		return &memory.InputError{Field: "target", Problem: "must be another member"}
	case q.Phase == PhaseSuggestion && q.Suggestion == nil:
		return &memory.InputError{Field: "suggestion", Problem: "is missing"}
	case q.Phase == PhaseAction && q.Action == nil:
		return &memory.InputError{Field: "action", Problem: "is missing"}
	}
	return nil
}

// fields returns the fields of the reply to q.
func (q Question) fields() []ask.Field {
	node := ask.Field{Name: "node", Kind: ask.Word, Words: []string{q.Member}, Says: fmt.Sprintf("always %q", q.Member)}
	return append([]ask.Field{node}, contracts[q.Phase](q).fields...)
}

// Parse reads what a member has replied to a question. The error says what the reply must have instead.
func Parse(q Question, reply string) (Reply, error) {
	if err := q.check(); err != nil {
		return Reply{}, err
	}
	var r Reply
	if err := contracts[q.Phase](q).read(&r, func(into any) error { return ask.Read(reply, q.fields(), into) }); err != nil {
		return Reply{}, err
	}
	return r, nil
}

// words returns a field that is one of words.
func words(name, says string, words ...string) ask.Field {
	return ask.Field{Name: name, Kind: ask.Word, Words: words, Says: says}
}

// textField returns a field of text, which may be empty if it is optional.
func textField(name string, limit int, optional bool, says string) ask.Field {
	return ask.Field{Name: name, Kind: ask.Text, Max: limit, Optional: optional, Says: says}
}

// sentences returns a field that is a list of at most 10 short texts.
func sentences(name, says string) ask.Field {
	return ask.Field{Name: name, Kind: ask.Texts, Items: maxItems, Max: maxItem, Says: says}
}

// shares returns a field that is an object of numbers.
func shares(name string, names []string, optional bool, says string) ask.Field {
	f := ask.Field{Name: name, Kind: ask.Object, Optional: optional, Says: says}
	for _, name := range names {
		f.Fields = append(f.Fields, ask.Field{Name: name, Kind: ask.Share, Optional: optional})
	}
	return f
}

func opinionTask(q Question) string {
	s := fmt.Sprintf("This is round %d of at most %d. ", max(q.Round, 1), max(q.MaxRounds, q.Round, 1))
	if len(q.Rounds) == 0 {
		return s + "Nobody has voted yet: you judge alone. Vote on the task and say why."
	}
	if q.Cycle > 1 {
		s += "An owner has asked for a further round; the comments may say why. "
	}
	return s + "Read the opinions above, also for what you have missed; your own are marked \"(you)\". Keep your view or change it, and say why. Vote on the task."
}

// opinion has a member vote.
func opinion(q Question) contract {
	round := max(q.Round, 1)
	return contract{
		task: opinionTask(q),
		fields: []ask.Field{
			{Name: "round", Kind: ask.Whole, Is: round, Says: fmt.Sprintf("always %d", round)},
			words("vote", `"approve", "approve_with_modification" or "reject"`, council.VoteApprove, council.VoteWithChanges, council.VoteReject),
			textField("opinion", maxText, false, "your judgement and the reasons for it"),
			textField("proposed_approach", maxText, true, "what is to be done and how; empty only with a rejection"),
			sentences("concerns", "what may go wrong, at most 10 short sentences; an empty list if nothing"),
			{Name: "confidence", Kind: ask.Share, Optional: true, Says: "how sure you are, from 0 to 1, or null"},
			{Name: "evidence", Kind: ask.Texts, Items: maxEvidence, Max: maxPlace,
				Says: `sources of the recalled memories that you rely on, as they stand there ("path#L3"); an empty list if none`},
		},
		read: func(r *Reply, decode func(any) error) error {
			b := &council.Ballot{}
			if err := decode(b); err != nil {
				return err
			}
			if b.Vote != council.VoteReject && b.ProposedApproach == "" {
				return ask.Problem("proposed_approach", "is missing or empty; a vote for the task says how to do it")
			}
			if b.Concerns == nil {
				b.Concerns = []string{} // the article's records always have the list
			}
			b.Attempt, b.Timestamp, b.Evidence = q.Attempt, q.Now, q.shownPlaces(b.Evidence)
			if q.RecallDegraded {
				b.Recall = "degraded"
			}
			r.Ballot = b
			return nil
		},
	}
}

// shownPlaces returns those places that the member was shown.
func (q Question) shownPlaces(places []string) []string {
	var shown []string
	for _, p := range places {
		for _, m := range q.Recalled {
			if (p == m.Source() || p == m.Agent+":"+m.Source()) && !slices.Contains(shown, p) {
				shown = append(shown, p)
			}
		}
	}
	return shown
}

// arbitration has the arbiter decide.
func arbitration(q Question) contract {
	return contract{
		task: "The last round is over, and the votes above have not decided. You are the arbiter: weigh the opinions above and decide. " +
			"If the arguments leave a serious risk open, or if you cannot decide, reject.",
		fields: []ask.Field{
			words("decision", `"approved" or "rejected"`, council.Approved, council.Rejected),
			textField("final_approach", maxText, true, "what is to be done and how; empty only with a rejection"),
			textField("reasoning", maxText, false, "why, with the arguments of both sides"),
		},
		read: func(r *Reply, decode func(any) error) error {
			a := &council.Arbitration{DecidedBy: council.ByArbiter, Timestamp: q.Now}
			if err := decode(a); err != nil {
				return err
			}
			if a.Decision == council.Approved && a.FinalApproach == "" {
				return ask.Problem("final_approach", "is missing or empty; an approval says what is to be done")
			}
			r.Arbitration = a
			return nil
		},
	}
}

// announcement has a decision announced, which it cannot change.
func announcement(q Question) contract {
	decided := q.Decision.Decision
	return contract{
		task: fmt.Sprintf("The task is decided: %s. Announce it to the people who wait for it. You report the decision; you cannot change it, and the text must not contradict it. Name the dissent, if there was any.", decided),
		fields: []ask.Field{
			words("decision", fmt.Sprintf("always %q; you cannot change it", decided), decided),
			textField("summary", maxSummary, false, "what was decided and why, in a few sentences"),
			sentences("key_points", "at most 10 short sentences"),
			textField("final_approach", maxText, true, "what is to be done, from the approaches of those who voted for it; empty for a rejection"),
		},
		read: func(r *Reply, decode func(any) error) error {
			r.Announcement = &council.Announced{}
			if err := decode(r.Announcement); err != nil {
				return err
			}
			if contradicts(r.Announcement.Summary, decided) {
				return ask.Problem("summary", fmt.Sprintf("says the contrary of the decision, which is %q", decided))
			}
			return nil
		},
	}
}

// outcomeWords match how texts tell an outcome, in English, Japanese and Chinese.
var outcomeWords = map[string]*regexp.Regexp{
	council.Approved: regexp.MustCompile(`(?i)\b(?:approve[sd]?|accept(?:s|ed)?|adopt(?:s|ed)?)\b|承認|可決|採択|批准|通过|通過|同意`),
	council.Rejected: regexp.MustCompile(`(?i)\b(?:reject(?:s|ed)?|decline[sd]?|not approved|turned down)\b|却下|否決|不承認|否决|驳回|駁回|拒绝|拒絕|未通过|未通過`),
}

// contradicts reports whether a text tells only the other outcome. One that tells both also tells the dissent.
func contradicts(text, outcome string) bool {
	other := map[string]string{council.Approved: council.Rejected, council.Rejected: council.Approved}[outcome]
	denied := outcomeWords[council.Rejected].ReplaceAllString(text, "")
	says := map[string]bool{council.Approved: outcomeWords[council.Approved].MatchString(denied), council.Rejected: denied != text}
	return says[other] && !says[outcome]
}

// answer has an approved task done, or a result repaired.
func answer(q Question) contract {
	c := contract{
		task:   "The task is approved. Do it now, by the approach that was decided, as a text: the whole answer or result. Say plainly what you could not do or do not know.",
		fields: []ask.Field{textField("answer", maxAnswer, false, "the whole answer, in Markdown")},
		read:   func(r *Reply, decode func(any) error) error { return decode(r) },
	}
	if len(q.Problems) > 0 {
		c.task = "The earlier result above has problems. Write the whole result again, with each problem repaired."
	}
	return c
}

// review has a result checked.
func review(Question) contract {
	return contract{
		task: "Check whether the result above does what was decided, completely and correctly. If you cannot tell, it fails.",
		fields: []ask.Field{
			words("verdict", `"pass" only if the result does what was decided, else "fail"`, wordPass, wordFail),
			sentences("problems", "what is wrong, at most 10 short sentences; an empty list if the result passes"),
			textField("reasoning", maxText, false, "how you have checked it"),
		},
		read: func(r *Reply, decode func(any) error) error {
			var said struct {
				Verdict, Reasoning string
				Problems           []string
			}
			if err := decode(&said); err != nil {
				return err
			}
			passed := said.Verdict == wordPass
			switch {
			case passed && len(said.Problems) > 0:
				return ask.Problem("problems", `must be empty with the verdict "pass"`)
			case !passed && len(said.Problems) == 0:
				return ask.Problem("problems", `must name what is wrong with the verdict "fail"`)
			}
			r.Review = &council.Review{Passed: passed, Problems: said.Problems, Notes: strings.Join(append(slices.Clone(said.Problems), said.Reasoning), "\n")}
			return nil
		},
	}
}

// scores are the names of council.Scores.
var scores = []string{"decision_quality", "collaboration", "effectiveness", "parameter_balance"}

// evaluation has a member rate another.
func evaluation(q Question) contract {
	return contract{
		task: fmt.Sprintf("Rate the member %q by the ballots above and by what has become of the decisions. Suggest other parameters only if a pattern in several ballots calls for it, and move each by at most 0.2.", q.Target),
		fields: []ask.Field{
			words("target", fmt.Sprintf("always %q", q.Target), q.Target),
			shares("scores", scores, false, strings.Join(scores, ", ")+", each from 0 to 1"),
			{Name: "overall_score", Kind: ask.Share, Says: "from 0 to 1"},
			{Name: "needs_retuning", Kind: ask.Flag, Says: "true only if a parameter should be moved"},
			shares("suggested_params", council.ParamNames, true, "the new value from 0 to 1 of each parameter that should be moved, by at most 0.2; null for the others"),
			textField("reasoning", maxText, false, "why, from the ballots below"),
		},
		read: func(r *Reply, decode func(any) error) error {
			r.Evaluation = &council.Evaluated{}
			return decode(r.Evaluation)
		},
	}
}

// verdict has a petition judged.
func verdict(q Question, task string) contract {
	return contract{
		task: task,
		fields: []ask.Field{
			words("verdict", `"approve" or "decline"`, wordApprove, wordDecline),
			textField("reason", maxSummary, false, "why, in one or two sentences"),
		},
		read: func(r *Reply, decode func(any) error) error {
			var said struct{ Verdict, Reason string }
			if err := decode(&said); err != nil {
				return err
			}
			r.Verdict = &council.Verdict{Accept: said.Verdict == wordApprove, Reason: said.Reason, By: council.Author{Kind: "member", Name: q.Member}, At: q.Now}
			return nil
		},
	}
}

// reflection has a member say what it wants to remember.
func reflection(Question) contract {
	return contract{
		task:   "The task is decided. Write what you yourself should remember from it for later judgements: one or two sentences about the matter, no praise. If there is nothing, the note is \"NO_REPLY\".",
		fields: []ask.Field{textField("note", maxNote, true, `one or two sentences to remember, or "NO_REPLY" if nothing is worth it`)},
		read: func(r *Reply, decode func(any) error) error {
			if err := decode(r); err != nil {
				return err
			}
			if r.Note == "NO_REPLY" {
				r.Note = ""
			}
			return nil
		},
	}
}

// errCut is what is wrong with a reply that has reached its maximum length.
var errCut = errors.New("the reply was cut off, because it has reached its maximum length")
