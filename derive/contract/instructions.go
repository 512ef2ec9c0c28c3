package contract

import (
	"regexp"
	"strings"

	"kioku/search/analysis"
)

// commands are orders to a program that reads notes, in English, Japanese and Chinese: to store something about the owner, or to
// forget what it was told before. Nobody says so of himself: "remember that I live in Porto" is none.
var commands = regexp.MustCompile(`(?i)` + strings.Join([]string{
	`\b(?:store|save|record|remember|memori[sz]e|note|write down|log|add)\b[^.!?]{0,30}?(?:\bthat\b|\bas\b|:)\s*["'“]?(?:the |its |their |this |your )?(?:owner|user|human)(?:'s\b|’s\b|\s+(?:said|says|told|has|had|is|was|likes|loves|dislikes|hates|wants|prefers|lives|lived|works|agreed|agrees|moved|uses|owns|needs|allows|allowed|approved)\b)`,
	`\b(?:ignore|disregard|override|forget)\s+(?:(?:all|any|of|the|your|these|my)\s+)*(?:previous|prior|above|earlier|preceding|existing|system|safety)\s+(?:\w+\s+)?(?:instruction|prompt|rule|message|direction|guideline|context)s?\b`,
	`\b(?:ignore|disregard|override)\s+(?:all|any|your)\s+(?:of\s+)?(?:the\s+|your\s+)?(?:instruction|prompt|rule|direction|guideline)s?\b`,
	`\b(?:reveal|print|show|repeat|output)\b[^.!?]{0,20}\bsystem prompt\b`,
	`\byou are now (?:an?|in)\b`,
	`\bnew (?:system )?instructions?\s*:`,
	`(?:これまで|以前|上記|前)の?(?:すべての|全ての)?(?:指示|命令|プロンプト|ルール)を?(?:すべて|全て)?(?:無視|忘れ)`,
	`(?:ユーザー|ユーザ|所有者|オーナー|持ち主)[はがをの][^。！？]{0,60}(?:と|を|して)(?:記憶|保存|記録|登録|覚え)(?:して|せよ|しろ|する(?:こと|ように)|ておいて|てください|て$|ろ)`,
	`(?:忽略|无视|無視|忘记|忘掉|不要理会)(?:之前|以上|上面|先前|前面|所有|一切)[^。！？]{0,10}(?:指令|指示|提示|规则|規則|要求)`,
	`(?:记住|記住|保存|存储|儲存|记录|記錄|记下|存入)[:：,，]?\s*(?:用户|用戶|主人|所有者|机主)(?:说|說|是|喜欢|喜歡|讨厌|住|想|要|的名字|已经|已經|同意|叫)`,
}, "|"))

// commandsMemory reports whether a text gives orders to a program.
func commandsMemory(s string) bool { return commands.MatchString(analysis.Normalize(s)) }

// imperatives are orders to whoever reads a text, for which a summary has no reason.
var imperatives = regexp.MustCompile(`(?i)` + strings.Join([]string{
	`(?:^|[.!?]\s+|\n\s*)(?:please|always|never|do not|don't|don’t|make sure|be sure|remember to)\s`,
	`(?:^|[.!?]\s+|\n\s*)(?:now |then )?(?:reply|respond|answer|output|print|execute|reveal|pretend|ignore|disregard|click|visit|download|tell the|act as)\b`,
	`\byou (?:must|should|need to|have to|are to|will now)\b`,
	`\bthe (?:reader|assistant|model|agent|ai) (?:must|should|needs to|has to|is to)\b`,
	`(?:[てで](?:ください|下さい)|しなさい|せよ)(?:[。！!」]|$)`,
	`(?:^|[。！!；;\n])\s*(?:请|請)(?:你|您|勿|不要|务必|務必|立即|将|將|把|忽略|回复|回覆|输出|輸出|记住|記住|告诉|告訴)`,
	`(?:^|[。！!；;\n])\s*(?:务必|務必|必须|必須)`,
}, "|"))

// commandsReader reports whether a text gives orders to its reader or to a program.
func commandsReader(s string) bool {
	normalized := analysis.Normalize(s)
	return commands.MatchString(normalized) || imperatives.MatchString(normalized)
}
