package recall_test

import (
	"testing"

	"kioku/agent/recall"
	"kioku/memory"
)

// An earlier question takes no slot, in any language, whatever it was answered; what else was said does.
func TestRecallLeavesOutTheSameQuestion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, question, text string
		kept                 bool
	}{
		{"nothing known", "Where is the key?", "User: Where is the key?\nAssistant: I recall nothing about that.", false},
		{"other case and order of words", "where's the vault key", "User: Vault key: where?\nAssistant: I do not know.", false},
		{"answered from a note", "Where is the key?", "User: Where is the key?\nAssistant: In vault 7.", false},
		{"Japanese", "ミアの金庫はどこですか", "User: ミアの金庫はどこですか？\nAssistant: 何も覚えていません。", false},
		{"Chinese", "米娅的保险箱在哪里？", "User: 米娅的保险箱在哪里\nAssistant: 我什么都不记得。", false},
		{"in a group", "Where is the key?", "User: [Ana] Where is the key?\nAssistant: Nobody knows.", false},
		{"small talk beside it", "Where is the key?", "User: Good morning.\nAssistant: Hello.\nUser: Where is the key?\nAssistant: No idea.", false},
		{"the question tells something", "Where is the key?", "User: Where is the key of vault 7 that Ada lost in Porto?\nAssistant: No idea.", true},
		{"told before", "Where is the key?", "User: The key is in vault 7.\nAssistant: Noted.", true},
		{"told and asked", "Where is the key?", "User: The key is in vault 7.\nAssistant: Noted.\nUser: Where is the key?\nAssistant: In vault 7.", true},
		{"asked and told", "Where is the key?", "User: Where is the key?\nAssistant: No idea.\nUser: I have put the key into vault 7.", true},
		{"another question", "Where is the key?", "User: Who has the key?\nAssistant: Ada.", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			passage := hit(c.text, 0.9)
			passage.Path, passage.Source = "sessions/s.jsonl", memory.SourceSessions
			note := hit("a note of "+c.question, 0.5)
			own := &fake{answer: answer(passage, note)}
			o := recall.New(recall.Options{TopK: 1}, among(map[string]*fake{"main": own})).Recall(t.Context(), recall.Request{Message: c.question, Agent: "main"})
			if got := o.Memories[0].Text == c.text; got != c.kept || own.asked[0].MaxResults < 2 {
				t.Errorf("kept %t, want %t; asked for %d", got, c.kept, own.asked[0].MaxResults)
			}
			passage.Source = memory.SourceMemory
			own.answer = answer(passage, note)
			if o := recall.New(recall.Options{}, among(map[string]*fake{"main": own})).Recall(t.Context(), recall.Request{Message: c.question, Agent: "main"}); o.Memories[0].Text != c.text {
				t.Error("a note with the same text was left out")
			}
		})
	}
}
