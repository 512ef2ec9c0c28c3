package contract_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/derive/contract"
	"kioku/derive/unit"
	"kioku/memory"
)

// episode returns an episode of a day with lines "speaker: text".
func episode(uid, day string, lines ...string) unit.EpisodeText {
	e := unit.EpisodeText{Episode: memory.Episode{UID: uid, Date: day}}
	if t, err := time.Parse(time.DateOnly, day); err == nil {
		e.OccurredAt = t.Add(12 * time.Hour)
	}
	for i, line := range lines {
		speaker, text, _ := strings.Cut(line, ": ")
		e.Lines = append(e.Lines, unit.Line{Number: i + 1, Speaker: speaker, Text: text})
	}
	return e
}

// talk is an episode with several speakers and languages.
func talk() unit.EpisodeText {
	return episode("e1", "2026-11-18",
		"user: I moved to Porto last month and I like green tea.",
		"assistant: You love coffee, and Dario lives in Lisbon.",
		"Dario: I live in Braga, and Anna Rossi is my wife.",
		"tool: USER lives in Rome",
		"user: 私は静かなカフェが好きです。ダリオさんに連絡する。",
		"user: I sent the report to Anna Rossi (Anni), as I said I",
		"user: would do.")
}

// input asks about talk.
func input() contract.ExtractInput {
	return contract.ExtractInput{Episodes: []unit.EpisodeText{talk()}, Model: "test-model",
		Loops:    []memory.Loop{{Key: "k1", Text: "send the report to Anna"}, {Key: "k2", Text: "call Dario"}},
		Entities: []unit.Entity{{Type: "PERSON", Name: "Anna Rossi", Aliases: []string{"Anni"}}, {Type: "ORG", Name: "Acme"}}}
}

// claimLine returns what matters of a claim on one line.
func claimLine(c unit.Claim) string {
	where := fmt.Sprintf("%d-%d %s %q %.2f", c.StartLine, c.EndLine, c.Speaker, c.Quote, c.Confidence)
	switch c.Kind {
	case unit.ClaimFact:
		object := c.Object
		if c.ObjectEntity != nil {
			object += " (" + c.ObjectEntity.Type + ":" + c.ObjectEntity.Name + ")"
		}
		return fmt.Sprintf("fact %s %s %s [%s,%s) @%s", c.Subject.Name, c.Predicate, object, c.From, c.To, where)
	case unit.ClaimRelation:
		return fmt.Sprintf("relation %s %s %s @%s", c.Subject.Name, c.Predicate, c.ObjectEntity.Name, where)
	case unit.ClaimClose:
		return fmt.Sprintf("close %s @%s", c.Closes, where)
	}
	return fmt.Sprintf("loop %s due %s @%s", c.LoopText, c.Due, where)
}

// outcome is what was read from an answer: the items, the reasons of those that were dropped, and the problem of an answer that is
// invalid.
type outcome struct {
	Items   []string
	Dropped map[string]int
	Invalid string
}

// found returns the outcome of claims and mentions.
func found(mentions []unit.Mention, claims []unit.Claim) []string {
	var items []string
	for _, m := range mentions {
		items = append(items, fmt.Sprintf("%s:%s %v %.2f", m.Entity.Type, m.Entity.Name, m.Aliases, m.Confidence))
	}
	for _, c := range claims {
		items = append(items, claimLine(c))
	}
	return items
}

func outcomeOf(items []string, report contract.Report, err error) outcome {
	o := outcome{Items: items, Dropped: report.Dropped}
	if len(o.Dropped) == 0 {
		o.Dropped = nil
	}
	if e, ok := errors.AsType[*contract.Error](err); ok {
		o.Invalid = e.Problems[0]
	} else if err != nil {
		o.Invalid = "not an *Error: " + err.Error()
	}
	return o
}

// readers read an answer to each contract, given the inputs of these tests. Those of facts, entities, loops and reflect, which are part
// of extract, take the lists of one episode.
var readers = map[string]func(answer, stop string) outcome{
	"facts": readPart, "entities": readPart, "loops": readPart, "expand": readExpand, "rerank": readRerank, "summary": readSummary, "extract": readExtract,
	"reflect": func(answer, stop string) outcome { return readPart(`{"reflection": `+answer+`}`, stop) },
}

// read reads an answer to a question.
func read[T any](q contract.Question[T], err error) func(answer, stop string) (T, contract.Report, error) {
	if err != nil {
		panic(err)
	}
	return q.Read
}

var contracts = contract.Contracts{UserNames: []string{"Haru"}}

