package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/derive/seam"
	"kioku/store/storetest"
)

func TestDerivedJobsAreDoneOnce(t *testing.T) {
	t.Parallel()
	s := openDerived(t, t.TempDir())
	ctx := t.Context()
	enqueue := func(key string, input byte, priority int) { t.Helper(); s.enqueue(t, key, input, priority) }
	claim := func(owner string) *seam.Job { t.Helper(); return s.claim(t, owner) }
	finish := func(j *seam.Job, status string) error {
		j.Status = status
		return s.Finish(ctx, *j)
	}
	enqueue("b", 1, 5)
	enqueue("a", 1, 1)
	enqueue("a", 1, 1)
	first := claim("one")
	if first == nil || first.Key != "a" || first.Tries != 1 || first.Status != seam.JobRunning {
		t.Fatalf("%+v", first)
	}
	if second := claim("two"); second == nil || second.Key != "b" || claim("three") != nil {
		t.Fatalf("%+v", second)
	}
	enqueue("a", 2, 1) // while the other runs
	if ok, err := s.Renew(ctx, first.ID, "two", s.now.Add(time.Hour)); err != nil || ok {
		t.Errorf("another owner renewed the lease: %v", err)
	}
	if ok, err := s.Renew(ctx, first.ID, "one", s.now.Add(time.Hour)); err != nil || !ok {
		t.Errorf("the lease was not renewed: %v", err)
	}
	if err := finish(first, seam.JobDone); err != nil {
		t.Fatal(err)
	}
	enqueue("a", 1, 1) // the same input is done
	*s.now = s.now.Add(2 * time.Minute)
	again := claim("three") // the lease of "b" has ended
	if again == nil || again.Key != "b" || again.Tries != 2 {
		t.Fatalf("%+v", again)
	}
	late := *again
	late.Owner = "two"
	if err := finish(&late, seam.JobDone); err == nil {
		t.Error("a worker without a lease finished the job")
	}
}

