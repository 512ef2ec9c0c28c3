package chat_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kioku/agent/chat"
	"kioku/agent/session"
	"kioku/internal/testkit"
	"kioku/llm"
	"kioku/llm/echo"
	"kioku/llm/llmtest"
	"kioku/memory"
)

var errAway = fmt.Errorf("%w: connection refused", memory.ErrUnreachable)

// flaky is an echo.Model that is away as long as err is set.
type flaky struct {
	echo.Model
	err   error
	asked int
}

func (f *flaky) Generate(ctx context.Context, req llm.Request, stream func(llm.Event)) (llm.Response, error) {
	f.asked++
	if f.err != nil {
		return llm.Response{}, f.err
	}
	return f.Model.Generate(ctx, req, stream)
}

// chatter is a turn of some length that states nothing.
func chatter(i int) string {
	return fmt.Sprintf("Can you tell me about number %d, %s?", i, strings.Repeat("the weather and the sea, ", 12))
}

// A memory that is away for a second loses nothing, however long ago that was.
func TestUnfinishedFlushSurvivesAMemoryThatWasAway(t *testing.T) {
	t.Parallel()
	model := &flaky{Model: echo.Model{Tokens: 4000}}
	w := newWorld(t, model)
	c := w.start("s")
	w.say(c, "My boat is called Petrel.", nil)
	w.notes.err = errAway
	compactions := 0
	var l log
	for i := 0; compactions < 3; i++ {
		w.say(c, chatter(i), func(e chat.Event) {
			l.each(e)
			if e.Compacted != nil {
				compactions++
			}
		})
	}
	if n := strings.Count(strings.Join(l.lines, "\n"), "flush failed"); n == 0 || n > 2*compactions+1 {
		t.Errorf("%d failures told in %d cycles: %q", n, compactions, l.lines)
	}
	w.notes.err = nil
	asked := model.asked
	l = log{}
	w.say(c, "hello", l.each)
	if got := w.notes.text(); got != "My boat is called Petrel." || !l.has("flush done") {
		t.Errorf("notes %q, told %q", got, l.lines)
	}
	if model.asked-asked > 3 {
		t.Errorf("the model was asked %d times for what it has answered before: %q", model.asked-asked, l.lines)
	}
	for i := range 60 {
		w.say(c, chatter(i), nil)
	}
	if got := w.notes.text(); got != "My boat is called Petrel." {
		t.Errorf("notes %q", got)
	}
}

// Whatever is away in any span of turns, and however often the program is restarted, in the end each fact that was stated
// is in memory once.
func TestUnfinishedFlushesStoreEveryFactInTheEnd(t *testing.T) {
	t.Parallel()
	seeds := 3
	if testkit.Soak() {
		seeds = 12
	}
	events := []string{"", "", "", "", "", "memory", "memory", "back", "model", "start", "flush", "compact", "fact", "fact"}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(5, uint64(seed)))
			model := &flaky{Model: echo.Model{Tokens: 4000}}
			w := newWorld(t, model)
			c := w.start("s")
			var facts []string
			turn := func(message string, mustAnswer bool) {
				if _, err := c.Turn(t.Context(), message, nil); err != nil && mustAnswer {
					t.Fatalf("%v", err)
				}
			}
			for i := range 10 + random.IntN(50) {
				switch events[random.IntN(len(events))] {
				case "memory":
					w.notes.err = errAway
				case "model":
					model.err = &llm.Error{Kind: []string{llm.KindUnavailable, llm.KindRateLimit}[random.IntN(2)]}
				case "back":
					w.notes.err, model.err = nil, nil
				case "start":
					c = w.start("s")
				case "flush":
					c.Flush(t.Context(), nil)
				case "compact":
					c.Compact(t.Context(), nil) // if that cannot be now, later
				case "fact":
					facts = append(facts, fmt.Sprintf("My locker number %d is blue.", i))
					turn(facts[len(facts)-1], model.err == nil)
					continue
				}
				turn(chatter(i), model.err == nil)
			}
			w.notes.err, model.err = nil, nil
			for i, cycle := 0, w.session.View().Cycle; i < 60 || w.session.View().Cycle < cycle+2; i++ {
				turn(chatter(i), true)
			}
			w.session.Close()
			got := w.notes.lines()
			for _, fact := range facts {
				if n := len(slices.DeleteFunc(slices.Clone(got), func(line string) bool { return !strings.HasPrefix(line, fact) })); n != 1 {
					t.Errorf("%q is %d times in memory", fact, n)
				}
			}
		})
	}
}

