package analysis

import (
	"slices"
	"strings"
	"testing"
)

// Traditional and simplified Chinese meet, both directions.
func TestTermsOfChineseVariantsAgree(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"倉庫的鑰匙放在圖書館後面", "仓库的钥匙放在图书馆后面"}, {"發票與報銷", "发票与报销"}, {"裡裏", "里里"}, {"乾淨", "干净"}, {"國", "国"},
	} {
		if a, b := Terms(c[0]), Terms(c[1]); !slices.Equal(a, b) {
			t.Errorf("%s has %q, %s has %q", c[0], a, c[1], b)
		}
	}
}

func TestFoldHanKeepsOffsets(t *testing.T) {
	t.Parallel()
	for i, r := range hanFold {
		if from := rune(firstHan + i); len(string(rune(r))) != len(string(from)) || foldHanRune(rune(r)) != rune(r) {
			t.Errorf("%c is looked up as %c", from, rune(r))
		}
	}
	const text = "abc 東京タワー é 서울 𠮷"
	if got := FoldHan(text); len(got) != len(text) || strings.ReplaceAll(got, "东", "東") != text {
		t.Errorf("%q becomes %q", text, got)
	}
}

// Korean particles are at the end of a word, after two syllables or more.
func TestInParticle(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"서울은": "울은", "서울에서": "울에 에서", "서울": "", "회의": "", "회의에서는 서울로": "의에 에서 서는 울로",
		"나는": "", "데이터를": "터를", "東京は": "", "서울은 좋다": "울은",
	} {
		a := NewAnalyzer()
		a.Add(text)
		var light []string
		for _, token := range a.Tokens {
			if InParticle(a.Lower, token) {
				light = append(light, token.Term)
			}
		}
		a.Release()
		if got := strings.Join(light, " "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