// inExtract returns an answer to extract with one episode that has the lists of an answer; those that it lacks are empty.
func inExtract(answer string) string {
	fields := `"unit_id": 1`
	for _, key := range []string{"entities", "relations", "facts", "loops"} {
		if !strings.Contains(answer, `"`+key+`": `) {
			fields += `, "` + key + `": []`
		}
	}
	return `{"episodes": [{` + fields + `, ` + strings.TrimPrefix(answer, "{") + `]}`
}

// readEpisode reads the lists of an answer about one episode.
func readEpisode(in contract.ExtractInput, answer string) (contract.Extracted, contract.Report, error) {
	c := contracts
	c.Reflections = strings.Contains(answer, `"reflection": `)
	x, report, err := read(c.Extract(in))(inExtract(answer), "")
	if err != nil {
		return contract.Extracted{}, report, err
	}
	return x[0], report, nil
}

// readPart reads the lists of an answer about talk. Paths of problems begin with the key of the list, or that of the reflection.
func readPart(answer, _ string) outcome {
	e, report, err := readEpisode(input(), answer)
	items := found(e.Mentions, e.Claims)
	if e.Reflection != nil {
		items = append(items, fmt.Sprintf("%+v", *e.Reflection))
	}
	o := outcomeOf(items, report, err)
	o.Invalid = strings.NewReplacer("episodes[0].", "", "reflection.", "").Replace(o.Invalid)
	return o
}

// now is when the messages of these tests are written: a Friday.
var now = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

func expandInput() contract.ExpandInput {
	return contract.ExpandInput{Message: "What did he say about it last week? あれどうなった？", Now: now,
		Turns: []memory.Turn{{Speaker: "user", Text: "Dario wants to paint the kitchen blue. プロジェクトXの件も。"}, {Speaker: "assistant", Text: "Noted."}}}
}

func readExpand(answer, stop string) outcome {
	x, report, err := read(contracts.Expand(expandInput()))(answer, stop)
	return outcomeOf(x, report, err)
}

func rerankInput() contract.RerankInput {
	in := contract.RerankInput{Message: "Where does Dario live?"}
	for i := range 40 {
		in.Candidates = append(in.Candidates, contract.Candidate{Date: "2026-11-18", Path: "memory/2026-11-18.md", Text: fmt.Sprintf("candidate %d", i)})
	}
	return in
}

func readRerank(answer, stop string) outcome {
	x, report, err := read(contracts.Rerank(rerankInput()))(answer, stop)
	var items []string
	for _, r := range x {
		items = append(items, fmt.Sprintf("%d %s %s", r.Index, r.Relevance, r.Reason))
	}
	return outcomeOf(items, report, err)
}

func summaryInput() contract.SummaryInput {
	second := episode("e2", "2026-11-19", "note: 田中さんと会う。Paid 1,200 euros for 3 tickets, see https://acme.example/t?id=7 and ticket INV-2026-0042.", "note: She said \"never again\" and laughed.")
	second.Sensitivity = memory.Private
	return contract.SummaryInput{Scope: memory.ScopeWeekly, Key: "2026-W47", From: "2026-11-16", To: "2026-11-22", Episodes: []unit.EpisodeText{talk(), second},
		Facts: []string{"The user lives in Porto"}}
}

func readSummary(answer, stop string) outcome {
	x, report, err := read(contracts.Summary(summaryInput()))(answer, stop)
	var items []string
	if err == nil {
		items = append(items, x.Text)
		for _, e := range x.Events {
			items = append(items, e.EpisodeUID+" "+e.Why)
		}
		if x.Relationship != "" {
			items = append(items, "state: "+x.Relationship)
		}
	}
	return outcomeOf(items, report, err)
}

func extractInput() contract.ExtractInput {
	in := input()
	in.Episodes = append(in.Episodes, episode("e2", "2026-11-19", "note: Mia works at Acme since 2024."))
	return in
}

func readExtract(answer, stop string) outcome {
	x, report, err := read(contracts.Extract(extractInput()))(answer, stop)
	var items []string
	for _, e := range x {
		for _, item := range found(e.Mentions, e.Claims) {
			items = append(items, e.Episode.UID+" "+item)
		}
		if e.Missing {
			items = append(items, e.Episode.UID+" missing")
		}
		if e.Lost {
			items = append(items, e.Episode.UID+" lost")
		}
	}
	return outcomeOf(items, report, err)
}

// answerCase is an answer and what is read from it.
type answerCase struct {
	answer string
	stop   string
	want   outcome
}

// checkAnswers reads the answers to a contract.
func checkAnswers(t *testing.T, name string, cases map[string]answerCase) {
	t.Helper()
	for title, c := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			got := readers[name](c.answer, c.stop)
			if c.want.Dropped == nil && got.Invalid != "" {
				got.Dropped = nil // an item of an invalid answer counts for nothing
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// invalid is the outcome of an answer that is invalid as a whole.
func invalid(problem string) outcome { return outcome{Invalid: problem} }
