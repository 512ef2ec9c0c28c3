package text

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gogs/chardet"
)

// detected are the names of the encodings that the detector tells, if they are other ones.
var detected = map[string]string{
	"ISO-8859-1": "windows-1252", "ISO-8859-8": "windows-1255", "ISO-8859-8-I": "windows-1255", "ISO-8859-9": "windows-1254", "KOI8-R": "koi8-u",
	"GB-18030": "gb18030",
}

// alphabets are the letters beyond ASCII of languages, in small letters. A text is of one language, but for a few words.
var alphabets = []string{
	"äöüß", "àâæçéèêëîïôœùûüÿ", "áéíñóúü", "áâãàçéêíóôõúü", "àèéìíîòóùú", "åäöé", "æøåé", "áéíóúýþæöð", "éëïóöüèê", "àçèéíïòóúü", // west
	"ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "čćđšž", "ăâîșțşţ", "ąčęėįšųūž", "āčēģīķļņšūž", "äöõüšž", "çğıöşüâîû", // east
	"абвгдеёжзийклмнопрстуфхцчшщъыьэюя", "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя", "абвгдђежзијклљмнњопрстћуфхцчџш", "абвгдеёжзійклмнопрстуўфхцчшыьэюя",
	"αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ", "אבגדהוזחטיךכלםמןנסעףפץצקרשת", "ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىيپچژگ",
	"กขฃคฅฆงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรฤลฦวศษสหฬอฮฯะาำเแโใไๅๆ",
}

const (
	// detectBytes is how much of a file its encoding is told from.
	detectBytes = 8 << 10
	// minConfidence is the confidence in percent from which the detector decides between two readings, and from which an encoding of Chinese,
	// Japanese or Korean counts.
	minConfidence = 50
	// rivalShare is the share of the best confidence from which another encoding makes both uncertain.
	rivalShare = 0.85
)

// detect returns the encoding of a text that is not UTF-8: the only one as which it reads as words of a language, or else the likely one of these.
func detect(data []byte) (string, error) {
	data = sample(data)
	var readings []string
	for _, name := range narrow {
		same := func(other string) bool { return readsAlike(name, other, data) }
		if isPlausibleIn(name, data) && !slices.ContainsFunc(readings, same) {
			readings = append(readings, name)
		}
	}
	results, err := chardet.NewTextDetector().DetectAll(data)
	if err != nil {
		return "", ErrUnknown
	}
	best, confidence := "", 0
	for _, r := range results { // the likely ones first
		name := cmp.Or(detected[r.Charset], strings.ToLower(r.Charset))
		if i := slices.IndexFunc(readings, func(other string) bool { return encodings[name] != nil && readsAlike(name, other, data) }); i >= 0 {
			name = readings[i]
		} else if !slices.Contains(wide, name) || !isPlausibleIn(name, data) {
			continue
		}
		switch {
		case best == "" && r.Confidence >= minConfidence:
			best, confidence = name, r.Confidence
		case best != "" && best != name && float64(r.Confidence) >= rivalShare*float64(confidence):
			return "", ErrUnknown
		}
	}
	if best == "" && len(readings) == 1 && tells(readings[0], data) {
		best = readings[0]
	}
	if best == "" {
		return "", ErrUnknown
	}
	return best, nil
}

// sample returns the first lines of a text that differ, without the half of a letter at its end.
func sample(data []byte) []byte {
	if len(data) <= detectBytes {
		return data
	}
	var all []byte
	seen := map[string]bool{}
	for line := range bytes.Lines(data) {
		if seen[string(line)] || len(all) > 0 && len(all)+len(line) > detectBytes {
			continue
		}
		seen[string(line)] = true
		if all = append(all, line...); len(all) > detectBytes { // one line
			all = all[:max(detectBytes/2, bytes.LastIndexByte(all[:detectBytes], ' '))]
			break
		}
	}
	return all
}

// minLetters is how many letters of another script than Latin tell which encoding they are in.
const minLetters = 8

// tells reports whether a text has enough letters to tell that it is in an encoding.
func tells(name string, data []byte) bool {
	decoded, _ := encodings[name].NewDecoder().Bytes(data)
	letters, latin := 0, true
	for _, r := range string(decoded) {
		if r >= utf8.RuneSelf && unicode.IsLetter(r) {
			letters++
			latin = latin && unicode.Is(unicode.Latin, r)
		}
	}
	return latin || letters >= minLetters
}

