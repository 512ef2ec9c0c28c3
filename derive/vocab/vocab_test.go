package vocab_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/derive/vocab"
	"kioku/memory"
)

func TestNormComparesNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, a, b string }{
		{"case and blanks", "  Dario  CONTI ", "dario conti"},
		{"accents", "José", "jose"},
		{"full width", "ＡＣＭＥ", "acme"},
		{"traditional characters", "臺灣", "台湾"},
		{"marks around it", "**Acme**", "acme"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(vocab.Norm(c.b), vocab.Norm(c.a)); diff != "" {
				t.Error(diff)
			}
		})
	}
	for _, pair := range [][2]string{{"ハル", "はる"}, {"ハル", "バル"}, {"C", "C#"}, {"Anna", "Ann"}} {
		if vocab.Norm(pair[0]) == vocab.Norm(pair[1]) {
			t.Errorf("Norm takes %s for %s", pair[0], pair[1])
		}
	}
	if got := vocab.Norm(" -- "); got != "" {
		t.Errorf("Norm of marks is %q, want none", got)
	}
}

func TestLoopKeyIgnoresMarksAndDueDates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		same []string
	}{
		{"English", []string{"call Ana", "- [ ] Call Ana", "- [x] call Ana.", "TODO: call Ana by Friday", "done: call Ana", "call Ana (due 2026-12-01)", "call Ana by December 1", "call Ana 📅 2026-12-01", "- [x] call Ana ➕ 2026-11-01 ✅ 2026-11-20"}},
		{"Japanese", []string{"見積もりを送る", "要対応：見積もりを送る", "完了: 見積もりを送る", "見積もりを送る（12月1日まで）", "- [ ] 来週金曜までに見積もりを送る"}},
		{"Chinese", []string{"提交报告", "待办：提交报告", "已完成：提交报告", "周五之前提交报告", "- [x] 提交報告。"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, text := range c.same {
				if vocab.LoopKey(text) != vocab.LoopKey(c.same[0]) {
					t.Errorf("%q has another key than %q", text, c.same[0])
				}
			}
		})
	}
	if vocab.LoopKey("call Ana") == vocab.LoopKey("call Anna") {
		t.Error("two loops have one key")
	}
	if vocab.LoopKey("by Friday") == vocab.LoopKey("by Monday") {
		t.Error("a text that is nothing but a date lost it")
	}
}

func TestFactKeyTellsFactsApart(t *testing.T) {
	t.Parallel()
	dario := memory.EntityRef{Type: vocab.Person, Name: "Dario"}
	key := vocab.FactKey(dario, "likes", "the Coffee.")
	if key != vocab.FactKey(memory.EntityRef{Type: vocab.Person, Name: "DARIO"}, "likes", "coffee") {
		t.Error("case, article or full stop make another key")
	}
	for name, other := range map[string]string{
		"object":    vocab.FactKey(dario, "likes", "tea"),
		"predicate": vocab.FactKey(dario, "dislikes", "coffee"),
		"type":      vocab.FactKey(memory.EntityRef{Type: vocab.Org, Name: "Dario"}, "likes", "coffee"),
		"qualifier": vocab.FactKey(memory.EntityRef{Type: vocab.Person, Name: "Dario", Qualifier: "2"}, "likes", "coffee"),
	} {
		if other == key {
			t.Errorf("another %s has the same key", name)
		}
	}
	if got := len(vocab.UnitUID("a", "b")); got != 32 {
		t.Errorf("a UID has %d digits, want 32", got)
	}
	if vocab.UnitUID("a", "bc") == vocab.UnitUID("ab", "c") {
		t.Error("parts run into each other")
	}
}

