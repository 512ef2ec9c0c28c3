package search

import (
	"regexp"
	"strings"
)

// zhWeek is the word for a week.
const zhWeek = `(?:周|週|星期|礼拜|禮拜)`

// chineseRules read what only Chinese writes, simplified and traditional.
var chineseRules = []dateRule{
	{regexp.MustCompile(`(?P<day>大前天|前天|前晚|昨天|昨晚|昨日|今天|今早|今晚|今日)`), readChineseDay},
	{regexp.MustCompile(`(?P<which>上上|上|这|這|本)(?:个|個)?` + zhWeek + `(?P<end>末)?(?P<weekday>[一二三四五六日天])?`), readChineseWeek},
	{regexp.MustCompile(zhWeek + `(?P<weekday>[一二三四五六日天])`), readChineseWeekday},
	{regexp.MustCompile(`周末|週末`), func(m match) (days, bool) {
		if m.isNumbered() || strings.HasSuffix(m.before(), "下") {
			return days{}, false
		}
		return recentWeekend(m.today), true
	}},
	{regexp.MustCompile(`(?P<which>上上|上|这|這|本)(?:个|個)?月(?:的?(?P<day>` + hanNumber + `)(?:日|号|號)|` + hanPart + `)?`), readChineseMonth},
	{regexp.MustCompile(`(?P<n>` + hanNumber + `)(?P<unit>天|日|(?:个|個)?` + zhWeek + `|(?:个|個)月|年)(?:之|以)?前`), func(m match) (days, bool) {
		if m.isNumbered() {
			return days{}, false
		}
		return hanAgo(m.today, m.get("n"), m.get("unit"))
	}},
}

func readChineseDay(m match) (days, bool) {
	switch day := m.get("day"); {
	case day == "大前天":
		return ago(m.today, 3, 'd')
	case strings.HasPrefix(day, "前"):
		return ago(m.today, 2, 'd')
	case strings.HasPrefix(day, "昨"):
		return ago(m.today, 1, 'd')
	}
	return oneDay(m.today), true
}

// chineseBack is how many weeks or months 上上周, 上个月 and the like lie back.
func chineseBack(which string) int {
	return strings.Count(which, "上")
}

func readChineseWeek(m match) (days, bool) {
	w := weekOf(m.today, -chineseBack(m.get("which")))
	switch {
	case m.get("end") != "":
		return w.weekend(), true
	case m.get("weekday") != "":
		return w.weekday(hanWeekday(m.get("weekday"))), true
	}
	return w, true
}

// readChineseWeekday reads 周三 and 星期三, but not 一周三次 (three times a week) or 每周三.
func readChineseWeekday(m match) (days, bool) {
	for _, unit := range []string{"次", "回", "天", "个", "個", "年", "岁", "歲", "遍", "日"} {
		if strings.HasPrefix(m.after(), unit) {
			return days{}, false
		}
	}
	if m.isNumbered() || strings.HasSuffix(m.before(), "下") || strings.HasSuffix(m.before(), "下个") || strings.HasSuffix(m.before(), "下個") {
		return days{}, false
	}
	return recentWeekday(m.today, hanWeekday(m.get("weekday")), false), true
}

func readChineseMonth(m match) (days, bool) {
	month := monthFrom(m.today, -chineseBack(m.get("which")))
	if day := m.get("day"); day != "" {
		return dayOf(month.first.Year(), int(month.first.Month()), hanInt(day))
	}
	return month.hanPart(m.get("part")), true
}
