package rule

import (
	"maps"
	"path"
	"slices"
	"strings"

	"kioku/derive/vocab"
	"kioku/internal/text"
	"kioku/memory"
)

// fileSubject is what a whole file is about.
type fileSubject struct {
	// ref is the entity that the file is about; zero if it is about none.
	ref     memory.EntityRef
	aliases []string
	// people that the front matter names.
	people []string
	// users are the names that the file gives the owner of the memory, by their norms.
	users map[string]string
	// ofUser reports that the file is about the owner.
	ofUser bool
}

// key returns what the claims of all episodes of the file depend on.
func (s fileSubject) key() string {
	return strings.Join([]string{s.ref.Type, s.ref.Name, strings.Join(s.aliases, "\x02"), strings.Join(s.people, "\x02"),
		strings.Join(slices.Sorted(maps.Keys(s.users)), "\x02")}, "\x01")
}

// groups are words for groups of entities: names of folders, and of headings above entities.
var groups = []struct {
	kind  string
	words *text.Regexp
}{
	{vocab.Person, text.NewRegexp(`^(?i:(?:key |my |our |important )?(?:people|persons?|contacts?|family|friends|colleagues|co-?workers|team ?members|stakeholders|relatives|personen|leute|kontakte|familie|freunde|kollegen|personnes|gens|famille|amis|collègues|personas|gente|contactos|familia|amigos|persone|contatti|famiglia|amici|pessoas|contatos|família|люди|контакты|семья|друзья|коллеги)|人|人々|人物|人们|사람들?|인물|가족|친구|연락처|関係者|連絡先|家族|友人|友達|メンバー|同僚|联系人|重要联系人|家人|朋友|同事|团队成员|聯絡人)$`)},
	{vocab.Project, text.NewRegexp(`^(?i:(?:active |current |my |our |open |past )?projects?|プロジェクト|案件|项目|專案)$`)},
	{vocab.Org, text.NewRegexp(`^(?i:(?:key |our )?(?:companies|company|customers?|clients?|vendors?|organi[sz]ations?|orgs?)|会社|顧客|取引先|客户|公司|供应商)$`)},
	{vocab.Place, text.NewRegexp(`^(?i:places?|locations|cities|場所|地点)$`)},
	{vocab.Topic, text.NewRegexp(`^(?i:topics?|トピック|话题|主题)$`)},
}

// timeOfDay begins the heading of a note that Kioku has written.
var timeOfDay = text.NewRegexp(`^\d{1,2}:\d{2}\s*[-–—]?\s*`)

// groupOf returns the type of the entities of a group, empty if a title names none.
func groupOf(title string) string {
	title = strings.Trim(timeOfDay.ReplaceAllString(title, ""), " *_:：")
	for _, g := range groups {
		if g.words.MatchString(title) {
			return g.kind
		}
	}
	return ""
}

// aboutUser are headings of what is about the owner of the memory.
var aboutUser = text.NewRegexp(`^(?i:(?:about )?(?:me|the user|user)|user profile|profile|my profile|(?:user |my |personal )?preferences|personal(?: info(?:rmation)?| details)?|私について|自分について|ユーザー(?:について|情報)?|プロフィール|好み|关于我|用户(?:信息|资料|画像)?|个人信息|偏好)$`)

// shouted is the name of a file about a repository, such as GOVERNANCE.md or BRANCHES-AND-TAGS.md, and not of a project.
var shouted = text.NewRegexp(`^[A-Z]{7,}$|^[A-Z]+(?:[-_][A-Z]+)+$`)

// subjectOfFile returns what a file is about: the person of people/dario.md.
func subjectOfFile(p string, meta frontMatter, lines []line) fileSubject {
	s := fileSubject{people: meta.people, ofUser: path.Base(p) == "USER.md", users: map[string]string{}}
	kind := groupOf(path.Base(path.Dir(p)))
	if kind == "" {
		kind = groupOf(meta.kind)
	}
	base := strings.TrimSuffix(path.Base(p), path.Ext(p))
	if kind == "" || isLongTerm(p) || noteDay.MatchString(base) || commonTitle(base) || shouted.MatchString(base) {
		return s
	}
	plain := strings.Join(strings.FieldsFunc(base, func(r rune) bool { return r == '-' || r == '_' }), " ")
	name := meta.title
	if name == "" {
		name = firstTitle(lines)
	}
	if !fitsKind(name, kind) {
		name = titleCase(plain)
	}
	if !fitsKind(name, kind) {
		return s
	}
	s.ref = memory.EntityRef{Type: kind, Name: name}
	for _, alias := range append(meta.aliases, titleCase(plain)) {
		if vocab.Norm(alias) != vocab.Norm(name) {
			s.aliases = append(s.aliases, alias)
		}
	}
	return s
}

// firstTitle returns the heading of level 1 at the beginning of a file, empty if it has none.
func firstTitle(lines []line) string {
	for i := range lines {
		if lines[i].isBlank() {
			continue
		}
		if lines[i].level == 1 {
			return cleanName(strings.TrimLeft(lines[i].text, "# "))
		}
		return ""
	}
	return ""
}

// titleCase returns a name in small letters with a capital at the beginning of each word.
func titleCase(name string) string {
	if name != strings.ToLower(name) {
		return name
	}
	words := strings.Fields(name)
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
		if w[0] >= 0x80 {
			words[i] = w
		}
	}
	return strings.Join(words, " ")
}

// titlesOf returns the titles in a path of headings, outermost first.
func titlesOf(headings string) []string {
	if headings == "" {
		return nil
	}
	var titles []string
	for _, part := range strings.Split(headings, " > #") {
		titles = append(titles, strings.TrimSpace(strings.TrimLeft(part, "# ")))
	}
	return titles
}

// headingSubject is what headings say about the text below them.
type headingSubject struct {
	// group is the type of the entities of which the text is a list; empty if it is none.
	group string
	// ref is the entity that the text is about; zero if the headings name none.
	ref     memory.EntityRef
	aliases []string
}

// headingSubject returns what the headings above a line are about.
func (d *Document) headingSubject(headings string) headingSubject {
	var s headingSubject
	for _, title := range titlesOf(headings) {
		name, aliases := splitAliases(cleanName(title))
		switch {
		case groupOf(title) != "":
			s = headingSubject{group: groupOf(title)}
		case d.isUser(name) && (s.group != "" || d.longTerm):
			s = headingSubject{ref: vocab.User()}
		case s.group != "" && fitsHeading(name, s.group):
			s = headingSubject{ref: memory.EntityRef{Type: s.group, Name: name}, aliases: aliases}
		case aboutUser.MatchString(strings.Trim(title, " *_:：")) && d.longTerm:
			s = headingSubject{ref: vocab.User()}
		case d.longTerm && s.group == "" && (s.ref == (memory.EntityRef{}) || s.ref.Type == vocab.Topic) && isPersonName(name):
			// It has the form of a name; of what, other notes tell. The nearest one counts.
			s = headingSubject{ref: memory.EntityRef{Type: vocab.Topic, Name: name}, aliases: aliases}
		case s.group != "":
			s = headingSubject{}
		}
	}
	return s
}
