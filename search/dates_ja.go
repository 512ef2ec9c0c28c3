package search

import (
	"regexp"
	"strings"
)

// japaneseRules read what only Japanese writes.
var japaneseRules = []dateRule{
	{regexp.MustCompile(`(?P<day>今日|本日|今朝|今晩|今夜|きょう|一昨日|おととい|おとつい|昨日|昨夜|昨晩|きのう)`), readJapaneseDay},
	{regexp.MustCompile(`(?P<which>先々週|先先週|先週|今週)(?P<end>末)?(?:の?(?P<weekday>[月火水木金土日])曜日?)?`), readJapaneseWeek},
	{regexp.MustCompile(`(?P<which>この前の|前の|今度の)?(?P<weekday>[月火水木金土日])曜日?`), readJapaneseWeekday},
	{regexp.MustCompile(`(?P<which>この|今)?週末`), func(m match) (days, bool) {
		if strings.HasSuffix(m.before(), "毎") {
			return days{}, false
		}
		return recentWeekend(m.today), true
	}},
	{regexp.MustCompile(`(?P<which>先々月|先先月|先月|今月)(?:の?(?P<day>` + hanNumber + `)日|` + hanPart + `)?`), readJapaneseMonth},
	{regexp.MustCompile(`(?P<n>` + hanNumber + `)(?P<unit>日|週間?|(?:か|ヶ|ケ|カ|ヵ|箇|ヵ|個)月|年)前`), func(m match) (days, bool) {
		if m.isNumbered() {
			return days{}, false
		}
		return hanAgo(m.today, m.get("n"), m.get("unit"))
	}},
}

func readJapaneseDay(m match) (days, bool) {
	switch day := m.get("day"); {
	case day == "一昨日", strings.HasPrefix(day, "おと"):
		return ago(m.today, 2, 'd')
	case strings.HasPrefix(day, "昨"), day == "きのう":
		return ago(m.today, 1, 'd')
	}
	return oneDay(m.today), true
}

// japaneseBack is how many weeks or months 先々週, 先月 and the like lie back.
func japaneseBack(which string) int {
	switch {
	case strings.HasPrefix(which, "今"):
		return 0
	case strings.HasPrefix(which, "先々"), strings.HasPrefix(which, "先先"):
		return 2
	}
	return 1
}

func readJapaneseWeek(m match) (days, bool) {
	w := weekOf(m.today, -japaneseBack(m.get("which")))
	switch {
	case m.get("end") != "":
		return w.weekend(), true
	case m.get("weekday") != "":
		return w.weekday(hanWeekday(m.get("weekday"))), true
	}
	return w, true
}

func readJapaneseWeekday(m match) (days, bool) {
	if strings.HasSuffix(m.before(), "毎週") || strings.HasSuffix(m.before(), "来週") || strings.HasSuffix(m.before(), "来週の") ||
		m.get("which") == "今度の" {
		return days{}, false
	}
	return recentWeekday(m.today, hanWeekday(m.get("weekday")), m.get("which") != ""), true
}

func readJapaneseMonth(m match) (days, bool) {
	month := monthFrom(m.today, -japaneseBack(m.get("which")))
	if day := m.get("day"); day != "" {
		return dayOf(month.first.Year(), int(month.first.Month()), hanInt(day))
	}
	return month.hanPart(m.get("part")), true
}
