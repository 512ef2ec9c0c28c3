package llm_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/llm"
)

// kept returns what Echo stores of a conversation in which users say these.
func kept(t *testing.T, said ...string) []string {
	t.Helper()
	var req llm.Request
	for _, s := range said {
		req.Messages = append(req.Messages, user(s), assistant("My name is Echo."))
	}
	req.Messages, req.Tools = append(req.Messages, user("Save what is durable, then answer NO_REPLY.")), memoryTools
	var all []string
	for _, c := range ask(t, req).Message.ToolCalls {
		var input struct{ Text string }
		if err := json.Unmarshal(c.Input, &input); err != nil {
			t.Fatal(err)
		}
		all = append(all, input.Text)
	}
	return all
}

func TestEchoKeepsWhatIsStatedInThreeLanguages(t *testing.T) {
	for _, fact := range []string{
		"My cat, Rex, lives in Xiamen.", "I like tea!", "I have a cat. It is called Rex.", "Ann Lee prefers trains", "The server is called heron.", "We moved to Oslo in May.",
		"Our daughter Mia was born on 2019-05-03.", "Call me Ann when we talk.", "When I was ten, we lived in Riga.", "I'm allergic to nuts.", "Dinner starts at 19:30 on Fridays.",
		"I work at Acme. They make rockets. The boss is Mr Coyote.",
		"我的猫叫豆豆，住在厦门。", "我喜欢喝茶！", "豆豆是一只橘猫", "公司在上海。", "我搬到杭州了", "我有一只猫。它叫豆豆。", "我爱吃辣！我住在成都。",
		"私の猫の名前は豆です。", "猫を飼っています。", "豆は厦門に住んでいます。", "コーヒーが好きです！", "私は犬を飼っている。それはポチです。",
	} {
		want := []string{fact}
		switch {
		case strings.Contains(fact, "Coyote"):
			want = []string{"I work at Acme. They make rockets.", "The boss is Mr Coyote."}
		case strings.Contains(fact, "成都"):
			want = []string{"我爱吃辣！", "我住在成都。"}
		}
		if diff := cmp.Diff(want, kept(t, fact)); diff != "" {
			t.Errorf("%s: %s", fact, diff)
		}
	}
	if diff := cmp.Diff([]string{"Hi, my name is Ann.", "是的，我住在厦门。", "はい、私は学生です。"}, kept(t, "Hi, my name is Ann.", "是的，我住在厦门。", "はい、私は学生です。")); diff != "" {
		t.Error(diff)
	}
}

func TestEchoKeepsNoQuestionsCommandsAndSmallTalk(t *testing.T) {
	for _, said := range []string{
		"[My notes are in memory already. Save only what follows.]", "(The earlier messages are left out.)", "ok", "OK.", "thanks", "Thank you!", "Thank you, that is great.", "go on", "yes", "nice weather", "tell me more about the weather", "Please show me my notes.",
		"hello there", "I see.", "OK, I understand", "Sorry, I don't know.", "It is raining.", "You are a great help.", "la la la la la", "more about it", "I want you to write a poem.",
		"Where is my cat?", "what is my name", "Do you know where I live", "is Rex hungry today", "Can you tell me what we decided", "How are you today", "I have a question.",
		"Write a poem about my cat.", "Summarize what is in our plan.", "Do you have a cat? It is a nice animal.",
		"好的", "谢谢！", "好的，谢谢你。", "继续", "告诉我更多关于天气的事", "你好！", "我知道了。", "你是谁", "我的猫叫什么？", "我住在哪里", "你是一个很好的助手。", "请帮我写一首诗，是关于猫的。", "今天很热。", "你喜欢茶吗",
		"ありがとう", "はい、そうです。", "了解です", "もっと教えてください。", "私の猫の名前は何ですか", "天気はどう？", "私の猫の名前は？", "こんにちは！", "詩を書いてください。", "わかりました。",
	} {
		if got := kept(t, said); len(got) > 0 {
			t.Errorf("of %q it keeps %q", said, got)
		}
	}
}

func TestEchoKeepsWhatIsToBeRememberedWithoutTheMarkBeforeIt(t *testing.T) {
	for said, want := range map[string]string{
		"记住：我的生日是五月三日。": "我的生日是五月三日。", "请记住，茶在蓝色的罐子里": "茶在蓝色的罐子里", "记住:鑰匙": "鑰匙",
		"Please remember：the key is in vault 7": "the key is in vault 7", "覚えておいて：鍵は机の中": "鍵は机の中", "鍵は机の中だと覚えておいて！": "鍵は机の中だ",
	} {
		if diff := cmp.Diff([]string{want}, kept(t, said)); diff != "" {
			t.Errorf("%s at the flush: %s", said, diff)
		}
		got := callsOf(ask(t, llm.Request{Messages: []llm.Message{user(said)}, Tools: memoryTools}))
		if diff := cmp.Diff([]string{fmt.Sprintf(`memory_append {"text":%q}`, want)}, got); diff != "" {
			t.Errorf("%s at once: %s", said, diff)
		}
	}
}

func TestEchoKeepsManyFactsInFewNotes(t *testing.T) {
	var all []string
	for i := range 100 {
		all = append(all, fmt.Sprintf("My number %d is %d.", i, i*i))
	}
	got := kept(t, strings.Join(all, " "))
	if diff := cmp.Diff(strings.Join(all, "\n"), strings.Join(got, "\n")); diff != "" || len(got) > 16 {
		t.Errorf("%d notes: %s", len(got), diff)
	}
	if got := kept(t, append(slices.Clone(all[:2]), all[:2]...)...); !cmp.Equal(got, all[:2]) {
		t.Errorf("%q", got)
	}
}

func TestEchoKeepsWhatCouldNotBeStoredBefore(t *testing.T) {
	call := llm.ToolCall{ID: "echo_1_0", Name: "memory_append", Input: json.RawMessage(`{"text":"that my boat is red"}`)}
	for failed, want := range map[bool]int{true: 1, false: 0} {
		got := callsOf(ask(t, llm.Request{Tools: memoryTools, Messages: []llm.Message{
			user("Remember that my boat is red"), {Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{call}},
			{Role: llm.RoleTool, ToolCallID: call.ID, ToolName: call.Name, Text: "done", Failed: failed},
			user("Save what is durable, then answer NO_REPLY."),
		}}))
		if len(got) != want {
			t.Errorf("failed %v: %q", failed, got)
		}
	}
}
