package rule

import (
	"kioku/derive/vocab"
	"kioku/internal/text"
)

// objectKind says what the object of a fact may be.
type objectKind uint8

const (
	_ objectKind = iota // any text
	// placeName and orgName are names, which become entities.
	placeName
	orgName
	// dateText has a digit or the name of a month.
	dateText
	// thing is no pronoun and no clause: "coffee", not "that you ask" or "it".
	thing
)

// pattern finds one kind of fact in a sentence without its subject. Its group 1 is the object.
type pattern struct {
	predicate string
	object    objectKind
	form      *text.Regexp
	// curated reports that the pattern counts only in files of what stays true and of people, where sentences are terse.
	curated bool
}

// english are the patterns of what follows a subject in English.
var english = []pattern{
	{"lives_in", placeName, text.NewRegexp(`^(?i:(?:am|is|'m|'s)? ?(?:currently |now |still )?(?:lives?|living|resides?|residing|based) in)\s+(.+)$`), false},
	{"lives_in", placeName, text.NewRegexp(`^(?i:(?:have |has |'ve |just |recently |finally )*(?:moved|relocated) (?:back )?to)\s+(.+)$`), false},
	{"works_at", orgName, text.NewRegexp(`^(?i:(?:am |is |'m )?(?:currently |now |still )?(?:works?|working) (?:at|for))\s+(.+)$`), false},
	{"works_at", orgName, text.NewRegexp(`^(?i:(?:have |has |'ve )?(?:just |recently )?(?:started (?:working )?(?:at|for)|took a job at))\s+(.+)$`), false},
	{"role_is", thing, text.NewRegexp(`^(?i:(?:am |is |'m )?(?:currently |now )?(?:works?|working) as (?:an? |the )?)(.+)$`), false},
	{"role_is", thing, text.NewRegexp(`^(?i:(?:am|is|'m) (?:now )?(?:an? |the |our )((?:[\w-]+ ){0,3}(?:engineer|designer|manager|developer|teacher|doctor|nurse|lawyer|director|lead|ceo|cto|cfo|founder|architect|analyst|scientist|professor|consultant|editor|accountant|researcher|intern|journalist|photographer|translator)\b.{0,60})$)`), false},
	{"dislikes", thing, text.NewRegexp(`^(?i:(?:really |also )?(?:dislikes?|hates?|(?:do|does)(?:n't| not) (?:really )?like|can(?:'t|not) stand))\s+(.+)$`), false},
	{"likes", thing, text.NewRegexp(`^(?i:(?:really |also )?(?:likes?|loves?|enjoys?|(?:am|is|'m) fond of))\s+(.+)$`), false},
	{"prefers", thing, text.NewRegexp(`^(?i:(?:strongly |generally |usually |always )?prefers?)\s+(.+)$`), false},
	{"avoids", thing, text.NewRegexp(`^(?i:avoids?)\s+(.+)$`), true},
	{"values", thing, text.NewRegexp(`^(?i:values)\s+(.+)$`), true},
	{"interested_in", thing, text.NewRegexp(`^(?i:(?:(?:am|is|'m) )?interested in)\s+(.+)$`), false},
	{"uses", thing, text.NewRegexp(`^(?i:(?:now |mainly |mostly )?uses?)\s+(.+)$`), true},
	{"owns", thing, text.NewRegexp(`^(?i:owns?)\s+((?i:an?|the|two|three|four|\d+|his|her|their|my)\s.+)$`), true},
	{"responsible_for", thing, text.NewRegexp(`^(?i:(?:(?:am|is|'m) )?(?:responsible for|in charge of))\s+(.+)$`), false},
	{"responsible_for", thing, text.NewRegexp(`^(?i:leads|maintains)\s+(.+)$`), true},
	{"is_addressed_as", thing, text.NewRegexp(`^(?i:goes by|(?:likes|prefers|wants) to be called|(?:is|am|'m) addressed as)\s+(.+)$`), false},
	{"timezone_is", thing, text.NewRegexp(`^(?i:(?:'s )?time ?zone(?: is|:)?)\s+(.+)$`), true},
	{"birthday_is", dateText, text.NewRegexp(`^(?i:(?:was|were)? ?born(?: on)?|(?:'s )?birthday is(?: on)?)\s+(.+)$`), false},
	{"deadline_is", dateText, text.NewRegexp(`^(?i:is due(?: on| by)?|(?:'s )?deadline is)\s+(.+)$`), false},
	{"status_is", thing, text.NewRegexp(`^(?i:(?:'s )?status is)\s+(.+)$`), true},
	{"version_is", thing, text.NewRegexp(`^(?i:(?:'s )?(?:current )?version is|is at version)\s+(.+)$`), true},
	{"first_met_at", thing, text.NewRegexp(`^(?i:(?:was )?first met (?:at|in|on))\s+(.+)$`), true},
	{"affiliated_with", orgName, text.NewRegexp(`^(?i:(?:is a |am a )?member of)\s+(.+)$`), true},
}

