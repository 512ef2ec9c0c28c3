package tokenizer

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// normalizer rewrites a text before it is split into words.
type normalizer func(text string) (string, error)

// Limits of what a normalizer may write. They keep a hostile file from growing a text without bound.
const (
	maxInserted    = 1 << 10 // bytes that are written before a text or for a match
	maxNormalized  = 8 << 20 // bytes of a text after a normalizer that makes it longer
	maxNormalizers = 64
)

var errTooLong = fmt.Errorf("the tokenizer makes more than %d bytes of the text", maxNormalized)

// normalize returns the text after all normalizers.
func (t *Tokenizer) normalize(text string) (string, error) {
	for _, n := range t.normalizers {
		before := len(text)
		var err error
		if text, err = n(text); err != nil {
			return "", err
		}
		if len(text) > maxNormalized && len(text) > before {
			return "", errTooLong
		}
	}
	return text, nil
}

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
	Pattern      patternFile      `json:"pattern"`
	Content      string           `json:"content"`
	Prepend      string           `json:"prepend"`
	Charsmap     *string          `json:"precompiled_charsmap"`
}

// patternFile is what a Replace finds: a literal text or a regular expression.
type patternFile struct {
	String *string `json:"String"`
	Regex  *string `json:"Regex"`
}

// newNormalizers returns the normalizers that f describes.
func newNormalizers(f normalizerFile) (all []normalizer, _ error) {
	if f.Type != "Sequence" {
		n, err := newNormalizer(f)
		return []normalizer{n}, err
	}
	for _, one := range f.Normalizers {
		more, err := newNormalizers(one)
		if err != nil {
			return nil, err
		}
		if all = append(all, more...); len(all) > maxNormalizers {
			return nil, errors.New("the sequence of normalizers is long")
		}
	}
	return all, nil
}

// newNormalizer returns the normalizer that f describes, which is no sequence.
func newNormalizer(f normalizerFile) (normalizer, error) {
	if len(f.Content) > maxInserted || len(f.Prepend) > maxInserted {
		return nil, fmt.Errorf("the normalizer %.40q inserts a long text", f.Type)
	}
	switch f.Type {
	case "BertNormalizer":
		return rewrite(newBertNormalizer(f).normalize), nil
	case "NFC":
		return rewrite(norm.NFC.String), nil
	case "NFD":
		return rewrite(norm.NFD.String), nil
	case "NFKC":
		return rewrite(norm.NFKC.String), nil
	case "NFKD":
		return rewrite(norm.NFKD.String), nil
	case "Lowercase":
		return rewrite(lower), nil
	case "StripAccents":
		return rewrite(withoutMarks), nil
	case "Strip":
		return rewrite(func(text string) string { return strip(text, orElse(f.StripLeft, true), orElse(f.StripRight, true)) }), nil
	case "Prepend":
		return rewrite(func(text string) string { return prepend(f.Prepend, text) }), nil
	case "Replace":
		return newReplace(f.Pattern, f.Content)
	case "Precompiled":
		return newCharsmap(orElse(f.Charsmap, ""))
	}
	return nil, fmt.Errorf("the normalizer %.40q is not supported; BertNormalizer, Precompiled, Replace, Prepend, Strip, StripAccents, Lowercase "+
		"and the normal forms of Unicode are", f.Type)
}

// rewrite returns the normalizer of a function that cannot fail.
func rewrite(f func(text string) string) normalizer {
	return func(text string) (string, error) { return f(text), nil }
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
		if r >= 0x300 && unicode.Is(unicode.M, r) {
			return -1
		}
		return r
	}, text)
}

// strip returns text without the white space at its ends.
func strip(text string, left, right bool) string {
	if left {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
	}
	if right {
		text = strings.TrimRightFunc(text, unicode.IsSpace)
	}
	return text
}

// prepend writes a text before another one that is not empty.
func prepend(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

// newReplace returns the normalizer that writes content for each match of a pattern.
func newReplace(f patternFile, content string) (normalizer, error) {
	if f.String != nil && *f.String != "" {
		return func(text string) (string, error) {
			if len(text)+strings.Count(text, *f.String)*len(content) > maxNormalized {
				return "", errTooLong
			}
			return strings.ReplaceAll(text, *f.String, content), nil
		}, nil
	}
	if f.Regex == nil {
		return nil, errors.New("the pattern of Replace is neither a String nor a Regex")
	}
	// Go's engine reads such expressions as Hugging Face's library does, but for white space, which that knows by Unicode.
	const space = `[\t-\r\x{85}\p{Z}]`
	find, err := regexp.Compile(strings.ReplaceAll(*f.Regex, `\s`, space))
	if err != nil || strings.ContainsAny(strings.ReplaceAll(*f.Regex, `\s`, ""), `\[.^$`) {
		return nil, fmt.Errorf("the regular expression %.80q is not supported", *f.Regex)
	}
	return func(text string) (string, error) {
		if len(text)*(1+len(content)) > maxNormalized && len(text)+len(find.FindAllStringIndex(text, -1))*len(content) > maxNormalized {
			return "", errTooLong
		}
		return find.ReplaceAllLiteralString(text, content), nil
	}, nil
}
