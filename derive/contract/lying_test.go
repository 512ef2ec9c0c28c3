package contract_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"kioku/derive/contract"
	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/internal/testkit"
	"kioku/memory"
)

// liar makes answers of a model that lies: valid ones with random parts replaced by other texts of the same notes, invented ones,
// other speakers' lines, foreign ids and wrong types.
type liar struct{ *rand.Rand }

// text is a text that a liar puts in place of another: a piece of a line, or an invention.
func (l liar) text() string {
	lines := talk().Lines
	if l.IntN(2) == 0 {
		text := []rune(lines[l.IntN(len(lines))].Text)
		from := l.IntN(len(text))
		return string(text[from : from+1+l.IntN(len(text)-from)])
	}
	inventions := []string{"The user said so", "USER lives in Rome", "USER", "Haru", "Dario", "Anna Rossi", "Cesare", "PERSON:USER", "PERSON:Dario", "I",
		"likes", "lives_in", "knows", "open", "closed", "PERSON", "ORG", "2026-13", "2025-01-01", "coffee", "green tea", "Braga", ""}
	return inventions[l.IntN(len(inventions))]
}

// replace returns another value, seldom of another type.
func (l liar) replace(value any) any {
	if l.IntN(40) == 0 {
		return []any{nil, l.IntN(9), l.text(), true, []any{}, map[string]any{}}[l.IntN(6)]
	}
	switch value.(type) {
	case string:
		return l.text()
	case float64:
		if l.IntN(2) == 0 {
			return float64(l.IntN(12) - 2)
		}
		return l.Float64() * 1.2
	}
	return value
}

// mutate replaces some of the values in a JSON value, leaves out some keys, and repeats some items.
func (l liar) mutate(value any, chance int) any {
	switch v := value.(type) {
	case map[string]any:
		changed := map[string]any{}
		for _, key := range sortedKeys(v) {
			if l.IntN(600) > 0 {
				changed[key] = l.mutate(v[key], chance)
			}
		}
		return changed
	case []any:
		changed := []any{}
		for _, item := range v {
			for range 1 + l.IntN(5)/4 {
				changed = append(changed, l.mutate(item, chance))
			}
		}
		return changed
	}
	if l.IntN(100) < chance {
		return l.replace(value)
	}
	return value
}

func sortedKeys(m map[string]any) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// foldedText is a text as quotes are compared.
func foldedText(s string) string { return strings.Join(strings.Fields(norm.NFKC.String(s)), " ") }

// checkClaim returns what is wrong with a claim: every claim has a quote that stands in the lines that it cites, of an entitled speaker.
func checkClaim(e unit.EpisodeText, in contract.ExtractInput, c unit.Claim) error {
	var cited []string
	speakers := map[string]bool{}
	for _, line := range e.Lines {
		if line.Number >= c.StartLine && line.Number <= c.EndLine && line.Speaker != memory.SpeakerTool {
			cited = append(cited, line.Text)
			if strings.Contains(foldedText(line.Text), foldedText(c.Quote)) || c.EndLine == c.StartLine+1 {
				speakers[line.Speaker] = true
			}
		}
	}
	aboutUser := vocab.IsUser(c.Subject) || c.Kind == unit.ClaimRelation && vocab.IsUser(*c.ObjectEntity)
	closes := func(l memory.Loop) bool { return l.Key == c.Closes }
	switch {
	case c.Quote == "" || len([]rune(c.Quote)) > 200:
		return fmt.Errorf("a quote of %d characters", len([]rune(c.Quote)))
	case !strings.Contains(foldedText(strings.Join(cited, "\n")), foldedText(c.Quote)):
		return fmt.Errorf("%q is not in lines %d-%d", c.Quote, c.StartLine, c.EndLine)
	case !speakers[c.Speaker]:
		return fmt.Errorf("%s does not say %q", c.Speaker, c.Quote)
	case aboutUser && c.Speaker != memory.SpeakerUser && c.Speaker != memory.SpeakerNote:
		return fmt.Errorf("%s speaks about the user", c.Speaker)
	case c.Kind == unit.ClaimClose && !slices.ContainsFunc(in.Loops, closes):
		return fmt.Errorf("closes %q, which was not offered", c.Closes)
	case c.Confidence < 0 || c.Confidence > 1 || c.EpisodeUID != e.UID:
		return fmt.Errorf("confidence %f, episode %s", c.Confidence, c.EpisodeUID)
	}
	return nil
}

// Acceptance 5: whatever a model answers, each claim has a quote that stands literally in the cited lines, by an entitled speaker.
func TestAcceptance05LyingModel(t *testing.T) {
	t.Parallel()
	l := liar{rand.New(rand.NewPCG(20261118, 5))}
	in := extractInput()
	truth := []any{parse(t, batch(part("1", livesInPorto+","+likes, callDario+","+sentReport), part("2", "", ""))),
		parse(t, `{"episodes": [{"unit_id": 1, "entities": [`+anna+`,`+dario+`], "relations": [`+married+`], "facts": [], "loops": []}, `+part("2", "", "")+`]}`)}
	claims, rejected := 0, 0
	rounds := testkit.Rounds(3000, 600)
	for range rounds {
		answer, err := json.Marshal(l.mutate(truth[l.IntN(2)], 1+l.IntN(25)))
		if err != nil {
			t.Fatal(err)
		}
		x, _, err := read(contracts.Extract(in))(string(answer), "")
		if err != nil {
			rejected++
		}
		for i, e := range x {
			for _, c := range e.Claims {
				claims++
				if err := checkClaim(in.Episodes[i], input(), c); err != nil {
					t.Fatalf("%v\n%+v\n%s", err, c, answer)
				}
			}
		}
	}
	if claims < rounds/3 || rejected < rounds/10 {
		t.Errorf("only %d claims and %d invalid answers: the liar is too good, or too bad", claims, rejected)
	}
}

func parse(t *testing.T, answer string) any {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(answer), &value); err != nil {
		t.Fatal(err)
	}
	return value
}
