package dates

import (
	"regexp"
	"strings"
)

// zhWeek matches the word for week.
const zhWeek = `(?:周|週|星期|礼拜|禮拜)`

// chineseRules read the expressions of Chinese only, simplified and traditional.
var chineseRules = []dateRule{
	{regexp.MustCompile(`(?P<day>大前天|前天|前晚|昨天|昨晚|昨日|今天|今早|今晚|今日)`), readNamedDay},
	{regexp.MustCompile(`(?P<which>上上|上|这|這|本)(?:个|個)?` + zhWeek + `(?P<end>末)?(?P<weekday>[一二三四五六日天])?`), readHanWeek},
	{regexp.MustCompile(zhWeek + `(?P<weekday>[一二三四五六日天])`), readChineseWeekday},
	{regexp.MustCompile(`(?P<which>上上|上|这|這|本)(?:个|個)?月(?:的?(?P<day>` + hanNumber + `)(?:日|号|號)|` + hanPart + `)?`), readHanMonthFrom},
}

// readChineseWeekday reads 周三 and 星期三, but not 一周三次 (three times a week) or 每周三.
func readChineseWeekday(m match) (days, bool) {
	for _, unit := range []string{"次", "回", "天", "个", "個", "年", "岁", "歲", "遍", "日"} {
		if strings.HasPrefix(m.after(), unit) {
			return days{}, false
		}
	}
	switch {
	case m.follows(hanAhead):
		return days{ahead: true}, true
	case m.isNumbered():
		return days{}, false
	}
	return recentWeekday(m.today, hanWeekday(m.get("weekday")), false), true
}
