package contract

import (
	"regexp"
	"strings"

	"kioku/derive/vocab"
	"kioku/search/analysis"
)

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
	return vocab.OrdersProgram(s) || imperatives.MatchString(analysis.Normalize(s))
}
