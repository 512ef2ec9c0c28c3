package lineedit

import (
	"strconv"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"
)

// glass is a terminal of a test: what it shows after what was written to it.
type glass struct {
	width       int
	rows        [][]string // a cell each; the second one of a wide character is empty
	row, column int
	unknown     []string
}

func (g *glass) Write(p []byte) (int, error) {
	for s := string(p); s != ""; {
		s = g.step(s)
	}
	return len(p), nil
}

// step does what the beginning of s says, and returns the rest.
func (g *glass) step(s string) string {
	for len(g.rows) <= g.row {
		g.rows = append(g.rows, make([]string, g.width))
	}
	switch {
	case s[0] == '\r':
		g.column = 0
		return s[1:]
	case s[0] == '\n':
		g.row++
		return s[1:]
	case strings.HasPrefix(s, "\x1b["):
		i := strings.IndexFunc(s[2:], func(r rune) bool { return r >= '@' }) + 2
		g.obey(s[2:i], s[i])
		return s[i+1:]
	}
	cluster, rest, w, _ := uniseg.FirstGraphemeClusterInString(s, -1)
	if g.column+w > g.width {
		g.unknown = append(g.unknown, "written beyond the last column: "+cluster)
		return rest
	}
	for i := range w {
		g.rows[g.row][g.column+i] = ""
	}
	g.rows[g.row][g.column] += cluster
	g.column += w
	return rest
}

func (g *glass) obey(argument string, command byte) {
	n, _ := strconv.Atoi(argument)
	switch command {
	case 'A':
		g.row = max(g.row-n, 0)
	case 'C':
		g.column += n
	case 'J':
		if n == 2 {
			g.rows = nil
			return
		}
		g.rows = g.rows[:g.row+1]
		for i := g.column; i < g.width; i++ {
			g.rows[g.row][i] = ""
		}
	case 'H':
		g.row, g.column = 0, 0
	case 'h', 'l': // modes show nothing
	default:
		g.unknown = append(g.unknown, argument+string(command))
	}
}

// shown is the text on the glass, a line a row, without blank space at the ends.
func (g *glass) shown() []string {
	var lines []string
	for _, cells := range g.rows {
		lines = append(lines, strings.TrimRight(strings.Join(cells, ""), " "))
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func TestWideCharactersWrapAndTheCursorStandsBehindThem(t *testing.T) {
	g := &glass{width: 10}
	s := &screen{prompt: "> "}
	b := &buffer{before: "日本語入力", after: "です"}
	g.Write([]byte(s.draw(b, 10, 24)))
	if got := strings.Join(g.shown(), "|"); got != "> 日本語入|力です" {
		t.Errorf("shown %q", got)
	}
	if g.row != 1 || g.column != 2 {
		t.Errorf("cursor at %d, %d", g.row, g.column)
	}
	b.press(key{kind: home})
	g.Write([]byte(s.draw(b, 10, 24)))
	if g.row != 0 || g.column != 2 {
		t.Errorf("cursor at %d, %d after Home", g.row, g.column)
	}
}

func TestAFullRowPutsTheCursorOnTheNext(t *testing.T) {
	g := &glass{width: 6}
	s := &screen{prompt: "> "}
	b := &buffer{before: "abcd"}
	g.Write([]byte(s.draw(b, 6, 24)))
	if g.row != 1 || g.column != 0 {
		t.Errorf("cursor at %d, %d", g.row, g.column)
	}
	b.press(key{kind: backspace})
	g.Write([]byte(s.draw(b, 6, 24)))
	if got := strings.Join(g.shown(), "|"); got != "> abc" || g.row != 0 || g.column != 5 {
		t.Errorf("shown %q, cursor at %d, %d", got, g.row, g.column)
	}
}

func TestLinesOfATextAreIndentedBehindThePrompt(t *testing.T) {
	g := &glass{width: 20}
	b := &buffer{before: "one\n\ttwo"}
	g.Write([]byte((&screen{prompt: "> "}).draw(b, 20, 24)))
	if got := strings.Join(g.shown(), "|"); got != "> one|      two" || g.row != 1 || g.column != 9 {
		t.Errorf("shown %q, cursor at %d, %d", got, g.row, g.column)
	}
}

func TestOfATallTextThePartAroundTheCursorIsShown(t *testing.T) {
	g := &glass{width: 20}
	b := &buffer{before: strings.Repeat("a\n", 30), after: strings.Repeat("\nb", 30)}
	g.Write([]byte((&screen{prompt: "> "}).draw(b, 20, 6)))
	if got := g.shown(); len(got) != 6 || got[0] != "  a" || got[5] != "  b" {
		t.Errorf("shown %q", got)
	}
	if g.row != 3 {
		t.Errorf("cursor in row %d", g.row)
	}
}

func TestTheScreenAlwaysShowsTheTextAndTheCursor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(4, 12).Draw(t, "width")
		g, s, b := &glass{width: width}, &screen{prompt: "> "}, &buffer{}
		keys := rapid.SliceOf(rapid.OneOf(
			rapid.Custom(func(t *rapid.T) key {
				return key{insert, rapid.SampledFrom([]string{"a", "日", "本", " ", "é", "👩‍👧", "\n", "が"}).Draw(t, "text")}
			}),
			rapid.Custom(func(t *rapid.T) key {
				return key{kind: rapid.SampledFrom([]kind{backspace, deleteNext, left, right, home, end, wordLeft, wordRight, killWord, killLine}).Draw(t, "kind")}
			}),
		)).Draw(t, "keys")
		for _, k := range keys {
			b.press(k)
			g.Write([]byte(s.draw(b, width, 1000)))
		}
		g.Write([]byte(s.draw(b, width, 1000)))
		if want := strings.Join(strings.Fields("> "+b.text()), ""); strings.Join(strings.Fields(strings.Join(g.shown(), "")), "") != want {
			t.Fatalf("shown %q, want %q", g.shown(), want)
		}
		before := &glass{width: width}
		before.Write([]byte((&screen{prompt: "> "}).draw(&buffer{before: b.before}, width, 1000)))
		// Where the next character is too wide for the rest of the row, the cursor is on the next one.
		if g.row != before.row && g.row != before.row+1 || g.row == before.row && g.column != min(before.column, width-1) {
			t.Fatalf("cursor at %d, %d, want %d, %d of %q and %q", g.row, g.column, before.row, before.column, b.before, b.after)
		}
		if len(g.unknown) > 0 {
			t.Fatalf("unknown: %q", g.unknown)
		}
	})
}
