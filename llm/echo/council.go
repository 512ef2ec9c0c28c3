package echo

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"kioku/llm"
)

var (
	// councilReply matches the first field of the schema of a council's reply, with the name of the member.
	councilReply = regexp.MustCompile(`^\{"type":"object","properties":\{"node":\{"type":"string","enum":\["([^"\\]+)"\]\}`)
	// framed matches a text that others have written, with a line of JSON about it.
	framed = regexp.MustCompile(`(?s)<council-data id="([0-9a-f]+)">\n(\{[^\n]*\})\n(.*?)\n</council-data id="([0-9a-f]+)">`)
	// parameter is a line of the prompt.
	parameter = regexp.MustCompile(`(?m)^- ([a-z_]+): ([01]\.\d\d) \(`)
	// pastVote is a line of an evaluation.
	pastVote = regexp.MustCompile(`(?m)^Round \d+: voted ([a-z_]+); the council: (approved|rejected)(?:; afterwards: ([a-z_]+))?$`)
	// script is the line of a task by which a person says how the members vote.
	script = regexp.MustCompile(`(?mi)^[ \t]*echo:[ \t]*((?:[\w*.-]+=[a-z]+[ \t]*)+)$`)
	// risky and careful match what speaks against a task and for it.
	risky = regexp.MustCompile(`(?i)\b(?:delet|remov|drop|irreversibl|production|untested|overwrit|all at once|without (?:a )?backup)|` +
		`削除|消去|本番|取り消せない|未検証|上書き|一括|バックアップなし|删除|刪除|生产环境|生產環境|不可逆|未测试|未測試|覆盖|覆蓋|没有备份|沒有備份`)
	careful = regexp.MustCompile(`(?i)\b(?:reversible|dry run|tested|step by step|after a backup)\b|試験|検証済み|元に戻せる|段階的|バックアップの後|试运行|可逆的|已测试|逐步|备份之后`)
)

// councillor answers for a member of a council, by counting words.
type councillor struct {
	name   string
	req    llm.Request
	system map[string]float64
	prompt string
	task   string
	words  map[string]string
}

// councilAnswer returns the reply of a member of a council; ok is false if the request is none of a council.
func councilAnswer(req llm.Request) (reply string, ok bool) {
	m := councilReply.FindSubmatch(req.Schema)
	if m == nil || len(req.Messages) == 0 {
		return "", false
	}
	c := councillor{name: string(m[1]), req: req, prompt: req.Messages[0].Text, system: parametersIn(req.System), words: map[string]string{}}
	if frames := framed.FindStringSubmatch(c.prompt); frames != nil && frames[1] == frames[4] {
		var about struct{ Name string }
		_ = json.Unmarshal([]byte(frames[2]), &about) // the pattern has matched an object
		c.task = about.Name + "\n" + frames[3]
	}
	for _, line := range script.FindAllStringSubmatch(c.task, -1) {
		for word := range strings.FieldsSeq(line[1]) {
			who, what, _ := strings.Cut(word, "=")
			c.words[who] = what
		}
	}
	fields := c.reply()
	if fields == nil {
		return "I have no opinion on this.", true
	}
	fields["node"] = c.name
	raw, _ := json.Marshal(fields) // strings and numbers always have a JSON form
	return string(raw), true
}

// parametersIn returns the numbers of the lines of parameters in a text.
func parametersIn(text string) map[string]float64 {
	all := map[string]float64{}
	for _, m := range parameter.FindAllStringSubmatch(text, -1) {
		all[m[1]], _ = strconv.ParseFloat(m[2], 64) // the pattern is a number
	}
	return all
}

// asks reports whether the schema of the reply has a field.
func (c councillor) asks(field string) bool {
	return strings.Contains(string(c.req.Schema), strconv.Quote(field)+":{")
}

// reply returns the fields of the reply, nil for none.
func (c councillor) reply() map[string]any {
	switch {
	case c.asks("vote"):
		return c.ballot()
	case c.asks("scores"):
		return c.evaluation()
	case c.asks("summary"):
		return c.announcement()
	case c.asks("decision"):
		return c.arbitration()
	case c.asks("answer"):
		return map[string]any{"answer": "This is what the scripted model would do: " + c.quoteTask()}
	case c.asks("problems"):
		return map[string]any{"verdict": "pass", "problems": []string{}, "reasoning": "The scripted model passes every result."}
	case c.asks("verdict"):
		return c.verdict()
	}
	return map[string]any{"note": "NO_REPLY"}
}

// quoteTask returns the task without its script, as a reply repeats it.
func (c councillor) quoteTask() string { return quote(script.ReplaceAllString(c.task, "")) }

// risk returns the number of risky words of the task less the careful ones, at least 0.
func (c councillor) risk() int {
	return max(len(risky.FindAllString(c.task, -1))-len(careful.FindAllString(c.task, -1)), 0)
}

// tolerance returns the risk that the member accepts.
func (c councillor) tolerance() float64 {
	return 2*c.system["risk_tolerance"] + 1 - c.system["safety_weight"]
}

// word returns what the script of the task says of one of names; empty if nothing.
func (c councillor) word(names ...string) string {
	for _, name := range names {
		if word := c.words[name]; word != "" {
			return word
		}
	}
	return ""
}

