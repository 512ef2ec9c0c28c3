package ask_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/llm"
	"kioku/llm/ask"
)

// fields have one of each kind.
var fields = []ask.Field{
	{Name: "who", Kind: ask.Word, Words: []string{"ant", "bee"}, Says: "who says it"},
	{Name: "what", Kind: ask.Text, Max: 5, Says: "what"},
	{Name: "why", Kind: ask.Text, Max: 5, Optional: true, Says: "why"},
	{Name: "tags", Kind: ask.Texts, Max: 5, Items: 2, Says: "at most 2 tags"},
	{Name: "round", Kind: ask.Whole, Is: 3, Says: "always 3"},
	{Name: "sure", Kind: ask.Share, Optional: true, Says: "from 0 to 1, or null"},
	{Name: "done", Kind: ask.Flag, Says: "whether it is done"},
	{Name: "scores", Kind: ask.Object, Says: "a and b", Fields: []ask.Field{{Name: "a", Kind: ask.Share}, {Name: "b", Kind: ask.Share, Optional: true}}},
}

// said is what the fields are decoded into.
type said struct {
	Who, What, Why string
	Tags           []string
	Round          int
	Sure           *float64
	Done           bool
	Scores         map[string]float64
}

const good = `{"who":"bee","what":" yes\u202e ","why":null,"tags":["x"," "],"round":3,"sure":null,"done":true,"scores":{"a":0.5,"b":null,"c":7}}`

