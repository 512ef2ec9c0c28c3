package search

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// entries is a chunk of a daily note with an entry of a category.
func entry(day, category, text string) Chunk {
	return Chunk{Path: "memory/" + day + ".md", Date: day, Headings: "# " + day + " > ## 10:00 - " + category, Text: "## 10:00 - " + category + "\n\n" + text}
}

// A note appended with the category decision is found by "what did we decide about the API?", in a folder with this one note
// and in a folder of hundreds.
func TestSearchFindsAnEntryByItsCategory(t *testing.T) {
	t.Parallel()
	decision := entry("2026-02-03", "decision", "REST, not GraphQL.")
	folders := map[string][]Chunk{
		"one":      {decision},
		"few":      append(workNotes(10), decision),
		"hundreds": append(workNotes(300), decision),
	}
	for i := range 12 {
		folders["many about the API"] = append(folders["many about the API"], Chunk{Path: fmt.Sprintf("memory/api%d.md", i), Text: "The API of the harbour answers slowly."})
	}
	folders["many about the API"] = append(folders["many about the API"], append(workNotes(100), decision)...)
	for name, chunks := range folders {
		for _, question := range []string{"what did we decide about the API?", "which decisions were made on the API?", "APIについて何を決めましたか", "我们对API的决定是什么", "Was haben wir zur API entschieden?"} {
			a := ask(t, New(newFakeStore(chunks...), nil, testOptions()), question)
			found := false
			for _, h := range a.Hits {
				found = found || h.Path == decision.Path
			}
			if !found {
				t.Errorf("%s, %q: found %v, %v", name, question, paths(a), a.Degraded)
			}
		}
	}
}

// "what did we decide about lunch?" does not return every decision if something better is there.
func TestSearchDoesNotReturnEveryEntryOfACategory(t *testing.T) {
	t.Parallel()
	chunks := workNotes(100)
	for i := range 20 {
		chunks = append(chunks, entry(fmt.Sprintf("2026-01-%02d", i+1), "decision", fmt.Sprintf("Buy pump number %d.", i)))
	}
	lunch := entry("2026-02-20", "decision", "Lunch is at noon.")
	for name, better := range map[string]Chunk{"a decision": lunch, "a note": {Path: "memory/lunch.md", Text: "We decided that lunch is at noon."}} {
		a := ask(t, New(newFakeStore(append(chunks, better)...), nil, testOptions()), "what did we decide about lunch?")
		if len(a.Hits) == 0 || a.Hits[0].Path != better.Path || a.Hits[0].Weak {
			t.Errorf("%s: found %v", name, paths(a))
			continue
		}
		for _, h := range a.Hits[1:] {
			if !h.Weak {
				t.Errorf("%s: %s with the score %.2f is as good as the answer", name, h.Path, h.Score)
			}
		}
	}
	for _, h := range ask(t, New(newFakeStore(chunks...), nil, testOptions()), "what did we decide about lunch?").Hits {
		if !h.Weak {
			t.Errorf("%s is an answer although no decision is about lunch", h.Path)
		}
	}
	if a := ask(t, New(newFakeStore(chunks...), nil, testOptions()), "where is lunch?"); len(a.Hits) > 0 {
		t.Errorf("a question that asks for no category found %v", paths(a))
	}
}

func TestEntryCategory(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	for _, heading := range []string{"## 10:00 - Decision", "## 09:15 - open question", "15:04 - 決定", "## 10:00", "# Plan - decision", "## 1:00 - x", "## ab:cd - x"} {
		got[heading] = entryCategory(heading)
	}
	want := map[string]string{
		"## 10:00 - Decision": "decision", "## 09:15 - open question": "open question", "15:04 - 決定": "決定",
		"## 10:00": "", "# Plan - decision": "", "## 1:00 - x": "", "## ab:cd - x": "",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