// A flush that is asked for while memory is away uses up nothing.
func TestFlushCanBeAskedForAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &echo.Model{})
	c := w.start("s")
	w.say(c, "My boat is called Petrel.", nil)
	w.notes.err = errAway
	for range 5 {
		if out := c.Flush(t.Context(), nil); out.Outcome != session.FlushFailed || !out.Later || !strings.Contains(out.Reason, "refused") {
			t.Errorf("%+v", out)
		}
	}
	w.notes.err = nil
	if out := c.Flush(t.Context(), nil); out.Outcome != session.FlushDone || len(out.Notes) != 1 {
		t.Errorf("%+v", out)
	}
	if got := w.notes.text(); got != "My boat is called Petrel." {
		t.Errorf("notes %q", got)
	}
}

// What fails by its own fault is tried once a turn, as often as the settings say; the user is told where the messages are, and
// can have it tried again.
func TestFlushThatIsGivenUpIsReportedAndCanBeAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &echo.Model{})
	c := w.start("s")
	w.say(c, "My boat is called Petrel.", nil)
	w.notes.err = errors.New("no space left on device")
	c.Flush(t.Context(), nil)
	var told []int
	var place string
	for i := range 5 {
		var l log
		w.say(c, "hello", l.each)
		if l.has("no space left") {
			told = append(told, i)
		}
		for _, line := range l.lines {
			if _, path, kept := strings.Cut(line, "kept in "); kept {
				place = path
			}
		}
	}
	if !slices.Equal(told, []int{0, 1}) { // the first attempt was the user's
		t.Errorf("told in %v", told)
	}
	if data, err := os.ReadFile(place); err != nil || !strings.Contains(string(data), "Petrel") || filepath.Ext(place) != ".jsonl" {
		t.Errorf("%q: %s, %v", place, data, err)
	}
	w.notes.err = nil
	c = w.start("s")
	w.say(c, "hello", nil)
	if got := w.notes.text(); got != "" {
		t.Errorf("it was tried again: %q", got)
	}
	if out := c.Flush(t.Context(), nil); out.Outcome != session.FlushDone || w.notes.text() != "My boat is called Petrel." {
		t.Errorf("%+v, notes %q", out, w.notes.text())
	}
	if _, err := os.Stat(place); !os.IsNotExist(err) {
		t.Errorf("the messages are kept still: %v", err)
	}
}

// A model that is away for flushes, as when its rate is limited, is asked again with the messages of then, once a turn.
func TestUnfinishedFlushIsOfTheMessagesOfThen(t *testing.T) {
	t.Parallel()
	model := script(llmtest.Fail(llm.KindRateLimit), llmtest.Say("They spoke of tea."), sized(llmtest.Say("one"), 100),
		llmtest.Fail(llm.KindUnavailable), sized(llmtest.Say("two"), 100),
		remember("The tea is green."), none, sized(llmtest.Say("three"), 100))
	model.Tokens = 10_000
	w := newWorld(t, model)
	c := w.start("s")
	w.seed("The tea is green. "+long(4000), "noted", 6000)
	var l log
	w.say(c, "first", l.each)
	if !l.has("flush failed") || !l.has("compacted") || !l.has("next turns try again") {
		t.Errorf("%q", l.lines)
	}
	l = log{}
	w.say(c, "second", l.each)
	if l.has("flush") || l.has("notice") {
		t.Errorf("told again: %q", l.lines)
	}
	c = w.start("s")
	w.say(c, "third", nil)
	if got := w.notes.text(); got != "The tea is green." {
		t.Errorf("notes %q", got)
	}
	asked := model.Requests()[5].Messages
	if !strings.HasPrefix(asked[0].Text, "The tea is green.") || asked[2].Text != "first" || len(asked) != 4 {
		t.Errorf("asked about %d messages: %.60q", len(asked), asked[0].Text)
	}
}
