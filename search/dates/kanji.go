package dates

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Parts of the expressions that Japanese and Chinese share. Numbers are digits or Han numerals.
const (
	// zhWeek matches the Chinese word for week.
	zhWeek    = `(?:周|週|星期|礼拜|禮拜)`
	hanNumber = `(?:\d{1,4}|[〇零一二三四五六七八九十两兩]{1,3})`
	// A year of the common era, or of an era of Japan.
	hanYear = `(?:(?P<era>令和|平成|昭和|大正)?(?P<year>元|\d{1,4}|[〇零一二三四五六七八九十]{1,4})年)`
	// A relative year.
	hanWhichYear = `(?P<which>去年|昨年|一昨年|おととし|今年|前年|大前年)`
	hanMonths    = `(?:个|個|か|ヶ|ケ|カ|ヵ|箇)月`
	hanPart      = `(?:の|的)?(?P<part>上旬|初旬|中旬|下旬|初め|はじめ|始め|半ば|終わり|月初|月中|月底|初|头|頭|底|末)`
	hanSeason    = `(?P<season>春|夏|秋|冬)(?:天|季)?`
)

// kanjiHints matches every text that may contain a date in Japanese or Chinese.
var kanjiHints = regexp.MustCompile(`[年月日号號今昨前去先上这這本周週曜末近]|四半期|季度|星期|礼拜|禮拜|おと|きのう|きょう`)

// hanRules read Japanese and Chinese. The first of them are for both languages.
var hanRules = []dateRule{
	{regexp.MustCompile(`(?:` + hanYear + `|` + hanWhichYear + `)?(?:の|的)?(?P<month>` + hanNumber + `)月(?:(?P<from>` + hanNumber + `)(?:[-–—~〜至到]|から))?(?P<day>` + hanNumber + `)(?:日|号|號)(?: ?\([月火水木金土日]\))?`), readHanDay},
	{regexp.MustCompile(`(?:` + hanYear + `|` + hanWhichYear + `)?(?:の|的)?(?P<month>` + hanNumber + `)月(?:份)?(?:` + hanPart + `)?`), readHanMonth},
	{regexp.MustCompile(`(?:` + hanYear + `|` + hanWhichYear + `)(?:度)?(?:(?:の|的)?(?:` + hanSeason + `|(?P<part>年末|年底|年始|年初|末|底|初め|初)))?`), readHanYear},
	{regexp.MustCompile(`(?:(?P<near>` + hanNumber + `)[、,~〜\-至到])?(?P<n>` + hanNumber + `|[数數幾几])(?P<unit>天|日|(?:个|個)?` + zhWeek + `間?|` +
		hanMonths + `|年)(?:之|以)?前`), readHanAgo},
	{regexp.MustCompile(hanRolling), readHanRolling},
	{regexp.MustCompile(`(?P<which>この|(?:先々週|先先週|先週|今週)の?)?(?:[周週]末|土日)`), readHanWeekend},
	{regexp.MustCompile(`年(?P<part>末|底|始|初)`), func(m match) (days, bool) {
		if m.isNumbered() || m.follows(hanAhead) {
			return days{}, false
		}
		month := 12
		if p := m.get("part"); p == "始" || p == "初" {
			month = 1
		}
		return recentMonth(m.today, 0, month)
	}},
	{regexp.MustCompile(`月(?P<part>初|底|末)`), func(m match) (days, bool) {
		if m.isNumbered() || m.follows(hanAhead) {
			return days{}, false
		}
		d := monthFrom(m.today, 0).part(m.get("part"))
		if d.first.After(m.today) {
			d = monthFrom(m.today, -1).part(m.get("part"))
		}
		return d, true
	}},
	{regexp.MustCompile(`(?:` + hanYear + `|` + hanWhichYear + `)?(?:度)?(?:の|的)?第?(?P<q>[1-4一二三四])(?:四半期|季度)`), readHanQuarter},
	{regexp.MustCompile(`(?P<rel>上上|上|这|這|本|前|今)(?:个|個)?(?:四半期|季度)`), func(m match) (days, bool) {
		return ago(m.today, strings.Count(m.get("rel"), "上")+strings.Count(m.get("rel"), "前"), 'q')
	}},

	// Japanese only.
	{regexp.MustCompile(`(?P<day>今日|本日|今朝|今晩|今夜|きょう|さきおととい|一昨々日|一昨昨日|一昨日|おととい|おとつい|昨日|昨夜|昨晩|きのう)`), readNamedDay},
	{regexp.MustCompile(`(?P<which>先々週|先先週|先週|今週)(?P<end>末)?(?:の?(?P<weekday>[月火水木金土日])曜日?)?`), readHanWeek},
	{regexp.MustCompile(`(?P<which>この前の|前の)(?P<weekday>[月火水木金土日])曜日?`), readJapaneseWeekday},
	{regexp.MustCompile(`(?P<weekday>[月火水木金土日])曜日?`), readJapaneseWeekday},
	{regexp.MustCompile(`(?P<which>先々月|先先月|先月|今月)(?:の?(?P<day>` + hanNumber + `)日|` + hanPart + `)?`), readHanMonthFrom},

	// Chinese only, simplified and traditional.
	{regexp.MustCompile(`(?P<day>大前天|前天|前晚|昨天|昨晚|昨日|今天|今早|今晚|今日)`), readNamedDay},
	{regexp.MustCompile(`(?P<which>上上|上|这|這|本)(?:个|個)?` + zhWeek + `(?P<end>末)?(?P<weekday>[一二三四五六日天])?`), readHanWeek},
	{regexp.MustCompile(zhWeek + `(?P<weekday>[一二三四五六日天])`), readChineseWeekday},
	{regexp.MustCompile(`(?P<which>上上|上|这|這|本)(?:个|個)?月(?:的?(?P<day>` + hanNumber + `)(?:日|号|號)|` + hanPart + `)?`), readHanMonthFrom},
}

