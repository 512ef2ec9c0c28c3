package chunker_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"kioku/chunker"
)

// prose returns about a megabyte of Markdown from words in a random but fixed order.
func prose(words []string, between, stop string) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for i := 0; b.Len() < 1<<20; i++ {
		switch {
		case i%120 == 0:
			fmt.Fprintf(&b, "\n\n## Section %d\n\n", i/120)
		case i%24 == 0:
			b.WriteString("\n- ")
		}
		b.WriteString(words[r.IntN(len(words))] + between)
		if i%12 == 11 {
			b.WriteString(stop)
		}
	}
	return []byte(b.String())
}

func BenchmarkSplit(b *testing.B) {
	english := strings.Fields("the a of to in memory agents remember notes that Kioku's indexer re-embeds chunks whose text " +
		"changed yesterday because Yuki moved 17 services from eu-west-1 and doesn't want regressions; latency (p99) fell to 4.2ms")
	japanese := strings.Fields("記憶 の 検索 は 昨日 会議 で 田中さん が 新しい 設計 に ついて 話しました 索引 を 更新 する サーバー " +
		"トークン 数え 方 テスト 結果 良かった ので 来週 公開 します 東京 本社")
	for _, encoding := range []string{"cl100k_base", "o200k_base"} {
		c := newChunker(b, chunker.Options{Encoding: encoding})
		for name, src := range map[string][]byte{
			"english": prose(english, " ", ". "), "japanese": prose(japanese, "", "。"), "run": []byte(strings.Repeat("a", 1<<20)),
		} {
			b.Run(encoding+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(src)))
				for b.Loop() {
					c.Split(chunker.Notes, src)
				}
			})
		}
	}
}
