package modelcheck

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode"

	"kioku/internal/files"
	"kioku/search/analysis"
)

// Limits of the look at a workspace's languages.
const (
	maxFiles     = 300
	maxFileBytes = 32 << 10
	minShare     = .03
)

// Share is how much of a workspace is in a language.
type Share struct {
	// Language by its ISO 639-1 code, or the name of a script for languages that are not told apart.
	Language string `json:"language"`
	// Share of the letters that were looked at, between 0 and 1.
	Share float64 `json:"share"`
}

// scripts are the languages that their letters tell, or the scripts themselves.
var scripts = []struct {
	name  string
	table *unicode.RangeTable
}{
	{"kana", unicode.Hiragana}, {"kana", unicode.Katakana}, {"han", unicode.Han}, {"ko", unicode.Hangul}, {"latin", unicode.Latin},
	{"ru", unicode.Cyrillic}, {"el", unicode.Greek}, {"ar", unicode.Arabic}, {"he", unicode.Hebrew}, {"th", unicode.Thai}, {"hi", unicode.Devanagari},
}

// WorkspaceLanguages looks at files of a workspace, spread over all of paths, and returns the languages in which more than a few of
// their letters are, the most frequent first. Files that cannot be read are left out.
func WorkspaceLanguages(folder string, paths []string) ([]Share, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	letters := map[string]int{}
	step := max(1, (len(paths)+maxFiles-1)/maxFiles)
	for i := 0; i < len(paths); i += step {
		if text, err := readBeginning(root, paths[i]); err == nil {
			count(letters, text)
		}
	}
	return shares(letters), nil
}

// readBeginning returns the beginning of a file.
func readBeginning(root *os.Root, path string) (string, error) {
	f, _, err := files.OpenRegular(root, path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes))
	return strings.ToValidUTF8(string(data), ""), errors.Join(err)
}

// count adds the letters of a text by language.
func count(letters map[string]int, text string) {
	in := map[string]int{}
	for _, r := range text {
		for _, s := range scripts {
			if unicode.Is(s.table, r) {
				in[s.name]++
				break
			}
		}
	}
	// Han is Japanese in a text with some kana, and a letter of it counts like the four of a word.
	han := "zh"
	if in["kana"]*10 > in["han"] {
		han = "ja"
	}
	latin := cmp.Or(analysis.Detect(text).Language(), analysis.English)
	for name, n := range in {
		switch name {
		case "han":
			letters[han] += 4 * n
		case "kana":
			letters["ja"] += 4 * n
		case "latin":
			letters[string(latin)] += n
		default:
			letters[name] += n
		}
	}
}

// shares returns the languages that are not only a few words.
func shares(letters map[string]int) []Share {
	sum := 0
	for _, n := range letters {
		sum += n
	}
	var all []Share
	for _, name := range slices.Sorted(maps.Keys(letters)) {
		if share := float64(letters[name]) / float64(sum); share >= minShare {
			all = append(all, Share{name, share})
		}
	}
	slices.SortStableFunc(all, func(a, b Share) int { return cmp.Compare(b.Share, a.Share) })
	return all
}

// Percent names shares of languages, "en 90 %, ja 10 %".
func Percent(shares []Share) string {
	var all []string
	for _, s := range shares {
		all = append(all, fmt.Sprintf("%s %.0f %%", s.Language, 100*s.Share))
	}
	return strings.Join(all, ", ")
}

// Unknown returns those languages of a workspace that a model does not know, or that were not tested, by whether they were.
func Unknown(workspace []Share, known []Language) (unknown, untested []string) {
	for _, w := range workspace {
		i := slices.IndexFunc(known, func(l Language) bool { return l.Language == w.Language })
		switch {
		case i < 0:
			untested = append(untested, w.Language)
		case !known[i].Known:
			unknown = append(unknown, w.Language)
		}
	}
	return unknown, untested
}
