package main

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kioku/internal/testkit"
	"kioku/llm/echo"
)

// A fact outlives its conversation in a file: it is stored before it leaves the window, and a later session of another
// program recalls it. Its source is recorded beside it.
func TestAgentRecallsAFactOfAnOldConversation(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, map[string]string{"MEMORY.md": "# Memory\n"})
	first := newTalker(s, "first", &echo.Model{Tokens: 8000})
	first.noise(2)
	first.say("My locker combination is 4-17-32.")
	first.noise(200)
	first.close()
	if first.compactions < 3 || len(first.flushes) < first.compactions || len(first.notices) > 0 {
		t.Errorf("%d compactions, %d flushes, notices %q", first.compactions, len(first.flushes), first.notices)
	}
	notes := s.days()
	if n := strings.Count(notes, "4-17-32"); n != 1 || !strings.Contains(notes, "from=flush") {
		t.Errorf("the fact is %d times in memory:\n%s", n, notes)
	}
	second := newTalker(s, "second", &echo.Model{Tokens: 8000})
	defer second.close()
	if reply := second.say("What is my locker combination?"); !strings.Contains(reply, "4-17-32") {
		t.Errorf("answered %q", reply)
	}
}

// language is how a fact is stated, asked for, and drowned in.
type language struct {
	fact, question, noise string
	things, words         []string
}

func languages() []language {
	return []language{
		{"My %s is %s.", "What is my %s?", "Can you tell me about %s?",
			[]string{"locker combination", "passport number", "library card", "parking space"},
			[]string{"the sea ", "old boats ", "rain in May ", "a long road ", "tea with milk ", "bridges of stone "}},
		{"私の%sは%sです。", "私の%sは何ですか?", "%sについて話してくれますか?",
			[]string{"ロッカーの番号", "会員証", "自転車の鍵", "駐車場の場所"},
			[]string{"海の色、", "古い船、", "五月の雨、", "長い道、", "牛乳入りの紅茶、", "石の橋、"}},
		{"我的%s是%s。", "我的%s是什么?", "你能谈谈%s吗?",
			[]string{"储物柜号码", "护照号码", "自行车钥匙", "停车位"},
			[]string{"大海的颜色、", "旧船、", "五月的雨、", "漫长的路、", "加奶的茶、", "石桥、"}},
	}
}

// chatter is a message of a random length that states nothing.
func chatter(t *rapid.T, lang language) string {
	words := rapid.SliceOfN(rapid.SampledFrom(lang.words), 20, 120).Draw(t, "noise")
	return fmt.Sprintf(lang.noise, strings.TrimRight(strings.Join(words, ""), " 、"))
}

// A fact that is stated in any turn, in any of three languages, is in a file exactly once when it has left the window, however
// small that is and whatever else was said, and a new conversation recalls it.
func TestAgentKeepsAFactWheneverItIsStated(t *testing.T) {
	t.Parallel()
	checks := flag.Lookup("rapid.checks")
	defer checks.Value.Set(checks.Value.String())
	if err := checks.Value.Set(fmt.Sprint(testkit.Rounds(60, 8))); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		lang := rapid.SampledFrom(languages()).Draw(rt, "language")
		thing := rapid.SampledFrom(lang.things).Draw(rt, "thing")
		code := rapid.StringMatching(`[A-Z]{2}-[1-9][0-9]{3}`).Draw(rt, "code")
		turn := rapid.IntRange(1, 10).Draw(rt, "turn")
		window := rapid.IntRange(3500, 9000).Draw(rt, "window")
		other := rapid.SampledFrom(languages()).Draw(rt, "language of the rest")

		s := newSandbox(t, map[string]string{"MEMORY.md": "# Memory\n"})
		first := newTalker(s, "first", &echo.Model{Tokens: window})
		for range turn - 1 {
			first.say(chatter(rt, other))
		}
		first.say(fmt.Sprintf(lang.fact, thing, code))
		for end, n := first.compactions+2, 0; first.compactions < end; n++ {
			if first.say(chatter(rt, other)); n == 200 {
				rt.Fatalf("%d turns in a window of %d tokens, and %d compactions", n, window, first.compactions)
			}
		}
		first.close()
		if notes := s.days(); strings.Count(notes, code) != 1 || len(first.notices) > 0 {
			rt.Errorf("notices %q, memory:\n%s", first.notices, notes)
		}
		second := newTalker(s, "second", &echo.Model{Tokens: window})
		defer second.close()
		if reply := second.say(fmt.Sprintf(lang.question, thing)); !strings.Contains(reply, code) {
			rt.Errorf("answered %q", reply)
		}
	})
}
