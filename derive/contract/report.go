package contract

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"kioku/llm/ask"
)

// Reasons why an item of an answer is dropped.
const (
	// ReasonValue is a value that the contract does not have.
	ReasonValue = "unknown value"
	// ReasonID is an id that was not offered, or stands twice.
	ReasonID = "id not offered"
	// ReasonRange is a number outside its range, such as a confidence of 90.
	ReasonRange = "out of range"
	// ReasonText is a text that is blank or too long.
	ReasonText = "blank or too long"
	// ReasonName is a name that the text does not have.
	ReasonName = "name not in the text"
	// ReasonQuote is a quote that does not stand in the cited lines.
	ReasonQuote = "quote not found"
	// ReasonEvidence is a claim without evidence where it needs some.
	ReasonEvidence = "no evidence"
	// ReasonSpeaker is a claim that none of its speakers may make.
	ReasonSpeaker = "wrong speaker"
	// ReasonPredicate is a predicate that is not in the vocabulary. The predicate follows, so that a person can add it to the settings,
	// if it looks like one.
	ReasonPredicate = "unknown predicate"
	// ReasonDate is a date that no calendar has or that cannot be.
	ReasonDate = "impossible date"
	// ReasonInstruction is a text that tells a reader or a program what to do.
	ReasonInstruction = "instruction"
	// ReasonLimit is an item beyond the length of its list.
	ReasonLimit = "over the limit"
	// ReasonConfidence is an item that the model itself doubts.
	ReasonConfidence = "low confidence"
	// ReasonIrrelevant is a candidate that the model names to say that it does not matter.
	ReasonIrrelevant = "not relevant"
	// ReasonRepeated is an item that says what another one says.
	ReasonRepeated = "repeated"
)

// harmless are the reasons that say nothing against an answer: an answer that lost all items for one of these is valid.
var harmless = []string{ReasonLimit, ReasonConfidence, ReasonIrrelevant, ReasonRepeated}

// ErrNoInput is returned by functions that make prompts if there is nothing to ask about. No call should be made.
var ErrNoInput = errors.New("there is nothing to ask a model about")

// maxProblems bounds the problems that are kept for a corrective prompt.
const maxProblems = 10

// Report says what became of the items of an answer.
type Report struct {
	// Accepted is the number of items that were taken.
	Accepted int
	// Dropped counts the items that were not, by reason, one of the constants Reason....
	Dropped map[string]int
	// Problems says of at most 10 of them what is wrong, in words for the model: "facts[2].evidence[0].quote" must ....
	Problems []string
}

// lost returns the number of items that were dropped for reasons against the answer.
func (r Report) lost() int {
	n := 0
	for reason, count := range r.Dropped {
		if !slices.Contains(harmless, reason) {
			n += count
		}
	}
	return n
}

// Error says that an answer as a whole is invalid.
type Error struct {
	// Contract that it does not fulfil, with version.
	Contract string
	// Problems of the answer in words for the model, at least one and at most 10.
	Problems []string
	// Report of what was read until then.
	Report Report
}

// Error implements error. It has a line for each problem.
func (e *Error) Error() string {
	return fmt.Sprintf("invalid answer to %s: %s", e.Contract, strings.Join(e.Problems, "\n"))
}

// reader gathers what is wrong with an answer.
type reader struct {
	contract string
	report   Report
	// broken are the first problems for which the answer as a whole is invalid.
	broken []string
}

func newReader(contract string) *reader {
	return &reader{contract: contract, report: Report{Dropped: map[string]int{}}}
}

// read decodes an answer that has fields. It returns false if the answer as a whole is invalid.
func (r *reader) read(answer, stop string, fields []ask.Field, into any) bool {
	err := ask.StopError(stop)
	if err == nil {
		err = ask.Read(answer, fields, into)
	}
	if err != nil {
		r.invalid(strings.Split(err.Error(), "\n")...)
	}
	return err == nil
}

// invalid notes problems for which the answer as a whole is invalid.
func (r *reader) invalid(problems ...string) {
	r.broken = append(r.broken, problems...)
	r.broken = r.broken[:min(len(r.broken), maxProblems)]
}

// drop counts an item that is not taken.
func (r *reader) drop(path, reason, rule string) {
	r.report.Dropped[reason]++
	if len(r.report.Problems) < maxProblems && !slices.Contains(harmless, reason) {
		r.report.Problems = append(r.report.Problems, ask.Problem(path, rule).Error())
	}
}

// finish returns the report, and an *Error if the answer as a whole is invalid.
func (r *reader) finish() (Report, error) {
	if len(r.broken) == 0 && r.report.Accepted == 0 && r.report.lost() > 0 {
		r.broken = r.report.Problems
	}
	if len(r.broken) > 0 {
		return r.report, &Error{Contract: r.contract, Problems: r.broken, Report: r.report}
	}
	return r.report, nil
}

// lostAll makes the answer invalid if a list that had items has none left and reasons against the answer were counted. lostBefore is
// their number at the beginning of the list.
func (r *reader) lostAll(list string, left, lostBefore int) {
	if left > 0 || r.report.lost() == lostBefore {
		return
	}
	r.invalid(ask.Problem(list, "lost every item: none keeps the rules").Error())
	for _, p := range r.report.Problems {
		if strings.HasPrefix(p, `"`+list) {
			r.invalid(p)
		}
	}
}

// add adds the report of another reader.
func (r *reader) add(part Report) {
	r.report.Accepted += part.Accepted
	for reason, n := range part.Dropped {
		r.report.Dropped[reason] += n
	}
	r.report.Problems = append(r.report.Problems, part.Problems...)
	r.report.Problems = r.report.Problems[:min(len(r.report.Problems), maxProblems)]
}