// The words that put an expression into the future, or make it recur: a year before a month, and a week, a month or a year
// before a part of it.
var (
	hanAheadYear = regexp.MustCompile(`(?:来|來|明|后|後|翌|次|毎|每)年度?(?:の|的)?$|(?:次|今度)の?$`)
	hanAhead     = regexp.MustCompile(`(?:来|來|明|翌|下|次|毎|每|今度|后年|後年)(?:年|月|周|週|星期|个|個)?(?:の|的)?$`)
)

// hanRolling matches the last n days, weeks, months or years in both languages: 過去10日間, ここ3日, 最近三周.
const hanRolling = `(?:過去|过去|最近|直近|近|ここ|この)(?:の|的)?(?P<n>` + hanNumber +
	`)(?P<unit>天|日|(?:个|個)?(?:周|週|星期|礼拜|禮拜)|(?:个|個|か|ヶ|ケ|カ|ヵ|箇)月|年)(?:間|间)?`

func readHanRolling(m match) (days, bool) {
	return rolling(m.today, hanInt(m.get("n")), hanUnit(m.get("unit")))
}

// isNumbered reports whether a numeral, or the word for "each", is right before the expression.
func (m match) isNumbered() bool {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(m.before(), " "))
	return strings.ContainsRune("0123456789〇零一二三四五六七八九十百千数數几幾两兩半每毎第個个か", r) && m.at[0] > 0
}

// firstYears contains the year before the first year of each era.
var firstYears = map[string]int{"令和": 2018, "平成": 1988, "昭和": 1925, "大正": 1911}

// yearsBack contains how many years ago a relative year is.
var yearsBack = map[string]int{"去年": 1, "昨年": 1, "一昨年": 2, "おととし": 2, "前年": 2, "大前年": 3}

// hanYearOf returns the year that an expression names, 0 if it names none. It returns false if the expression means a
// number of years.
func (m match) hanYearOf() (int, bool) {
	if which := m.get("which"); which != "" {
		return m.today.Year() - yearsBack[which], true
	}
	text := m.get("year")
	if text == "" {
		return 0, true
	}
	if era := m.get("era"); era != "" {
		return firstYears[era] + hanInt(text), hanInt(text) > 0
	}
	y := hanInt(text)
	return y, y >= 1900 && y < 2100
}

func readHanDay(m match) (days, bool) {
	month, day := hanInt(m.get("month")), hanInt(m.get("day"))
	y, ok := m.hanYearOf()
	if ok && m.follows(hanAheadYear) {
		return days{ahead: true}, true
	}
	// 5日間 is a length of time.
	if !ok || m.isNumbered() || m.precedes("間") {
		return days{}, false
	}
	d, ok := recentDay(m.today, y, month, day)
	if from := hanInt(m.get("from")); ok && from > 0 && from < day {
		d.first, d.closed = d.first.AddDate(0, 0, from-day), true
	}
	return d, ok
}

func readHanMonth(m match) (days, bool) {
	month := hanInt(m.get("month"))
	y, ok := m.hanYearOf()
	if ok && m.follows(hanAheadYear) {
		return days{ahead: true}, true
	}
	if !ok || m.isNumbered() || m.precedes("間", "球") || len(m.get("month")) > 2 && isASCIIWord(m.get("month")[0]) {
		return days{}, false
	}
	d, ok := recentMonth(m.today, y, month)
	return d.part(m.get("part")), ok
}

func readHanYear(m match) (days, bool) {
	y, ok := m.hanYearOf()
	if !ok || m.isNumbered() || m.precedes("前", "間") {
		return days{}, false
	}
	if s := m.get("season"); s != "" {
		return seasonOf(y, slices.Index([]string{"春", "夏", "秋", "冬"}, s))
	}
	return yearOf(y).yearPart(m.get("part")), true
}

// hanDigits replaces Han numerals by digits; 元 is the first year of an era.
var hanDigits = strings.NewReplacer("元", "1", "〇", "0", "零", "0", "一", "1", "二", "2", "两", "2", "兩", "2", "三", "3",
	"四", "4", "五", "5", "六", "6", "七", "7", "八", "8", "九", "9")

