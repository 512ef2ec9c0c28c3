package text

import (
	"bytes"
	"errors"
	"unicode"
	"unicode/utf8"

	"github.com/gogs/chardet"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode/utf32"
)

// Errors of [Decode].
var (
	ErrBinary  = errors.New("binary (NUL byte)")
	ErrUnknown = errors.New("not UTF-8, and its encoding is not certain; save it as UTF-8")
)

const (
	// sniffBytes is how far into a file a NUL byte makes it binary.
	sniffBytes = 8 << 10
	// detectBytes is how much of a file its encoding is told from.
	detectBytes = 64 << 10
)

// Decode returns the text of a file as UTF-8 without a byte order mark, with lines that end with \n or \r\n, and the name of the
// encoding that it is in if that is not UTF-8. A text in UTF-8 may have some bad bytes, which stay. Decode returns ErrBinary for a
// file that is no text, and ErrUnknown for a text whose encoding is not certain.
func Decode(data []byte) (decoded []byte, name string, err error) {
	name, err = encodingOf(data)
	if err != nil {
		return nil, "", err
	}
	if name != "" {
		if data, err = encodings[name].NewDecoder().Bytes(data); err != nil {
			return nil, "", ErrUnknown
		}
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	if bytes.IndexByte(data, '\n') < 0 {
		data = bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))
	}
	return data, name, nil
}

// IsBinary reports whether a file has a NUL byte early, so that it is no text in UTF-8.
func IsBinary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), sniffBytes)], 0) >= 0 }

// byteOrderMarks are those of encodings, whose name is "" for UTF-8; that of UTF-32 begins as that of UTF-16 does.
var byteOrderMarks = []struct{ mark, name string }{
	{"\xEF\xBB\xBF", ""},
	{"\xFF\xFE\x00\x00", "utf-32le"}, {"\x00\x00\xFE\xFF", "utf-32be"}, {"\xFF\xFE", "utf-16le"}, {"\xFE\xFF", "utf-16be"},
}

// encodings are those that Decode knows, by their names. A superset stands for a smaller one: windows-1252 for ISO-8859-1.
var encodings = knownEncodings()

func knownEncodings() map[string]encoding.Encoding {
	known := map[string]encoding.Encoding{
		"utf-32le": utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), "utf-32be": utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM),
	}
	for _, name := range []string{"utf-16le", "utf-16be", "windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254",
		"windows-1255", "windows-1256", "windows-874", "iso-8859-2", "iso-8859-5", "iso-8859-6", "iso-8859-7", "koi8-r", "ibm866",
		"shift_jis", "euc-jp", "iso-2022-jp", "euc-kr", "gb18030", "big5"} {
		known[name], _ = htmlindex.Get(name) // the names are those of the standard that it implements
	}
	return known
}

// detected are the names of the encodings that the detector tells.
var detected = map[string]string{
	"ISO-8859-1": "windows-1252", "windows-1252": "windows-1252", "ISO-8859-2": "iso-8859-2", "windows-1250": "windows-1250",
	"ISO-8859-5": "iso-8859-5", "windows-1251": "windows-1251", "KOI8-R": "koi8-r", "ISO-8859-6": "iso-8859-6",
	"windows-1256": "windows-1256", "ISO-8859-7": "iso-8859-7", "windows-1253": "windows-1253", "ISO-8859-8": "windows-1255",
	"ISO-8859-8-I": "windows-1255", "windows-1255": "windows-1255", "ISO-8859-9": "windows-1254", "windows-1254": "windows-1254",
	"Shift_JIS": "shift_jis", "EUC-JP": "euc-jp", "EUC-KR": "euc-kr", "GB-18030": "gb18030", "GB18030": "gb18030", "Big5": "big5",
}

// encodingOf returns the name of the encoding of a text, "" for UTF-8.
func encodingOf(data []byte) (string, error) {
	for _, m := range byteOrderMarks {
		if bytes.HasPrefix(data, []byte(m.mark)) {
			return m.name, nil
		}
	}
	if IsBinary(data) {
		return utf16Of(data)
	}
	if bytes.Contains(data, []byte("\x1b$B")) || bytes.Contains(data, []byte("\x1b$@")) {
		return "iso-2022-jp", nil
	}
	good, bad := countUTF8(data)
	if bad == 0 || bad < good {
		return "", nil
	}
	name, err := detect(data)
	if err != nil && bad*fewBytes < len(data) {
		return "", nil
	}
	return name, err
}

// fewBytes is the part of a text that may be bad bytes of UTF-8 if it is in no other encoding.
const fewBytes = 200

// countUTF8 counts the runes beyond ASCII of a text, and the bytes that are not UTF-8. A rune that the end of the file cuts off is good.
func countUTF8(data []byte) (good, bad int) {
	for rest := data; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		switch {
		case !utf8.FullRune(rest):
			return good + 1, bad
		case r == utf8.RuneError && size == 1:
			bad++
		case size > 1:
			good++
		}
		rest = rest[size:]
	}
	return good, bad
}

// utf16Of returns which UTF-16 a text with NUL bytes is in.
func utf16Of(data []byte) (string, error) {
	const little, big = "utf-16le", "utf-16be"
	isLittle := hasUnit(data, ' ', 0) && isPlausibleIn(little, data)
	isBig := hasUnit(data, 0, ' ') && isPlausibleIn(big, data)
	switch {
	case len(data)%2 != 0 || isLittle == isBig:
		return "", ErrBinary
	case isLittle:
		return little, nil
	}
	return big, nil
}

