package vocab

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"kioku/memory"
)

// Class says how the facts of one subject and predicate live together.
type Class int

const (
	// Set keeps all objects: somebody likes coffee and tea.
	Set Class = iota
	// Exclusive keeps one object at a time: somebody lives in one city.
	Exclusive
	// Event keeps the first: two people meet for the first time once.
	Event
)

// String returns "set", "exclusive" or "event".
func (c Class) String() string {
	switch c {
	case Exclusive:
		return "exclusive"
	case Event:
		return "event"
	}
	return "set"
}

// classes are the predicates that are known without settings.
var classes = map[string]Class{
	"name_is": Exclusive, "operates_on": Exclusive, "timezone_is": Exclusive, "locale_is": Exclusive,
	"preferred_language_is": Exclusive, "preferred_input_style_is": Exclusive, "goal_is": Exclusive, "constraint_is": Exclusive,
	"lives_in": Exclusive, "works_at": Exclusive, "status_is": Exclusive, "deadline_is": Exclusive, "version_is": Exclusive,
	"birthday_is": Exclusive,

	"first_met_at": Event,

	"is_addressed_as": Set, "likes": Set, "dislikes": Set, "prefers": Set, "avoids": Set, "values": Set, "interested_in": Set,
	"habit": Set, "uses": Set, "owns": Set, "role_is": Set, "affiliated_with": Set, "located_in": Set, "decided": Set,
	"responsible_for": Set, "reached_at": Set,
}

// Noted is the predicate of what a person has written down as it stands: an item of MEMORY.md. Models do not use it.
const Noted = "noted"

// aliases are other names of predicates that models and people write.
var aliases = map[string]string{
	"is_named": "name_is", "name": "name_is", "called": "name_is", "full_name": "name_is",
	"platform": "operates_on", "operating_system": "operates_on", "os": "operates_on", "runs_on": "operates_on",
	"timezone": "timezone_is", "time_zone": "timezone_is", "time_zone_is": "timezone_is", "in_timezone": "timezone_is",
	"locale": "locale_is", "language": "preferred_language_is", "preferred_language": "preferred_language_is",
	"preferred_input_style": "preferred_input_style_is", "input_style": "preferred_input_style_is",
	"goal": "goal_is", "has_goal": "goal_is", "constraint": "constraint_is", "limited_by": "constraint_is",
	"lives_at": "lives_in", "lives": "lives_in", "resides_in": "lives_in", "residence": "lives_in", "home": "lives_in",
	"moved_to": "lives_in", "city": "lives_in",
	"works_for": "works_at", "works_in": "works_at", "employed_by": "works_at", "employer": "works_at", "company": "works_at",
	"job_at": "works_at",
	"status": "status_is", "state_is": "status_is", "deadline": "deadline_is", "due": "deadline_is", "due_date": "deadline_is",
	"due_on": "deadline_is", "version": "version_is", "birthday": "birthday_is", "birth_date": "birthday_is",
	"date_of_birth": "birthday_is", "born_on": "birthday_is",
	"met_at": "first_met_at", "first_met": "first_met_at", "met_on": "first_met_at",
	"nickname": "is_addressed_as", "addressed_as": "is_addressed_as", "nickname_is": "is_addressed_as",
	"like": "likes", "loves": "likes", "enjoys": "likes", "is_fond_of": "likes", "favorite": "likes", "favourite": "likes",
	"dislike": "dislikes", "hates": "dislikes", "prefer": "prefers", "preference": "prefers", "avoid": "avoids",
	"value": "values", "interest": "interested_in", "interests": "interested_in", "is_interested_in": "interested_in",
	"has_habit": "habit", "habits": "habit", "use": "uses", "uses_tool": "uses", "own": "owns", "has": "owns",
	"role": "role_is", "job": "role_is", "occupation": "role_is", "title": "role_is", "is_a": "role_is", "works_as": "role_is",
	"member_of": "affiliated_with", "belongs_to": "affiliated_with", "part_of": "affiliated_with", "affiliation": "affiliated_with",
	"location": "located_in", "is_in": "located_in", "based_in": "located_in", "located_at": "located_in",
	"decision": "decided", "has_decided": "decided", "chose": "decided",
	"owner_of": "responsible_for", "in_charge_of": "responsible_for", "leads": "responsible_for", "maintains": "responsible_for",
	"email": "reached_at", "phone": "reached_at", "contact": "reached_at", "email_is": "reached_at", "phone_is": "reached_at",
	"e_mail": "reached_at", "mobile": "reached_at", "address": "lives_in", "workplace": "works_at", "tz": "timezone_is", "born": "birthday_is",
	"hobbies": "interested_in", "current_goal": "goal_is", "current_version": "version_is", "editor": "uses", "goes_by": "is_addressed_as",
	"job_title": "role_is",

	"名前": "name_is", "氏名": "name_is", "役割": "role_is", "職業": "role_is", "勤務先": "works_at", "会社": "works_at", "住所": "lives_in", "居住地": "lives_in",
	"タイムゾーン": "timezone_is", "誕生日": "birthday_is", "生年月日": "birthday_is", "メール": "reached_at", "電話": "reached_at", "言語": "preferred_language_is",
	"好き": "likes", "好物": "likes", "嫌い": "dislikes", "苦手": "dislikes", "趣味": "interested_in", "目標": "goal_is", "締切": "deadline_is", "期限": "deadline_is",
	"状態": "status_is", "バージョン": "version_is", "呼び名": "is_addressed_as", "担当": "responsible_for",

	"姓名": "name_is", "名字": "name_is", "职位": "role_is", "职业": "role_is", "角色": "role_is", "公司": "works_at", "单位": "works_at", "住址": "lives_in", "现居": "lives_in",
	"时区": "timezone_is", "生日": "birthday_is", "出生日期": "birthday_is", "邮箱": "reached_at", "电话": "reached_at", "手机": "reached_at", "语言": "preferred_language_is",
	"喜欢": "likes", "爱好": "interested_in", "不喜欢": "dislikes", "目标": "goal_is", "截止日期": "deadline_is", "状态": "status_is", "版本": "version_is", "昵称": "is_addressed_as",
	"负责": "responsible_for",
}

