package member

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"kioku/council"
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
	task func(q Question) string
	// fields of the reply behind "node", in the order of the schema.
	fields func(q Question) []field
	// read takes a reply into r.
	read func(f *fields, q Question, r *Reply)
}

// contracts by phase.
var contracts = map[string]contract{
	PhaseOpinion:      {opinionTask, ballotFields, readBallot},
	PhaseSolo:         {opinionTask, ballotFields, readBallot},
	PhaseArbitration:  {arbitrationTask, arbitrationFields, readArbitration},
	PhaseAnnouncement: {announcementTask, announcementFields, readAnnouncement},
	PhaseAnswer:       {answerTask, answerFields, readAnswer},
	PhaseReview:       {reviewTask, reviewFields, readReview},
	PhaseEvaluation:   {evaluationTask, evaluationFields, readEvaluation},
	PhaseSuggestion:   {suggestionTask, verdictFields, readVerdict},
	PhaseAction:       {actionTask, verdictFields, readVerdict},
	PhaseReflection:   {reflectionTask, reflectionFields, readReflection},
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

// Parse reads what a member has replied to a question. The error says what the reply must have instead.
func Parse(q Question, reply string) (Reply, error) {
	if err := q.check(); err != nil {
		return Reply{}, err
	}
	f, err := fieldsOf(reply)
	if err != nil {
		return Reply{}, err
	}
	var r Reply
	f.oneOf("node", q.Member)
	contracts[q.Phase].read(f, q, &r)
	if err := f.finish(); err != nil {
		return Reply{}, err
	}
	return r, nil
}

func readBallot(f *fields, q Question, r *Reply) {
	f.whole("round", max(q.Round, 1))
	b := &council.Ballot{
		Node: q.Member, Round: max(q.Round, 1), Attempt: q.Attempt, Timestamp: q.Now,
		Vote:    f.oneOf("vote", council.VoteApprove, council.VoteWithChanges, council.VoteReject),
		Opinion: f.text("opinion", maxText), ProposedApproach: f.optionalText("proposed_approach", maxText),
		Concerns: f.texts("concerns", maxItems, maxItem), Confidence: f.share("confidence"),
	}
	if b.Vote != council.VoteReject && b.ProposedApproach == "" {
		f.complain("proposed_approach", "is missing or empty; a vote for the task says how to do it")
	}
	if b.Concerns == nil {
		b.Concerns = []string{} // the article's records always have the list
	}
	b.Evidence = q.shownPlaces(f.texts("evidence", maxEvidence, maxPlace))
	if q.RecallDegraded {
		b.Recall = "degraded"
	}
	r.Ballot = b
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

func readArbitration(f *fields, q Question, r *Reply) {
	a := &council.Arbitration{DecidedBy: council.ByArbiter, Timestamp: q.Now,
		Decision: f.oneOf("decision", council.Approved, council.Rejected), FinalApproach: f.optionalText("final_approach", maxText), Reasoning: f.text("reasoning", maxText)}
	if a.Decision == council.Approved && a.FinalApproach == "" {
		f.complain("final_approach", "is missing or empty; an approval says what is to be done")
	}
	r.Arbitration = a
}

func readAnnouncement(f *fields, q Question, r *Reply) {
	f.oneOf("decision", q.Decision.Decision)
	a := &Announcement{Summary: f.text("summary", maxSummary), KeyPoints: f.texts("key_points", maxItems, maxItem),
		FinalApproach: f.optionalText("final_approach", maxText)}
	if contradicts(a.Summary, q.Decision.Decision) {
		f.complain("summary", fmt.Sprintf("says the contrary of the decision, which is %q", q.Decision.Decision))
	}
	r.Announcement = a
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

func readAnswer(f *fields, q Question, r *Reply) {
	r.Answer = &Answer{Text: f.text("answer", maxAnswer)}
}

func readReview(f *fields, q Question, r *Reply) {
	verdict := f.oneOf("verdict", wordPass, wordFail)
	r.Review = &Review{Passed: verdict == wordPass, Problems: f.texts("problems", maxItems, maxItem), Reasoning: f.text("reasoning", maxText)}
	switch {
	case r.Review.Passed && len(r.Review.Problems) > 0:
		f.complain("problems", `must be empty with the verdict "pass"`)
	case verdict == wordFail && len(r.Review.Problems) == 0:
		f.complain("problems", `must name what is wrong with the verdict "fail"`)
	}
}

func readEvaluation(f *fields, q Question, r *Reply) {
	f.oneOf("target", q.Target)
	r.Evaluation = &Evaluation{Scores: f.shares("scores", Scores, true), OverallScore: f.required("overall_score"), NeedsRetuning: f.flag("needs_retuning"),
		SuggestedParams: f.shares("suggested_params", council.ParamNames, false), Reasoning: f.text("reasoning", maxText)}
}

func readVerdict(f *fields, q Question, r *Reply) {
	r.Verdict = &Verdict{Approve: f.oneOf("verdict", wordApprove, wordDecline) == wordApprove, Reason: f.text("reason", maxSummary)}
}

func readReflection(f *fields, q Question, r *Reply) {
	if r.Note = f.optionalText("note", maxNote); r.Note == "NO_REPLY" {
		r.Note = ""
	}
}