// japanese are the patterns of what follows a subject and its particle in Japanese.
var japanese = []pattern{
	{"lives_in", placeName, text.NewRegexp(`^(?:(?:今|現在)は?、?)?([^はがを、]{1,20}?)(?:に|で)(?:住んで(?:いる|います)|暮らして(?:いる|います))$`), false},
	{"lives_in", placeName, text.NewRegexp(`^(?:(?:今|現在)は?、?)?([^はがを、]{1,20}?)在住(?:です|だ)?$`), false},
	{"lives_in", placeName, text.NewRegexp(`^(?:.{0,8}、)?([^はがを、]{1,20}?)(?:に|へ)(?:引っ?越した|引っ?越しました|引越した|引っ越し(?:た|ました)|引っ越し|移住した|移住しました|転居した|転居しました)$`), false},
	{"works_at", orgName, text.NewRegexp(`^(?:(?:今|現在)は?、?)?([^はがを、]{1,30}?)(?:で働いて(?:いる|います)|に勤めて(?:いる|います)|に勤務(?:して(?:いる|います))?|勤務)(?:です)?$`), false},
	{"works_at", orgName, text.NewRegexp(`^(?:.{0,8}、)?([^はがを、]{1,30}?)(?:に転職した|に転職しました|に入社した|に入社しました)$`), false},
	{"dislikes", thing, text.NewRegexp(`^([^は、]{1,30}?)(?:が|は)(?:大)?(?:嫌い|苦手)(?:だ|です)?$`), false},
	{"likes", thing, text.NewRegexp(`^([^は、]{1,30}?)(?:が|も)(?:大)?好き(?:だ|です)?$`), false},
	{"prefers", thing, text.NewRegexp(`^([^は、]{1,40}?)(?:を|の方を|のほうを)(?:好む|好みます)$`), false},
	{"prefers", thing, text.NewRegexp(`^([^は、]{1,40}?)(?:の方|のほう)が(?:好き|いい|良い)(?:だ|です)?$`), false},
	{"uses", thing, text.NewRegexp(`^([^はが、]{1,30}?)を(?:使って(?:いる|います)|愛用して(?:いる|います)|使用して(?:いる|います))$`), true},
	{"responsible_for", thing, text.NewRegexp(`^([^はが、]{1,30}?)(?:を担当(?:して(?:いる|います)|する)?|担当)(?:です)?$`), true},
	{"birthday_is", dateText, text.NewRegexp(`^(?:誕生日|生年月日)は、?(.{2,20}?)(?:だ|です)?$`), false},
	{"timezone_is", thing, text.NewRegexp(`^タイムゾーンは、?(.{2,30}?)(?:だ|です)?$`), false},
	{"name_is", thing, text.NewRegexp(`^(?:名前|氏名)は、?(.{1,20}?)(?:だ|です|と言います|といいます)?$`), false},
	{"deadline_is", dateText, text.NewRegexp(`^(?:の)?(?:締切|締め切り|期限)は、?(.{2,20}?)(?:だ|です)?$`), false},
}

// chinese are the patterns of what follows a subject in Chinese.
var chinese = []pattern{
	{"lives_in", placeName, text.NewRegexp(`^(?:现在|目前|如今)?(?:住在|居住在|定居在?|常住)([^，。的]{1,15}?)了?$`), false},
	{"lives_in", placeName, text.NewRegexp(`^(?:已经|刚|刚刚|上周|上个月|最近)*(?:搬到了?|搬去了?|搬家到了?|移居到?了?|迁居到?了?)([^，。的]{1,15}?)了?$`), false},
	{"works_at", orgName, text.NewRegexp(`^(?:现在|目前)?在([^，。的]{2,20}?)(?:工作|上班|任职|就职)$`), false},
	{"works_at", orgName, text.NewRegexp(`^(?:现在|目前)?(?:就职于|任职于|供职于)([^，。的]{2,20}?)$`), false},
	{"dislikes", thing, text.NewRegexp(`^(?:很|非常|最)?(?:不喜欢|讨厌|不爱[吃喝]?)([^，。]{1,30})$`), false},
	{"prefers", thing, text.NewRegexp(`^(?:更喜欢|偏好|更偏好|倾向于?)([^，。]{1,30})$`), false},
	{"likes", thing, text.NewRegexp(`^(?:也|还|很|非常|最|特别|一直)*(?:喜欢|热爱|爱[吃喝])([^，。]{1,30})$`), false},
	{"uses", thing, text.NewRegexp(`^(?:一直)?(?:使用|在用)([^，。]{1,30})$`), true},
	{"responsible_for", thing, text.NewRegexp(`^(?:目前)?负责([^，。]{1,30})$`), true},
	{"birthday_is", dateText, text.NewRegexp(`^(?:的)?生日是([^，。]{2,20})$`), false},
	{"timezone_is", thing, text.NewRegexp(`^(?:的)?时区是([^，。]{2,30})$`), false},
	{"name_is", thing, text.NewRegexp(`^(?:的名字是|名字叫|名叫|叫)([^，。]{1,20})$`), true},
	{"deadline_is", dateText, text.NewRegexp(`^(?:的)?(?:截止日期|截止时间|期限)是([^，。]{2,20})$`), false},
}

