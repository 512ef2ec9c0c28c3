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
		{"the owner in USER.md", "USER.md", "# Me\n- Name: Ana Lima. Signs as AL.\n- Lives in: Porto\n- **Time zone**: Europe/Lisbon\n- Prefers short answers over long ones\n- Likes: rowing, old maps and cats\n- Uses: Go, SQLite\n",
			[]string{"USER name_is Ana Lima", "USER lives_in Porto", "USER timezone_is Europe/Lisbon", "USER noted Prefers short answers over long ones", "USER likes rowing", "USER likes old maps", "USER likes cats", "USER uses Go", "USER uses SQLite"}},
		{"below a name", "MEMORY.md", "# Memory\n## People\n### Dario Conti (Dario, DC)\n- Lives in: Porto (since 2026-10)\n- Role: engineer\n- Works at: Acme (2026-03 to 2026-07)\n- Company: Bolt (until 2026-02)\n",
			[]string{"Dario Conti lives_in Porto [2026-10..]", "Dario Conti role_is engineer", "Dario Conti works_at Acme [2026-03..2026-08]", "Dario Conti works_at Bolt [..2026-03]"}},
		{"below a heading that may be a name", "MEMORY.md", "## Dario\n- City: Porto\n\n## Lessons\n- fear deploys\n", []string{"Dario lives_in Porto", "USER noted fear deploys"}},
		{"below a project", "MEMORY.md", "## Projects\n### Acme Shop\n- Deadline: 2026-12-01\n- Status: waiting for the bank\n",
			[]string{"Acme Shop deadline_is 2026-12-01", "Acme Shop status_is waiting for the bank"}},
		{"a list of people", "MEMORY.md", "## Contacts\n- Su Lan 苏岚 (sulan@example.com): testing. Lives in Xiamen.\n- **Tobi Adeyar** - product\n  - Time zone: Asia/Tokyo\n  - quiet\n",
			[]string{"Su Lan reached_at sulan@example.com", "Su Lan noted testing. Lives in Xiamen.", "Tobi Adeyar noted product", "Tobi Adeyar timezone_is Asia/Tokyo"}},
		{"a dated note about people", "memory/2026-11-20.md", "## People\n### Dario\n- City: Porto\n- quiet\n\n## Rest\n- City: Rome\n", []string{"Dario lives_in Porto"}},
		{"a file about a repository", "project/GOVERNANCE.md", "# GOVERNANCE\n\nStatus: stable.\n", nil},
		{"a file of a person", "memory/people/dario-conti.md", "# Dario Conti\n\nCity: Trieste.\nHe likes rowing.\n\n- Likes: tea\n", []string{"Dario Conti lives_in Trieste", "Dario Conti likes tea"}},
		{"Japanese", "USER.md", "- 名前：常葉凛\n- 神戸に住んでいる。\n- 誕生日: 3月4日\n", []string{"USER name_is 常葉凛", "USER noted 神戸に住んでいる。", "USER birthday_is 3月4日"}},
		{"Chinese", "USER.md", "- 姓名：周立\n- 住在杭州。\n- 时区：Asia/Shanghai\n", []string{"USER name_is 周立", "USER noted 住在杭州。", "USER timezone_is Asia/Shanghai"}},
		{"prose", "memory/2026-11-20.md", "I live in Porto. Dario works at Acme.\n- Dario moved to Rome.\n", nil},
		{"no items", "MEMORY.md", "# Rules\nAsk Dario.\n\n```\nname: x\n```\n\n| name | lives in |\n|---|---|\n| Ana | Porto |\n\n> - City: Rome\n<!-- - City: Oslo -->\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, factsIn(t, newRules(t, rule.Options{}), note(c.path, c.data))); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoopsAreFoundAndClosed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, path, data string
		want             []string
	}{
		{"English", "memory/2026-11-20.md", "- [ ] call Ana by Friday\n- [x] send the report\n- TODO: pay the bill (due 2026-12-01)\nTODO: ask Bo about the keys before December 5\ndone: book the flight\n",
			[]string{"loop call Ana due 2026-11-20", "close send the report", "loop pay the bill due 2026-12-01", "loop ask Bo about the keys due 2026-12-05", "close book the flight"}},
		{"Japanese", "memory/2026-11-20.md", "- 要対応：見積もりを12月1日までに送る\n- [ ] 来週金曜までに資料を直す\n- 完了: 会議室の予約\n",
			[]string{"loop 見積もりを12月1日までに送る due 2026-12-01", "loop 資料を直す due 2026-11-27", "close 会議室の予約"}},
		{"Chinese", "memory/2026-11-20.md", "- 待办：周一之前提交报告\n- [x] 买票\n已完成：订酒店\n", []string{"loop 提交报告 due 2026-11-23", "close 买票", "close 订酒店"}},
		{"a list of what is open", "memory/2026-11-20.md", "## 18:25 - todo\n- tell Dario\n- todo: lock up\n\n## 19:00 - note\n- a remark\n",
			[]string{"loop tell Dario", "loop lock up"}},
		{"no loops", "memory/2026-11-20.md", "FIXME: nothing. We need to talk. TODO lists are dull.\n```\n- [ ] code\n```\n> - [ ] quoted\n", nil},
		{"where to read on", "memory/2026-11-20.md", "## Next steps\n- [Channels](/channels)\n- [Setup](/setup) -- all settings\n- Compare hosts: [Linux](/vps)\n- Review [the plan](plan.md)\n- [PR 12](/12) needs a second look\n",
			[]string{"loop Review the plan", "loop PR 12 needs a second look"}},
		{"what stays true", "MEMORY.md", "- [ ] renew the passport\n", []string{"loop renew the passport"}},
		{"a guide", "memory/README.md", "- [ ] I have read the rules\n", nil},
		{"template of an issue", "memory/report.md", "---\nname: Bug\nabout: Report a bug\nlabels: bug\n---\n- [ ] parser\n", nil},
		{"steps of a release", "memory/release-checklist.md", "- [ ] Set the version\n", nil},
		{"a skill", "memory/skills/review/SKILL.md", "- [ ] Names are short\n", nil},
		{"a folder of a forge", "memory/.gitlab/merge/default.md", "- [ ] Ask for a review\n", nil},
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
		{"headings", "MEMORY.md", "# Projects\n## Acme Shop\n- opened in May\n# Lessons\n## Backups\n- restore them\n", []string{"PROJECT Acme Shop", "TOPIC Backups"}},
		{"headings about companies", "MEMORY.md", "# Organizations\n## Organization roles\n- own it\n## Creating Teams\n- click here\n## Bank of Kobe\n- lends\n## 屿光旅行\n- 船票\n", []string{"ORG Bank of Kobe", "ORG 屿光旅行"}},
		{"directives", "memory/2026-11-20.md", "Say `[[voice]]` or [[tts:hello]], and `[[people/bo]]`.\n", nil},
		{"first names", "MEMORY.md", "## Contacts\n- Dario Venn: backend\n- Ana Lima (ana@example.com)\n- Ana Reis: sales\n", []string{"PERSON Dario Venn", "PERSON Ana Lima", "PERSON Ana Reis"}},
		{"written aliases in a list", "MEMORY.md", "## People\n- **Clara Whitfield** (Clara): designer\n- Dario Venn (DV, dario@example.com): backend\n- Claire (aka Clara): sales\n- Bo (Bo Linden): law\n- Ana Lima (Berlin): sales\n",
			[]string{"PERSON Clara Whitfield/Clara", "PERSON Dario Venn/DV", "PERSON Claire/Clara", "PERSON Bo Linden/Bo", "PERSON Ana Lima"}},
		{"aliases below no heading", "MEMORY.md", "- Clara Whitfield (Clara): designer\n- Visual Studio (VS): editor\n- 小王（王伟）：设计师\n", []string{"PERSON Clara Whitfield/Clara", "PERSON 王伟/小王"}},
		{"Japanese aliases in a list", "MEMORY.md", "## 連絡先\n- 田中さん（田中太郎）：設計\n- 鈴木一郎（通称：いっちゃん）：営業\n", []string{"PERSON 田中太郎/田中", "PERSON 鈴木一郎/いっちゃん"}},
		{"Chinese aliases in a list", "MEMORY.md", "## 联系人\n- 小王（王伟）：设计\n- 鹿小满（小满）：旅行\n", []string{"PERSON 王伟/小王", "PERSON 鹿小满/小满"}},
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
	f := note("memory/2026-11-20.md", "# 2026-11-20\n\n## 09:00\n### People\n#### Dario\nA start.\n- City:\n  Porto\n- [ ] call Ana\n")
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

// What stands under a bare name in MEMORY.md is about that name, and nothing tells what it is: it is no fact about the owner.
func TestItemsUnderABareNameAreNotAboutTheOwner(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"- Dario <img src=x>\n  - Company: Casa Azul\n": 0,
		"- Dario\n  - Company: Casa Azul\n":             0,
		"- 田中さん\n  - Company: Casa Azul\n":              0,
		"- Work\n  - Company: Casa Azul\n":              1,
		"- My job\n  - Company: Casa Azul\n":            1,
		"- About me:\n  - Company: Casa Azul\n":         1,
		"- 仕事\n  - Company: Casa Azul\n":                1,
		"- Company: Casa Azul\n":                        1,
	} {
		got := 0
		for _, fact := range factsIn(t, newRules(t, rule.Options{}), note("MEMORY.md", "# Memory\n\n"+text)) {
			if strings.HasPrefix(fact, memory.UserName+" works_at") {
				got++
			}
		}
		if got != want {
			t.Errorf("%q: %d facts about the owner, want %d", text, got, want)
		}
	}
}

