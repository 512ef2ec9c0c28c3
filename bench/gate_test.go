package bench_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kioku"
	"kioku/bench"
	"kioku/derive/recall"
	"kioku/embed"
	"kioku/memory"
)

// evalFolder is the environment variable with the folder of the evaluation sets, which are no part of the repository.
const evalFolder = "KIOKU_EVAL"

// evalSets are the sets that the gate is measured on. Each is asked the questions of the next one too.
var evalSets = []string{"locomo", "jsquad-ja", "code-en", "cmrc-zh", "scifact-en", "jaquad-ja", "claude-docs-en", "drcd-zht"}

// gateQuestions is the maximum number of questions of a set.
const gateQuestions = 150

// evalModel is the environment variable with the folder of an embedding model, without which the gate of keywords is measured.
const evalModel = "KIOKU_EVAL_MODEL"

// evalEmbedder returns the model of evalModel, "hash" for the hash embedder; nil if it is not set.
func evalEmbedder(t *testing.T) *embed.Client {
	t.Helper()
	cfg := embed.Config{Provider: "local", ModelDir: os.Getenv(evalModel), ModelInt8: true}
	switch cfg.ModelDir {
	case "":
		return nil
	case "hash":
		cfg = embed.Config{Provider: "hash"}
	}
	e, err := embed.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// sweep counts for gates which scores would pass: of questions that plain search answers, and of questions of another set.
type sweep struct {
	answered, foreign [][]memory.Hit
	right             []map[string]bool
}

// addAnswered adds a question that plain search answers.
func (w *sweep) addAnswered(q bench.Question, found []memory.Hit) {
	right := map[string]bool{}
	for _, h := range found {
		right[h.Citation()] = hits(q, memory.Answer{Hits: []memory.Hit{h}}, 1) > 0
	}
	w.answered, w.right = append(w.answered, found), append(w.right, right)
}

// log reports what gates keep and inject, with a star for those that keep at least 85 % and inject at most 5 %.
func (w *sweep) log(t *testing.T, name string) {
	for _, medium := range []float64{0.20, 0.25, 0.30, 0.35, 0.40, 0.45, 0.50, 0.55} {
		for _, above := range []float64{0.05, 0.10, 0.13, 0.20} {
			high := medium + above
			kept, injected := 0, 0
			for i, hits := range w.answered {
				for _, h := range admitted(hits, medium, high) {
					if w.right[i][h.Citation()] {
						kept++
						break
					}
				}
			}
			for _, hits := range w.foreign {
				injected += b2i(len(admitted(hits, medium, high)) > 0)
			}
			k, in := share(kept, len(w.answered)), share(injected, len(w.foreign))
			t.Logf("%-15s gate %.2f/%.2f: kept %.3f, unrelated injected %.3f%s", name, medium, high, k, in, map[bool]string{true: " *"}[k >= 0.85 && in <= 0.05])
		}
	}
}

// admitted returns the hits that a gate lets through.
func admitted(hits []memory.Hit, medium, high float64) []memory.Hit {
	var in []memory.Hit
	best := 0.0
	for _, h := range hits {
		if h.Score >= medium && !h.Weak {
			in, best = append(in, h), max(best, h.Score)
		}
	}
	if best >= high || len(in) >= 2 {
		return in[:min(len(in), 5)]
	}
	return nil
}

// gateFigures are counts of one set.
type gateFigures struct {
	asked, plain, none, stray          int // questions, and those with a hit among the first five: plain, without context, after other talk
	answered, kept                     int // questions that plain search answers, and those of them that pass the gate
	foreign, injected, injectedInStray int // questions of another set, and those that pass the gate: alone, and after talk about this one
	swept                              sweep
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
	g.swept.answered = append(g.swept.answered, o.swept.answered...)
	g.swept.right = append(g.swept.right, o.swept.right...)
	g.swept.foreign = append(g.swept.foreign, o.swept.foreign...)
}

func TestGateFigures(t *testing.T) {
	folder := os.Getenv(evalFolder)
	if folder == "" {
		t.Skip("set " + evalFolder + " to a folder of evaluation sets")
	}
	var folders []string
	embedder := evalEmbedder(t)
	for _, name := range evalSets {
		if embedder != nil && embed.EnglishOnly(embedder.Space()) && name != "locomo" && !strings.HasSuffix(name, "-en") {
			continue // the model does not know the language
		}
		folders = append(folders, filepath.Join(folder, name))
	}
	sets, err := bench.Load(folders...)
	if err != nil {
		t.Fatal(err)
	}
	var all gateFigures
	for i, set := range sets {
		g := measureGate(t, embedder, set, sets[(i+1)%len(sets)])
		t.Logf("%-15s %3d asked: R@5 plain %.3f, no context %.3f, stray context %.3f; kept %.3f of %d answered; unrelated injected %.3f, after talk %.3f of %d",
			set.Name, g.asked, share(g.plain, g.asked), share(g.none, g.asked), share(g.stray, g.asked), share(g.kept, g.answered), g.answered,
			share(g.injected, g.foreign), share(g.injectedInStray, g.foreign), g.foreign)
		if embedder != nil {
			g.swept.log(t, set.Name)
		}
		all.add(g)
	}
	if embedder != nil {
		all.swept.log(t, "all")
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

func measureGate(t *testing.T, embedder *embed.Client, set, other bench.Set) (g gateFigures) {
	t.Helper()
	memories := map[string]*kioku.Memory{}
	for _, ws := range set.Workspaces() {
		m, err := kioku.Open(t.Context(), kioku.Options{Agent: "main", Workspace: set.Workspace(ws), StateDir: t.TempDir(), Embedder: embedder})
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
	open := func(ws string, q memory.Query) []memory.Hit {
		t.Helper()
		all := recall.Gate{Medium: 1e-9, High: 1e-9}
		a, err := recall.New(memories[ws], memories[ws].Derived(), recall.Options{Keyword: all, Vector: all}).Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return a.Hits
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
			if query.Context = nil; embedder != nil {
				g.swept.addAnswered(q, open(q.WS, query))
			}
		}
	}
	for i, q := range foreign {
		talk := questions[i%len(questions)]
		query := memory.Query{Text: q.Query, MaxResults: 5, Now: q.Asked, Kinds: kinds}
		g.foreign++
		g.injected += b2i(len(passing(search(talk.WS, query)).Hits) > 0)
		if embedder != nil {
			g.swept.foreign = append(g.swept.foreign, open(talk.WS, query))
		}
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
