package store_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/derive/store"
	indexstore "kioku/store"
	"kioku/store/checksumvfs"
	"kioku/store/storetest"
)

func TestDerivedJobsThatAreParkedWaitForAPerson(t *testing.T) {
	t.Parallel()
	s := openDerived(t, t.TempDir())
	ctx := t.Context()
	for _, j := range []store.Job{{Kind: "extract", Key: "a"}, {Kind: "summary", Key: "a", LastError: "first"}, {Kind: "summary", Key: "a", ErrorClass: "contract", LastError: "no JSON"}} {
		if err := s.Park(ctx, j); err != nil {
			t.Fatal(err)
		}
	}
	parked, err := s.Parked(ctx, 10)
	if err != nil || len(parked) != 2 || parked[0].LastError != "no JSON" || !parked[0].ParkedAt.Equal(*s.now) {
		t.Errorf("%+v, %v", parked, err)
	}
	stats, err := s.Stats(ctx, *s.now)
	if diff := cmp.Diff(map[string]int{"parked": 2}, stats.Jobs); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if err := errors.Join(s.Unpark(ctx, parked[0].ID), s.Unpark(ctx, 0)); err != nil {
		t.Fatal(err)
	}
	if parked, err = s.Parked(ctx, 10); err != nil || len(parked) != 1 || parked[0].Kind != "extract" {
		t.Errorf("%+v, %v", parked, err)
	}
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
	stats, err := s.Stats(ctx, now)
	if err != nil || stats.TokensToday != 150 || stats.CallsToday != 4 || stats.CallsThisHour != 3 {
		t.Errorf("%+v, %v", stats, err)
	}
	// It survives an index that must be made anew, and damage.
	s.close(t)
	storetest.Exec(t, indexstore.Path(dir, "main"), "PRAGMA user_version = 9")
	damageFirstPage(t, s.path)
	s = openDerived(t, dir)
	if stats, err = s.Stats(ctx, now); err != nil || stats.TokensToday != 150 || stats.CallsToday != 4 {
		t.Errorf("after an older schema and damage: %+v, %v", stats, err)
	}
}

func TestDerivedAnswersSurviveRebuildDamageAndEarlierIndexes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openDerived(t, dir)
	ctx := t.Context()
	for i := range 300 {
		if err := s.PutAnswer(ctx, "facts/1", "m", [32]byte{byte(i), byte(i >> 8)}, fmt.Sprintf("answer %d", i), []string{fmt.Sprint("e", i)}, 1, 2); err != nil {
			t.Fatal(err)
		}
	}
	s.rebuild(t)
	check := func(what string, missing ...int) {
		t.Helper()
		for i := range 300 {
			got, err := s.CachedAnswer(ctx, "facts/1", "m", [32]byte{byte(i), byte(i >> 8)})
			want := fmt.Sprintf("answer %d", i)
			if slices.Contains(missing, i) {
				want = ""
			}
			if got != want || err != nil {
				t.Fatalf("after %s: %q, not %q, %v", what, got, want, err)
			}
		}
	}
	check("a rebuild")
	if got, err := s.CachedAnswer(ctx, "facts/2", "m", [32]byte{1}); got != "" || err != nil {
		t.Errorf("another contract: %q, %v", got, err)
	}
	s.close(t)
	storetest.Exec(t, s.path, "UPDATE llm_cache SET response = 'forged' WHERE id = 5")
	damageFirstPage(t, s.path)
	s = openDerived(t, dir)
	check("damage", 4)
	s.close(t)

	// An index of an earlier version had them itself.
	index := indexstore.Path(dir, "main")
	older := []string{"CREATE TABLE llm_usage (id INTEGER PRIMARY KEY, day TEXT, hour TEXT, model TEXT, purpose TEXT, calls, tokens_in, tokens_out, reserved)",
		"INSERT INTO llm_usage VALUES (1, '2026-11-20', '2026-11-20T12', 'm', 'extract', 2, 30, 4, 0)",
		`CREATE TABLE llm_cache (id INTEGER PRIMARY KEY, contract TEXT, model TEXT, input_sha256 BLOB, response TEXT, sha256 BLOB, size INTEGER, episodes TEXT,
			tokens_in INTEGER, tokens_out INTEGER, used INTEGER)`}
	for i := range 300 {
		answer := fmt.Sprintf("answer %d", i)
		sum := sha256.Sum256([]byte(answer))
		sum[0] += byte(i / 299) // the last one is damaged
		older = append(older, fmt.Sprintf("INSERT INTO llm_cache VALUES (NULL, 'facts/1', 'm', x'%x', '%s', x'%x', 8, '[]', 1, 2, 3)", [32]byte{byte(i), byte(i >> 8)}, answer, sum))
	}
	storetest.Exec(t, index, append(older, "PRAGMA user_version = 15")...)
	if err := os.Remove(s.path); err != nil {
		t.Fatal(err)
	}
	s = openDerived(t, dir)
	s.cut(t)
	check("an earlier index", 299)
	if stats, err := s.Stats(ctx, *s.now); err != nil || stats.TokensToday != 34 {
		t.Errorf("%+v, %v", stats, err)
	}
}

// damageFirstPage spoils the first page of a file.
func damageFirstPage(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteAt([]byte{9}, checksumvfs.PageSize-4)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestDerivedAnswersAreEvictedLongestUnusedFirst(t *testing.T) {
	t.Parallel()
	s := openDerived(t, t.TempDir())
	ctx := t.Context()
	f := noteFile("memory/2026-11-01.md", "Ana likes tea")
	s.sync(t, f)
	answer := strings.Repeat("x", 1<<20)
	live := episodesOf(f)[0].UID
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