// opposed contains pairs of predicates that contradict each other about one object. The first is the slot of both.
var opposed = [][2]string{{"likes", "dislikes"}, {"prefers", "avoids"}}

// predicateName is what the name of a predicate looks like.
var predicateName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// Vocabulary knows the predicates of facts. It is safe for use by many goroutines.
type Vocabulary struct {
	classes map[string]Class
}

// Default returns the vocabulary without settings.
func Default() *Vocabulary { return &Vocabulary{classes} }

// New returns the vocabulary with more predicates: the setting derive.predicates, from names to "exclusive", "event" or "set". A
// name that is known already gets the new class. It returns a *memory.InputError if a name or a class is none.
func New(extra map[string]string) (*Vocabulary, error) {
	v := &Vocabulary{make(map[string]Class, len(classes)+len(extra))}
	for name, class := range classes {
		v.classes[name] = class
	}
	for name, class := range extra {
		if !predicateName.MatchString(name) {
			return nil, &memory.InputError{Field: "derive.predicates", Problem: fmt.Sprintf("%q is no name of a predicate: use lower-case letters, digits and underscores, such as drives_to", name)}
		}
		i := slices.Index([]string{"set", "exclusive", "event"}, class)
		if i < 0 {
			return nil, &memory.InputError{Field: "derive.predicates." + name, Problem: fmt.Sprintf("%q is no class: use exclusive (one at a time), set (all stay) or event (the first stays)", class)}
		}
		if Class(i) != Set && isOpposed(name) {
			return nil, &memory.InputError{Field: "derive.predicates." + name, Problem: "it has an opposite, so that it must stay a set"}
		}
		v.classes[name] = Class(i)
	}
	return v, nil
}

func isOpposed(predicate string) bool {
	return slices.ContainsFunc(opposed, func(pair [2]string) bool { return pair[0] == predicate || pair[1] == predicate })
}