// hanInt returns the number that digits or Han numerals stand for (二〇二三, 二十三), 0 for "" and -1 for other texts.
func hanInt(s string) int {
	s = cmp.Or(hanDigits.Replace(s), "0")
	if tens, ones, ok := strings.Cut(s, "十"); ok {
		s = cmp.Or(tens, "1") + cmp.Or(ones, "0")
	}
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	return -1
}

// hanWeekday returns the number of a weekday; 0 is Monday.
func hanWeekday(s string) int {
	return max(strings.Index("月火水木金土日", s), strings.Index("一二三四五六天", s)) / len("日")
}

// hanUnit returns d, w, m or y for a unit such as 天, 週間, 个月 and 年.
func hanUnit(unit string) byte {
	switch {
	case strings.ContainsAny(unit, "週周星礼禮"):
		return 'w'
	case strings.Contains(unit, "月"):
		return 'm'
	case strings.Contains(unit, "年"):
		return 'y'
	}
	return 'd'
}

// readHanAgo reads 3日前, 两周前, 三四天前 and 数日前, but not 5日前後.
func readHanAgo(m match) (days, bool) {
	number, unit := m.get("n"), hanUnit(m.get("unit"))
	if m.isNumbered() || m.precedes("後", "后") {
		return days{}, false
	}
	if strings.Contains("数數幾几", number) {
		return aFewAgo(m.today, unit)
	}
	near, far, ok := hanAbout(number)
	if n := m.get("near"); n != "" {
		near = hanInt(n)
	}
	if !ok {
		return days{}, false
	}
	return between(m.today, near, far, unit)
}

// hanAbout returns the ends of an approximate number (三四, 两三), which are equal for an exact number. It returns false for
// other adjacent numerals (二三十).
func hanAbout(s string) (near, far int, ok bool) {
	numerals, run := []rune(s), 0
	for _, r := range numerals {
		if run++; r == '十' || isASCIIWord(s[0]) {
			run = 0
		}
		if r == '〇' || r == '零' {
			return hanInt(s), hanInt(s), true
		}
		if run == 2 {
			near, far = hanInt(string(numerals[0])), hanInt(string(numerals[1]))
			return near, far, len(numerals) == 2 && far == near+1
		}
	}
	return hanInt(s), hanInt(s), true
}

// weeksBack returns how many weeks or months ago 先々週, 先月, 上上周 and the like are; 0 for 今週 and 这周.
func weeksBack(which string) int {
	return min(2, strings.Count(which, "先")+strings.Count(which, "々")+strings.Count(which, "上"))
}

// readHanWeek reads 先週, 先週末, 先週の金曜 and 上周五.
func readHanWeek(m match) (days, bool) {
	w := weekOf(m.today, -weeksBack(m.get("which")))
	switch {
	case m.get("end") != "":
		return w.weekend(), true
	case m.get("weekday") != "":
		return w.weekday(hanWeekday(m.get("weekday"))), true
	}
	return w, true
}

// readHanWeekend reads 週末, この週末 and 先週の土日.
func readHanWeekend(m match) (days, bool) {
	switch which := m.get("which"); {
	case m.isNumbered(), m.follows(hanAhead), m.precedes("祝"):
		return days{}, false
	case which != "":
		return weekOf(m.today, -weeksBack(which)).weekend(), true
	}
	return recentWeekend(m.today), true
}

// readHanMonthFrom reads 先月, 先月の5日, 上个月底.
func readHanMonthFrom(m match) (days, bool) {
	month := monthFrom(m.today, -weeksBack(m.get("which")))
	if day := m.get("day"); day != "" {
		return dayOf(month.first.Year(), int(month.first.Month()), hanInt(day))
	}
	return month.part(m.get("part")), true
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
	today := m.today
	if m.get("which") != "" {
		today = today.AddDate(0, 0, -1)
	}
	return recentWeekday(today, hanWeekday(m.get("weekday"))), true
}

// readChineseWeekday reads 周三 and 星期三, but not 一周三次 (three times a week) or 每周三.
func readChineseWeekday(m match) (days, bool) {
	switch {
	case m.precedes("次", "回", "天", "个", "個", "年", "岁", "歲", "遍", "日"):
		return days{}, false
	case m.follows(hanAhead):
		return days{ahead: true}, true
	case m.isNumbered():
		return days{}, false
	}
	return recentWeekday(m.today, hanWeekday(m.get("weekday"))), true
}

// readHanQuarter reads 第1四半期, 一季度 and 去年第三季度.
func readHanQuarter(m match) (days, bool) {
	y, ok := m.hanYearOf()
	if !ok || m.follows(hanAheadYear) || m.isNumbered() && !strings.HasSuffix(m.before(), "第") {
		return days{}, false
	}
	return recentQuarter(m.today, y, hanInt(m.get("q")))
}
