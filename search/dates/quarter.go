package dates

import (
	"regexp"
	"slices"
	"strings"
)

// Quarters of a year, in English and in Han characters. They begin in January.
var (
	englishQuarters = []dateRule{
		{regexp.MustCompile(`\b(?:` + enYear + `[ -])?(?P<q>q[1-4])(?:(?:,? (?:of |in )?|[-/])(?P<to>(?:19|20)\d\d))?\b`), readQ},
		{regexp.MustCompile(`\b(?:the )?(?P<nth>first|second|third|fourth|1st|2nd|3rd|4th) quarter,? (?:of |in )?` + enYear), func(m match) (days, bool) {
			n := slices.Index(strings.Fields("first second third fourth 1st 2nd 3rd 4th"), m.get("nth"))
			return quarterOf(m.number("year"), n%4+1), true
		}},
	}
	hanQuarters = []dateRule{
		{regexp.MustCompile(`(?:` + hanYear + `|` + hanWhichYear + `)?(?:度)?(?:の|的)?第?(?P<q>[1-4一二三四])(?:四半期|季度)`), readHanQuarter},
		{regexp.MustCompile(`(?P<rel>上上|上|这|這|本|前|今)(?:个|個)?(?:四半期|季度)`), func(m match) (days, bool) {
			return ago(m.today, strings.Count(m.get("rel"), "上")+strings.Count(m.get("rel"), "前"), 'q')
		}},
	}
)

// readQ reads Q1, "Q1 2023" and "2023 Q1", but not "Q1:", the number of a question.
func readQ(m match) (days, bool) {
	if !m.capital("q") || m.follows(enAhead) || strings.HasPrefix(m.after(), ":") || strings.HasPrefix(m.after(), ".") {
		return days{}, false
	}
	quarter := int(m.get("q")[1] - '0')
	return recentQuarter(m.today, max(m.number("year"), m.number("to")), quarter), true
}

// readHanQuarter reads 第1四半期, 一季度 and 去年第三季度.
func readHanQuarter(m match) (days, bool) {
	y, ok := m.hanYearOf()
	if !ok || m.follows(hanAheadYear) || m.isNumbered() && !strings.HasSuffix(m.before(), "第") {
		return days{}, false
	}
	return recentQuarter(m.today, y, hanInt(m.get("q"))), true
}
