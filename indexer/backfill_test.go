package indexer_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kioku/embed"
	"kioku/indexer"
)

func TestBackfillEmbedsEqualTextsOnce(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for i := range 10 {
		f.write(fmt.Sprintf("memory/2026-01-1%d.md", i), fmt.Sprintf("same\nonly in %d", i))
	}
	f.sync()
	if rep := f.embed(); f.prov.texts != 11 || f.prov.calls != 1 || f.unembedded() != 0 || rep.Embedded != 11 || rep.Err != nil {
		t.Errorf("%d texts in %d calls, report %+v", f.prov.texts, f.prov.calls, rep)
	}
	if rep := f.embed(); f.prov.calls != 1 || rep != (indexer.BackfillReport{}) {
		t.Errorf("nothing was left to be embedded: %+v", rep)
	}
}

// disabled is an embedder that has no provider.
type disabled struct{ *provider }

func (disabled) Enabled() bool { return false }

func TestBackfillDoesNothingWithoutProvider(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/a.md", "x")
	f.sync()
	f.back = indexer.NewBackfill(f.index, disabled{f.prov}, nil, nil)
	if rep := f.embed(); rep != (indexer.BackfillReport{}) || f.prov.calls != 0 {
		t.Errorf("report %+v", rep)
	}
	f.back.Watch(t.Context()) // returns at once
}

func TestBackfillLeavesTextsOfFailingProviderForLater(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for i := range 3 {
		f.write(fmt.Sprintf("memory/%d.md", i), fmt.Sprintf("x%d\ny%d", i, i))
	}
	f.sync()
	f.prov.set(0, f.now().Add(time.Minute))
	if rep := f.embed(); !errors.Is(rep.Err, errDown) || f.unembedded() != 6 || f.prov.calls != 0 {
		t.Errorf("asked %d times before the provider may be, report %+v", f.prov.calls, rep)
	}
	f.advance(2 * time.Minute)
	if rep := f.embed(); !errors.Is(rep.Err, errDown) || f.prov.calls != 1 {
		t.Errorf("asked %d times, report %+v", f.prov.calls, rep)
	}
	f.prov.set(-1, time.Time{})
	if rep := f.embed(); rep.Err != nil || rep.Embedded != 6 || f.unembedded() != 0 {
		t.Errorf("report %+v", rep)
	}
}

func TestBackfillKeepsWhatProviderGaveBeforeItFailed(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	var text strings.Builder
	for i := range 600 {
		fmt.Fprintln(&text, "line", i)
	}
	f.write("memory/a.md", text.String())
	f.sync()
	f.prov.set(300, time.Time{})
	if rep := f.embed(); !errors.Is(rep.Err, errDown) || rep.Embedded != 300 || f.unembedded() != 300 {
		t.Errorf("%d texts without vectors, report %+v", f.unembedded(), rep)
	}
	f.prov.set(-1, time.Time{})
	if rep := f.embed(); rep.Embedded != 300 || f.unembedded() != 0 || f.prov.texts != 600 {
		t.Errorf("report %+v", rep)
	}
}

func TestBackfillParksRefusedTexts(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.prov.poison = "poison"
	f.write("memory/a.md", "fine\npoison\nfine too")
	f.write("memory/b.md", "bee")
	f.sync()
	if rep := f.embed(); rep.RefusedErr == nil || rep.Refused != 1 || rep.Err != nil || f.unembedded() != 1 || rep.Embedded != 3 {
		t.Errorf("report %+v", rep)
	}
	calls := f.prov.calls
	for range 3 {
		if rep := f.embed(); rep.RefusedErr == nil || rep.Refused != 1 {
			t.Errorf("report %+v", rep)
		}
	}
	if f.prov.calls != calls {
		t.Errorf("asked %d times more", f.prov.calls-calls)
	}
	f.prov.poison = ""
	f.advance(2 * time.Hour)
	if rep := f.embed(); rep.Err != nil || rep.Embedded != 1 || f.unembedded() != 0 {
		t.Errorf("after an hour: %+v", rep)
	}
}

func TestBackfillStoresAnswersOfCancelledRun(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/a.md", "one\ntwo")
	f.sync()
	ctx, cancel := context.WithCancel(t.Context())
	f.prov.during = cancel
	if _, err := f.back.Run(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	f.prov.during = nil
	if n := f.unembedded(); n != 0 {
		t.Errorf("%d texts that were paid for are lost", n)
	}
}

func TestBackfillReturnsErrorOfStore(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/a.md", "one")
	f.sync()
	f.index.fail = errors.New("disk full")
	if _, err := f.back.Run(t.Context(), nil); !errors.Is(err, f.index.fail) {
		t.Errorf("error %v", err)
	}
}

// While one group is being stored, the provider works on the next; no text is asked for twice meanwhile.
func TestBackfillEmbedsWhileItStores(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintln(&text, "line", i)
	}
	f.write("memory/a.md", text.String())
	f.sync()
	asked := make(chan struct{})
	f.prov.during = func() {
		if f.prov.calls == 2 {
			close(asked)
		}
	}
	f.index.storing = func() {
		select {
		case <-asked:
		case <-time.After(20 * time.Second):
			t.Error("nothing is asked before the first answers are stored")
		}
	}
	if rep := f.embed(); rep.Embedded != 200 || f.prov.texts != 200 || f.unembedded() != 0 || f.prov.largest > 64 {
		t.Errorf("report %+v, %d texts were sent, %d at once", rep, f.prov.texts, f.prov.largest)
	}
}

