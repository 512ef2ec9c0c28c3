package bench_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"kioku"
	"kioku/bench"
	"kioku/derive/recall"
	"kioku/memory"
)

// evalFolder is the environment variable with the folder of the evaluation sets, which are no part of the repository.
const evalFolder = "KIOKU_EVAL"

// evalSets are the sets that the gate is measured on. Each is asked the questions of the next one too.
var evalSets = []string{"locomo", "jsquad-ja", "code-en", "cmrc-zh", "scifact-en", "jaquad-ja", "claude-docs-en", "drcd-zht"}

// gateQuestions is the maximum number of questions of a set.
const gateQuestions = 150

// gateFigures are counts of one set.
type gateFigures struct {
	asked, plain, none, stray          int // questions, and those with a hit among the first five: plain, without context, after other talk
	answered, kept                     int // questions that plain search answers, and those of them that pass the gate
	foreign, injected, injectedInStray int // questions of another set, and those that pass the gate: alone, and after talk about this one
	lone, loneKept                     int
}

func (g *gateFigures) add(o gateFigures) {
	g.asked += o.asked
	g.plain += o.plain
	g.none += o.none
	g.stray += o.stray
	g.answered += o.answered
	g.kept += o.kept
	g.foreign += o.foreign
	g.injected += o.injected
	g.injectedInStray += o.injectedInStray
}

func TestGateFigures(t *testing.T) {
	folder := os.Getenv(evalFolder)
	if folder == "" {
		t.Skip("set " + evalFolder + " to a folder of evaluation sets")
	}
	var folders []string
	for _, name := range evalSets {
		folders = append(folders, filepath.Join(folder, name))
	}
	sets, err := bench.Load(folders...)
	if err != nil {
		t.Fatal(err)
	}
	var all gateFigures
	for i, set := range sets {
		g := measureGate(t, set, sets[(i+1)%len(sets)])
		t.Logf("%-15s %3d asked: R@5 plain %.3f, no context %.3f, stray context %.3f; kept %.3f of %d answered; unrelated injected %.3f, after talk %.3f of %d",
			set.Name, g.asked, share(g.plain, g.asked), share(g.none, g.asked), share(g.stray, g.asked), share(g.kept, g.answered), g.answered,
			share(g.injected, g.foreign), share(g.injectedInStray, g.foreign), g.foreign)
		all.add(g)
	}
	t.Logf("all: R@5 plain %.3f, no context %.3f, stray context %.3f; kept %.3f; unrelated injected %.3f, after talk %.3f",
		share(all.plain, all.asked), share(all.none, all.asked), share(all.stray, all.asked), share(all.kept, all.answered),
		share(all.injected, all.foreign), share(all.injectedInStray, all.foreign))
}

func share(n, of int) float64 { return float64(n) / float64(max(of, 1)) }

// sample returns at most n of questions, spread evenly, without adversarial ones.
func sample(questions []bench.Question, n int) []bench.Question {
	questions = slices.DeleteFunc(slices.Clone(questions), func(q bench.Question) bool { return q.Category == bench.Adversarial })
	var out []bench.Question
	for i := range min(n, len(questions)) {
		out = append(out, questions[i*len(questions)/min(n, len(questions))])
	}
	return out
}

func measureGate(t *testing.T, set, other bench.Set) (g gateFigures) {
	t.Helper()
	memories := map[string]*kioku.Memory{}
	for _, ws := range set.Workspaces() {
		m, err := kioku.Open(t.Context(), kioku.Options{Agent: "main", Workspace: set.Workspace(ws), StateDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		if _, err := m.Sync(t.Context(), kioku.SyncOptions{}, nil); err != nil {
			t.Fatal(err)
		}
		if err := m.Calibrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		memories[ws] = m
	}
	questions := sample(set.Questions, gateQuestions)
	foreign := sample(other.Questions, gateQuestions)
	search := func(ws string, q memory.Query) memory.Answer {
		t.Helper()
		a, err := recall.New(memories[ws], memories[ws].Derived(), recall.Options{}).Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	kinds := []string{memory.KindChunk}
	for i, q := range questions {
		query := memory.Query{Text: q.Query, MaxResults: 5, Now: q.Asked}
		plain := search(q.WS, query)
		query.Kinds = kinds
		none := search(q.WS, query)
		talk := questions[(i+len(questions)/2)%len(questions)]
		query.Context = []memory.Turn{{Speaker: memory.SpeakerUser, Text: talk.Query}, {Speaker: memory.SpeakerAssistant, Text: "OK."}}
		stray := search(q.WS, query)
		g.asked++
		hit := hits(q, plain, 5) > 0
		g.plain += b2i(hit)
		g.none += b2i(hits(q, none, 5) > 0)
		g.stray += b2i(hits(q, stray, 5) > 0)
		if hit {
			g.answered++
			g.kept += b2i(hits(q, passing(none), 5) > 0)
		}
	}
	for i, q := range foreign {
		talk := questions[i%len(questions)]
		query := memory.Query{Text: q.Query, MaxResults: 5, Now: q.Asked, Kinds: kinds}
		g.foreign++
		g.injected += b2i(len(passing(search(talk.WS, query)).Hits) > 0)
		query.Context = []memory.Turn{{Speaker: memory.SpeakerUser, Text: talk.Query}, {Speaker: memory.SpeakerAssistant, Text: "OK."}}
		g.injectedInStray += b2i(len(passing(search(talk.WS, query)).Hits) > 0)
	}
	return g
}

func passing(a memory.Answer) memory.Answer {
	a.Hits = slices.DeleteFunc(slices.Clone(a.Hits), func(h memory.Hit) bool { return h.Weak })
	return a
}

// hits returns the number of evidences that the first k hits of an answer show.
func hits(q bench.Question, a memory.Answer, k int) int {
	var results []bench.Result
	for _, h := range a.Hits[:min(k, len(a.Hits))] {
		r := bench.Range{Path: h.Path, Start: h.StartLine, End: h.EndLine}
		results = append(results, bench.Result{Range: r, Shown: r})
	}
	n := 0
	for _, e := range q.Relevant {
		n += b2i(bench.Judge([]bench.Range{e}, results).R5 > 0)
	}
	return n
}