// readsAlike reports whether a text is the same in two encodings.
func readsAlike(one, other string, data []byte) bool {
	a, errA := encodings[one].NewDecoder().Bytes(data)
	b, errB := encodings[other].NewDecoder().Bytes(data)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// noBreakSpace stands between words, not before them.
const noBreakSpace = '\u00A0'

// oddWords is the part of the words with foreign letters that may look wrong in a text that is plausible.
const oddWords = 20

// isPlausibleIn reports whether a text reads as words in an encoding: no controls, nothing that is not assigned, and words of one
// script in ordinary case, with the letters of one language.
func isPlausibleIn(name string, data []byte) bool {
	decoded, err := encodings[name].NewDecoder().Bytes(data)
	if err != nil {
		return false
	}
	runes := []rune(string(bytes.TrimPrefix(decoded, []byte("\uFEFF"))))
	words, odd := 0, 0
	var foreign []rune
	for i := 0; i < len(runes); i++ {
		if isNoText(runes[i]) || isSign(runes[i]) && !isSignInPlace(at(runes, i-1), runes[i], at(runes, i+1), at(runes, i+2)) {
			return false
		}
		if unicode.Is(unicode.Thai, runes[i]) && unicode.IsMark(runes[i]) || // it stands on no letter
			runes[i] == noBreakSpace && unicode.IsSpace(at(runes, i-1)) && unicode.IsLetter(at(runes, i+1)) {
			return false
		}
		if !unicode.IsLetter(runes[i]) {
			continue
		}
		end := i + 1
		for end < len(runes) && (unicode.IsLetter(runes[end]) || unicode.IsMark(runes[end])) {
			end++
		}
		if letters, isOdd := judge(runes[i:end]); len(letters) > 0 {
			words++
			foreign = append(foreign, letters...)
			if isOdd {
				odd++
			}
		}
		i = end - 1
	}
	return odd*oddWords <= words && (!slices.Contains(narrow, name) || areOfOneLanguage(foreign))
}

// areOfOneLanguage reports whether letters beyond ASCII are those of one language, but for a few, and not mostly capitals.
func areOfOneLanguage(letters []rune) bool {
	capitals := 0
	small := make([]rune, len(letters))
	for i, r := range letters {
		if small[i] = unicode.ToLower(r); small[i] != r {
			capitals++
		}
	}
	if 2*capitals > len(letters) && len(letters) > 3 {
		return false
	}
	return len(letters) == 0 || slices.ContainsFunc(alphabets, func(alphabet string) bool {
		strange := 0
		for _, r := range small {
			if !strings.ContainsRune(alphabet, r) {
				strange++
			}
		}
		return strange*oddWords <= len(small)
	})
}

// at returns the rune at an index, a space outside of the text.
func at(runes []rune, i int) rune {
	if i >= 0 && i < len(runes) {
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

// isSign reports whether a rune is a symbol or a punctuation mark that encodings of a byte a letter have beyond ASCII.
func isSign(r rune) bool {
	return r >= utf8.RuneSelf && (r < 0x2E80 && (unicode.IsSymbol(r) || unicode.IsPunct(r) || unicode.IsNumber(r)))
}

// isSignInPlace reports whether a sign stands between two runes as it may.
func isSignInPlace(before, sign, after, next rune) bool {
	left, right := unicode.IsLetter(before), unicode.IsLetter(after)
	switch sign {
	case '‘', '’', '‐', '‑', '·':
		return true
	case '–', '—':
		return !left || !right || unicode.IsLetter(next) // not Bego–a
	case '”', '»', '…', '‹', '›', '“', '°':
		return !left || !right
	case '„', '‚', '«', '¿', '¡':
		return !left
	case '™', '®', '©', '²', '³', '¹':
		return !right
	case '†', '‡', 'ˆ', '¤', '¦', '¨', '¬', '¯', '¸':
		return false // in no note, but what letters of other encodings look like
	case 'º', 'ª':
		return !right && !left
	}
	return !left && !right
}

// scripts are those of the encodings whose letters may be taken for each other.
var scripts = []*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Hebrew, unicode.Arabic, unicode.Thai}

// endless are letters that no word ends with, startless those that none begins with, and final those that stand only at an end.
const (
	endless   = "σכמנצ"
	startless = "ъьЪЬы"
	final     = "ςךםןףץىة"
	accented  = "άέήίόύώΐΰ"
)

// judge returns the letters beyond ASCII of a word, and whether it looks as no word does: letters of two scripts, capitals behind small
// letters, Latin without a plain letter, four letters or more of Cyrillic or Greek without a vowel, two accents of Greek, or letters where
// none of their script stands.
func judge(word []rune) (foreign []rune, odd bool) {
	var script *unicode.RangeTable
	letters, latin, capitals, vowels, accents := 0, 0, 0, 0, 0
	for i, r := range word {
		for _, s := range scripts {
			if unicode.Is(s, r) {
				odd = odd || script != nil && s != script
				script = s
				break
			}
		}
		if !unicode.IsLetter(r) {
			continue
		}
		letters++
		if unicode.Is(unicode.Latin, r) {
			latin++
		}
		last := i == len(word)-1
		odd = odd || len(word) > 1 && (last && strings.ContainsRune(endless, r) || i == 0 && strings.ContainsRune(startless, r)) ||
			!last && strings.ContainsRune(final, r)
		if strings.ContainsRune(accented, r) {
			accents++
		}
		if unicode.IsUpper(r) {
			capitals++
		}
		if strings.ContainsRune("аеёиіїоуыэюяєўАЕЁИІЇОУЫЭЮЯЄαεηιοωυάέήίόύώϊϋΑΕΗΙΟΩΥ", r) {
			vowels++
		}
		if r >= utf8.RuneSelf {
			foreign = append(foreign, r)
		}
	}
	plain := letters - len(foreign)
	odd = odd || accents > 1 || latin == letters && letters > 2 && plain*2 < letters ||
		capitals > 0 && capitals < letters && (capitals > 1 || !unicode.IsUpper(word[0])) ||
		(script == unicode.Cyrillic || script == unicode.Greek) && letters > 3 && vowels == 0
	return foreign, odd
}
