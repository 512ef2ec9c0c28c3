package dates

import (
	"regexp"
)

// japaneseRules read the expressions of Japanese only.
var japaneseRules = []dateRule{
	{regexp.MustCompile(`(?P<day>今日|本日|今朝|今晩|今夜|きょう|さきおととい|一昨々日|一昨昨日|一昨日|おととい|おとつい|昨日|昨夜|昨晩|きのう)`), readNamedDay},
	{regexp.MustCompile(`(?P<which>先々週|先先週|先週|今週)(?P<end>末)?(?:の?(?P<weekday>[月火水木金土日])曜日?)?`), readHanWeek},
	{regexp.MustCompile(`(?P<which>この前の|前の)(?P<weekday>[月火水木金土日])曜日?`), readJapaneseWeekday},
	{regexp.MustCompile(`(?P<weekday>[月火水木金土日])曜日?`), readJapaneseWeekday},
	{regexp.MustCompile(`(?P<which>先々月|先先月|先月|今月)(?:の?(?P<day>` + hanNumber + `)日|` + hanPart + `)?`), readHanMonthFrom},
}

// shortWeekday matches the first end of 月〜金曜.
var shortWeekday = regexp.MustCompile(`[月火水木金土][~〜・\-]$`)

func readJapaneseWeekday(m match) (days, bool) {
	switch {
	case m.follows(hanAhead):
		return days{ahead: true}, true
	case m.follows(shortWeekday):
		return days{}, false
	}
	return recentWeekday(m.today, hanWeekday(m.get("weekday")), m.get("which") != ""), true
}
