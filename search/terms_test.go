package search

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseTermsDropsStopWords(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"English stop words go", "When did we move the staging servers?", "move stage server"},
		{"stop words that stand alone stay", "what is it", "what is it"},
		{"Japanese question endings go", "移行の予定はいつですか", "移行 行の の予 予定 定は はい"},
		{"Japanese question words go", "担当は誰", "担当 当は"},
		{"Chinese question words go", "数据库在哪里", "数据 据库 库在"},
		{"Chinese particles go", "你好吗", "你好"},
		{"Chinese questions for a time", "搬家是什么时候", "搬家 家是"},
		{"Chinese questions for a time, traditional", "搬家是什麼時候", "搬家 家是"},
		{"duplicates are merged", "tea tea TEAS", "tea"},
		{"identifiers are no stop words", "not-a-word", "word notaword"},
		{"punctuation leaves nothing", "?!", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := strings.Join(parseTerms(test.text, nil).strings(), " ")
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("parseTerms(%q) (-want +got):\n%s", test.text, diff)
			}
		})
	}
}

func TestParseTermsWeighsCapitals(t *testing.T) {
	t.Parallel()
	got := make(map[string]float64)
	for _, term := range parseTerms("Where does Alice keep OpenClaw keys", nil).list {
		got[term.term] = term.weight
	}
	want := map[string]float64{"alic": 1.5, "keep": 1, "open": 1, "claw": 1, "openclaw": 1.5, "kei": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if w := parseTerms("Alice", nil).list[0].weight; w != 1 {
		t.Errorf("the first word weighs %v, want 1", w)
	}
}

func TestParseTermsWeighsParticles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		light      []string
	}{
		{"Japanese", "鍵の交換を頼む", []string{"键の", "の交", "换を", "を頼"}},
		{"Chinese", "仓库的钥匙在桌上", []string{"库的", "的钥", "匙在", "在桌"}},
		{"Chinese particles are letters in Japanese", "所有のりんご", []string{"有の", "のり"}},
		{"a kanji compound without kana", "会議予定変更", nil},
		{"Latin words", "the key of Alice's office", nil},
	} {
		t.Run(c.text, func(t *testing.T) {
			var light []string
			for _, term := range parseTerms(c.text, nil).list {
				switch term.weight {
				case 0.3:
					light = append(light, term.term)
				case 1, 1.5:
				default:
					t.Errorf("%s: %s weighs %v", c.name, term.term, term.weight)
				}
			}
			if diff := cmp.Diff(c.light, light); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.name, diff)
			}
		})
	}
}

// A word that the folder lacks counts for more than the rarest that it has; a bigram, which may be none of a word, for as much.
func TestWeighUnknownTerms(t *testing.T) {
	t.Parallel()
	q := parseTerms("tea zyx 茶碗", nil).weigh(map[string]int{"tea": 1}, 100)
	tea, word, gram := q.list[0].idf, q.list[1].idf, q.list[2].idf
	if !(word > tea) || gram != tea {
		t.Errorf("the word weighs %v and the bigram %v, the rarest known word %v", word, gram, tea)
	}
}

func TestParseTermsPairsAdjacentTerms(t *testing.T) {
	t.Parallel()
	q := parseTerms("staging servers of Lisbon\noffice", nil)
	var got []string
	for _, p := range q.pairs {
		got = append(got, q.list[p[0]].term+" "+q.list[p[1]].term)
	}
	if diff := cmp.Diff([]string{"stage server"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Hazard D02: of a long query only the 32 rarest known terms are looked for, in their order.
func TestWeighKeepsRarestTerms(t *testing.T) {
	t.Parallel()
	var words []string
	df := make(map[string]int)
	for i := range 50 {
		w := fmt.Sprintf("w%02d", i)
		words = append(words, w)
		if i%2 == 0 {
			df[w] = i + 1
		}
	}
	q := parseTerms(strings.Join(words, " "), nil).weigh(df, 1000)
	if len(q.list) != MaxTerms || !q.capped {
		t.Fatalf("%d terms, capped %v", len(q.list), q.capped)
	}
	known := 0
	for i, term := range q.list {
		if term.df > 0 {
			known++
		}
		if i > 0 && term.term < q.list[i-1].term {
			t.Errorf("%s stands behind %s", term.term, q.list[i-1].term)
		}
	}
	if known != 25 {
		t.Errorf("%d of 25 known terms stayed", known)
	}
	for _, p := range q.pairs {
		if p[0]+1 != p[1] || q.list[p[0]].term >= q.list[p[1]].term {
			t.Errorf("pair %v does not point at neighbours", p)
		}
	}
}
