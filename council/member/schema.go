package member

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"kioku/council"
)

// field is a field of a reply.
type field struct {
	name string
	// schema of the value.
	schema string
	// says what belongs there, for the prompt.
	says string
}

// Simple schemas. They have no bounds, because not every provider knows them; Parse has.
const (
	schemaText  = `{"type":"string"}`
	schemaTexts = `{"type":"array","items":{"type":"string"}}`
	schemaShare = `{"type":"number"}`
	schemaMaybe = `{"type":["number","null"]}`
	schemaFlag  = `{"type":"boolean"}`
)

// schemaOf returns the schema of one of words.
func schemaOf(words ...string) string {
	list, _ := json.Marshal(words) // strings always have a JSON form
	return fmt.Sprintf(`{"type":"string","enum":%s}`, list)
}

// object returns the schema of an object that needs all of its fields.
func object(all []field) string {
	var properties, required []string
	for _, f := range all {
		properties = append(properties, fmt.Sprintf("%q:%s", f.name, f.schema))
		required = append(required, fmt.Sprintf("%q", f.name))
	}
	return fmt.Sprintf(`{"type":"object","properties":{%s},"required":[%s],"additionalProperties":false}`, strings.Join(properties, ","), strings.Join(required, ","))
}

// sharesOf returns the schema of an object of numbers.
func sharesOf(names []string, schema string) string {
	var all []field
	for _, name := range names {
		all = append(all, field{name: name, schema: schema})
	}
	return object(all)
}

// fields returns the fields of the reply to q.
func (q Question) fields() []field {
	node := field{"node", schemaOf(q.Member), fmt.Sprintf("always %q", q.Member)}
	return append([]field{node}, contracts[q.Phase].fields(q)...)
}

// Schema returns the JSON Schema of the reply to a question. It is of the subset that all providers can enforce.
func Schema(q Question) json.RawMessage {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(object(q.fields()))); err != nil {
		return nil
	}
	return b.Bytes()
}

func ballotFields(q Question) []field {
	round := max(q.Round, 1)
	return []field{
		{"round", fmt.Sprintf(`{"type":"integer","enum":[%d]}`, round), fmt.Sprintf("always %d", round)},
		{"vote", schemaOf(council.VoteApprove, council.VoteWithChanges, council.VoteReject), `"approve", "approve_with_modification" or "reject"`},
		{"opinion", schemaText, "your judgement and the reasons for it"},
		{"proposed_approach", schemaText, "what is to be done and how; empty only with a rejection"},
		{"concerns", schemaTexts, "what may go wrong, at most 10 short sentences; an empty list if nothing"},
		{"confidence", schemaMaybe, "how sure you are, from 0 to 1, or null"},
		{"evidence", schemaTexts, `sources of the recalled memories that you rely on, as they stand there ("path#L3"); an empty list if none`},
	}
}

func arbitrationFields(Question) []field {
	return []field{
		{"decision", schemaOf(council.Approved, council.Rejected), `"approved" or "rejected"`},
		{"final_approach", schemaText, "what is to be done and how; empty only with a rejection"},
		{"reasoning", schemaText, "why, with the arguments of both sides"},
	}
}

func announcementFields(q Question) []field {
	return []field{
		{"decision", schemaOf(q.Decision.Decision), fmt.Sprintf("always %q; you cannot change it", q.Decision.Decision)},
		{"summary", schemaText, "what was decided and why, in a few sentences"},
		{"key_points", schemaTexts, "at most 10 short sentences"},
		{"final_approach", schemaText, "what is to be done, from the approaches of those who voted for it; empty for a rejection"},
	}
}

func answerFields(Question) []field {
	return []field{{"answer", schemaText, "the whole answer, in Markdown"}}
}

func reviewFields(Question) []field {
	return []field{
		{"verdict", schemaOf(wordPass, wordFail), `"pass" only if the result does what was decided, else "fail"`},
		{"problems", schemaTexts, "what is wrong, at most 10 short sentences; an empty list if the result passes"},
		{"reasoning", schemaText, "how you have checked it"},
	}
}

func evaluationFields(q Question) []field {
	return []field{
		{"target", schemaOf(q.Target), fmt.Sprintf("always %q", q.Target)},
		{"scores", sharesOf(Scores, schemaShare), strings.Join(Scores, ", ") + ", each from 0 to 1"},
		{"overall_score", schemaShare, "from 0 to 1"},
		{"needs_retuning", schemaFlag, "true only if a parameter should be moved"},
		{"suggested_params", sharesOf(council.ParamNames, schemaMaybe), "the new value from 0 to 1 of each parameter that should be moved, by at most 0.2; null for the others"},
		{"reasoning", schemaText, "why, from the ballots below"},
	}
}

func verdictFields(Question) []field {
	return []field{
		{"verdict", schemaOf(wordApprove, wordDecline), `"approve" or "decline"`},
		{"reason", schemaText, "why, in one or two sentences"},
	}
}

func reflectionFields(Question) []field {
	return []field{{"note", schemaText, `one or two sentences to remember, or "NO_REPLY" if nothing is worth it`}}
}
