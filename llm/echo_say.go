package llm

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"kioku/internal/modelhttp"
)

// A language that Echo speaks.
const (
	english = iota
	japanese
	chinese
)

// language returns the language of a text: kana make it Japanese, other Han characters Chinese.
func language(s string) int {
	switch {
	case strings.ContainsFunc(s, func(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana) }):
		return japanese
	case strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) }):
		return chinese
	}
	return english
}

// in returns the sentence of a language, filled in.
func in(lang int, sentences [3]string, args ...any) string {
	return fmt.Sprintf(sentences[lang], args...)
}

var (
	sayRecalled = [3]string{"I recall from %s: %s", "%s にこうあります: %s", "我记得 %s 里写着: %s"}
	sayNothing  = [3]string{"I recall nothing about that. You said: %s", "それについての記憶はありません。あなたの言葉: %s", "我没有关于这件事的记忆。你说: %s"}
	sayStored   = [3]string{"I have remembered it in %s.", "%s に覚えました。", "我已记在 %s。"}
	sayFound    = [3]string{"I found in %s: %s", "%s に見つかりました: %s", "我在 %s 找到: %s"}
	sayFoundNot = [3]string{"I found nothing about that.", "何も見つかりませんでした。", "没有找到相关内容。"}
	sayResult   = [3]string{"The tool %s answers: %s", "ツール %s の答え: %s", "工具 %s 的回答: %s"}
	sayFailed   = [3]string{"The tool %s failed: %s", "ツール %s は失敗しました: %s", "工具 %s 失败了: %s"}
)

const maxQuote = 300 // characters

// source is a place in a memory, as path#L1 or path#L1-L3.
var source = regexp.MustCompile(`([^\s"'` + "`" + `\[\]()<>=]+\.md)#L(\d+)(?:-L?(\d+))?`)

// recall answers from the memories in a system prompt.
func recall(system, said string) string {
	if place, quote := firstRecalled(system); quote != "" {
		return in(language(said), sayRecalled, place, quote)
	}
	return in(language(said), sayNothing, said)
}

// recalledFrame opens the frame around what was recalled.
const recalledFrame = "<recalled-memories id="

// firstRecalled returns the source and the text of the first memory in the frame of those recalled, or after their heading
// where there is no frame, or nothing.
func firstRecalled(system string) (place, quote string) {
	_, block, found := strings.Cut(system, recalledFrame)
	if !found {
		_, block, found = strings.Cut(system, "Recalled Memories")
	}
	if !found {
		return "", ""
	}
	lines := strings.Split(block, "\n")
	for i, line := range lines {
		var item struct{ Source, Text string }
		if json.Unmarshal([]byte(line), &item) == nil && item.Source != "" && strings.TrimSpace(item.Text) != "" {
			return item.Source, quoted(item.Text)
		}
		at := source.FindStringIndex(line)
		if at == nil {
			continue
		}
		place = line[at[0]:at[1]]
		if quote = itemText(line[at[1]:], lines[i+1:]); quote != "" {
			return place, quote
		}
	}
	return "", ""
}

// itemText returns the text of a memory: what follows its source, up to the next source, heading, delimiter or blank line.
func itemText(rest string, lines []string) string {
	var text []string
	if tail := strings.TrimLeft(rest, " \t:)]>\"'`—-"); !attributes.MatchString(tail) {
		text = append(text, tail)
	}
	for _, line := range lines {
		trimmed := strings.TrimSpace(line)
		if ends := trimmed == "" || strings.HasPrefix(trimmed, "<") || strings.HasPrefix(trimmed, "#") || source.MatchString(line); ends {
			if strings.TrimSpace(strings.Join(text, "")) == "" && trimmed == "" {
				continue
			}
			break
		}
		text = append(text, strings.TrimLeft(trimmed, "> |"))
	}
	return modelhttp.Shorten(strings.Join(strings.Fields(strings.Join(text, " ")), " "), maxQuote)
}

// attributes matches what a line with a source says besides, such as a score or the end of a tag, and no memory.
var attributes = regexp.MustCompile(`^[^\p{L}]*((score|date|trust|from|agent|lines?)\b[^\n]*)?$`)

// tellResults answers with the results of tools, the messages after the user's last.
func tellResults(lang int, results []Message) string {
	var said []string
	for _, m := range results {
		if m.Role == RoleTool {
			said = append(said, tellResult(lang, m))
		}
	}
	return strings.Join(slices.Compact(said), "\n")
}

func tellResult(lang int, m Message) string {
	var out struct {
		Path    string
		Results *[]struct{ Citation, Path, Snippet, Text string }
	}
	isJSON := json.Unmarshal([]byte(m.Text), &out) == nil
	switch {
	case m.Failed:
		return in(lang, sayFailed, m.ToolName, quoted(m.Text))
	case isJSON && m.ToolName == appendTool && out.Path != "":
		return in(lang, sayStored, out.Path)
	case isJSON && out.Results != nil && len(*out.Results) == 0:
		return in(lang, sayFoundNot)
	case isJSON && out.Results != nil:
		best := (*out.Results)[0]
		place := best.Citation
		if place == "" {
			place = best.Path
		}
		return in(lang, sayFound, place, quoted(best.Snippet+best.Text))
	}
	return in(lang, sayResult, m.ToolName, quoted(m.Text))
}

func quoted(s string) string {
	return modelhttp.Shorten(strings.Join(strings.Fields(s), " "), maxQuote)
}

// smallest returns the smallest JSON value that a schema of the usual form takes.
func smallest(schema json.RawMessage) json.RawMessage {
	var s struct {
		Type       any
		Enum       []json.RawMessage
		Const      json.RawMessage
		Properties map[string]json.RawMessage
		Required   []string
		Items      json.RawMessage
		MinItems   int
	}
	if json.Unmarshal(schema, &s) != nil {
		return json.RawMessage("null")
	}
	switch {
	case s.Const != nil:
		return s.Const
	case len(s.Enum) > 0:
		return s.Enum[0]
	}
	if types, ok := s.Type.([]any); ok && len(types) > 0 {
		s.Type = types[0]
	}
	switch s.Type {
	case "object":
		object := map[string]json.RawMessage{}
		for _, name := range s.Required {
			object[name] = smallest(s.Properties[name])
		}
		raw, _ := json.Marshal(object) // made of valid JSON
		return raw
	case "array":
		raw, _ := json.Marshal(slices.Repeat([]json.RawMessage{smallest(s.Items)}, min(max(s.MinItems, 0), 100)))
		return raw
	case "string":
		return json.RawMessage(`""`)
	case "number", "integer":
		return json.RawMessage("0")
	case "boolean":
		return json.RawMessage("false")
	}
	return json.RawMessage("null")
}
