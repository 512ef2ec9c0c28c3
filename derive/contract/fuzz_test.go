package contract_test

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// seeds adds the answers of the tables to a fuzz test.
func seeds(f *testing.F, names ...string) {
	for _, name := range names {
		f.Add(valid[name].answer, "")
		f.Add("```json\n"+valid[name].answer+"\n```", "end")
		f.Add(valid[name].answer[:len(valid[name].answer)/2], "length")
	}
	f.Add(`{"facts": [], "facts": []}`, "")
	f.Add("\uFEFF{}", "refusal")
}

func FuzzReadExtract(f *testing.F) {
	seeds(f, "extract")
	for _, part := range []string{"facts", "entities", "loops"} {
		f.Add(inExtract(valid[part].answer), "")
	}
	f.Add(inExtract(`{"reflection": `+valid["reflect"].answer+`}`), "")
	f.Fuzz(func(t *testing.T, answer, stop string) {
		in := extractInput()
		c := contracts
		c.Reflections = strings.Contains(answer, "reflection_text")
		x, _, err := read(c.Extract(in))(answer, stop)
		if (err == nil) != (len(x) == len(in.Episodes)) {
			t.Fatalf("%d episodes, %v", len(x), err)
		}
		for i, e := range x {
			if r := e.Reflection; r != nil && !(r.Salience >= 0 && r.Salience <= 1 && r.Confidence >= 0 && r.Confidence <= 1 && len(r.Tags) <= 8 && utf8.RuneCountInString(r.Text) <= 600) {
				t.Fatalf("%+v", r)
			}
			for _, c := range e.Claims {
				if err := checkClaim(in.Episodes[i], input(), c); err != nil {
					t.Fatalf("%v: %+v", err, c)
				}
			}
		}
	})
}

func FuzzReadExpand(f *testing.F) {
	seeds(f, "expand")
	f.Fuzz(func(t *testing.T, answer, stop string) {
		if x, _, _ := read(contracts.Expand(expandInput()))(answer, stop); len(x) > 5 {
			t.Fatalf("%+v", x)
		}
	})
}

func FuzzReadRerank(f *testing.F) {
	seeds(f, "rerank")
	f.Fuzz(func(t *testing.T, answer, stop string) {
		x, _, _ := read(contracts.Rerank(rerankInput()))(answer, stop)
		seen := map[int]bool{}
		for _, r := range x {
			if r.Index < 0 || r.Index >= 30 || seen[r.Index] || len(x) > 5 {
				t.Fatalf("%+v", x)
			}
			seen[r.Index] = true
		}
	})
}

func FuzzReadSummary(f *testing.F) {
	seeds(f, "summary")
	f.Fuzz(func(t *testing.T, answer, stop string) {
		x, _, err := read(contracts.Summary(summaryInput()))(answer, stop)
		if (err == nil) != (x.Text != "") || utf8.RuneCountInString(x.Text) > 600 || len(x.Events) > 5 {
			t.Fatalf("%+v, %v", x, err)
		}
		for _, e := range x.Events {
			if e.EpisodeUID != "e1" && e.EpisodeUID != "e2" {
				t.Fatalf("a foreign episode: %+v", e)
			}
		}
	})
}
