package search

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/chunker"
	"kioku/embed"
	"kioku/memory"
)

// windowed returns a chunk with a vector whose windows have these vectors, one for each that chunker.Windows finds.
func windowed(path, text string, vector []float32, windows ...[]float32) Chunk {
	c := Chunk{Path: path, StartLine: 1, EndLine: strings.Count(text, "\n") + 1, Text: text, Vector: vector, Closed: true}
	for i, w := range chunker.Windows(text) {
		c.Windows = append(c.Windows, embed.QuantizeWindow(w.From, w.To, windows[i]))
	}
	return c
}

// paragraph is a line of about 280 characters without a word of the questions.
func paragraph(word string) string {
	return strings.TrimSpace(strings.Repeat(word+" ", 280/(len(word)+1)))
}

// The similarity of a passage is .6 x the best of the windows that lie in it + .4 x the cosine of their mean, of which the
// cosine of the chunk replaces three tenths.
func TestMeaningOfWindows(t *testing.T) {
	t.Parallel()
	c := windowed("a.md", paragraph("one")+"\n"+paragraph("two"), []float32{0.6, 0.8}, []float32{1, 0}, []float32{0, 1})
	m := compareChunk([]float32{1, 0}, &c)
	m.narrow(&c, []int{0, 1})
	near := 0.6*1 + 0.4*math.Sqrt(0.5)
	if want := 0.7*near + 0.3*0.6; math.Abs(m.raw-want) > 0.01 || m.first != 1 || m.last != 1 {
		t.Errorf("raw %v, want %v; best window %d-%d", m.raw, want, m.first, m.last)
	}
	m.windowsOnly = true
	if m.narrow(&c, []int{0, 1}); math.Abs(m.raw-near) > 0.01 {
		t.Errorf("conversation: raw %v, want %v", m.raw, near)
	}
	if m.narrow(&c, nil); m.raw != m.chunk {
		t.Errorf("no windows: raw %v, want that of the chunk, %v", m.raw, m.chunk)
	}
}