func TestReadDecodesWhatTheFieldsDeclare(t *testing.T) {
	t.Parallel()
	var got said
	if err := ask.Read("Here it is:\n```json\n"+good+"\n```", fields, &got); err != nil {
		t.Fatal(err)
	}
	want := said{Who: "bee", What: "yes", Tags: []string{"x"}, Round: 3, Done: true, Scores: map[string]float64{"a": 0.5}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for change, says := range map[string]string{
		`"bee" to "cat"`: `"who" must be "ant" or "bee"`, `"what" to "What"`: `"what" is missing`, `" yes\u202e " to "123456"`: `"what" has 6 characters; at most 5`,
		`["x"," "] to ["x","y","z"]`: `"tags" has 3 items; at most 2`, `"round":3 to "round":4`: `"round" must be 3`, `"sure":null to "sure":2`: `"sure" must be a number from 0 to 1`,
		`true to "yes"`: `"done" must be true or false`, `"a":0.5 to "z":0`: `"scores.a" is missing`, `{"a":0.5,"b":null,"c":7} to []`: `"scores" must be an object`,
	} {
		from, to, _ := strings.Cut(change, " to ")
		var got said
		if err := ask.Read(strings.Replace(good, from, to, 1), fields, &got); err == nil || !strings.Contains(err.Error(), says) || !cmp.Equal(got, said{}) {
			t.Errorf("%s: %v, %+v", change, err, got)
		}
	}
}

// ledger is a Ledger that counts.
type ledger struct {
	reserved int
	used     []llm.Usage
}

func (l *ledger) Reserve(tokens int) (string, error) {
	l.reserved += tokens
	return "id", nil
}

func (l *ledger) Settle(_ string, _ int, used llm.Usage) { l.used = append(l.used, used) }

func TestCallSettlesAlsoACallThatCrashes(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	req := llm.Request{System: "Say yes.", MaxTokens: 100}
	func() {
		defer func() { _ = recover() }()
		_, _ = ask.Call(t.Context(), l, req, func(context.Context, llm.Request) (llm.Response, error) { panic("crash") })
	}()
	_, err := ask.Call(t.Context(), l, req, func(context.Context, llm.Request) (llm.Response, error) {
		return llm.Response{}, &llm.Error{Kind: llm.KindRateLimit}
	})
	input := llm.RequestTokens(req)
	if want := []llm.Usage{{Input: input}, {}}; err == nil || l.reserved != 2*(input+100) || !cmp.Equal(want, l.used) {
		t.Errorf("reserved %d, used %+v, %v", l.reserved, l.used, err)
	}
}

func TestAskGivesARefusedAnswerBack(t *testing.T) {
	t.Parallel()
	wrong := errors.New("it is not yes")
	answers, asked := []string{"no", "maybe", "yes"}, 0
	q := ask.Question{Tries: 3, Read: func(resp llm.Response) error {
		if resp.Message.Text != "yes" {
			return wrong
		}
		return nil
	}}
	q.Call = func(_ context.Context, req llm.Request) (llm.Response, error) {
		if asked > 0 && !strings.Contains(req.Messages[len(req.Messages)-1].Text, wrong.Error()) {
			t.Errorf("try %d: %+v", asked, req.Messages)
		}
		asked++
		return llm.Response{Message: llm.Message{Text: answers[asked-1]}}, nil
	}
	if err := ask.Ask(t.Context(), q); err != nil || asked != 3 {
		t.Errorf("%v after %d", err, asked)
	}
	asked, q.Tries = 0, 0
	if invalid, ok := errors.AsType[*ask.InvalidError](ask.Ask(t.Context(), q)); !ok || invalid.Answer != "maybe" || !errors.Is(invalid, wrong) {
		t.Errorf("%+v", invalid)
	}
}

func TestReadLeavesValuesToTheCaller(t *testing.T) {
	t.Parallel()
	inner := []ask.Field{{Name: "n", Kind: ask.Integer, Optional: true, Null: true}, {Name: "quote", Kind: ask.Any}}
	fields := []ask.Field{{Name: "sure", Kind: ask.Number}, {Name: "kind", Kind: ask.Any, Words: []string{"a", "b"}}, {Name: "tags", Kind: ask.Strings},
		{Name: "items", Kind: ask.Objects, Fields: inner, Bare: "quote"}, {Name: "who", Kind: ask.Object, Fields: inner, Optional: true, Null: true}}
	type item struct {
		N     *int
		Quote string
	}
	type said struct {
		Sure  float64
		Kind  string
		Tags  []string
		Items []item
		Who   *item
	}
	schema := `{"type":"object","properties":{"sure":{"type":"number"},"kind":{"type":"string","enum":["a","b"]},"tags":{"type":"array","items":{"type":"string"}},` +
		`"items":{"type":"array","items":{"type":"object","properties":{"n":{"type":["integer","null"]},"quote":{"type":"string"}},"required":["n","quote"],"additionalProperties":false}},` +
		`"who":{"type":["object","null"],"properties":{"n":{"type":["integer","null"]},"quote":{"type":"string"}},"required":["n","quote"],"additionalProperties":false}},` +
		`"required":["sure","kind","tags","items","who"],"additionalProperties":false}`
	if got := string(ask.Schema(fields)); got != schema {
		t.Error(cmp.Diff(schema, got))
	}
	const answer = `{"sure":90,"kind":"c","tags":[" "],"items":[{"n":2,"quote":"x"},{"quote":"y"}],"who":null,"more":1}`
	two := 2
	var got said
	err := ask.Read(answer, fields, &got)
	if diff := cmp.Diff(said{Sure: 90, Kind: "c", Tags: []string{" "}, Items: []item{{&two, "x"}, {nil, "y"}}}, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	if diff := cmp.Diff([]string{"more"}, ask.Further(answer, fields)); diff != "" {
		t.Error(diff)
	}
	for change, says := range map[string]string{
		`90 to "90"`: `"sure" must be a number`, `"c" to 3`: `"kind" must be a string`, `" " to 1`: `"tags[0]" must be a string`, `"n":2 to "n":2.5`: `"items[0].n" must be an integer`,
		`"quote":"y" to "q":"y"`: `"items[1].quote" is missing`, `null to 7`: `"who" must be an object`, `[{"n":2,"quote":"x"},{"quote":"y"}] to 7`: `"items" must be a list of objects`,
		`[{"n":2,"quote":"x"},{"quote":"y"}] to "z"`: "", `[{"n":2,"quote":"x"},{"quote":"y"}] to null`: "", `[" "] to null`: "", `"tags":[" "], to `: `"tags" must be a list`,
	} {
		from, to, _ := strings.Cut(change, " to ")
		if err := ask.Read(strings.Replace(answer, from, to, 1), fields, new(said)); (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", change, err)
		}
	}
}