// A title that only names the kind of document is nobody, the nearest name wins, and the headings below a group are its people.
func TestClaimsAreAboutTheNearestName(t *testing.T) {
	t.Parallel()
	for _, title := range []string{"記憶", "メモリー", "覚書", "日記", "知識", "ノート", "读书笔记", "记忆", "笔记", "知识", "메모", "기억", "Memory", "Knowledge", "Gedächtnis",
		"Notizen", "Souvenirs", "Mémoire", "Recuerdos", "Ricordi", "Anotações", "Память", "Заметки", "Geheugen", "Pamięć", "常葉家"} {
		for _, c := range []struct{ below, want string }{
			{"## 山田太郎\n- 住所：東京\n\n## 常葉凛\n- 住所：京都\n", "山田太郎 lives_in 東京, 常葉凛 lives_in 京都"},
			{"## 人\n### 常葉 凛\n- 住所：京都\n#### 経歴\n- 住所：大阪\n", "常葉 凛 lives_in 京都, 常葉 凛 lives_in 大阪"},
			{"## Люди\n### Анна Климова\n- City: Perm\n", "Анна Климова lives_in Perm"},
			{"## Dario\n- City: Porto\n### Career\n- Company: Acme\n", "Dario lives_in Porto, Dario works_at Acme"},
		} {
			if got := strings.Join(factsIn(t, newRules(t, rule.Options{}), note("MEMORY.md", "# "+title+"\n\n"+c.below)), ", "); got != c.want {
				t.Errorf("%s: %s, want %s", title, got, c.want)
			}
		}
		want := "USER lives_in Kobe"
		if title == "常葉家" {
			want = "常葉家 lives_in Kobe"
		}
		if got := strings.Join(factsIn(t, newRules(t, rule.Options{}), note("MEMORY.md", "# "+title+"\n- City: Kobe\n")), ", "); got != want {
			t.Errorf("%s is taken for somebody: %s", title, got)
		}
	}
}
