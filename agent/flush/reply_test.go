package flush_test

import (
	"strings"
	"testing"

	"kioku/agent/flush"
)

func TestSilentReplies(t *testing.T) {
	t.Parallel()
	for reply, want := range map[string]bool{
		"NO_REPLY":                     true,
		"  \nNO_REPLY\n":               true,
		"NO_REPLY.":                    true,
		"NO_REPLY - saved two notes":   true,
		"NO_REPLY。以上です":                true,
		"NO_REPLY 保存しました":              true,
		"Saved two notes. NO_REPLY":    true,
		"Saved two notes.\n\nNO_REPLY": true,
		"**NO_REPLY**":                 true,
		"保存しました。NO_REPLY":              true,
		"保存しました。NO_REPLY。":             true,
		"NO_REPLYです。NO_REPLY":          true,
		"(NO_REPLY)":                   true,

		"":                                false,
		"NO_REPLYです":                      false,
		"NO_REPLYー":                       false,
		"NO_REPLY_1":                      false,
		"NO_REPLY2":                       false,
		"NO_REPLYer":                      false,
		"NO_REPLY\u0301":                  false,
		"これはNO_REPLY":                     false,
		"没有NO_REPLY":                      false,
		"X_NO_REPLY":                      false,
		"no_reply":                        false,
		"I answer NO_REPLY now and then.": false,
		"NO REPLY":                        false,
	} {
		if got := flush.Silent(reply); got != want {
			t.Errorf("Silent(%q) = %v", reply, got)
		}
	}
}

func FuzzSilent(f *testing.F) {
	for _, s := range []string{"NO_REPLY", "NO_REPLYです", "保存。NO_REPLY", "\xff", "NO_REPLY\xff", "x NO_REPLY !"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		silent := flush.Silent(s)
		if silent && !strings.Contains(s, flush.NoReply) {
			t.Error("silent without the word")
		}
		if flush.Silent(" "+s) != silent || flush.Silent(s+"\n") != silent {
			t.Error("white space around it makes a difference")
		}
		if !flush.Silent(flush.NoReply + " " + s) {
			t.Error("not silent after the word in front")
		}
		if !flush.Silent(s + " " + flush.NoReply) {
			t.Error("not silent before the word at the end")
		}
		if flush.Silent("は" + flush.NoReply + "で" + s + "す") {
			t.Error("silent where the word is a part of another")
		}
	})
}
