package compact

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// maxIdentifiers is the maximum number of identifiers that every summary contains.
	maxIdentifiers = 12
	// maxIdentifierBytes is the maximum length of an identifier.
	maxIdentifierBytes = 160
)

// pattern matches identifiers of a kind, each of which counts weight.
type pattern struct {
	re     *regexp.Regexp
	weight int
	// valid reports whether a match is an identifier; nil accepts all.
	valid func(string) bool
}

// patterns are applied in this order. What a pattern has matched is not matched again. All but dates and units match ASCII only,
// because Chinese and Japanese text has no space before an identifier.
var patterns = []pattern{
	{re: longest(`https?://[A-Za-z0-9\-._~:/?#@!$&*+,;=%]*[A-Za-z0-9\-_~/#$&*+=%]`), weight: 3},
	{re: longest(`[A-Za-z0-9._%+\-]+@[A-Za-z0-9\-]+(\.[A-Za-z0-9\-]+)+`), weight: 3},
	{re: longest(`[A-Za-z]:(\\[A-Za-z0-9._\-]*[A-Za-z0-9_\-])+`), weight: 3},
	{re: longest(absolutePath + `|` + relativePath + `|` + fileName), weight: 3},
	{re: longest(`[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}`), weight: 3},
	{re: longest(`[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?(Z|[+\-][0-9]{2}:?[0-9]{2})?)?`), weight: 2},
	{re: longest(`([0-9０-９]{2,4}年)?[0-9０-９]{1,2}月[0-9０-９]{1,2}[日号]|[0-9０-９]{4}年[0-9０-９]{1,2}月`), weight: 2},
	{re: longest(`(Jan(uary)?|Feb(ruary)?|Mar(ch)?|Apr(il)?|May|June?|July?|Aug(ust)?|Sept?(ember)?|Oct(ober)?|Nov(ember)?|Dec(ember)?) [0-9]{1,2}(, [0-9]{4})?|[0-9]{1,2} (January|February|March|April|May|June|July|August|September|October|November|December)( [0-9]{4})?`), weight: 2},
	{re: longest(`[A-Za-z][A-Za-z0-9]*([_\-][A-Za-z0-9]+)*[_\-][A-Za-z0-9]*[0-9][A-Za-z0-9]*([_\-][A-Za-z0-9]+)*`), weight: 3},
	{re: longest(`#[0-9]+`), weight: 3},
	{re: longest(`[0-9a-f]{7,64}`), weight: 3, valid: mixed},
	{re: longest(`v?[0-9]+\.[0-9]+\.[0-9]+(\.[0-9]+|-[A-Za-z0-9.]*[A-Za-z0-9])?(:[0-9]+)?`), weight: 2},
	{re: longest(`[$€£¥￥] ?[0-9０-９][0-9０-９,]*(\.[0-9]+)?[kKMB万億亿]?`), weight: 2},
	{re: longest(`[0-9０-９][0-9０-９,]*(\.[0-9]+)? ?(` + asciiUnits + `|` + otherUnits + `)`), weight: 1},
	{re: longest(`[0-9]{1,2}:[0-9]{2}(:[0-9]{2})?`), weight: 1},
}

// Paths and names of files. They are one pattern, so that the leftmost match wins.
const (
	absolutePath = `(~|\.{1,2})?(/[A-Za-z0-9._@+\-]*[A-Za-z0-9_@+\-]){2,}|~/[A-Za-z0-9._\-]*[A-Za-z0-9_\-]`
	relativePath = `[A-Za-z0-9._\-]+/[A-Za-z0-9._\-]+(/[A-Za-z0-9._\-]*[A-Za-z0-9_\-])+`
	fileName     = `[A-Za-z0-9._\-]+(/[A-Za-z0-9._\-]+)*\.(c|cc|cpp|cs|css|csv|db|go|h|html|ini|java|jpg|js|json|jsonl|jsx|kt|lock|log|md|pdf|php|` +
		`png|proto|py|rb|rs|sh|sql|sqlite|svg|swift|tf|toml|ts|tsx|txt|xlsx|xml|yaml|yml|zip)`
)

