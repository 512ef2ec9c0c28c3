package agenthook_test

import (
	"testing"

	"kioku/cmd/kioku/internal/agenthook"
)

func TestAsksToForget(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]bool{
		"Please forget that I live in Porto.": true, "forget what I said about the gate": true, "No, that's wrong: we meet on Thursdays.": true,
		"That is no longer true.": true, "Vergiss das bitte.": true, "Das stimmt nicht mehr.": true, "oublie ça": true, "さっきの話は忘れてください": true,
		"それは違います。木曜日です。": true, "忘掉我的地址吧": true, "这不对，是星期四": true, "그건 틀렸어": true,
		"Don't forget the milk.": false, "I forgot my keys.": false, "What is wrong with the build?": false, "忘れ物をした": false, "这个方案怎么样": false,
		"Is that right?": false, "Forget the gate code please": true, "please forget my address": true, "You're wrong, it's Thursday.": true,
		"Don't forget that we release on Tuesdays.": false, "never forget that I like tea": false, "Forget about lunch.": false, "忘れないでください": false, "別忘了": false,
	} {
		if got := agenthook.AsksToForget(message); got != want {
			t.Errorf("%q: %v", message, got)
		}
	}
}
