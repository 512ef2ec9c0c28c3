package analysis

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"

	"pgregory.net/rapid"
)

func TestTerms(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"English words are lowered and stemmed", "The Backups were restored", "the backup were restor"},
		{"duplicates stay in order", "tea, coffee; tea", "tea coffe tea"},
		{"apostrophes part words", "Ana's don't", "ana s don t"},
		{"Japanese becomes bigrams", "東京タワー", "东京 京タ タワ ワー"},
		{"iteration and counter marks are letters", "人々 三ヶ月 〆切", "人々 三ヶ ヶ月 〆切"},
		{"a lone character stays", "犬。", "犬"},
		{"Chinese becomes bigrams", "数据库迁移", "数据 据库 库迁 迁移"},
		{"Korean becomes bigrams", "데이터", "데이 이터"},
		{"Thai becomes bigrams", "ไทย", "ไท ทย"},
		{"digits part from kanji", "2010年に", "2010 年に"},
		{"Latin parts from kana", "GitHubのrepo", "git hub github の repo"},
		{"full-width forms become ASCII", "ＡＢＣ１２３、Ｃ＋＋", "abc123 c c++"},
		{"half-width katakana become wide", "ｶﾞｲﾄﾞ", "ガイ イド"},
		{"composed and decomposed letters agree", "cafe\u0301 café", "cafe cafe"},
		{"other alphabets are lowered, not stemmed", "Привет Straße İstanbul ΛΟΓΟΣ λόγος", "привет strass istanbul λογοσ λογοσ"},
		{"accents do not part words", "Zürich, ZURICH, cafés Łódź Øresund", "zurich zurich cafe lodz oresund"},
		{"nor do marks that no letter has", "x\u0302y\u0302 crème-brûlée", "xy creme brule cremebrule"},
		{"ligatures are written out", "Straße STRASSE Œuvre", "strass strass oeuvr"},
		{"marks of other alphabets make letters", "йод が ガ カ", "йод が ガ カ"},
		{"a hash stays whole", "a828e60", "a828e60"},
		{"a dotted name stays whole too", "memorySearch.query", "memori search memorysearch queri memorysearch.query"},
		{"mixed joints", "foo_bar-2", "foo bar 2 foo_bar-2"},
		{"versions", "see v2.3.0.", "see v2 3 0 v2.3.0"},
		{"names that end in signs", "C++, C# and F#!", "c c++ c c# and f f#"},
		{"a path keeps its first slash", "(/users/x)", "user x /users/x"},
		{"a dot file keeps its dot", "edit .env now", "edit env .env now"},
		{"e-mail addresses", "mail ana.b@example.org", "mail ana b exampl org ana.b@example.org"},
		{"web addresses", "https://example.org/a", "http exampl org a https://example.org/a"},
		{"dates", "2026-01-20", "2026 01 20 2026-01-20"},
		{"hyphenated words", "well-known", "well know wellknown"},
		{"acronyms in names", "HTTPServer APIs iPhone", "http server httpserver api i phone iphon"},
		{"dashes do not join", "cup -- pot-", "cup pot"},
		{"dots at the end do not join", "wait... what", "wait what"},
		{"soft hyphens vanish", "co\u00ADoperate", "cooper"},
		{"variation selectors vanish", "葛\U000E0100城", "葛城"},
		{"emoji are terms, without skin tones and joiners", "🎉 ❤️ 👍🏽 👩‍💻 🇯🇵", "🎉 ❤ 👍 👩 💻 🇯🇵"},
		{"punctuation has no term", "?!… --- ###", ""},
		{"control characters part words", "a\x00b\x1bc", "a b c"},
		{"invalid bytes part words", "tea\xff\xfecup", "tea cup"},
		{"letters behind invalid bytes are normalised", "\xf2\xf2\xf2\xff\x7f\xf2\xf2\xf2\xf2\xf2\xf2ϑ", "θ"},
		{"an empty text has no term", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, strings.Join(Terms(test.text), " ")); diff != "" {
				t.Errorf("Analyze(%q) (-want +got):\n%s", test.text, diff)
			}
		})
	}
}

