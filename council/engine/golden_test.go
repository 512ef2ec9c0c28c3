package engine_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/council"
)

var update = flag.Bool("update", false, "write the files of a decision into testdata")

// Check 1: every byte of every file of a decision in one round, of which one vote is with changes and an owner asks for more.
func TestFilesOfADecision(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.vote(map[string]string{"bee": council.VoteWithChanges})
	w.submit(council.Task{ID: "task_1", Title: "Buy a kettle", Description: "The old one leaks.", Author: owner, Source: "cli"})
	if err := w.ReportResult(t.Context(), "task_1", council.Result{Result: "bought", Succeeded: true, Author: owner}); err != nil {
		t.Fatal(err)
	}
	w.settle()
	var b strings.Builder
	for _, name := range filesOf(t, w.dir) {
		data, err := os.ReadFile(w.dir + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".lock") {
			data = []byte("process N on HOST\n")
		}
		fmt.Fprintf(&b, "-- %s --\n%s", name, data)
	}
	const golden = "testdata/decision.txtar"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("-update writes it (-want +got):\n%s", diff)
	}
}

// Check 1: the golden files have every field of the article's.
func TestFilesHaveTheFieldsOfTheArticle(t *testing.T) {
	t.Parallel()
	golden, err := os.ReadFile("testdata/decision.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for file, fields := range map[string]string{
		"discussions/task_1/task.json":        "id type title description priority created_at status",
		"discussions/task_1/status.json":      "task_id status current_round max_rounds started_at started_by",
		"discussions/task_1/round_1/ant.json": "node round vote opinion proposed_approach concerns timestamp",
		"decisions/task_1.json":               "task_id decision status final_round final_approach executor decided_at announcement summary key_points announced_by announced_at",
		"decisions/task_1_result.json":        "task_id executor result completed_at",
		"nodes/ant/activity.json":             "node status updated_at",
		"health.json":                         "checked_at alerts status",
	} {
		_, text, found := strings.Cut(string(golden), "-- council/"+file+" --\n")
		text, _, _ = strings.Cut(text, "\n-- ")
		if !found {
			t.Errorf("there is no %s", file)
		}
		for field := range strings.FieldsSeq(fields) {
			if !strings.Contains(text, `"`+field+`": `) {
				t.Errorf("%s has no %s:\n%s", file, field, text)
			}
		}
	}
}
