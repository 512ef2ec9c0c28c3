package tokenizer

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// charsmap is the table of SentencePiece that replaces characters and sequences of them: a double-array trie (Aoe, 1989) whose
// leaves are offsets into the replacements.
type charsmap struct {
	units        []uint32
	replacements string // each ends with a zero byte
}

// maxSequence is the length in bytes from which a sequence of characters is not looked up as a whole.
const maxSequence = 6

func newCharsmap(encoded string) (normalizer, error) {
	blob, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, errors.New("precompiled_charsmap is not base64")
	}
	if len(blob) == 0 {
		return rewrite(func(text string) string { return text }), nil
	}
	if len(blob) < 4 {
		return nil, errors.New("precompiled_charsmap is cut off")
	}
	size := binary.LittleEndian.Uint32(blob)
	blob = blob[4:]
	if size%4 != 0 || size == 0 || uint64(size) > uint64(len(blob)) {
		return nil, errors.New("precompiled_charsmap is cut off or damaged")
	}
	m := charsmap{units: make([]uint32, size/4), replacements: string(blob[size:])}
	for i := range m.units {
		m.units[i] = binary.LittleEndian.Uint32(blob[4*i:])
	}
	if !utf8.ValidString(m.replacements) {
		return nil, errors.New("the replacements of precompiled_charsmap are not UTF-8")
	}
	return m.normalize, nil
}

// normalize returns the text with its replacements.
func (m charsmap) normalize(text string) (string, error) {
	var b strings.Builder
	b.Grow(len(text))
	for text != "" {
		grapheme := text[:1]
		if len(text) > 1 && (text[0] == '\r' || text[1] >= utf8.RuneSelf) || text[0] >= utf8.RuneSelf {
			grapheme, _, _, _ = uniseg.FirstGraphemeClusterInString(text, -1)
		}
		text = text[len(grapheme):]
		if m.write(&b, grapheme); b.Len() > maxNormalized {
			return "", errTooLong
		}
	}
	return b.String(), nil
}

// write writes the replacement of a grapheme, or those of its characters.
func (m charsmap) write(b *strings.Builder, grapheme string) {
	if len(grapheme) < maxSequence {
		if replacement, ok := m.lookup(grapheme); ok {
			b.WriteString(replacement)
			return
		}
	}
	for i, r := range grapheme {
		character := grapheme[i : i+utf8.RuneLen(r)]
		if replacement, ok := m.lookup(character); ok {
			character = replacement
		}
		b.WriteString(character)
	}
}

// lookup returns the replacement of the shortest beginning of key that has one, as SentencePiece does.
func (m charsmap) lookup(key string) (string, bool) {
	node := offset(m.units[0])
	for i := range len(key) {
		if node ^= uint32(key[i]); key[i] == 0 || node >= uint32(len(m.units)) {
			return "", false
		}
		unit := m.units[node]
		if unit&(1<<31|0xff) != uint32(key[i]) {
			return "", false
		}
		node ^= offset(unit)
		if unit>>8&1 == 1 {
			if node >= uint32(len(m.units)) {
				return "", false
			}
			return m.replacement(m.units[node] &^ (1 << 31))
		}
	}
	return "", false
}

// offset returns where the children of a unit are, relative to it.
func offset(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }

// replacement returns the replacement at an offset; false if the table is damaged and there is none.
func (m charsmap) replacement(at uint32) (string, bool) {
	if at >= uint32(len(m.replacements)) {
		return "", false
	}
	s, _, _ := strings.Cut(m.replacements[at:], "\x00")
	return s, utf8.ValidString(s)
}