// Units after which a number is an identifier.
const (
	asciiUnits = `%|ms|s|sec|seconds?|min|minutes?|h|hours?|days?|weeks?|months?|years?|B|kB|KB|MB|GB|TB|KiB|MiB|GiB|mm|cm|m|km|mg|g|kg|px|Hz|MHz|GHz|W|kW|V|USD|EUR|JPY|CNY|yen|euros?|dollars?|tokens?|users?|requests?`
	otherUnits = `°C|µs|円|元|块|万|億|亿|万円|億円|万元|亿元|個|个|件|人|名|分|分钟|分間|秒|秒間|時間|小时|日|日間|天|週間|周|か月|ヶ月|カ月|个月|月|年|年間|回|次|台|本|枚|冊|歳|岁|点|度|倍|キロ|メートル|公里|公斤|ドル|美元|ユーロ|バイト|トークン`
)

func longest(expr string) *regexp.Regexp {
	re := regexp.MustCompile(expr)
	re.Longest()
	return re
}

// mixed reports whether s has digits and letters: then it is a hash, and no number or word.
func mixed(s string) bool {
	return strings.ContainsAny(s, "0123456789") && strings.ContainsAny(s, "abcdef")
}

// identifier is an identifier in the blocks, with the sum of the weights of its places and the first and the last block.
type identifier struct {
	text        string
	score       int
	first, last int
}

// identifiers returns the at most 12 identifiers with the highest scores, in the order of their first places.
func identifiers(blocks []block) []string {
	known := map[string]*identifier{}
	for i, b := range blocks {
		collect(b, i, known)
	}
	all := make([]*identifier, 0, len(known))
	for _, f := range known {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *identifier) int {
		return cmp.Or(b.score-a.score, b.last-a.last, strings.Compare(a.text, b.text))
	})
	all = all[:min(len(all), maxIdentifiers)]
	slices.SortFunc(all, func(a, b *identifier) int { return cmp.Or(a.first-b.first, strings.Compare(a.text, b.text)) })
	out := make([]string, len(all))
	for i, f := range all {
		out[i] = f.text
	}
	return out
}

// collect adds the identifiers of block i.
func collect(b block, i int, known map[string]*identifier) {
	text := []byte(b.text)
	for _, p := range patterns {
		for _, at := range p.re.FindAllIndex(text, -1) {
			id := string(text[at[0]:at[1]])
			if !bounded(string(text[max(at[0]-1, 0):min(at[1]+1, len(text))]), id) || p.valid != nil && !p.valid(id) {
				continue
			}
			// A match is no part of another identifier.
			for k := at[0]; k < at[1]; k++ {
				text[k] = '\n'
			}
			if len(id) > maxIdentifierBytes {
				continue
			}
			f := known[id]
			if f == nil {
				f = &identifier{text: id, first: i}
				known[id] = f
			}
			f.score += p.weight * b.weight
			f.last = i
		}
	}
}

// missing returns the identifiers that a text does not contain.
func missing(text string, ids []string) (out []string) {
	for _, id := range ids {
		if !bounded(text, id) {
			out = append(out, id)
		}
	}
	return out
}

// cutNote is the last line of a summary that was shortened.
const cutNote = "\n(The end is cut off.)"

// shorten returns a summary of at most limit tokens with a list of the identifiers that it lacks. It leaves out the end of the
// summary, and if the list alone is longer, the last identifiers.
func shorten(summary string, ids []string, limit int, count func(string) int) string {
	note := ""
	for {
		lost := missing(summary, ids)
		whole := strings.TrimSpace(summary + note + appended(lost))
		switch {
		case count(whole) <= limit:
			return whole
		case summary != "":
			if summary, note = shorter(summary), cutNote; summary == "" {
				note = ""
			}
		case len(lost) > 1:
			ids = lost[:len(lost)-1]
		default:
			return whole
		}
	}
}

// appended is the end of a summary that lacks identifiers; it is empty if there are none.
func appended(lost []string) string {
	if len(lost) == 0 {
		return ""
	}
	return "\n\nIdentifiers:\n" + list(lost)
}

// shorter returns a text without its last tenth, up to the end of a line if there is one near.
func shorter(text string) string {
	at := len(text) * 9 / 10
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	if i := strings.LastIndexByte(text[:at], '\n'); i > at*4/5 {
		at = i
	}
	return strings.TrimSpace(text[:at])
}

// bounded reports whether a text contains an identifier that is not part of a longer word or number.
func bounded(text, id string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], id)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(id)
		before := start > 0 && wordByte(text[start-1]) && wordByte(id[0])
		after := end < len(text) && wordByte(text[end]) && wordByte(id[len(id)-1])
		if !before && !after {
			return true
		}
		from = start + 1
	}
}

// wordByte reports whether c is an ASCII letter or digit.
func wordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