func TestChunkTermsHoldAllThatAChunkIsFoundBy(t *testing.T) {
	t.Parallel()
	got := ChunkTerms(Chunk{Names: "Acme Corp\n#client", Folders: "Customers", Headings: "# Projects > ## Acme", Date: "2026-01-20", Text: "ship it"})
	want := strings.Fields("project acm 2026 01 20 2026-01-20 ship it corp client custom")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Hazard D02: a run of a megabyte becomes one short term.
func TestTermsCutLongRuns(t *testing.T) {
	t.Parallel()
	for _, run := range []string{strings.Repeat("QUJD", 1<<18), strings.Repeat("é", 1<<19)} {
		t.Run(run[:4], func(t *testing.T) {
			got := Terms(run)
			if len(got) != 1 || len(got[0]) != maxTermBytes {
				t.Errorf("%.10s...: %d terms, the first of %d bytes, want 1 of %d", run, len(got), len(got[0]), maxTermBytes)
			}
		})
	}
	if got := Terms("a" + strings.Repeat("é", 1<<10)); len(got) != 1 || !utf8.ValidString(got[0]) {
		t.Errorf("a character was split: %q", got)
	}
	if got := Terms("/" + strings.Repeat("a/", 100) + "b"); slices.ContainsFunc(got, func(s string) bool { return len(s) > 1 }) {
		t.Errorf("an identifier of more than %d bytes stayed whole", maxTermBytes)
	}
}

func TestTermsOutliveTheAnalyzer(t *testing.T) {
	t.Parallel()
	got := Terms("alpha beta")
	Terms("gamma delta epsilon")
	if diff := cmp.Diff([]string{"alpha", "beta"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestStemWithFullCache(t *testing.T) {
	t.Parallel()
	a := NewAnalyzer()
	defer a.Release()
	for i := range maxStems + 10 {
		a.Stem("w" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676)))
	}
	if len(a.stems) > maxStems {
		t.Errorf("the cache holds %d stems, more than %d", len(a.stems), maxStems)
	}
	if got := a.Stem("restored"); got != "restor" {
		t.Errorf("stem = %q", got)
	}
}

func TestTermsRunConcurrently(t *testing.T) {
	t.Parallel()
	want := Terms("Backups of memorySearch 東京タワー")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				if got := Terms("Backups of memorySearch 東京タワー"); !slices.Equal(got, want) {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
	group.Wait()
}

func TestNormalizeInertRunes(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if isInert(r) && norm.NFKC.String(string(r)) != string(r) {
			t.Errorf("%U is not inert", r)
		}
		if isWide(r) && norm.NFKC.String(string(r)) != string(narrow(r)) {
			t.Errorf("narrow(%U) is not its NFKC", r)
		}
	}
}

func TestToLowerKeepsOffsets(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if s := string(r); len(ToLower(s)) != len(s) {
			t.Errorf("lower(%U) has another length", r)
		}
	}
}

// Hazard D01: whatever the text, terms hold nothing that FTS5 could take for more than a word.
func FuzzTerms(f *testing.F) {
	for _, s := range []string{
		"Hello, World", "2010年に東京で", "memorySearch.query v2.3.0 C++ /users/x a@b.c", "\x00\xff\u202e", "ｶﾞ\u3099", "İẞς", "a\u0300\u0300b",
		"\xf2\xf2\xf2\xff\x7f\xf2\xf2\xf2\xf2\xf2\xf2ϑ", "...---...", "://", "__init__", "̈a", "😀‍😀", strings.Repeat("aB", 50),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Terms(text)
		for _, term := range got {
			if err := checkTerm(term); err != "" {
				t.Errorf("Analyze(%q): term %q %s", text, term, err)
			}
		}
		if len(got) > 3*len(text) {
			t.Errorf("%d terms from %d bytes", len(got), len(text))
		}
		if twice := Terms(text + "\n" + text); !slices.Equal(twice, slices.Concat(got, got)) {
			t.Errorf("Analyze(%q): two lines give %q", text, twice)
		}
	})
}

// checkTerm says what is wrong with a term, "" if nothing is.
func checkTerm(term string) string {
	switch {
	case term == "":
		return "is empty"
	case len(term) > maxTermBytes:
		return "is too long"
	case !utf8.ValidString(term):
		return "is not UTF-8"
	case strings.ContainsFunc(term, unicode.IsSpace), strings.ContainsFunc(term, unicode.IsControl):
		return "holds a space or a control character"
	case strings.ContainsAny(term, `"'()*^{},`):
		return "holds a sign of FTS5"
	case strings.ContainsAny(term, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"):
		return "is not lower case"
	}
	return ""
}

func TestStemFilterAdmitsWordsOfStem(t *testing.T) {
	t.Parallel()
	a := NewAnalyzer()
	defer a.Release()
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.OneOf(rapid.Just("ays"), rapid.StringMatching(`[a-z]{1,6}(s|es|ed|ing|ies|y|ational|iveness|e|l|ment)?`)).Draw(t, "word")
		if f := newStemFilter([]string{a.Stem(w)}); len(w) > 2 && !f.admits(w) {
			t.Fatalf("the stem %q of %q would not be found", a.Stem(w), w)
		}
	})
}

func BenchmarkTerms(b *testing.B) {
	for name, text := range map[string]string{
		"english":  strings.Repeat("They decided to keep config-v2.3 backups three weeks longer; memorySearch.query was restarted.\n", 170),
		"japanese": strings.Repeat("会議は東京の本社で行われました。データベースを移行する金曜日に、設定を確認してください。\n", 120),
		"base64":   strings.Repeat("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo", 500),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				Terms(text)
			}
		})
	}
}
