package vocab

import (
	"regexp"
	"slices"
	"strings"

	"kioku/search/analysis"
)

// commands are orders to a program that reads notes, in English, Japanese and Chinese: to store something about the owner, or to
// forget what it was told before. Nobody says so of himself: "remember that I live in Porto" is none.
var commands = regexp.MustCompile(`(?i)` + strings.Join([]string{
	`\b(?:store|save|record|remember|memori[sz]e|note|write down|log|add)\b[^.!?]{0,30}?(?:\bthat\b|\bas\b|:)\s*["'“]?(?:the |its |their |this |your )?(?:owner|user|human)(?:'s\b|’s\b|\s+(?:said|says|told|has|had|is|was|likes|loves|dislikes|hates|wants|prefers|lives|lived|works|agreed|agrees|moved|uses|owns|needs|allows|allowed|approved)\b)`,
	`\b(?:ignore|disregard|override|forget)\s+(?:(?:all|any|of|the|your|these|my)\s+)*(?:previous|prior|above|earlier|preceding|existing|system|safety)\s+(?:\w+\s+)?(?:instruction|prompt|rule|message|direction|guideline|context)s?\b`,
	`\b(?:ignore|disregard|override|forget|bypass)\s+(?:all|any|your)\s+(?:of\s+)?(?:the\s+|your\s+)?(?:(?:system|safety|original)\s+)?(?:instruction|prompt|rule|direction|guideline)s?\b`,
	`\b(?:reveal|print|show|repeat|output)\b[^.!?]{0,20}\bsystem prompt\b`,
	`\bdo not (?:tell|inform|warn) the (?:user|owner|human)\b`,
	`\byou are now (?:an? (?:\w+ ){0,2}(?:assistant|agent|bot|ai|model|program|administrator|hacker)\b|in (?:\w+ )?mode\b)`,
	`\bnew (?:system )?instructions?\s*:`,
	`(?:これまで|今まで|以前|以上|上記|前述|(?:^|[^\p{Han}])前|先ほど|あなた|君|お前|システム)(?:の|への)?(?:すべての|全ての)?(?:システム)?(?:指示|命令|プロンプト|ルール|制約)を?(?:すべて|全て)?(?:無視|忘れ|破棄)`,
	`(?:ユーザー|ユーザ|所有者|オーナー|持ち主)に(?:は)?(?:知らせ|伝え|言わ|教え)(?:ず|ない|るな)`,
	`システムプロンプトを(?:表示|出力|見せ|教え)`,
	`(?:ユーザー|ユーザ|所有者|オーナー|持ち主)[はがをの][^。！？]{0,60}(?:と|を|して)(?:記憶|保存|記録|登録|覚え)(?:して|せよ|しろ|する(?:こと|ように)|ておいて|てください|て$|ろ)`,
	`(?:忽略|无视|無視|忘记|忘記|忘掉|不要理会|不要遵守)掉?(?:你的?|您的?|之前|以上|上面|上述|先前|前面|所有|一切|全部|系统|系統)[^。！？]{0,10}(?:指令|指示|提示|规则|規則|命令)`,
	`不要(?:告诉|告訴|通知)(?:用户|用戶|主人|所有者)`,
	`(?:输出|輸出|显示|顯示|说出|說出|透露)[^。！？]{0,6}(?:系统|系統)(?:提示|指令)`,
	`(?:记住|記住|保存|存储|儲存|记录|記錄|记下|存入)[:：,，]?\s*(?:用户|用戶|主人|所有者|机主)(?:说|說|是|喜欢|喜歡|讨厌|住|想|要|的名字|已经|已經|同意|叫)`,
}, "|"))

// OrdersProgram reports whether a text gives orders to a program that reads notes: such a text is nobody's fact, loop or event, and no
// part of a prompt.
func OrdersProgram(s string) bool {
	lower := strings.ToLower(analysis.Normalize(s))
	if !slices.ContainsFunc(orderWords, func(word string) bool { return strings.Contains(lower, word) }) {
		return false
	}
	return commands.MatchString(lower)
}

// orderWords are words in lower case of which each order of commands has one: looking for them first costs a tenth of a match.
var orderWords = append(strings.Fields(`store save record remember memori note write log add ignore disregard override forget bypass reveal print show repeat output
	instruction 指示 命令 プロンプト ルール 制約 ユーザ 所有者 オーナー 持ち主 忽略 无视 無視 忘记 忘記 忘掉 不要 记住 記住 保存 存储 儲存 记录 記錄 记下 存入 输出 輸出 显示 顯示 说出 說出 透露`), "you are now", "do not")