// hasUnit reports whether a text has a space or the end of a line among its units of two bytes, of which one is zero.
func hasUnit(data []byte, first, second byte) bool {
	for i := 0; i+1 < len(data); i += 2 {
		a, b := data[i], data[i+1]
		if a == first && b == second || a == '\n' && b == 0 && second == 0 || a == 0 && b == '\n' && first == 0 {
			return true
		}
	}
	return false
}

const (
	// minWide is the confidence in percent from which an encoding of Chinese, Japanese or Korean counts, and minNarrow that of others:
	// those read as plausible words only if it is right.
	minWide, minNarrow = 50, 10
	// rivalShare is the share of the best confidence from which another encoding, as which the text reads otherwise, makes both
	// uncertain.
	rivalShare = 0.85
)

// detect returns the encoding of a text that is not UTF-8: the only likely one as which it reads as words.
func detect(data []byte) (string, error) {
	results, err := chardet.NewTextDetector().DetectAll(data[:min(len(data), detectBytes)])
	if err != nil {
		return "", ErrUnknown
	}
	best, confidence := "", 0
	for _, r := range results { // the likely ones first
		name := detected[r.Charset]
		if name == "" || !isPlausibleIn(name, data) {
			continue
		}
		if best == "" {
			if r.Confidence < minNarrow || isWide(name) && r.Confidence < minWide {
				return "", ErrUnknown
			}
			best, confidence = name, r.Confidence
			continue
		}
		if float64(r.Confidence) >= rivalShare*float64(confidence) && !readsAlike(best, name, data) {
			return "", ErrUnknown
		}
	}
	// The detector does not know these.
	for _, name := range []string{"ibm866", "windows-874"} {
		if best == "" && isPlausibleIn(name, data) {
			best = name
		}
	}
	if best == "" {
		return "", ErrUnknown
	}
	return best, nil
}

func isWide(name string) bool {
	switch name {
	case "shift_jis", "euc-jp", "euc-kr", "gb18030", "big5":
		return true
	}
	return false
}

// readsAlike reports whether a text is the same in two encodings.
func readsAlike(one, other string, data []byte) bool {
	a, errA := encodings[one].NewDecoder().Bytes(data)
	b, errB := encodings[other].NewDecoder().Bytes(data)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// oddWords is the part of the words with foreign letters that may look wrong in a text that is plausible.
const oddWords = 20

// isPlausibleIn reports whether a text reads as words in an encoding: no controls, nothing that is not assigned, and words of one
// script in ordinary case.
func isPlausibleIn(name string, data []byte) bool {
	decoded, err := encodings[name].NewDecoder().Bytes(data)
	if err != nil {
		return false
	}
	runes := []rune(string(bytes.TrimPrefix(decoded, []byte("\uFEFF"))))
	words, odd := 0, 0
	for i := 0; i < len(runes); i++ {
		if isNoText(runes[i]) {
			return false
		}
		if !unicode.IsLetter(runes[i]) {
			continue
		}
		end := i + 1
		for end < len(runes) && (unicode.IsLetter(runes[end]) || unicode.IsMark(runes[end])) {
			end++
		}
		if isForeign, isOdd := judge(runes[i:end]); isForeign {
			words++
			if isOdd {
				odd++
			}
		}
		if end < len(runes) && isInsideOut(runes[end-1], runes[end], at(runes, end+1)) {
			words, odd = words+1, odd+1
		}
		i = end - 1
	}
	return odd*oddWords <= words
}

// at returns the rune at an index, a space behind the end.
func at(runes []rune, i int) rune {
	if i < len(runes) {
		return runes[i]
	}
	return ' '
}

// isNoText reports whether a rune is none of a text: a control, or one that decoders yield for what they do not know.
func isNoText(r rune) bool {
	halfWidthKatakana, boxDrawing := 0xFF61 <= r && r <= 0xFF9F, 0x2500 <= r && r < 0x2580
	return r == utf8.RuneError || halfWidthKatakana || boxDrawing || unicode.Is(unicode.Co, r) || unicode.IsControl(r) && !unicode.IsSpace(r) ||
		0x7F <= r && r < 0xA0 || !unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.Cf, r)
}

// isInsideOut reports whether a sign beyond ASCII stands behind a letter as no writing has it: before another letter, or a quotation
// mark that opens.
func isInsideOut(letter, sign, next rune) bool {
	const han = 0x2E80 // from here on scripts have no spaces
	if letter >= han || sign < utf8.RuneSelf || !unicode.IsSymbol(sign) && !unicode.IsPunct(sign) {
		return false
	}
	switch sign {
	case '‘', '’', '‐', '‑', '·', '–', '—', '…', '⁄':
		return false
	case '‚', '„', '«', '“':
		return true
	}
	return unicode.IsLetter(next)
}

// scripts are those of the encodings whose letters may be taken for each other.
var scripts = []*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Hebrew, unicode.Arabic, unicode.Thai, unicode.Hangul}

// judge says whether a word has letters beyond ASCII, and whether it looks as no word does: letters of two scripts, capitals behind
// small letters, or Latin without a plain letter.
func judge(word []rune) (foreign, odd bool) {
	var script *unicode.RangeTable
	letters, ascii, capitals := 0, 0, 0
	for _, r := range word {
		for _, s := range scripts {
			if unicode.Is(s, r) {
				odd = odd || script != nil && s != script
				script = s
				break
			}
		}
		if unicode.IsUpper(r) {
			capitals++
		}
		if r < utf8.RuneSelf {
			ascii++
		}
		letters++
	}
	odd = odd || script == unicode.Latin && letters > 2 && ascii*2 < letters ||
		capitals > 0 && capitals < letters && (capitals > 1 || !unicode.IsUpper(word[0]))
	return ascii < letters, odd
}
