package tokenizer

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// normalizer rewrites a text before it is split into words.
type normalizer interface {
	normalize(text string) (string, error)
}

// Limits of what a normalizer or a splitter may write. They keep a hostile file from growing a text without bound.
const (
	maxInserted    = 1 << 10 // bytes that are written before a text or for a match
	maxNormalized  = 8 << 20 // bytes of a text after a normalizer or a splitter that makes it longer
	maxNormalizers = 64
)

var errTooLong = fmt.Errorf("the tokenizer makes more than %d bytes of the text", maxNormalized)

// normalizers apply one after the other.
type normalizers []normalizer

func (all normalizers) normalize(text string) (string, error) {
	for _, n := range all {
		before := len(text)
		var err error
		if text, err = n.normalize(text); err != nil {
			return "", err
		}
		if err := checkGrowth(before, len(text)); err != nil {
			return "", err
		}
	}
	return text, nil
}

// checkGrowth returns errTooLong for a text that has become too long.
func checkGrowth(before, after int) error {
	if after > maxNormalized && after > before {
		return errTooLong
	}
	return nil
}

// rewrite is a normalizer without settings, which cannot fail.
type rewrite func(text string) string

func (r rewrite) normalize(text string) (string, error) { return r(text), nil }

// normalizerFile is a normalizer in tokenizer.json; each type has some of the fields.
type normalizerFile struct {
	Type         string           `json:"type"`
	Normalizers  []normalizerFile `json:"normalizers"`
	CleanText    *bool            `json:"clean_text"`
	HandleHan    *bool            `json:"handle_chinese_chars"`
	StripAccents *bool            `json:"strip_accents"`
	Lowercase    *bool            `json:"lowercase"`
	StripLeft    *bool            `json:"strip_left"`
	StripRight   *bool            `json:"strip_right"`
	Pattern      *patternFile     `json:"pattern"`
	Content      string           `json:"content"`
	Prepend      string           `json:"prepend"`
	Charsmap     *string          `json:"precompiled_charsmap"`
}

// newNormalizer returns the normalizer that f describes.
func newNormalizer(f normalizerFile) (normalizer, error) {
	if len(f.Content) > maxInserted || len(f.Prepend) > maxInserted || len(f.Normalizers) > maxNormalizers {
		return nil, fmt.Errorf("the normalizer %.40q inserts a long text, or is a long sequence", f.Type)
	}
	switch f.Type {
	case "Sequence":
		var all normalizers
		for _, one := range f.Normalizers {
			n, err := newNormalizer(one)
			if err != nil {
				return nil, err
			}
			all = append(all, n)
		}
		return all, nil
	case "BertNormalizer":
		return newBertNormalizer(f), nil
	case "NFC":
		return normalForm(norm.NFC), nil
	case "NFD":
		return normalForm(norm.NFD), nil
	case "NFKC":
		return normalForm(norm.NFKC), nil
	case "NFKD":
		return normalForm(norm.NFKD), nil
	case "Lowercase":
		return rewrite(lower), nil
	case "StripAccents":
		return rewrite(withoutMarks), nil
	case "Strip":
		return newStrip(orElse(f.StripLeft, true), orElse(f.StripRight, true)), nil
	case "Replace":
		return newReplace(f.Pattern, f.Content)
	case "Prepend":
		return newPrepend(f.Prepend), nil
	case "Nmt":
		return rewrite(nmt), nil
	case "ByteLevel":
		return rewrite(byteLetters), nil
	case "Precompiled":
		return newCharsmap(orElse(f.Charsmap, ""))
	}
	return nil, fmt.Errorf("unknown normalizer %.40q", f.Type)
}

// lower returns text with each character in lower case, wherever in a word it stands.
func lower(text string) string {
	changed := func(r rune) bool { return unicode.ToLower(r) != r }
	if strings.IndexFunc(text, changed) < 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + 8)
	for _, r := range text {
		if r == 'İ' { // the one character whose lower case has two
			b.WriteString("i\u0307")
			continue
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// withoutMarks returns text without combining marks.
func withoutMarks(text string) string {
	return strings.Map(func(r rune) rune {
		if isMark(r) {
			return -1
		}
		return r
	}, text)
}

func newStrip(left, right bool) normalizer {
	return rewrite(func(text string) string {
		if left {
			text = strings.TrimLeftFunc(text, unicode.IsSpace)
		}
		if right {
			text = strings.TrimRightFunc(text, unicode.IsSpace)
		}
		return text
	})
}

// newPrepend writes a text before another one that is not empty.
func newPrepend(before string) normalizer {
	return rewrite(func(text string) string {
		if text == "" {
			return ""
		}
		return before + text
	})
}

// replace writes content for each match of a pattern.
type replace struct {
	pattern pattern
	content string
}

func newReplace(f *patternFile, content string) (normalizer, error) {
	p, err := newPattern(f)
	return replace{p, content}, err
}

func (r replace) normalize(text string) (string, error) {
	matches, err := r.pattern.matches(text)
	if err != nil || len(matches) == 0 {
		return text, err
	}
	if len(text)+len(matches)*len(r.content) > maxNormalized {
		return "", errTooLong
	}
	var b strings.Builder
	b.Grow(len(text))
	done := 0
	for _, m := range matches {
		b.WriteString(text[done:m.from])
		b.WriteString(r.content)
		done = m.to
	}
	b.WriteString(text[done:])
	return b.String(), nil
}

// nmt drops control characters and makes a space of what several languages use for one.
func nmt(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 1 <= r && r <= 8, r == 0xb, 0xe <= r && r <= 0x1f, r == 0x7f, r == 0x8f, r == 0x9f:
			return -1
		case r == '\t', r == '\n', r == '\f', r == '\r', r == 0x1680, 0x200b <= r && r <= 0x200f, r == 0x2028, r == 0x2029,
			r == 0x2581, r == 0xfeff, r == 0xfffd:
			return ' '
		}
		return r
	}, text)
}
