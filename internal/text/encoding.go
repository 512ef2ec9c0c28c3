package text

import (
	"bytes"
	"errors"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode/utf32"
)

// Errors of [Decode].
var (
	ErrBinary  = errors.New("binary (NUL byte)")
	ErrUnknown = errors.New("not UTF-8, and its encoding is not certain; save it as UTF-8")
)

// sniffBytes is how far into a file a NUL byte makes it binary.
const sniffBytes = 8 << 10

// Decode returns the text of a file as UTF-8 without a byte order mark, and the name of the encoding that it is in if that is not UTF-8.
// Lines end with \n or \r\n; if most of them end with \r, they end with \n. A text in UTF-8 may have some bad bytes, which stay. Decode
// returns ErrBinary for a file that is no text, and ErrUnknown for a text whose encoding is not certain.
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
	crlf := bytes.Count(data, []byte("\r\n"))
	if alone := bytes.Count(data, []byte("\r")) - crlf; alone > bytes.Count(data, []byte("\n")) {
		data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
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

// narrow are the encodings of a byte a letter, common ones first, and wide those of Chinese, Japanese and Korean.
var (
	narrow = []string{"windows-1252", "windows-1250", "windows-1251", "koi8-u", "windows-1254", "windows-1257", "windows-1253", "windows-1255", "windows-1256",
		"windows-874", "iso-8859-2", "iso-8859-5", "iso-8859-6", "iso-8859-7", "ibm866", "macintosh", "x-mac-cyrillic"}
	wide = []string{"shift_jis", "euc-jp", "euc-kr", "gb18030", "big5"}
)

func knownEncodings() map[string]encoding.Encoding {
	known := map[string]encoding.Encoding{
		"utf-32le": utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), "utf-32be": utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM),
	}
	for _, name := range slices.Concat([]string{"utf-16le", "utf-16be", "iso-2022-jp"}, narrow, wide) {
		known[name], _ = htmlindex.Get(name) // the names are those of the standard that it implements
	}
	return known
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
	good, bad := countUTF8(data)
	if shifts := bytes.Contains(data, []byte("\x1b$B")) && bytes.Contains(data, []byte("\x1b(")); shifts && good+bad == 0 && isPlausibleIn("iso-2022-jp", data) {
		return "iso-2022-jp", nil
	}
	if bad <= good {
		return "", nil
	}
	name, err := detect(data)
	if err != nil && bad*fewBytes <= len(data) {
		return "", nil
	}
	return name, err
}

// fewBytes is the part of a text that may be bad bytes of UTF-8 if it is in no encoding for certain: what is ASCII can be read.
const fewBytes = 5

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