func TestDerivedJobsWaitUntilTheyAreDue(t *testing.T) {
	t.Parallel()
	s := openDerived(t, t.TempDir())
	if err := s.Enqueue(t.Context(), seam.Job{Kind: "extract", Key: "later", RunAfter: s.now.Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if j := s.claim(t, "one"); j != nil {
		t.Errorf("before its time: %+v", j)
	}
	*s.now = s.now.Add(time.Hour)
	if j := s.claim(t, "one"); j == nil || j.Key != "later" {
		t.Errorf("at its time: %+v", j)
	}
}

func TestDerivedJobsThatAreParkedWaitForAPerson(t *testing.T) {
	t.Parallel()
	s := openDerived(t, t.TempDir())
	ctx := t.Context()
	s.enqueue(t, "b", 1, 5)
	j := s.claim(t, "one")
	j.Status, j.ErrorClass, j.LastError = seam.JobParked, "contract", "no JSON"
	if err := s.Finish(ctx, *j); err != nil {
		t.Fatal(err)
	}
	s.enqueue(t, "b", 1, 5) // parked, and not tried again by itself
	if s.claim(t, "four") != nil {
		t.Error("a parked job was claimed")
	}
	parked, err := s.Jobs(ctx, seam.JobParked, 10)
	if err != nil || len(parked) != 1 || parked[0].LastError != "no JSON" {
		t.Errorf("%+v, %v", parked, err)
	}
	if n, err := s.RetryJobs(ctx, 0); err != nil || n != 1 {
		t.Errorf("%d, %v", n, err)
	}
	if j = s.claim(t, "four"); j == nil || j.Key != "b" || j.Tries != 1 {
		t.Errorf("%+v", j)
	}
	stats, err := s.Derived.Stats(ctx, *s.now)
	if diff := cmp.Diff(map[string]int{seam.JobRunning: 1}, stats.Jobs); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// enqueue adds a job.
func (s derivedStore) enqueue(t *testing.T, key string, input byte, priority int) {
	t.Helper()
	if err := s.Enqueue(t.Context(), seam.Job{Kind: "extract", Key: key, Input: `{}`, InputSHA256: [32]byte{input}, Priority: priority}); err != nil {
		t.Fatal(err)
	}
}

// claim takes a job for a minute; nil if none is due.
func (s derivedStore) claim(t *testing.T, owner string) *seam.Job {
	t.Helper()
	j, err := s.Claim(t.Context(), owner, *s.now, time.Minute, false)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestDerivedBudgetIsSharedAndKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openDerived(t, dir)
	ctx, now := t.Context(), derivedNow
	reserve := func(at time.Time, tokens int) bool {
		t.Helper()
		ok, err := s.Reserve(ctx, at, "m", "extract", tokens, 1000, 3)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if !reserve(now, 600) || reserve(now, 600) {
		t.Error("reservations exceed the budget, or none is made")
	}
	if err := s.Settle(ctx, now.Add(time.Hour), "m", "extract", 600, 100, 50); err != nil {
		t.Fatal(err)
	}
	if !reserve(now, 850) || reserve(now, 1) {
		t.Error("the budget is not what was used")
	}
	if err := s.Settle(ctx, now, "m", "extract", 850, 0, 0); err != nil {
		t.Fatal(err)
	}
	if !reserve(now, 1) || reserve(now, 1) || !reserve(now.Add(time.Hour), 1) {
		t.Error("calls of the hour are not bounded")
	}
	if !reserve(now.AddDate(0, 0, 1), 1000) {
		t.Error("another day has no budget")
	}
	stats, err := s.Derived.Stats(ctx, now)
	if err != nil || stats.TokensToday != 150 || stats.CallsToday != 4 || stats.CallsThisHour != 3 {
		t.Errorf("%+v, %v", stats, err)
	}
	// It survives an index that must be made anew.
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	storetest.Exec(t, s.path, "PRAGMA user_version = 9")
	s = openDerived(t, dir)
	s.complete(t)
	if stats, err = s.Derived.Stats(ctx, now); err != nil || stats.TokensToday != 150 || stats.CallsToday != 4 {
		t.Errorf("after an older schema: %+v, %v", stats, err)
	}
}

// complete records a complete sync, so that the index before is salvaged.
func (s derivedStore) complete(t testing.TB) {
	t.Helper()
	if _, err := s.Files(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.RecordSync(t.Context(), *s.now); err != nil {
		t.Fatal(err)
	}
}

func TestDerivedAnswersSurviveRebuildAndOlderSchema(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openDerived(t, dir)
	ctx := t.Context()
	for i := range 300 {
		if err := s.PutAnswer(ctx, "facts/1", "m", [32]byte{byte(i), byte(i >> 8)}, fmt.Sprintf("answer %d", i), []string{fmt.Sprint("e", i)}, 1, 2); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.ReplaceAll(ctx, nothing); err != nil {
		t.Fatal(err)
	}
	check := func(what string) {
		t.Helper()
		for i := range 300 {
			got, err := s.CachedAnswer(ctx, "facts/1", "m", [32]byte{byte(i), byte(i >> 8)})
			if want := fmt.Sprintf("answer %d", i); got != want || err != nil {
				t.Fatalf("after %s: %q, not %q, %v", what, got, want, err)
			}
		}
	}
	check("a rebuild")
	if got, err := s.CachedAnswer(ctx, "facts/2", "m", [32]byte{1}); got != "" || err != nil {
		t.Errorf("another contract: %q, %v", got, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	storetest.Exec(t, s.path, "PRAGMA user_version = 9", "UPDATE llm_cache SET response = 'forged' WHERE id = 5")
	s = openDerived(t, dir)
	s.complete(t)
	if got, err := s.CachedAnswer(ctx, "facts/1", "m", [32]byte{4}); got != "" || err != nil {
		t.Errorf("an answer without its checksum: %q, %v", got, err)
	}
	if err := s.PutAnswer(ctx, "facts/1", "m", [32]byte{4}, "answer 4", nil, 1, 2); err != nil {
		t.Fatal(err)
	}
	check("an older schema")
}

func TestDerivedAnswersAreEvictedLongestUnusedFirst(t *testing.T) {
	t.Parallel()
	s := openDerived(t, t.TempDir())
	ctx := t.Context()
	f := noteFile("memory/2026-11-01.md", "Ana likes tea")
	s.sync(t, f)
	answer := strings.Repeat("x", 1<<20)
	live := f.Episodes[0].UID
	put := func(i int, uid string) {
		t.Helper()
		*s.now = s.now.Add(time.Second)
		if err := s.PutAnswer(ctx, "facts/1", "m", [32]byte{byte(i)}, answer, []string{uid}, 1, 2); err != nil {
			t.Fatal(err)
		}
	}
	put(0, live)
	for i := 1; i <= 65; i++ {
		put(i, "gone")
	}
	has := func(i int) bool {
		got, err := s.CachedAnswer(ctx, "facts/1", "m", [32]byte{byte(i)})
		if err != nil {
			t.Fatal(err)
		}
		return got != ""
	}
	if !has(0) || has(1) || !has(65) {
		t.Errorf("live %v, oldest %v, newest %v", has(0), has(1), has(65))
	}
}
