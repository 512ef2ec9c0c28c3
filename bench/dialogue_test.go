package bench_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kioku"
	"kioku/derive"
	"kioku/derive/recall"
	"kioku/derive/rule"
	"kioku/memory"
)

// dialogues are notes and questions about them, each after a few turns of a conversation.
type dialogues struct {
	Now       string
	Notes     map[string]string
	Dialogues []dialogue
}

// dialogue is a question. One of the expected texts has to be found. Context says that it cannot be understood without the turns, which
// begin with the user.
type dialogue struct {
	Name, Question  string
	Turns, Expected []string
	Context         bool
}

func (d dialogue) turns() []memory.Turn {
	var turns []memory.Turn
	for i, said := range d.Turns {
		turns = append(turns, memory.Turn{Speaker: []string{memory.SpeakerUser, memory.SpeakerAssistant}[i%2], Text: said})
	}
	return turns
}

// found reports whether one of the first k hits shows an expected text.
func (d dialogue) found(a memory.Answer, k int) bool {
	return slices.ContainsFunc(a.Hits[:min(k, len(a.Hits))], func(h memory.Hit) bool {
		return slices.ContainsFunc(d.Expected, func(e string) bool { return strings.Contains(h.Snippet, e) })
	})
}

func readDialogues(t *testing.T, lang string) dialogues {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "dialogues", lang+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var d dialogues
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// openDialogues indexes the notes of dialogues, and derives from them by rules only.
func openDialogues(t *testing.T, d dialogues) *kioku.Memory {
	t.Helper()
	folder := t.TempDir()
	for path, text := range d.Notes {
		file := filepath.Join(folder, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return deriveFrom(t, folder)
}

// deriveFrom indexes a workspace, and derives from it by rules only.
func deriveFrom(t *testing.T, workspace string) *kioku.Memory {
	t.Helper()
	rules, err := rule.New(rule.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := kioku.Open(t.Context(), kioku.Options{Agent: "main", Workspace: workspace, StateDir: t.TempDir(), Episodes: rules.Episodes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	if _, err := m.Sync(t.Context(), kioku.SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	service, err := derive.New(derive.Options{Store: m.Derived(), Notes: m, Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	if err := service.Run(t.Context(), false, nil); err != nil {
		t.Fatal(err)
	}
	return m
}

// dialogueFigures counts questions with an answer among the first five passages, by plain search and in context, and those in context of
// which the answer belongs into a prompt.
type dialogueFigures struct {
	asked, plain, inContext, passed int
	// Reciprocal ranks of the first answer.
	plainRank, contextRank float64
}

func (f *dialogueFigures) add(o dialogueFigures) {
	f.asked += o.asked
	f.plain += o.plain
	f.inContext += o.inContext
	f.passed += o.passed
	f.plainRank += o.plainRank
	f.contextRank += o.contextRank
}

func (f dialogueFigures) String() string {
	return fmt.Sprintf("%2d questions: R@5 plain %.3f, in context %.3f; MRR@5 plain %.3f, in context %.3f; answer is no guess %.3f", f.asked,
		share(f.plain, f.asked), share(f.inContext, f.asked), f.plainRank/float64(f.asked), f.contextRank/float64(f.asked), share(f.passed, f.asked))
}

// rank returns 1/rank of the first answer among five hits, 0 if there is none.
func (d dialogue) rank(a memory.Answer) float64 {
	for k := 1; k <= 5; k++ {
		if d.found(a, k) {
			return 1 / float64(k)
		}
	}
	return 0
}

// ask asks the question by plain search, and in context.
func (d dialogue) ask(t *testing.T, m *kioku.Memory, r *recall.Recaller, now time.Time) (f dialogueFigures) {
	t.Helper()
	q := memory.Query{Text: d.Question, MaxResults: 5, Now: now}
	plain, err := m.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	q.Context, q.Kinds = d.turns(), []string{memory.KindChunk}
	inContext, err := r.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%-26s plain %.2f, in context %.2f, abstained %q", d.Name, d.rank(plain), d.rank(inContext), inContext.Abstained)
	return dialogueFigures{
		asked: 1, plain: b2i(d.found(passing(plain), 5)), inContext: b2i(d.found(inContext, 5)), passed: b2i(d.found(passing(inContext), 5)),
		plainRank: d.rank(plain), contextRank: d.rank(inContext),
	}
}

// Questions that only the conversation makes clear gain at least ten points of R@5; the others lose nothing.
func TestDialogueRecallBeatsPlainSearch(t *testing.T) {
	var pointing, whole dialogueFigures
	for _, lang := range []string{"en", "ja", "zh"} {
		d := readDialogues(t, lang)
		m := openDialogues(t, d)
		now, err := time.Parse(time.DateOnly, d.Now)
		if err != nil {
			t.Fatal(err)
		}
		r := recall.New(m, m.Derived(), recall.Options{})
		var inLang dialogueFigures
		for _, c := range d.Dialogues {
			f := c.ask(t, m, r, now)
			if c.Context {
				inLang.add(f)
			} else {
				whole.add(f)
			}
		}
		t.Logf("%s: %s", lang, inLang)
		pointing.add(inLang)
	}
	t.Logf("pointing: %s", pointing)
	t.Logf("whole: %s", whole)
	if 10*(pointing.inContext-pointing.plain) < pointing.asked {
		t.Errorf("questions that need the conversation: %d of %d by plain search, %d in context; want ten points more", pointing.plain, pointing.asked, pointing.inContext)
	}
	if whole.inContext < whole.plain || whole.contextRank < whole.plainRank {
		t.Errorf("questions that are clear by themselves: %s; want them no worse in context", whole)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// share returns n / of, 0 of nothing.
func share(n, of int) float64 { return float64(n) / float64(max(of, 1)) }

// passing returns an answer without its weak hits.
func passing(a memory.Answer) memory.Answer {
	a.Hits = slices.DeleteFunc(slices.Clone(a.Hits), func(h memory.Hit) bool { return h.Weak })
	return a
}