// A window lies in a passage if half of it does.
func TestWindowsInSpanByHalf(t *testing.T) {
	t.Parallel()
	c := Chunk{StartLine: 11}
	for _, lines := range [][2]int{{0, 3}, {4, 4}, {5, 8}} {
		c.Windows = append(c.Windows, embed.Window{From: lines[0], To: lines[1]})
	}
	tests := []struct {
		from, to int
		want     []int
	}{
		{11, 19, []int{0, 1, 2}}, {11, 12, []int{0}}, {13, 15, []int{0, 1}}, {13, 17, []int{0, 1, 2}}, {12, 12, []int{0}}, {15, 15, []int{1}}, {30, 31, nil},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.from, test.to), func(t *testing.T) {
			if diff := cmp.Diff(test.want, c.windowsIn(span{from: test.from, to: test.to})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Windows of one long line belong to the part of the line that is shown.
func TestWindowsInPartOfALine(t *testing.T) {
	t.Parallel()
	text := "# Log\n" + strings.Repeat("Nothing of note happened on that day, nor later. ", 60)
	windows := chunker.Windows(text)
	c := Chunk{StartLine: 1, EndLine: 2, Text: text, Closed: true}
	for _, w := range windows {
		c.Windows = append(c.Windows, embed.Window{From: w.From, To: w.To})
	}
	seen := 0
	for _, s := range c.spans(c.markdown(), 700) {
		in := c.windowsIn(s)
		if len(in) == 0 || len(in) > 4 {
			t.Errorf("%d of %d windows lie in a part of %d characters", len(in), len(windows), len(s.text))
		}
		for _, i := range in {
			if shared := strings.Contains(text[s.start:s.start+len(s.text)], windows[i].Text[:len(windows[i].Text)/2]) ||
				strings.Contains(s.text, windows[i].Text[len(windows[i].Text)/2:]); !shared {
				t.Errorf("window %d is not in the part at %d", i, s.start)
			}
		}
		seen += len(in)
	}
	if seen < len(windows) {
		t.Errorf("%d windows in all parts together, want at least %d", seen, len(windows))
	}
}

// Vectors choose what is shown: of the passages of one chunk the one with the nearest window comes first, although no word
// tells them apart.
func TestSearchShowsThePassageOfTheNearestWindow(t *testing.T) {
	t.Parallel()
	head, tail := paragraph("gravel"), paragraph("pebble")
	text := strings.Join([]string{head, paragraph("stone"), paragraph("rock"), paragraph("sand"), paragraph("clay"), tail}, "\n\n")
	far, near := []float32{0, 1, 0}, []float32{1, 0, 0}
	s := New(newFakeStore(
		windowed("memory/a.md", text, []float32{0.5, 0.8, 0}, far, far, far, far, far, near),
		Chunk{Path: "memory/b.md", Text: "Something else", Vector: []float32{0, 0, 1}},
	), &fakeEmbedder{vector: []float32{1, 0, 0}, class: embed.Small}, testOptions())
	for _, granularity := range []string{memory.GranularityPassage, memory.GranularityChunk} {
		t.Run(granularity, func(t *testing.T) {
			a, err := s.Search(t.Context(), memory.Query{Text: "macbook awake", Granularity: granularity, SnippetChars: 320, Explain: true})
			if err != nil || len(a.Hits) == 0 {
				t.Fatalf("%+v, %v", a, err)
			}
			h := a.Hits[0]
			if h.Path != "memory/a.md" || !strings.Contains(h.Snippet, tail) || strings.Contains(h.Snippet, head) {
				t.Errorf("%s shows %.40q", h.Path, h.Snippet)
			}
			if h.Trace.WindowStart != 11 || h.Trace.WindowEnd != 11 || h.Trace.WindowCosine < 0.99 {
				t.Errorf("trace: window %d-%d, %v", h.Trace.WindowStart, h.Trace.WindowEnd, h.Trace.WindowCosine)
			}
		})
	}
}

// calibratedOf returns what raw similarities come to.
func calibratedOf(spread Spread, class embed.Class, raw ...float64) []float64 {
	r := &searchState{queryVector: queryVector{spread: spread, class: class}}
	for _, x := range raw {
		r.candidates = append(r.candidates, &candidate{meaning: meaning{embedded: true, raw: x}})
	}
	r.calibrate()
	var out []float64
	for _, c := range r.candidates {
		out = append(out, math.Round(1000*c.meaning.calibrated)/1000)
	}
	return out
}

// Raw cosines mean something else for every model; calibrated they do not. A flat answer weighs little by itself, and the
// best are not cut to a tie.
func TestCalibratedCosine(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		spread Spread
		class  embed.Class
		raw    []float64
		want   []float64
	}{
		{"MiniLM", Spread{0, 0.1}, embed.Small, []float64{0.4, 0.1, -0.2}, []float64{0.8, 0.2, 0}},
		{"e5", Spread{0.7, 0.04}, embed.Small, []float64{0.86, 0.74, 0.62}, []float64{0.8, 0.2, 0}},
		{"flat", Spread{0.3, 0.1}, embed.Small, []float64{0.35, 0.34}, []float64{0.1, 0.08}},
		{"the best are no tie", Spread{0.1, 0.1}, embed.Small, []float64{0.9, 0.7}, []float64{1, 0.75}},
		{"a few chunks that are equally near", Spread{0.4, 0}, embed.Small, []float64{0.43, 0.4}, []float64{0.2, 0}},
		{"chunks in all directions", Spread{0.3, 0.5}, embed.Small, []float64{1, 0.3}, []float64{1, 0}},
		{"no real model", Spread{0.3, 0.1}, embed.Weak, []float64{0.35, -0.1}, []float64{0.35, 0}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, calibratedOf(test.spread, test.class, test.raw...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestIsTalk(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want bool
	}{
		{"## 13:14 - Ann and Bob\n\n- Ann: Hey Bob!\n- Bob: Hi.\n- Ann: How are the tomatoes?\n- Bob: Green. So far: nothing.\n", true},
		{"**明**：こんにちは\n**花子**：元気？\n**明**：はい\n**花子**：よかった\n", true},
		{"- host: localhost\n- port: 80\n- user: ann\n- path: /srv\n", false},
		{"Note: tea is green.\n\nTea has been drunk for ages.\nIt is hot.\n", false},
		{"- Ann: Hey!\n- Bob: Hi.\n", false},
		{"| Ann: | Bob: |\n|---|---|\n| Ann: x | y |\n| Ann: x | y |\n", false},
		{"", false},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			if got := isTalk(chunker.Lines(test.text, "", true)); got != test.want {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}
