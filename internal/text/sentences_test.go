package text_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/internal/text"
)

func TestSentencesKnowTheStopsOfManyScripts(t *testing.T) {
	t.Parallel()
	for _, parts := range [][]string{
		{"One. ", "Two 3.5! ", "Three?"},
		{`He said "yes." `, "She left."},
		{"東京に行った。", "「楽しかった。」", "帰った"},
		{"پہلا۔ ", "دوسرا؟ ", "تیسرا"},
		{"पहला। ", "दूसरा"},
	} {
		if diff := cmp.Diff(parts, text.Sentences(strings.Join(parts, ""), 100)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
