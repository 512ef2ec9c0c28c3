package chunker_test

import (
	"strings"
	"sync"
	"testing"

	loader "github.com/pkoukk/tiktoken-go-loader"

	"github.com/pkoukk/tiktoken-go"
	"pgregory.net/rapid"

	"kioku/chunker"
)

// references return tiktoken-go itself, which Count must agree with.
var references = map[string]func() *tiktoken.Tiktoken{
	"cl100k_base": sync.OnceValue(func() *tiktoken.Tiktoken { return reference("cl100k_base") }),
	"o200k_base":  sync.OnceValue(func() *tiktoken.Tiktoken { return reference("o200k_base") }),
}

func reference(encoding string) *tiktoken.Tiktoken {
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	t, err := tiktoken.GetEncoding(encoding)
	if err != nil {
		panic(err)
	}
	return t
}

// samples are texts that are hard to cut into pieces.
var samples = []string{
	"", " ", "\n", "\r\n", "a", "\x00", "\uFFFD", "\xff\xfe", "a\xffb",
	"The quick brown fox didn't jump; it's WE'LL, I'Ve, 'Twas, o'clock, '', 's.",
	"  two  spaces   and\ttabs\t\tand  \n  \n\n   lines\n\n\n",
	"trailing space \nand more  \n", "\u00a0nbsp\u2003em\u2028ls\u0085nel\u3000wide ",
	"3.14159 1234567 ٣٤٥ ½ Ⅻ １２３４",
	"foo();\n\nbar {}\n}\n\n// a/b/c\r\n\r\n***\n-----\n/\n/",
	"https://example.com/a/b?c=d&e=%20f#g kioku.Open(ctx, opts...)",
	"記憶の検索は、中身を400トークンずつに分ける。ー々〆ヶ「はい」！？",
	"他昨天说：“我们需要新的设计”，然后离开了。",
	"한국어 문장입니다. ภาษาไทยไม่มีช่องว่าง हिन्दी में लिखा عربي مع تشكيل َُ",
	"e\u0301\u0301 \u0301x \u0301\u0301A क़् 👩‍👩‍👧‍👦🇯🇵👍🏽 zero\u200bwidth \u202Ertl",
	"camelCaseWords HTTPServer XMLHttpRequest iPhone ǅabc ʰABC 漢A漢a漢 ÀÉÎ ßÉß A's B'LL a'S",
	"<|endoftext|> <|fim_prefix|>",
}

func TestCountEqualsTiktoken(t *testing.T) {
	t.Parallel()
	for encoding, reference := range references {
		c := newChunker(t, chunker.Options{Encoding: encoding})
		for _, text := range samples {
			if got, want := c.Count(text), len(reference().EncodeOrdinary(text)); got != want {
				t.Errorf("%s: Count(%q) = %d, tiktoken counts %d", encoding, text, got, want)
			}
		}
	}
}

// pieces are the parts of random texts: whole words, which are tokens, and single odd runes.
var pieces = append(strings.Split(" |  |\n|\r\n|\t|'s|'|.|/|;\n|--|**|a|Ab|the| memory|123|é|\u0301|漢|かな|。|、|👍|\u00a0|\u2028|ʰ|İ|ſ", "|"), "|")

func text(t *rapid.T) string {
	return rapid.OneOf(
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 60), func(s []string) string { return strings.Join(s, "") }),
		rapid.String(),
		rapid.StringOfN(rapid.Rune(), 0, 80, -1),
	).Draw(t, "text")
}

func TestCountEqualsTiktokenOnAnyText(t *testing.T) {
	t.Parallel()
	for encoding, reference := range references {
		c := newChunker(t, chunker.Options{Encoding: encoding})
		rapid.Check(t, func(t *rapid.T) {
			text := text(t)
			if got, want := c.Count(text), len(reference().EncodeOrdinary(text)); got != want {
				t.Fatalf("%s: Count(%q) = %d, tiktoken counts %d", encoding, text, got, want)
			}
		})
	}
}

func TestCountEqualsTiktokenOnLongRuns(t *testing.T) {
	t.Parallel()
	runs := map[string]string{
		"one letter": strings.Repeat("a", 2000),
		"Japanese":   strings.Repeat("記憶検索索引分割設計昨日会議資料", 60),
		"Chinese":    strings.Repeat("我们昨天讨论了新的设计方案", 60),
		"base64":     strings.Repeat("bWVtb3J5L2RhaWx5L3NlYXJjaCtpbmRleA", 40),
		"dashes":     strings.Repeat("-", 999),
		"spaces":     strings.Repeat(" ", 999) + "x",
		"newlines":   strings.Repeat("\n", 999),
	}
	for encoding, reference := range references {
		c := newChunker(t, chunker.Options{Encoding: encoding})
		for name, text := range runs {
			t.Run(encoding+"/"+name, func(t *testing.T) {
				if got, want := c.Count(text), len(reference().EncodeOrdinary(text)); got != want {
					t.Errorf("Count = %d, tiktoken counts %d", got, want)
				}
			})
		}
	}
}

func TestCountIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	c := newChunker(t, chunker.Options{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := c.Count("hello world"); got != 2 {
				t.Errorf("Count = %d, want 2", got)
			}
			if got := len(c.Split(chunker.Notes, []byte("hello world")).Chunks); got != 1 {
				t.Errorf("Split made %d chunks, want 1", got)
			}
		})
	}
	wg.Wait()
}

func newChunker(t testing.TB, opts chunker.Options) *chunker.Chunker {
	t.Helper()
	c, err := chunker.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