// reason says why the member votes as it does.
func (c councillor) reason(names ...string) string {
	if word := c.word(names...); word != "" {
		return fmt.Sprintf("A line of the task says how I vote: %s.", word)
	}
	return fmt.Sprintf("The risk of the task is %d by its words; I accept %.1f.", c.risk(), c.tolerance())
}

func (c councillor) ballot() map[string]any {
	risk, vote := c.risk(), "approve"
	switch {
	case float64(risk) > c.tolerance():
		vote = "reject"
	case risk > 0:
		vote = "approve_with_modification"
	}
	switch c.word(c.name, "*") {
	case "silent":
		return nil
	case "approve":
		vote = "approve"
	case "changes":
		vote = "approve_with_modification"
	case "reject":
		vote = "reject"
	}
	fields := map[string]any{"round": c.round(), "vote": vote, "opinion": c.reason(c.name, "*"),
		"proposed_approach": "Do it as it is described: " + c.quoteTask(), "concerns": []string{}, "confidence": 0.5, "evidence": c.sources()}
	switch vote {
	case "approve_with_modification":
		fields["proposed_approach"] = "Make a backup, try it on a copy, and then do it: " + c.quoteTask()
		fields["concerns"] = []string{"It may not be possible to take it back."}
	case "reject":
		fields["proposed_approach"], fields["concerns"] = "", []string{"The risk is higher than I accept."}
	}
	return fields
}

// round returns the round that the schema asks for.
func (c councillor) round() int {
	_, after, _ := strings.Cut(string(c.req.Schema), `"round":{"type":"integer","enum":[`)
	digits, _, _ := strings.Cut(after, "]")
	n, _ := strconv.Atoi(digits) // the schema is the council's own
	return n
}

// sources returns the places of what was recalled.
func (c councillor) sources() []string {
	sources := []string{}
	_, frame, _ := strings.Cut(c.prompt, "<recalled-memories id=")
	for line := range strings.Lines(frame) {
		var item struct{ Source string }
		if json.Unmarshal([]byte(line), &item) == nil && item.Source != "" {
			sources = append(sources, item.Source)
		}
	}
	return sources[:min(len(sources), 3)]
}

func (c councillor) arbitration() map[string]any {
	approve := float64(c.risk()) <= c.tolerance()
	switch c.word("arbiter", "*") {
	case "silent":
		return nil
	case "approve":
		approve = true
	case "reject":
		approve = false
	}
	reasoning := "As arbiter: " + c.reason("arbiter", "*")
	if !approve {
		return map[string]any{"decision": "rejected", "final_approach": "", "reasoning": reasoning}
	}
	return map[string]any{"decision": "approved", "final_approach": "Do it as it is described: " + c.quoteTask(), "reasoning": reasoning}
}

func (c councillor) announcement() map[string]any {
	decision := "rejected"
	if strings.Contains(string(c.req.Schema), `"decision":{"type":"string","enum":["approved"]}`) {
		decision = "approved"
	}
	return map[string]any{"decision": decision, "summary": fmt.Sprintf("The council has %s the task: %s", decision, c.quoteTask()), "key_points": []string{},
		"final_approach": ""} // what the members propose stays as they have written it
}

func (c councillor) verdict() map[string]any {
	if c.risk() > 2 {
		return map[string]any{"verdict": "decline", "reason": "It has many signs of risk."}
	}
	return map[string]any{"verdict": "approve", "reason": "It has few signs of risk."}
}

// evaluation proposes to move the parameters of a member that was outvoted in most of at least two ballots.
func (c councillor) evaluation() map[string]any {
	votes, outvoted := pastVote.FindAllStringSubmatch(c.prompt, -1), map[string]int{}
	for _, v := range votes {
		if rejects := v[1] == "reject"; rejects == (v[2] == "approved") && v[3] != "did_not" {
			outvoted[v[2]]++
		}
	}
	score, step := 1.0, 0.0
	if n := len(votes); n > 0 {
		score = 1 - float64(outvoted["approved"]+outvoted["rejected"])/float64(n)
	}
	switch {
	case outvoted["approved"] >= 2 && 2*outvoted["approved"] > len(votes):
		step = 0.1
	case outvoted["rejected"] >= 2 && 2*outvoted["rejected"] > len(votes):
		step = -0.1
	}
	_, member, _ := strings.Cut(string(c.req.Schema), `"target":{"type":"string","enum":["`)
	target, _, _ := strings.Cut(member, `"`)
	suggested, now := map[string]any{}, parametersIn(c.prompt)
	if step != 0 {
		suggested["risk_tolerance"] = moved(now["risk_tolerance"], step)
		suggested["safety_weight"] = moved(now["safety_weight"], -step)
	}
	return map[string]any{"target": target, "overall_score": score, "needs_retuning": step != 0, "suggested_params": suggested,
		"scores":    map[string]any{"decision_quality": score, "collaboration": score, "effectiveness": score, "parameter_balance": score},
		"reasoning": fmt.Sprintf("Of %d ballots %d were outvoted.", len(votes), outvoted["approved"]+outvoted["rejected"])}
}

// moved returns a parameter by a step further, in hundredths and within its bounds.
func moved(value, step float64) float64 {
	return math.Round(100*min(max(value+step, 0), 1)) / 100
}
