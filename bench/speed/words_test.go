package speed

import "testing"

func TestSearchBothMeasuresTheSameQuestions(t *testing.T) {
	t.Parallel()
	inMemory, onDisk, err := searchBoth(t.Context(), newEnv(t))
	if err != nil || len(inMemory) != keywordQuestions || len(onDisk) != keywordQuestions || inMemory.median() <= 0 || onDisk.p95() <= 0 {
		t.Errorf("%d and %d searches, %v", len(inMemory), len(onDisk), err)
	}
}

func TestTasksSkipSizesAboveTheLargest(t *testing.T) {
	t.Parallel()
	b := linear("a")
	b.MaxSize = 1000
	if got := tasks([]Bench{b}, []int{100, 1000, 1001}); len(got) != 2 || got[1].name != "a @ 1,000" {
		t.Errorf("%+v", got)
	}
}
