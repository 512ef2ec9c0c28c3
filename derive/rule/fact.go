package rule

import (
	"strings"
	"unicode/utf8"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/internal/text"
	"kioku/memory"
)

// maxObject is the maximum number of characters of an object, and maxNoted that of an item that is a fact as a whole.
const maxObject, maxNoted = 120, 300

var (
	// labelled is an item that says by its first words what the rest is: "Time zone: Asia/Tokyo".
	labelled = text.NewRegexp(`^([\p{L}][\p{L} \-]{0,24}?)\s*[:：]\s*(\S.*?)(?:[.。;；](?:\s.*)?)?$`)
	// within is when a fact holds, as the views write it: "(since 2026-10)", "(2026-03 to 2026-07)".
	within = text.NewRegexp(`\s*[(（](?:since (` + period + `)|until (` + period + `)|(` + period + `) ?(?:to|–|-|〜) ?(` + period + `))[)）]$`)
	email  = text.NewRegexp(`[\w.+-]+@[\w-]+(?:\.[\w-]+)+`)
	links  = text.NewRegexp(`\[\[(?:[^|\]]*\|)?([^|\]]+)\]\]|\[([^\]]+)\]\([^)\s]*\)`)
)

// period is a day, a month or a year.
const period = `\d{4}(?:-\d{2}(?:-\d{2})?)?`

// labels are the predicates that the words before a colon name beside those that package vocab knows.
var labels = map[string]string{
	"address": "lives_in", "lives in": "lives_in", "workplace": "works_at", "works at": "works_at", "tz": "timezone_is", "born": "birthday_is",
	"birth date": "birthday_is", "e-mail": "reached_at", "mobile": "reached_at", "hobbies": "interested_in", "current goal": "goal_is",
	"current version": "version_is", "editor": "uses", "responsible for": "responsible_for", "goes by": "is_addressed_as", "job title": "role_is",

	"名前": "name_is", "氏名": "name_is", "役割": "role_is", "職業": "role_is", "勤務先": "works_at", "会社": "works_at", "住所": "lives_in", "居住地": "lives_in",
	"タイムゾーン": "timezone_is", "誕生日": "birthday_is", "生年月日": "birthday_is", "メール": "reached_at", "電話": "reached_at", "言語": "preferred_language_is",
	"好き": "likes", "好物": "likes", "嫌い": "dislikes", "苦手": "dislikes", "趣味": "interested_in", "目標": "goal_is", "締切": "deadline_is", "期限": "deadline_is",
	"状態": "status_is", "バージョン": "version_is", "呼び名": "is_addressed_as", "担当": "responsible_for",

	"姓名": "name_is", "名字": "name_is", "职位": "role_is", "职业": "role_is", "角色": "role_is", "公司": "works_at", "单位": "works_at", "住址": "lives_in", "现居": "lives_in",
	"时区": "timezone_is", "生日": "birthday_is", "出生日期": "birthday_is", "邮箱": "reached_at", "电话": "reached_at", "手机": "reached_at", "语言": "preferred_language_is",
	"喜欢": "likes", "爱好": "interested_in", "不喜欢": "dislikes", "目标": "goal_is", "截止日期": "deadline_is", "状态": "status_is", "版本": "version_is", "昵称": "is_addressed_as",
	"负责": "responsible_for",
}

// predicateOf returns the predicate that the words before a colon name, empty if they name none.
func (d *Document) predicateOf(label string) string {
	label = strings.ToLower(strings.TrimSpace(label))
	if predicate, ok := labels[label]; ok {
		return predicate
	}
	predicate, _ := d.rules.opt.Vocabulary.Predicate(label)
	return predicate
}

// factsOf returns the facts that a paragraph about a subject states: what follows a label, and else, in a file of what stays true, the
// item as it stands.
func (d *Document) factsOf(p *paragraph, subject memory.EntityRef, m *mentions, e memory.Episode) []unit.Claim {
	if !entitled(subject, p.speaker) {
		return nil
	}
	c := d.claim(unit.ClaimFact, p, e)
	c.Subject, c.Confidence = subject, confidence(p.speaker)
	var claims []unit.Claim
	if p.address != "" {
		c.Predicate, c.Object = "reached_at", p.address
		claims = append(claims, c)
	}
	words := plain(p.text)
	if keyed, ok := d.readLabel(c, words); ok {
		if keyed[0].ObjectEntity != nil {
			m.add(*keyed[0].ObjectEntity, roleMentioned, c.Confidence)
		}
		return append(claims, keyed...)
	}
	if d.longTerm && p.item && p.indent == 0 && vocab.Norm(words) != "" {
		c.Predicate, c.Object = vocab.Noted, text.Shorten(words, maxNoted)
		claims = append(claims, c)
	}
	return claims
}

// readLabel returns the claims of a text that begins with a label, like c but for what they say; false if it begins with none.
func (d *Document) readLabel(c unit.Claim, words string) ([]unit.Claim, bool) {
	m := labelled.FindStringSubmatch(words)
	if m == nil {
		return nil, false
	}
	value := m[2]
	if c.Predicate = d.predicateOf(m[1]); c.Predicate == "" {
		return nil, false
	}
	if at := within.FindStringSubmatch(value); at != nil {
		value = strings.TrimSuffix(value, at[0])
		c.From, c.To = at[1]+at[3], vocab.Following(at[2]+at[4])
	}
	class, _ := d.rules.opt.Vocabulary.Class(c.Predicate)
	var claims []unit.Claim
	for _, object := range objects(strings.Trim(text.OneLine(value), ` ."“”'`), class) {
		if object == "" || utf8.RuneCountInString(object) > maxObject {
			return nil, false
		}
		c.Object, c.ObjectEntity = object, d.objectEntity(c.Predicate, object)
		claims = append(claims, c)
	}
	return claims, true
}

// objects returns the objects of a value: several if it is a list of short ones, and the predicate keeps them all.
func objects(value string, class vocab.Class) []string {
	if class != vocab.Set {
		return []string{value}
	}
	list := value
	if at := strings.LastIndex(list, " and "); at > 0 && strings.Contains(list, ",") {
		list = list[:at] + "," + list[at+len(" and "):]
	}
	items := strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(",、，", r) })
	for i, item := range items {
		if items[i] = strings.TrimSpace(item); len(strings.Fields(item)) > 3 || utf8.RuneCountInString(item) > 30 {
			return []string{value}
		}
	}
	return items
}

// objectEntity returns the place or the organisation that an object names, nil if it names none.
func (d *Document) objectEntity(predicate, object string) *memory.EntityRef {
	kind := map[string]string{"lives_in": vocab.Place, "works_at": vocab.Org}[predicate]
	if kind == "" || !fitsHeading(object, kind) {
		return nil
	}
	return &memory.EntityRef{Type: kind, Name: object}
}

// plain returns a text without the marks of emphasis, links and code.
func plain(s string) string {
	if strings.Contains(s, "[") {
		s = links.ReplaceAllString(s, "$1$2")
	}
	return strings.TrimSpace(strings.NewReplacer("**", "", "__", "", "`", "").Replace(s))
}
