package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/council"
	"kioku/council/member"
)

// A person who looks into the folder of a discussion sees the files of the article. A discussion that a version before has begun, which
// kept its own files beside them, goes on where it was.
func TestDiscussionShowsTheFilesOfTheArticle(t *testing.T) {
	t.Parallel()
	for _, before := range []bool{false, true} {
		w := newWorld(t, nil)
		task := w.dir + "/council/discussions/task_1"
		ctx, cancel := context.WithCancel(t.Context())
		w.script.Answer = func(turn context.Context, q member.Question) (member.Reply, error, bool) {
			if q.Member != "cat" || q.Phase != member.PhaseOpinion {
				return member.Reply{}, nil, false
			}
			for ballots, _ := filepath.Glob(task + "/round_1/*.json"); len(ballots) < 2; ballots, _ = filepath.Glob(task + "/round_1/*.json") {
				runtime.Gosched()
			}
			cancel()
			<-turn.Done() // the engine is closed meanwhile
			return member.Reply{}, turn.Err(), true
		}
		if _, err := w.Submit(t.Context(), council.Task{ID: "task_1", Title: "Buy a kettle"}); err != nil {
			t.Fatal(err)
		}
		if err := w.Settle(ctx); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		w.Close()
		if before {
			own := task + "/.engine"
			for _, name := range filesOf(t, own) {
				if err := os.Rename(filepath.Join(own, name), filepath.Join(task, name)); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.RemoveAll(own); err != nil {
				t.Fatal(err)
			}
		}
		w.script.Answer = nil
		w.open(nil)
		w.settle()
		if n := w.script.Count(member.PhaseOpinion); n != 4 {
			t.Errorf("begun before %v: %d opinions were asked for, want 3 and that of cat again", before, n)
		}
		votes := map[string]string{"ant": council.VoteApprove, "bee": council.VoteApprove, "cat": council.VoteApprove}
		if diff := cmp.Diff(votes, w.get("task_1").Decision.Votes[0].Votes); diff != "" {
			t.Errorf("begun before %v: %s", before, diff)
		}
		if before {
			continue
		}
		var seen []string
		for _, name := range filesOf(t, task) {
			if !strings.HasPrefix(name, ".") {
				seen = append(seen, name)
			}
		}
		if diff := cmp.Diff([]string{"round_1/ant.json", "round_1/bee.json", "round_1/cat.json", "status.json", "task.json"}, seen); diff != "" {
			t.Error(diff)
		}
	}
}
