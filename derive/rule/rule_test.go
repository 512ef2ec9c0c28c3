package rule_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/derive/rule"
	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/internal/text"
	"kioku/memory"
)

// newRules returns rules with options.
func newRules(t testing.TB, opt rule.Options) *rule.Rules {
	t.Helper()
	r, err := rule.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// note returns a file of memory with the date of its name.
func note(path, data string) memory.SourceFile {
	day, _, _ := text.FindDay(path)
	return memory.SourceFile{Path: path, Source: memory.SourceMemory, Date: day, Data: []byte(data)}
}

// drawn returns the claims and mentions of all episodes of a file.
func drawn(t testing.TB, r *rule.Rules, f memory.SourceFile) []unit.EpisodeClaims {
	t.Helper()
	d := r.Read(f)
	var out []unit.EpisodeClaims
	for _, e := range d.Episodes() {
		c, ok := d.Claims(e)
		if !ok {
			t.Fatalf("no claims of the episode at line %d", e.StartLine)
		}
		out = append(out, c)
	}
	return out
}

// factsIn returns the facts of a file as "subject predicate object [from..to]".
func factsIn(t testing.TB, r *rule.Rules, f memory.SourceFile) []string {
	t.Helper()
	var out []string
	for _, c := range drawn(t, r, f) {
		for _, claim := range c.Claims {
			if claim.Kind != unit.ClaimFact {
				continue
			}
			s := claim.Subject.Name + " " + claim.Predicate + " " + claim.Object
			if claim.From+claim.To != "" {
				s += " [" + claim.From + ".." + claim.To + "]"
			}
			out = append(out, s)
		}
	}
	return out
}

func TestClaimsOfFilesOfWhatStaysTrue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, path, data string
		want             []string
	}{
		{"the owner in USER.md", "USER.md", "# Me\n- Name: Ana Lima\n- Lives in Porto with two cats. Works at Acme.\n- **Time zone**: Europe/Lisbon\n- Prefers short answers over long ones\n- Ana likes green tea.\n- Likes rowing, old maps and cats.\n- Uses: Go, SQLite\n",
			[]string{"USER name_is Ana Lima", "USER lives_in Porto", "USER works_at Acme", "USER timezone_is Europe/Lisbon", "USER prefers short answers over long ones", "USER likes green tea", "USER likes rowing", "USER likes old maps", "USER likes cats", "USER uses Go", "USER uses SQLite"}},
		{"others in USER.md", "USER.md", "- Bruno lives in Lyon.\n- Bruno's birthday is 3 May.\n", []string{"Bruno lives_in Lyon", "Bruno birthday_is 3 May"}},
		{"below a name", "MEMORY.md", "# Memory\n## People\n### Dario Conti (Dario, DC)\n- Lives in Porto since 2026-10\n- Role: engineer\n- Dario works at Acme (2026-03 to 2026-07)\n",
			[]string{"Dario Conti lives_in Porto [2026-10..]", "Dario Conti role_is engineer", "Dario Conti works_at Acme [2026-03..2026-08]"}},
		{"below a heading that may be a name", "MEMORY.md", "## Dario\n- lives in Porto\n\n## Lessons\n- lives in fear of deploys\n", []string{"Dario lives_in Porto"}},
		{"below a project", "MEMORY.md", "## Projects\n### Acme Shop\n- Deadline: 2026-12-01\n- Status: waiting for the bank\n- Location: a repository\n",
			[]string{"Acme Shop deadline_is 2026-12-01", "Acme Shop status_is waiting for the bank"}},
		{"a list of people", "MEMORY.md", "## Contacts\n- Su Lan 苏岚 (sulan@example.com): testing. Lives in Xiamen.\n- **Tobi Adeyar** - product\n  - Time zone: Asia/Tokyo\n",
			[]string{"Su Lan reached_at sulan@example.com", "Su Lan lives_in Xiamen", "Tobi Adeyar timezone_is Asia/Tokyo"}},
		{"a file about a repository", "project/GOVERNANCE.md", "# GOVERNANCE\n\nStatus: stable.\n", nil},
		{"a file of a person", "memory/people/dario-conti.md", "# Dario Conti\n\nHe lives in Trieste. Likes rowing.\n", []string{"Dario Conti lives_in Trieste", "Dario Conti likes rowing"}},
		{"Japanese", "USER.md", "- 名前：常葉凛\n- 2026年10月から神戸に住んでいる。\n- 私はコーヒーが苦手です。\n- ダリオさんはトリエステ在住。\n- 誕生日: 3月4日\n",
			[]string{"USER name_is 常葉凛", "USER lives_in 神戸 [2026-10..]", "USER dislikes コーヒー", "ダリオ lives_in トリエステ", "USER birthday_is 3月4日"}},
		{"Chinese", "USER.md", "- 姓名：周立\n- 住在杭州。\n- 我喜欢登山。\n- 王小明负责测试。\n- 时区：Asia/Shanghai\n",
			[]string{"USER name_is 周立", "USER lives_in 杭州", "USER likes 登山", "王小明 responsible_for 测试", "USER timezone_is Asia/Shanghai"}},
		{"no facts", "MEMORY.md", "# Rules\n- Use `just`, not make.\n- If Dario lives in Porto, call him.\n- Does Ana live in Porto?\n- Dario might work at Acme.\n- Standing rule: store UTC.\n\n```\nname: x\n```\n\n| name | lives in |\n|---|---|\n| Ana | Porto |\n\n> Dario lives in Rome.\n<!-- Dario lives in Oslo. -->\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, factsIn(t, newRules(t, rule.Options{}), note(c.path, c.data))); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestClaimsOfDatedNotes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, data string
		want       []string
	}{
		{"no person", "## 10:00\nContent prefers short lines. Applications use Go. Organizations own repositories. Dario prefers tea.\n", []string{"Dario prefers tea"}},
		{"the writer", "## 10:00\nI moved to Porto in October 2026. I like it. I'd like to live in Rome.\n", []string{"USER lives_in Porto [2026-10..]"}},
		{"works as", "Bo works as a nurse. Ana works as follows. Dario works as expected by all.\n", []string{"Bo role_is nurse"}},
		{"no longer", "I don't like green tea any more. I don't like mate anymore; I prefer coffee.\n", []string{"USER dislikes green tea", "USER dislikes mate", "USER prefers coffee"}},
		{"somebody else", "Dario moved to Trieste last week, and nobody knew.\n", []string{"Dario lives_in Trieste [2026-11-09..]"}},
		{"changes on other days than that of the note", "I moved to Porto last week. Yesterday Dario moved to Rome. Ana started at Acme two days ago.\n",
			[]string{"USER lives_in Porto [2026-11-09..]", "Dario lives_in Rome [2026-11-19..]", "Ana works_at Acme [2026-11-18..]"}},
		{"changes of a month", "I moved to Porto last month. Dario has lived here since 2019. Ana works at Acme since last week.\n",
			[]string{"USER lives_in Porto [2026-10..]", "Ana works_at Acme [2026-11-09..]"}},
		{"days without a change, and changes to come", "I like the tram that I saw last week. I live in Kobe, and we met Ana last week. Dario moved to Oslo, I to Rome tomorrow.\n",
			[]string{"USER lives_in Kobe", "Dario lives_in Oslo"}},
		{"changes in Japanese and Chinese", "田中さんは先月大阪に引っ越した。昨日、鈴木さんはアクメに転職した。我上周搬到了厦门。李小龙昨天搬到了香港。\n",
			[]string{"田中 lives_in 大阪 [2026-10..]", "鈴木 works_at アクメ [2026-11-19..]", "USER lives_in 厦门 [2026-11-09..]", "李小龙 lives_in 香港 [2026-11-19..]"}},
		{"no place", "I moved to the next task. Work moved to Monday. The team moved to Postgres.\n", nil},
		{"no name", "Their love and help have been great. Unconditional love is rare. Google works for us.\n", nil},
		{"negation and past", "I don't live in Porto. I no longer work at Acme. I used to live in Rome.\n", nil},
		{"dislikes", "I don't like meetings before ten.\n", []string{"USER dislikes meetings before ten"}},
		{"a quotation", "> I live in Porto.\n", nil},
		{"somebody's words in a conversation", "- Ana: Hi!\n- User: I live in Kobe.\n- Ana: I live in Porto.\n- Assistant: I live in a computer. Ana lives in Rome.\n",
			[]string{"USER lives_in Kobe", "Ana lives_in Porto", "Ana lives_in Rome"}},
		{"Japanese", "田中さんは大阪に引っ越した。猫が好きではない。\n", []string{"田中 lives_in 大阪"}},
		{"Chinese", "我搬到了厦门。我们在厦门工作。李小龙住在香港。\n", []string{"USER lives_in 厦门", "李小龙 lives_in 香港"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, factsIn(t, newRules(t, rule.Options{}), note("memory/2026-11-20.md", "# 2026-11-20\n\n"+c.data))); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNobodyIsIInDocuments(t *testing.T) {
	t.Parallel()
	const text = "I love simplicity. My time zone is UTC. 我喜欢茶。\n"
	for _, path := range []string{"README.md", "docs/guide.md", "memory/README.md"} {
		if got := factsIn(t, newRules(t, rule.Options{}), note(path, text)); got != nil {
			t.Errorf("%s tells about the owner: %q", path, got)
		}
	}
	if got := factsIn(t, newRules(t, rule.Options{}), note("memory/2026-11-20.md", text)); len(got) != 3 {
		t.Errorf("a dated note has the facts %q, want 3", got)
	}
}

func TestLoopsAreFoundAndClosed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, path, data string
		want             []string
	}{
		{"English", "memory/2026-11-20.md", "- [ ] call Ana by Friday\n- [x] send the report\n- TODO: pay the bill (due 2026-12-01)\nTODO: ask Bo before December 5 about the keys\ndone: book the flight\n- ~~water the plants~~\n",
			[]string{"loop call Ana due 2026-11-20", "close send the report", "loop pay the bill due 2026-12-01", "loop ask Bo before December 5 about the keys due 2026-12-05", "close book the flight", "close water the plants"}},
		{"Japanese", "memory/2026-11-20.md", "- 要対応：見積もりを12月1日までに送る\n- [ ] 来週金曜までに資料を直す\n- 完了: 会議室の予約\n- 請求書の確認（済）\n",
			[]string{"loop 見積もりを12月1日までに送る due 2026-12-01", "loop 資料を直す due 2026-11-27", "close 会議室の予約", "close 請求書の確認"}},
		{"Chinese", "memory/2026-11-20.md", "- 待办：周一之前提交报告\n- [x] 买票\n已完成：订酒店\n", []string{"loop 提交报告 due 2026-11-23", "close 买票", "close 订酒店"}},
		{"a list of what is open", "memory/2026-11-20.md", "## 18:25 - todo\n- tell Dario\n- close the window. Done at 18:31.\n- todo: lock up. Done.\n\n## 19:00 - note\n- a remark\n",
			[]string{"loop tell Dario", "close close the window", "close lock up"}},
		{"no loops", "memory/2026-11-20.md", "FIXME: nothing. We need to talk. TODO lists are dull.\n```\n- [ ] code\n```\n> - [ ] quoted\n", nil},
		{"where to read on", "memory/2026-11-20.md", "## Next steps\n- [Channels](/channels)\n- [Setup](/setup) -- all settings\n- Compare hosts: [Linux](/vps)\n- Review [the plan](plan.md)\n- [PR 12](/12) needs a second look\n",
			[]string{"loop Review the plan", "loop PR 12 needs a second look"}},
		{"what stays true", "MEMORY.md", "- [ ] renew the passport\n", []string{"loop renew the passport"}},
		{"forms of others", "vendor/README.md", "- [ ] I have read the rules\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, e := range drawn(t, newRules(t, rule.Options{}), note(c.path, c.data)) {
				for _, claim := range e.Claims {
					if claim.Kind != unit.ClaimLoop && claim.Kind != unit.ClaimClose {
						continue
					}
					s := claim.Kind + " " + claim.LoopText
					if claim.Due != "" {
						s += " due " + claim.Due
					}
					if claim.Kind == unit.ClaimClose && claim.Closes != vocab.LoopKey(claim.LoopText) {
						t.Errorf("%s closes another loop", claim.LoopText)
					}
					got = append(got, s)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("loops (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMentionsAreSure(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, path, data string
		want             []string
	}{
		{"front matter", "memory/2026-11-20.md", "---\npeople: [Dario Conti, \"Su Lan 苏岚\"]\n---\nA walk.\n", []string{"PERSON Dario Conti", "PERSON Su Lan/苏岚"}},
		{"links", "memory/2026-11-20.md", "With [[people/ana-lima]], [Bo](../people/bo.md), [[Solar Roof]] and [[2026-11-19]]; [[Back to top]](#top); see [[#Top]] and ![[plan.png]].\n",
			[]string{"PERSON Ana Lima", "TOPIC Solar Roof", "PERSON Bo"}},
		{"at names", "memory/2026-11-20.md", "@maria and @田中 wrote to x@example.com; npm i @types/node, `@Override`, @param\n", []string{"PERSON maria", "PERSON 田中"}},
		{"what people do", "memory/2026-11-20.md", "Ines called. Yesterday Bo Linden said that it works. She said no. GitHub said no. Met with Carla.\n",
			[]string{"PERSON Ines", "PERSON Bo Linden", "PERSON Carla"}},
		{"headings", "MEMORY.md", "# Projects\n## Acme Shop\n- opened in May\n# Lessons\n## Backups\n- restore them\n", []string{"PROJECT Acme Shop"}},
		{"headings about companies", "MEMORY.md", "# Organizations\n## Organization roles\n- own it\n## Creating Teams\n- click here\n## Bank of Kobe\n- lends\n## 屿光旅行\n- 船票\n", []string{"ORG Bank of Kobe", "ORG 屿光旅行"}},
		{"directives", "memory/2026-11-20.md", "Say `[[voice]]` or [[tts:hello]], and `[[people/bo]]`.\n", nil},
		{"first names", "MEMORY.md", "## Contacts\n- Dario Venn: backend\n- Ana Lima (ana@example.com)\n- Ana Reis: sales\n", []string{"PERSON Dario Venn/likely Dario", "PERSON Ana Lima", "PERSON Ana Reis"}},
		{"written aliases in a list", "MEMORY.md", "## People\n- **Clara Whitfield** (Clara): designer\n- Dario Venn (DV, dario@example.com): backend\n- Claire (aka Clara): sales\n- Bo (Bo Linden): law\n- Ana Lima (Berlin): sales\n",
			[]string{"PERSON Clara Whitfield/Clara", "PERSON Dario Venn/DV/likely Dario", "PERSON Claire/Clara", "PERSON Bo Linden/Bo", "PERSON Ana Lima/likely Ana"}},
		{"of the agent only likely", "memory/2026-11-20.md", "## 09:00\nMet Clara Whitfield (Clara). <!-- kioku text=0123456789abcdef from=agent -->\n", []string{"PERSON Clara Whitfield/likely Clara"}},
		{"aliases below no heading", "MEMORY.md", "- Clara Whitfield (Clara): designer\n- Visual Studio (VS): editor\n- 小王（王伟）：设计师\n", []string{"PERSON Clara Whitfield/Clara", "PERSON 王伟/小王"}},
		{"aliases in sentences", "memory/2026-11-20.md", "Met Clara Whitfield (Clara). Bo (Bo Linden) lives in Leeds. Grafana Loki (Loki) was down (Monday). Yesterday Ines Roth (aka Inge) called.\n",
			[]string{"PERSON Ines Roth/Inge", "PERSON Clara Whitfield/Clara", "PERSON Bo Linden/Bo", "PLACE Leeds"}},
		{"Japanese aliases", "memory/2026-11-20.md", "田中さん（田中太郎）と会った。東京（東京都）は暑い。佐藤花子さん（花子）も来た。\n",
			[]string{"PERSON 田中太郎/田中", "PERSON 佐藤花子/花子"}},
		{"Japanese aliases in a list", "MEMORY.md", "## 連絡先\n- 田中さん（田中太郎）：設計\n- 鈴木一郎（通称：いっちゃん）：営業\n", []string{"PERSON 田中太郎/田中", "PERSON 鈴木一郎/いっちゃん"}},
		{"Chinese aliases", "memory/2026-11-20.md", "今天和小王（王伟）吃饭。李经理（李强）搬到了厦门。苹果（水果）很甜。王芳（小芳）说不来。\n", []string{"PERSON 李强/李经理", "PLACE 厦门", "PERSON 王伟/小王", "PERSON 王芳/小芳"}},
		{"Chinese aliases in a list", "MEMORY.md", "## 联系人\n- 小王（王伟）：设计\n- 鹿小满（小满）：旅行\n", []string{"PERSON 王伟/小王", "PERSON 鹿小满/小满"}},
		{"Japanese", "memory/2026-11-20.md", "浜路さんと会った。皆さん、お客さん、本屋さん、母さん。ダリオさんも来た。\n", []string{"PERSON 浜路/浜路さん", "PERSON ダリオ/ダリオさん"}},
		{"Chinese", "memory/2026-11-20.md", "和王经理吃饭。李小龙说不来。谢谢你说的。高中说明。\n", []string{"PERSON 王经理", "PERSON 李小龙"}},
		{"documents of strangers", "docs/guide.md", "# Guide\nAsk @maria. Bob said hi. See [[ -f x ]] and [[Install]].\n## Team\n- Setup: run it\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, e := range drawn(t, newRules(t, rule.Options{}), note(c.path, c.data)) {
				for _, m := range e.Mentions {
					names := append([]string{m.Entity.Type + " " + m.Entity.Name}, m.Aliases...)
					for _, likely := range m.Likely {
						names = append(names, "likely "+likely)
					}
					got = append(got, strings.Join(names, "/"))
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("mentions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestClaimsCiteTheirLines(t *testing.T) {
	t.Parallel()
	f := note("memory/2026-11-20.md", "# 2026-11-20\n\n## 09:00\nA start.\nI live in\nPorto now.\n\n- [ ] call Ana\n")
	lines := strings.Split(string(f.Data), "\n")
	for _, e := range drawn(t, newRules(t, rule.Options{}), f) {
		if len(e.Claims) != 2 {
			t.Fatalf("%d claims, want 2: %+v", len(e.Claims), e.Claims)
		}
		for _, c := range e.Claims {
			cited := strings.Join(lines[e.Episode.StartLine+c.StartLine-2:e.Episode.StartLine+c.EndLine-1], " ")
			if !strings.Contains(strings.Join(strings.Fields(cited), " "), strings.Join(strings.Fields(c.Quote), " ")) {
				t.Errorf("lines %d-%d are %q, without %q", c.StartLine, c.EndLine, cited, c.Quote)
			}
			if c.Maker != "rule" || c.EpisodeUID != e.Episode.UID || c.Speaker != memory.SpeakerNote || c.At.IsZero() {
				t.Errorf("claim without its origin: %+v", c)
			}
		}
		if want := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC); !e.Episode.OccurredAt.Equal(want) {
			t.Errorf("episode of %v, want %v", e.Episode.OccurredAt, want)
		}
	}
}

func TestNewRefusesGlobs(t *testing.T) {
	t.Parallel()
	if _, err := rule.New(rule.Options{Private: []string{"["}}); err == nil || !strings.Contains(err.Error(), "derive.private") {
		t.Errorf("New accepts a malformed glob: %v", err)
	}
	a, b := newRules(t, rule.Options{}), newRules(t, rule.Options{Private: []string{"diary/**"}})
	if a.Fingerprint() == b.Fingerprint() || a.Fingerprint() != newRules(t, rule.Options{}).Fingerprint() {
		t.Error("the fingerprint does not tell options apart")
	}
	if !strings.Contains(a.Fingerprint(), fmt.Sprintf("v%d", rule.Version)) {
		t.Error("the fingerprint lacks the version")
	}
}
