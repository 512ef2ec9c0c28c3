package contract_test

import (
	"testing"
	"unicode/utf8"

	"kioku/derive/contract"
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

// checkFound fails the test unless all claims have evidence.
func checkFound(t *testing.T, found contract.Found, err error) {
	t.Helper()
	if err != nil && (len(found.Claims) > 0 || len(found.Mentions) > 0) {
		t.Fatalf("an invalid answer has claims: %+v", found)
	}
	for _, c := range found.Claims {
		if err := checkClaim(talk(), input(), c); err != nil {
			t.Fatalf("%v: %+v", err, c)
		}
	}
}

func FuzzReadFacts(f *testing.F) {
	seeds(f, "facts")
	f.Fuzz(func(t *testing.T, answer, stop string) {
		found, err := contracts.ReadFacts(input(), answer, stop)
		checkFound(t, found, err)
	})
}

func FuzzReadEntities(f *testing.F) {
	seeds(f, "entities")
	f.Fuzz(func(t *testing.T, answer, stop string) {
		found, err := contracts.ReadEntities(input(), answer, stop)
		checkFound(t, found, err)
	})
}

func FuzzReadLoops(f *testing.F) {
	seeds(f, "loops")
	f.Fuzz(func(t *testing.T, answer, stop string) {
		found, err := contracts.ReadLoops(input(), answer, stop)
		checkFound(t, found, err)
	})
}

func FuzzReadExtract(f *testing.F) {
	seeds(f, "extract", "facts")
	f.Fuzz(func(t *testing.T, answer, stop string) {
		in := extractInput()
		x, err := contracts.ReadExtract(in, answer, stop)
		if (err == nil) != (len(x.Episodes) == len(in.Episodes)) {
			t.Fatalf("%d episodes, %v", len(x.Episodes), err)
		}
		for i, e := range x.Episodes {
			for _, c := range e.Claims {
				if err := checkClaim(in.Episodes[i], input(), c); err != nil {
					t.Fatalf("%v: %+v", err, c)
				}
			}
		}
	})
}

func FuzzReadReflect(f *testing.F) {
	seeds(f, "reflect")
	f.Fuzz(func(t *testing.T, answer, stop string) {
		r, _, err := contracts.ReadReflect(input(), answer, stop)
		if (r == nil) != (err != nil) {
			t.Fatalf("%+v, %v", r, err)
		}
		if r != nil && !(r.Salience >= 0 && r.Salience <= 1 && r.Confidence >= 0 && r.Confidence <= 1 && len(r.Tags) <= 8 && utf8.RuneCountInString(r.Text) <= 600) {
			t.Fatalf("%+v", r)
		}
	})
}

func FuzzReadExpand(f *testing.F) {
	seeds(f, "expand")
	f.Fuzz(func(t *testing.T, answer, stop string) {
		if x, _ := contracts.ReadExpand(expandInput(), answer, stop); len(x.Queries) > 5 || len(x.References) > 10 {
			t.Fatalf("%+v", x)
		}
	})
}

func FuzzReadRerank(f *testing.F) {
	seeds(f, "rerank")
	f.Fuzz(func(t *testing.T, answer, stop string) {
		x, _ := contracts.ReadRerank(rerankInput(), answer, stop)
		seen := map[int]bool{}
		for _, r := range x.Ranked {
			if r.Index < 0 || r.Index >= 30 || seen[r.Index] || len(x.Ranked) > 5 {
				t.Fatalf("%+v", x)
			}
			seen[r.Index] = true
		}
	})
}

func FuzzReadSummary(f *testing.F) {
	seeds(f, "summary")
	f.Fuzz(func(t *testing.T, answer, stop string) {
		x, err := contracts.ReadSummary(summaryInput(), answer, stop)
		if (err == nil) != (x.Summary.Text != "") || utf8.RuneCountInString(x.Summary.Text) > 600 || len(x.Summary.Events) > 5 {
			t.Fatalf("%+v, %v", x, err)
		}
		for _, e := range x.Summary.Events {
			if e.EpisodeUID != "e1" && e.EpisodeUID != "e2" {
				t.Fatalf("a foreign episode: %+v", e)
			}
		}
	})
}