func TestBackfillTellsProgressOfEachRequest(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintln(&text, "line", i)
	}
	f.write("memory/a.md", text.String())
	f.sync()
	var last indexer.Progress
	steps := 0
	_, err := f.back.Run(t.Context(), func(p indexer.Progress) {
		if steps++; p.Embedded < last.Embedded || p.Embedded > p.EmbedTotal || p.Phase != indexer.PhaseEmbed {
			t.Errorf("%+v after %+v", p, last)
		}
		last = p
	})
	f.must(err)
	if last.Embedded != 1000 || last.EmbedTotal != 1000 || steps < 16 {
		t.Errorf("%d steps, ended with %+v", steps, last)
	}
}

func TestBackfillBeginsWithNewestFile(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for i := range 3 {
		f.write(fmt.Sprintf("memory/%d.md", i), fmt.Sprint("note ", i))
		f.must(os.Chtimes(f.path(fmt.Sprintf("memory/%d.md", i)), time.Time{}, time.Now().Add(time.Duration(i-10)*time.Hour)))
	}
	f.sync()
	texts, _, err := f.index.Backlog(t.Context(), f.prov.Space(), 10)
	if err != nil || len(texts) != 3 || texts[0].Text != "note 2" {
		t.Errorf("%+v, %v", texts, err)
	}
}

func TestBackfillOfAnotherModelEmbedsEverything(t *testing.T) {
	t.Parallel()
	f := filled(t, 3)
	f.prov.mu.Lock()
	f.prov.model = "other"
	f.prov.mu.Unlock()
	if rep := f.embed(); rep.Embedded != 6 || f.unembedded() != 0 {
		t.Errorf("report %+v", rep)
	}
}

// A store that fails for a while costs no second request for the same texts.
func TestBackfillPaysOnceWhileStoreFails(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/a.md", strings.Repeat("x\n", 3)+"one\ntwo")
	f.sync()
	f.index.fail = errors.New("disk full")
	for range 5 {
		if _, err := f.back.Run(t.Context(), nil); !errors.Is(err, f.index.fail) || strings.Count(err.Error(), "disk full") != 1 {
			t.Errorf("error %v", err)
		}
	}
	f.index.fail = nil
	if f.embed(); f.unembedded() != 0 || f.prov.texts != 3 || f.prov.calls != 1 {
		t.Errorf("%d texts in %d calls for 3 texts, %d without a vector", f.prov.texts, f.prov.calls, f.unembedded())
	}
}

// An index that loses what it stored must not make one run pay for it again and again.
func TestBackfillPaysOnceIfIndexLosesVectors(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/a.md", "one\ntwo")
	f.sync()
	f.index.forgets = true
	if rep := f.embed(); rep.Err == nil || f.prov.texts != 2 {
		t.Errorf("%d texts were sent, report %+v", f.prov.texts, rep)
	}
}

// silent is a provider that returns nothing for any text.
type silent struct{ *provider }

func (s silent) Stream(ctx context.Context, texts iter.Seq[string], done func([]embed.Outcome)) error {
	return stream(ctx, s.Documents, texts, done)
}

func (s silent) Documents(context.Context, []string) ([]embed.Embedding, error) {
	s.calls++
	return nil, nil
}

func TestBackfillSkipsTextsWithoutAnswer(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/a.md", "one\ntwo")
	f.sync()
	f.back = indexer.NewBackfill(f.index, silent{f.prov}, f.now, nil)
	if rep := f.embed(); rep.RefusedErr == nil || rep.Refused != 2 || f.prov.calls != 1 {
		t.Errorf("asked %d times, report %+v", f.prov.calls, rep)
	}
}

func TestBackfillForgetsRefusedTextsThatAreGone(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.prov.poison = "poison"
	f.write("memory/a.md", "poison 1\npoison 2")
	f.sync()
	f.embed()
	limit := f.index.limit
	f.write("memory/a.md", "fine")
	f.sync()
	f.advance(2 * time.Hour)
	if f.embed(); f.index.limit >= limit || f.unembedded() != 0 {
		t.Errorf("reads %d texts of the backlog, and %d before", f.index.limit, limit)
	}
}

// What a store says when it is interrupted is not what the caller looks for.
func TestBackfillReturnsErrorOfContext(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/a.md", "one")
	f.sync()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	f.back = indexer.NewBackfill(interrupted{f.index}, f.prov, nil, nil)
	if _, err := f.back.Run(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

// interrupted is a store that is interrupted while it reads the backlog.
type interrupted struct{ *memIndex }

func (interrupted) Backlog(ctx context.Context, _ embed.Space, _ int) ([]indexer.Text, int, error) {
	<-ctx.Done()
	return nil, 0, errors.New("interrupted")
}

// stuck is a store that does not store vectors before its context ends.
type stuck struct{ *memIndex }

func (stuck) PutVectors(ctx context.Context, _ embed.Space, _ map[indexer.Hash]indexer.Vectors) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestBackfillThatIsCancelledWaitsBrieflyForStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		index, prov := newMemIndex(), newProvider()
		_, err := index.ReplaceFile(t.Context(), indexer.File{Path: "a.md", Chunks: many(200)})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		prov.during = func() {
			if prov.calls == 3 {
				cancel()
			}
		}
		begin := time.Now()
		_, err = indexer.NewBackfill(stuck{index}, prov, nil, nil).Run(ctx, nil)
		if took := time.Since(begin); !errors.Is(err, context.Canceled) || took > 2*time.Second {
			t.Errorf("ended after %v with %v", took, err)
		}
		time.Sleep(time.Minute) // its timers end
	})
}

// many returns n chunks with different texts.
func many(n int) []indexer.Chunk {
	chunks := make([]indexer.Chunk, n)
	for i := range chunks {
		chunks[i].Text = fmt.Sprint("text ", i)
		chunks[i].Hash = sha256.Sum256([]byte(chunks[i].Text))
	}
	return chunks
}