func TestVocabularyFromSettings(t *testing.T) {
	t.Parallel()
	v, err := vocab.New(map[string]string{"drives_to": "exclusive", "status_is": "set"})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]vocab.Class{}
	for _, name := range []string{"drives_to", "status_is", "lives_in", "first_met_at", "likes"} {
		got[name], _ = v.Class(name)
	}
	want := map[string]vocab.Class{"drives_to": vocab.Exclusive, "status_is": vocab.Set, "lives_in": vocab.Exclusive, "first_met_at": vocab.Event, "likes": vocab.Set}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if class, _ := vocab.Default().Class("status_is"); class != vocab.Exclusive {
		t.Error("settings of one vocabulary changed another")
	}
	if _, ok := v.Class("knows_about"); ok {
		t.Error("a predicate outside the vocabulary has a class")
	}
	for name, class := range map[string]string{"Drives": "set", "drives": "many", "likes": "exclusive", "": "set"} {
		var bad *memory.InputError
		if _, err := vocab.New(map[string]string{name: class}); !errors.As(err, &bad) {
			t.Errorf("New(%q: %q) returned %v, want an InputError", name, class, err)
		}
	}
}

func TestPredicateKnowsAliases(t *testing.T) {
	t.Parallel()
	v := vocab.Default()
	for name, want := range map[string]string{"lives_at": "lives_in", "Works For": "works_at", "time-zone": "timezone_is", "likes": "likes", "is": ""} {
		if got, ok := v.Predicate(name); got != want || ok != (want != "") {
			t.Errorf("Predicate(%q) = %q, %t, want %q", name, got, ok, want)
		}
	}
	for name := range v.Names() {
		if got, ok := v.Predicate(v.Names()[name]); !ok || got != v.Names()[name] {
			t.Errorf("Predicate(%q) = %q", v.Names()[name], got)
		}
	}
	if v.Slot("dislikes") != "likes" || v.Slot("likes") != "likes" || v.Slot("avoids") != "prefers" || v.Slot("uses") != "uses" {
		t.Error("the slots of predicates are wrong")
	}
}

func TestSplitDueKeepsTheRest(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"call Ana by Friday":        {"call Ana", "by Friday"},
		"walk by the river":         {"walk by the river", ""},
		"pay (due 2026-12-01).":     {"pay", "(due 2026-12-01)."},
		"12月1日までに見積もりを送る":           {"見積もりを送る", "12月1日までに"},
		"周五之前提交报告":                  {"提交报告", "周五之前"},
		"until Monday":              {"until Monday", ""},
		"read chapter 3 before May": {"read chapter 3", "before May"},
	} {
		rest, due := vocab.SplitDue(text)
		if diff := cmp.Diff(want, [2]string{rest, due}); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestRelationIsKnownByOtherWords(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"Sister": "family", "wife": "partner", "friend": "friend", "nemesis": "other", " colleague ": "colleague"} {
		if got := vocab.Relation(name); got != want {
			t.Errorf("Relation(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestTextIsASentence(t *testing.T) {
	t.Parallel()
	dario := memory.EntityRef{Type: vocab.Person, Name: "Dario"}
	for want, u := range map[string]memory.Unit{
		"Dario lives in Porto (since 2026-10)":           {Fact: &memory.Fact{Subject: dario, Predicate: "lives_in", Object: "Porto", From: "2026-10"}},
		"The user likes 静かな カフェ":                         {Fact: &memory.Fact{Subject: vocab.User(), Predicate: "likes", Object: "静かな\nカフェ"}},
		"Dario works at Acme (2026-03 to 2026-07)":       {Fact: &memory.Fact{Subject: dario, Predicate: "works_at", Object: "Acme", From: "2026-03", To: "2026-08"}},
		"Dario drives to work by bus (until 2026-02-28)": {Fact: &memory.Fact{Subject: dario, Predicate: "drives_to", Object: "work by bus", To: "2026-03-01"}},
		"Dario works at Acme (2026)":                     {Fact: &memory.Fact{Subject: dario, Predicate: "works_at", Object: "Acme", From: "2026", To: "2027"}},
		"Open: send the report (due 2026-12-01)":         {Loop: &memory.Loop{Status: memory.LoopOpen, Text: "send the report", Due: "2026-12-01"}},
		"Done: send the report":                          {Loop: &memory.Loop{Status: memory.LoopClosed, Text: "send the report"}},
		"A quiet week.":                                  {Summary: &memory.Summary{Text: "A quiet\nweek."}},
		"":                                               {},
	} {
		if diff := cmp.Diff(want, vocab.Text(u)); diff != "" {
			t.Error(diff)
		}
	}
}
