package recall

import (
	"slices"
	"testing"

	"kioku/memory"
)

func TestNeedsContextKnowsPointingWordsAndShortMessages(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]bool{
		"And what about her brother?":                                    true,
		"When was that due again?":                                       true,
		"What did we say last time about the budget of the boat yard?":   true,
		"Lisbon flat rent":                                               true,
		"Which dentist does Lena go to in the Herrengasse?":              true, // of four words one is no content term
		"Which dentist near the old Herrengasse treats Lena since March": false,
		"あれどうなった？":                                                       true,
		"例の不具合って何だった？":                                                   true,
		"里奈の歯医者は片町の森先生で、直樹の歯医者は駅前ですか、それとも港ですか": true,
		"里奈、直樹、美咲、大輔の歯医者":                      false,
		"那个什么时候截止？":                            true,
		"她弟弟呢？":                                true,
		"苏晴，周凯，林薇，王磊的牙医":                       false,
	} {
		if got := needsContext(message); got != want {
			t.Errorf("%s: %t, want %t (%d content terms, points back %t)", message, got, want, countContent(message), pointsBack(message))
		}
	}
}

// Words are counted in scripts with spaces, runs in others.
func TestCountContent(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"あれどうなった？": 1, "プロジェクトXの締め切りは？": 3, "the boat": 1, "Where is the key of vault 7?": 3, "門戶項目，预算": 2, "": 0, "？！": 0,
	} {
		if got := countContent(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestLinksAreWhatThePassagesShareWithTheBackground(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, background, message, passage, want string
	}{
		{"a name", "Did Marta call this summer?\nYes.", "And her brother?", "Paulo, the brother of Marta", "Marta"},
		{"not what the message says", "Marta and her brother", "And her brother?", "the brother of Marta", "Marta"},
		{"a run of glyphs as a whole", "白鹭号漆好了吗？", "什么时候下水？", "白鹭号：下水推迟到六月。", "白鹭号"},
		{"glyphs and a letter", "プロジェクトXの進み具合は？", "締め切りは？", "プロジェクトX：締め切りは十月。", "プロジェクトX"},
		{"nothing in common", "Good morning", "And her brother?", "the brother of Marta", ""},
	} {
		got := ""
		for _, l := range links(c.background, c.message, []memory.Hit{{Snippet: c.passage}}) {
			got += l
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// The order is that of the sums of reciprocal ranks, the score the greatest one; parts of one passage are merged.
func TestFuseRankings(t *testing.T) {
	t.Parallel()
	hit := func(path string, from, to int, score float64, weak bool) memory.Hit {
		return memory.Hit{Path: path, StartLine: from, EndLine: to, Score: score, Weak: weak}
	}
	got := fuseRankings([]ranking{
		{weight: 1, hits: []memory.Hit{hit("a", 1, 4, 0.5, false), hit("b", 1, 4, 0.4, false), hit("d", 1, 2, 0.2, true)}},
		{weight: 0.7, hits: []memory.Hit{hit("b", 3, 6, 0.6, true), hit("b", 7, 9, 0.3, false)}},
	})
	want := []memory.Hit{hit("b", 1, 4, 0.6, false), hit("a", 1, 4, 0.5, false), hit("b", 7, 9, 0.3, false), hit("d", 1, 2, 0.2, true)}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i].Path != want[i].Path || got[i].StartLine != want[i].StartLine || got[i].Score != want[i].Score || got[i].Weak != want[i].Weak {
			t.Fatalf("got  %+v\nwant %+v", got, want)
		}
	}
}

func TestUnlikeKeepsTheFirstOfNearDuplicates(t *testing.T) {
	t.Parallel()
	one, again, other := memory.Hit{Snippet: "The launch is on 20 June in the evening."}, memory.Hit{Snippet: "The  launch is on 20 June, in the evening."}, memory.Hit{Snippet: "The hull is green."}
	if got := slices.Collect(unlike([]memory.Hit{one, again, other})); len(got) != 2 || got[0].Snippet != one.Snippet || got[1].Snippet != other.Snippet {
		t.Errorf("kept %+v", got)
	}
}

func FuzzContext(f *testing.F) {
	f.Add("And her brother?", "Did Marta call?", "Paulo, the brother of Marta")
	f.Add("あれどうなった？", "プロジェクトX", "プロジェクトXの締め切り")
	f.Add("\xff那", "<private>", "\n\n")
	f.Fuzz(func(t *testing.T, message, said, passage string) {
		background := backgroundOf([]memory.Turn{{Speaker: memory.SpeakerUser, Text: said}})
		if n := len([]rune(background)); n > backgroundChars {
			t.Fatalf("the background has %d characters", n)
		}
		if q := contextQuery(background, message); len(q) > maxQueryBytes && len(message) < maxQueryBytes {
			t.Fatalf("the query has %d bytes", len(q))
		}
		if got := links(background, message, []memory.Hit{{Snippet: passage}}); len(got) > maxLinks {
			t.Fatalf("%d links", len(got))
		}
		c := candidates{at: map[string]int{}}
		c.collect(said)
		needsContext(message)
		if len(c.order) > maxCandidates {
			t.Fatal("too many candidates")
		}
	})
}