// keys are the words before a colon that name predicates.
var keys = map[string]string{
	"name": "name_is", "full name": "name_is", "role": "role_is", "job": "role_is", "job title": "role_is", "occupation": "role_is", "position": "role_is",
	"employer": "works_at", "company": "works_at", "works at": "works_at", "works for": "works_at", "workplace": "works_at",
	"lives in": "lives_in", "home": "lives_in", "location": "lives_in", "city": "lives_in", "based in": "lives_in", "residence": "lives_in", "address": "lives_in",
	"timezone": "timezone_is", "time zone": "timezone_is", "tz": "timezone_is", "birthday": "birthday_is", "born": "birthday_is",
	"date of birth": "birthday_is", "birth date": "birthday_is", "email": "reached_at", "e-mail": "reached_at", "phone": "reached_at", "mobile": "reached_at",
	"preferred language": "preferred_language_is", "language": "preferred_language_is", "locale": "locale_is", "likes": "likes", "loves": "likes",
	"dislikes": "dislikes", "hates": "dislikes", "prefers": "prefers", "preference": "prefers", "avoids": "avoids", "interests": "interested_in", "hobbies": "interested_in",
	"goal": "goal_is", "current goal": "goal_is", "deadline": "deadline_is", "due": "deadline_is", "due date": "deadline_is", "status": "status_is",
	"version": "version_is", "current version": "version_is", "uses": "uses", "editor": "uses", "os": "operates_on", "operating system": "operates_on",
	"platform": "operates_on", "responsible for": "responsible_for", "nickname": "is_addressed_as", "goes by": "is_addressed_as", "call me": "is_addressed_as",
	"values": "values", "habit": "habit", "habits": "habit", "constraint": "constraint_is", "member of": "affiliated_with",

	"名前": "name_is", "氏名": "name_is", "役割": "role_is", "役職": "role_is", "職業": "role_is", "職種": "role_is", "勤務先": "works_at", "勤め先": "works_at",
	"会社": "works_at", "住所": "lives_in", "居住地": "lives_in", "住まい": "lives_in", "居住": "lives_in", "タイムゾーン": "timezone_is", "誕生日": "birthday_is",
	"生年月日": "birthday_is", "メール": "reached_at", "メールアドレス": "reached_at", "電話": "reached_at", "電話番号": "reached_at", "言語": "preferred_language_is",
	"好き": "likes", "好きなもの": "likes", "好物": "likes", "嫌い": "dislikes", "嫌いなもの": "dislikes", "苦手": "dislikes", "苦手なもの": "dislikes", "趣味": "interested_in",
	"目標": "goal_is", "締切": "deadline_is", "締め切り": "deadline_is", "期限": "deadline_is", "状態": "status_is", "状況": "status_is", "ステータス": "status_is",
	"バージョン": "version_is", "呼び名": "is_addressed_as", "あだ名": "is_addressed_as", "愛称": "is_addressed_as", "担当": "responsible_for",

	"姓名": "name_is", "名字": "name_is", "职位": "role_is", "职业": "role_is", "角色": "role_is", "公司": "works_at", "单位": "works_at", "工作单位": "works_at", "住址": "lives_in",
	"住处": "lives_in", "现居": "lives_in", "现居地": "lives_in", "所在地": "lives_in", "时区": "timezone_is", "生日": "birthday_is", "出生日期": "birthday_is", "邮箱": "reached_at",
	"电话": "reached_at", "手机": "reached_at", "语言": "preferred_language_is", "喜欢": "likes", "爱好": "interested_in", "不喜欢": "dislikes", "讨厌": "dislikes", "兴趣": "interested_in",
	"目标": "goal_is", "截止日期": "deadline_is", "截止": "deadline_is", "状态": "status_is", "版本": "version_is", "昵称": "is_addressed_as", "负责": "responsible_for",
}

// personal are predicates that only people have, and businesslike those that projects have.
var (
	personal = map[string]bool{"lives_in": true, "works_at": true, "birthday_is": true, "likes": true, "dislikes": true, "prefers": true, "role_is": true,
		"interested_in": true, "timezone_is": true, "is_addressed_as": true, "reached_at": true, "habit": true, "preferred_language_is": true}
	businesslike = map[string]bool{"deadline_is": true, "status_is": true, "version_is": true}
)

// kindFor returns the type of a subject that only its predicate tells, empty if it does not.
func kindFor(predicate string) string {
	switch {
	case personal[predicate]:
		return vocab.Person
	case businesslike[predicate]:
		return vocab.Project
	}
	return ""
}