// Names returns all predicates in alphabetical order.
func (v *Vocabulary) Names() []string {
	names := make([]string, 0, len(v.classes))
	for name := range v.classes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Fingerprint identifies the predicates and their classes.
func (v *Vocabulary) Fingerprint() string {
	parts := []string{"predicates"}
	for _, name := range v.Names() {
		parts = append(parts, name, v.classes[name].String())
	}
	return UnitUID(parts...)[:8]
}

// Class returns the class of a predicate. It returns false for one that is not in the vocabulary, and for aliases.
func (v *Vocabulary) Class(predicate string) (Class, bool) {
	class, ok := v.classes[predicate]
	return class, ok || predicate == Noted
}

// Predicate returns the predicate with a name or an alias, whatever its case and whether its words are joined by underscores,
// hyphens or blanks. It returns false if there is none.
func (v *Vocabulary) Predicate(name string) (string, bool) {
	name = strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '_' || r == '-' || r == ' ' }), "_")
	if _, ok := v.classes[name]; ok {
		return name, true
	}
	canonical, ok := aliases[name]
	return canonical, ok
}

// Slot returns the predicate under which facts with this predicate meet: "likes" for likes and dislikes, "prefers" for prefers
// and avoids, and else the predicate itself.
func (v *Vocabulary) Slot(predicate string) string {
	for _, pair := range opposed {
		if predicate == pair[1] {
			return pair[0]
		}
	}
	return predicate
}

// preferences are the predicates of facts about what somebody wants.
var preferences = map[string]bool{
	"likes": true, "dislikes": true, "prefers": true, "avoids": true, "preferred_language_is": true, "preferred_input_style_is": true,
	"constraint_is": true, "is_addressed_as": true, "habit": true,
}

// IsPreference reports whether facts with a predicate are preferences.
func IsPreference(predicate string) bool { return preferences[predicate] }

// Types of entities.
const (
	Person  = "PERSON"
	Place   = "PLACE"
	Project = "PROJECT"
	Work    = "WORK"
	Topic   = "TOPIC"
	Org     = "ORG"
	Other   = "OTHER"
)

// EntityTypes are the types that are known without settings.
var EntityTypes = []string{Person, Place, Project, Work, Topic, Org, Other}

// Relations between entities.
var Relations = []string{"friend", "family", "colleague", "partner", "likes", "dislikes", "related", "other"}

// relationAliases are other words for relations.
var relationAliases = map[string]string{
	"wife": "partner", "husband": "partner", "spouse": "partner", "girlfriend": "partner", "boyfriend": "partner", "married": "partner",
	"mother": "family", "father": "family", "sister": "family", "brother": "family", "son": "family", "daughter": "family",
	"parent": "family", "child": "family", "sibling": "family", "cousin": "family", "uncle": "family", "aunt": "family",
	"coworker": "colleague", "co-worker": "colleague", "boss": "colleague", "manager": "colleague", "teammate": "colleague",
	"related_to": "related", "friends": "friend", "like": "likes", "dislike": "dislikes",
}

// Relation returns the relation with a name or an alias, and "other" for a name that is not known.
func Relation(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	for _, r := range Relations {
		if r == name {
			return r
		}
	}
	if r, ok := relationAliases[name]; ok {
		return r
	}
	return "other"
}

// User returns the entity that stands for the owner of the memory.
func User() memory.EntityRef { return memory.EntityRef{Type: Person, Name: memory.UserName} }

// ByOwner reports whether a speaker is the owner of the memory, who has said or written it.
func ByOwner(speaker string) bool {
	return speaker == memory.SpeakerNote || speaker == memory.SpeakerUser
}

// MayTell reports whether a speaker may make a claim about entities: about the owner of the memory only the owner.
func MayTell(speaker string, about ...memory.EntityRef) bool {
	return ByOwner(speaker) || !slices.ContainsFunc(about, IsUser)
}

// IsUser reports whether an entity stands for the owner of the memory.
func IsUser(ref memory.EntityRef) bool {
	return ref.Type == Person && ref.Qualifier == "" && strings.EqualFold(ref.Name, memory.UserName)
}
